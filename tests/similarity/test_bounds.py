"""Upper bounds from rows in bytes: never below the score, and no neighbor is lost to them."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import covey
from covey.graph import descent, pair_memory
from covey.graph.lists import NeighborLists
from covey.similarity import bounds as _bounds
from covey.similarity.kinds.rows import RowSpace
from covey.similarity.measures import resolve
from tests.forms import space_of

SIMILARITIES = ("cosine", "dot", "jaccard", "euclidean", covey.from_distance("sqeuclidean", "negative"))


def all_pairs(n):
    return np.indices((n, n)).reshape(2, -1).astype(np.int32)


def rows_for(similarity, kind, n, width, rng):
    if similarity == "jaccard":
        return rng.integers(0, 2, (n, width)).astype(np.float32)
    X = {
        "normal": lambda: rng.standard_normal((n, width)),
        "skewed": lambda: rng.standard_normal((n, width)) ** 5,
        "positive": lambda: rng.random((n, width)) + 0.5,
        "alike": lambda: 1 + 1e-6 * rng.standard_normal((n, width)),
        "whole": lambda: rng.integers(0, 256, (n, width)).astype(float),
        "signed": lambda: rng.integers(-127, 128, (n, width)).astype(float),
        "tiny": lambda: rng.standard_normal((n, width)) * 10.0 ** rng.integers(-75, -60),
        "large": lambda: rng.integers(0, 2**20, (n, width)).astype(float),
    }[kind]()
    X[rng.integers(n)] = 0
    return X * rng.choice([1.0, 1e-3, 1e3]) if kind not in ("whole", "signed") else X


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(SIMILARITIES),
    st.sampled_from(["normal", "skewed", "positive", "alike", "whole", "signed", "tiny", "large"]),
    st.sampled_from([np.float32, np.float64]),
    st.integers(1, 90),
    st.integers(0, 2**32),
)
def test_no_score_exceeds_its_bound(similarity, kind, dtype, width, seed):
    dtype = np.float64 if kind == "tiny" else dtype
    X = rows_for(similarity, kind, 12, width, np.random.default_rng(seed)).astype(dtype)
    squares = (X.astype(np.float64) ** 2).sum(axis=1)
    assume(squares[X.any(axis=1)].min(initial=1.0) > 1e-149)  # cosine refuses shorter rows
    space = space_of(X, resolve(similarity))
    assert isinstance(space, RowSpace)
    i, j = all_pairs(12)
    bounds = space.bounds()
    if kind == "tiny" and bounds is None:
        return
    assert bounds is not None
    scores = space.score(i, j)
    assert np.all(bounds.of(i, j) >= scores)
    if bounds.exact:
        np.testing.assert_array_equal(bounds.of(i, j), scores)
    whole = kind in ("whole", "signed") or similarity == "jaccard"
    assert bounds.exact == (whole and space._measure.statistic == "dot") or not X.any()


def test_bounds_are_close_on_images(fashion):
    """Rounding to 255 steps moves a cosine by less than a hundredth."""
    X = fashion[0][:300].astype(np.float32) / 255
    space = space_of(X, resolve("cosine"))
    i, j = all_pairs(300)
    gap = space.bounds().of(i, j) - space.score(i, j)
    assert gap.min() >= 0
    assert gap.max() < 0.01


@pytest.mark.parametrize("similarity", SIMILARITIES)
@pytest.mark.parametrize("kind", ["normal", "whole"])
@pytest.mark.parametrize("limit", [0, 1 << 16])
def test_bounds_lose_no_neighbor(similarity, kind, limit, monkeypatch):
    """Whether they rule out pairs or let every pair through, the graph and the count are the same.

    Without memory of pairs (a limit of 0) objects are renumbered, too.
    """
    monkeypatch.setattr(descent, "MANY", 0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", limit)
    X = rows_for(similarity, kind, 700, 20, np.random.default_rng(0))
    tight = covey.neighbor_graph(X, 10, similarity, "nn-descent", random_state=0)
    monkeypatch.setattr(NeighborLists, "drop_hopeless", lambda lists, i, j, bounds: i.size)
    loose = covey.neighbor_graph(X, 10, similarity, "nn-descent", random_state=0)
    np.testing.assert_array_equal(tight.indices, loose.indices)
    np.testing.assert_array_equal(tight.similarities, loose.similarities)
    assert tight.n_evaluations == loose.n_evaluations
    i = np.repeat(np.arange(700, dtype=np.int32), 10)
    scores = space_of(X, resolve(similarity)).score(i, tight.indices.ravel())
    np.testing.assert_array_equal(tight.similarities.ravel(), scores)
    assert recall(tight, covey.neighbor_graph(X, 10, similarity, "exact")) > 0.9


def recall(graph, exact):
    """Of equally similar neighbors any will do."""
    return np.mean(graph.similarities >= exact.similarities[:, -1:])


@pytest.mark.parametrize("limit", [0, 1 << 16])
def test_threads_change_nothing_with_bounds(limit, monkeypatch):
    monkeypatch.setattr(descent, "MANY", 0)
    monkeypatch.setattr(pair_memory, "BITMAP_LIMIT", limit)
    X = np.random.default_rng(0).standard_normal((3000, 20)).astype(np.float32)
    one, two = (covey.neighbor_graph(X, 10, method="nn-descent", random_state=0, n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.indices, two.indices)
    np.testing.assert_array_equal(one.similarities, two.similarities)
    assert one.n_evaluations == two.n_evaluations


@pytest.mark.parametrize("similarity", ["hamming", "ruzicka", covey.from_distance("euclidean", "exponential")])
def test_where_there_are_no_bounds(similarity):
    X = np.random.default_rng(0).integers(0, 3, (30, 4)).astype(float)
    assert space_of(X, resolve(similarity)).bounds() is None


@pytest.mark.parametrize("scale", [1e-71, 1e-100, 1e-158, 1e-170, 5e-324])
def test_rows_too_short_to_bound(scale):
    X = np.random.default_rng(0).integers(0, 256, (6, 20)).astype(float)
    X[2] = scale
    for similarity in ("dot", "euclidean"):
        assert space_of(X, resolve(similarity)).bounds() is None


def test_rows_too_wide_for_32_bits_have_no_bounds():
    X = np.full((2, _bounds.WIDEST + 1), 255.0, dtype=np.float32)
    assert space_of(X, resolve("cosine")).bounds() is None
    widest = space_of(X[:, 1:], resolve("dot")).bounds()
    assert widest is not None
    assert widest.of(*all_pairs(2))[1] == 255.0**2 * _bounds.WIDEST
