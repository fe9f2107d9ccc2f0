"""Parts of a data set that are joined are the data set."""

from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.similarity.collection import Collection
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.forms import COSINES, plain_cosine

ROWS = np.random.default_rng(0).integers(0, 4, (30, 5)).astype(float)


def letters(a, b):
    return len(set(a) & set(b)) / max(len(set(a) | set(b)), 1)


WORDS = [f"{row}" for row in ROWS.tolist()]
DATA = {
    **{name: COSINES[name](ROWS) for name in COSINES if "matrix" not in name},
    "dicts": ([dict(enumerate(row)) for row in ROWS.tolist()], "ruzicka"),
    "sets": ([set(row) for row in ROWS.tolist()], "jaccard"),
    "strings": (WORDS, "levenshtein"),
    "objects": (WORDS, letters),
    "array of strings": (np.array(WORDS), letters),
    "images": (ROWS[:, :4].reshape(30, 2, 2), lambda a, b: float((a == b).sum())),
}


def parts_of(X, similarity, cuts=(0, 7, 8, 30)):
    """The parts of X as collections of their own, each with its rows in X."""
    parts = []
    for start, end in pairwise(cuts):
        part = collect(X[start:end], resolve(similarity))
        part.rows = np.arange(start, end)
        parts.append(part.prepared())
    return parts


@pytest.mark.parametrize("name", DATA)
def test_joined_parts_are_what_was_divided(name):
    X, similarity = DATA[name]
    whole, found = collect(X, resolve(similarity)), Collection.joined(parts_of(X, similarity))
    assert (type(found), found.similarity, found.n_columns) == (type(whole), whole.similarity, whole.n_columns)
    np.testing.assert_array_equal(found.rows, whole.rows)
    i, j = (side.astype(np.int32) for side in np.triu_indices(len(whole)))
    np.testing.assert_array_equal(found.space().score(i, j), whole.space().score(i, j))
    np.testing.assert_array_equal(found.distinct().kind, whole.distinct().kind)
    np.testing.assert_array_equal(found.content_hashes(), whole.content_hashes())


def test_one_part_stays_as_it_is():
    part = collect(ROWS, resolve("cosine"))
    assert Collection.joined([part]) is part


def test_remembered_parts_are_joined_without_what_is_remembered():
    parts = [part.cached_in_memory() for part in parts_of(WORDS, letters)]
    found = Collection.joined(parts)
    assert found.objects == WORDS
    assert type(found) is type(collect(WORDS, resolve(letters)))


def test_numbers_of_two_types_get_one_that_holds_both():
    parts = [collect(ROWS.astype(dtype), resolve("cosine")) for dtype in (np.int64, np.float32)]
    found = Collection.joined(parts)
    assert found.objects.dtype == np.float64
    np.testing.assert_array_equal(found.objects, np.vstack([ROWS, ROWS]))
    longer = [np.array(["a", "b"]), np.array(["long"])]
    assert Collection.joined([collect(X, resolve(letters)) for X in longer]).objects.tolist() == ["a", "b", "long"]


@pytest.mark.parametrize(
    ("others", "similarity", "said"),
    [
        (sp.csr_array(ROWS), "cosine", r"part 0 holds 5 columns of numbers .* and part 1 holds CSR rows of 5 columns"),
        (ROWS[:, :3], "cosine", r"part 0 holds 5 columns of numbers .* and part 1 holds 3 columns of numbers"),
        ([{"a": 1}], "cosine", r"part 1 holds a list of objects"),
        (
            ROWS,
            "euclidean",
            r"under Similarity\('cosine'\) and part 1 .* under from_distance\('euclidean', 'inverse'\)",
        ),
        (ROWS, plain_cosine, r"part 1 holds 5 columns of numbers under a function \(kind='objects'"),
    ],
)
def test_parts_that_disagree_are_named(others, similarity, said):
    parts = [collect(ROWS, resolve("cosine")), collect(others, resolve(similarity))]
    with pytest.raises(ValueError, match=said):
        Collection.joined(parts)


def test_numbers_and_text_are_not_joined():
    parts = [collect(np.array(values), resolve(letters)) for values in (["a", "b"], [1, 2])]
    with pytest.raises(ValueError, match=r"part 0 holds an array of str_ .* part 1 holds numbers of shape \(\)"):
        Collection.joined(parts)


def test_no_parts_and_parts_of_matrices_are_refused():
    with pytest.raises(ValueError, match="parts must be one collection or more, got none"):
        Collection.joined([])
    with pytest.raises(TypeError, match="different precomputed matrices cannot be joined"):
        Collection.joined([collect(np.eye(3), resolve("precomputed"))] * 2)


def test_joined_functions_of_different_processes_may_be_different_objects():
    parts = [collect(WORDS, covey.Similarity(lambda a, b: letters(a, b))) for _ in range(2)]
    assert len(Collection.joined(parts)) == 2 * len(WORDS)
