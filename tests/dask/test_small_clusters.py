"""Clusters of at most `shard_size` objects: the fitted state is that of `covey.CRS`, to the last bit."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

pytest.importorskip("distributed", reason="needs the extra dask")
pytest.importorskip("dask.array", reason="needs the extra dask")

import dask
import dask.array as da
import dask.bag as db
import distributed

import covey
import covey.dask
from tests import forms
from tests.dask import measures
from tests.dask.measures import assert_same_state

RNG = np.random.default_rng(3)
ROWS = RNG.normal(size=(150, 6)).astype(np.float32).astype(np.float64)
ROWS[70:80] = ROWS[:10]  # copies, which lie in other parts than what they copy
SPARSE = sp.random_array((150, 40), density=0.15, format="csr", rng=RNG)
NUMBERS = RNG.integers(0, 3, 150)
WORDS = measures.words(150, length=4)
WORDS[100:110] = WORDS[20:30]
SETS = [frozenset(word) for word in WORDS]
DICTS = [{letter: place for place, letter in enumerate(word)} for word in WORDS]
CUTS = [0, 40, 40, 41, 97, 150]
"""Where parts begin and end: one part is empty, and one has a single row."""


def cut(X):
    """X in parts of different sizes."""
    return [X[start:stop] for start, stop in pairwise(CUTS)]


def as_delayed(X):
    return [dask.delayed(part) for part in cut(X)]


def as_array(X):
    blocks = [da.from_array(part, chunks=(len(part) or 1, *part.shape[1:])) for part in cut(X) if len(part)]
    return da.concatenate(blocks)


def as_bag(X):
    return db.from_delayed(as_delayed(X))


def as_frame(X):
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas")
    return frames.from_delayed([dask.delayed(part) for part in cut(pandas.DataFrame(X, columns=list("abcdef")))])


def as_series(X):
    frames = pytest.importorskip("dask.dataframe", reason="needs dask.dataframe")
    pandas = pytest.importorskip("pandas")
    return frames.from_delayed([dask.delayed(part) for part in cut(pandas.Series(X))])


FORMS = {
    "array": lambda: (as_array(ROWS), ROWS, "cosine"),
    "array cut in both axes": lambda: (as_array(ROWS).rechunk({1: 4}), ROWS, "euclidean"),
    "array of single precision": lambda: (as_array(ROWS.astype(np.float32)), ROWS.astype(np.float32), "cosine"),
    "array of whole numbers": lambda: (as_array((ROWS > 0).astype(int)), (ROWS > 0).astype(int), "jaccard"),
    "array and a callable": lambda: (as_array(ROWS[:, 0]), ROWS[:, 0], measures.close),
    "frame": lambda: (as_frame(ROWS), _local_frame(), "cosine"),
    "series of words": lambda: (as_series(WORDS), WORDS, measures.ngrams),
    "bag of words": lambda: (as_bag(WORDS), WORDS, measures.ngrams),
    "bag of sets": lambda: (as_bag(SETS), SETS, measures.overlap),
    "bag of dicts": lambda: (as_bag(DICTS), DICTS, measures.overlap),
    "delayed arrays": lambda: (as_delayed(ROWS), ROWS, "cosine"),
    "delayed CSR": lambda: (as_delayed(SPARSE), SPARSE, "cosine"),
    "delayed frames": lambda: (as_delayed(_local_frame()), _local_frame(), "cosine"),
    "delayed lists": lambda: (as_delayed(WORDS), WORDS, measures.ngrams),
    "one delayed array": lambda: (dask.delayed(ROWS), ROWS, "cosine"),
    "local array": lambda: (ROWS, ROWS, "cosine"),
    "local CSR": lambda: (SPARSE, SPARSE, "cosine"),
    "local list": lambda: (WORDS, WORDS, measures.ngrams),
    "futures": lambda: (_client().compute(as_delayed(ROWS)), ROWS, "cosine"),
    "array that is computed already": lambda: (as_array(ROWS).persist(), ROWS, "cosine"),
    "array whose parts have unknown sizes": lambda: (
        as_array(ROWS)[as_array(ROWS)[:, 0] > 0],
        ROWS[ROWS[:, 0] > 0],
        "dot",
    ),
    "array of three axes": lambda: (as_array(ROWS.reshape(150, 2, 3)), ROWS.reshape(150, 2, 3), measures.traces),
    "array of CSR blocks": lambda: (as_array(SPARSE.toarray()).map_blocks(sp.csr_array), SPARSE, "cosine"),
    "array of words": lambda: (as_array(np.array(WORDS)), np.array(WORDS), measures.ngrams),
    "parts of different precision": lambda: (_mixed(), ROWS, "euclidean"),
    "compiled function": lambda: (as_array(ROWS), ROWS, forms.compiled_cosine),
    "batched function": lambda: (as_array(ROWS), ROWS, covey.batched(forms.batched_cosine, batch_size=37)),
    "function without a name": lambda: (as_bag(ROWS[:, 0].tolist()), ROWS[:, 0].tolist(), lambda a, b: -abs(a - b)),
    "distance": lambda: (as_array(ROWS), ROWS, covey.from_distance("manhattan", how="exponential")),
    "registered measure": lambda: (as_array(ROWS), ROWS, _registered()),
    "registered function": lambda: (as_bag(WORDS), WORDS, _registered_function()),
    "asymmetric callable": lambda: (
        as_bag(ROWS[:, 0].tolist()),
        ROWS[:, 0].tolist(),
        covey.Similarity(measures.closer, symmetric=False),
    ),
}
"""Each kind of input: what is passed to `covey.dask.CRS`, the same for `covey.CRS`, and a similarity."""


def _client():
    return distributed.get_client()


def _mixed():
    """Copies lie in parts of other precision; all values are the same in both."""
    return [dask.delayed(part.astype(kind)) for part, kind in zip(cut(ROWS), "ffdfd", strict=True)]


def _registered():
    """A name that only this process knows."""
    covey.register_similarity("shrunk", covey.Measure("dot", lambda dot, a, b, width: dot / (1 + a + b), term="dot"))
    return "shrunk"


def _registered_function():
    covey.register_similarity("pairs of letters", measures.ngrams)
    return "pairs of letters"


def _local_frame():
    return pytest.importorskip("pandas").DataFrame(ROWS, columns=list("abcdef"))


@pytest.mark.parametrize("form", FORMS)
def test_the_state_is_that_of_one_process(client, form, monkeypatch):
    """In shards, the picks are the same if the graphs are exact; that equal objects meet in a shard is part of it."""
    monkeypatch.setattr("covey.dask.inputs.PART", 64)  # so that a local X has several parts
    X, plain, similarity = FORMS[form]()
    arguments = {"n_neighbors": 4, "similarity": similarity, "random_state": 5}
    found = covey.dask.CRS(**arguments).fit(X)
    expected = covey.CRS(**arguments).fit(plain)
    assert_same_state(found.to_local(), expected)
    assert (found.n_repeated_evaluations_, found.n_restored_evaluations_) == (0, 0)
    arguments.update(graph="exact", threshold=expected.prototypes_[0].threshold)
    found = covey.dask.CRS(**arguments, shard_size=75).fit(X).to_local().prototypes_[0]
    expected = covey.CRS(**arguments).fit(plain).prototypes_[0]
    for name in measures.ARRAYS:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    assert (found.coverage, found.n_orphans) == (expected.coverage, expected.n_orphans)


LABELS = {
    "words": np.array(["b", "a", "long"])[NUMBERS],
    "numbers": NUMBERS,
    "flags": NUMBERS > 0,
    "objects": np.array(["b", "a", "long"], dtype=object)[NUMBERS],
    "dates": np.array(["2020-01-02", "2019-05-05", "2021-01-01"], dtype="datetime64[D]")[NUMBERS],
    "precise dates": np.array(["2020-01-02", "2019-05-05", "2021-01-01"], dtype="datetime64[ns]")[NUMBERS],
}
LABEL_FORMS = {
    "array": as_array,
    "series": as_series,
    "bag": lambda y: as_bag(y.tolist() if y.dtype.kind != "M" else list(y)),
    "delayed": as_delayed,
    "local array": lambda y: y,
    "local list": lambda y: y.tolist() if y.dtype.kind != "M" else list(y),
}


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        *((kind, form) for kind in ("words", "precise dates") for form in LABEL_FORMS),
        *((kind, form) for kind in ("numbers", "flags", "objects", "dates") for form in ("array", "bag")),
    ],
)
def test_labels_may_come_in_every_form(client, kind, form):
    y = LABELS[kind]
    X = as_array(ROWS) if form == "array" else as_delayed(ROWS)
    given = LABEL_FORMS[form](y)
    arguments = {"n_neighbors": 4, "random_state": 5}
    found = covey.dask.CRS(**arguments).fit(X, given)
    same = y if form not in ("local list", "bag") else LABEL_FORMS["local list"](y)
    if form == "series":
        same = pytest.importorskip("pandas").Series(y)
    assert_same_state(found.to_local(), covey.CRS(**arguments).fit(ROWS, same))
