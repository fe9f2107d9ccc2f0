"""Merging the graphs of two groups: only pairs across are scored, none of them twice, and few neighbors are missed."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.graph import exact, pair_memory
from covey.graph.build import build
from covey.graph.exact import nearest_across
from covey.graph.lists import NeighborLists
from covey.graph.merge import length_of_lists, merge
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.forms import Counted, letters, similarity_matrix, space_of


def ranked(similarities, others):
    """The others by the total order: best first, and of equal ones the lowest number first."""
    return sorted(others, key=lambda x: (-similarities[x], x))


def assert_nearest(lists, similarities, k):
    """Assert that the lists hold the k best columns of each row, in order."""
    n = similarities.shape[1]
    for x, row in enumerate(similarities):
        expected = ranked(row, range(n))[:k]
        assert lists.indices[x, : len(expected)].tolist() == expected
        assert lists.similarities[x, : len(expected)].tolist() == row[expected].tolist()
        assert (lists.indices[x, len(expected) :] == -1).all()


def two_sides(X, similarity, left, right):
    """Both spaces of a collection's members at `left` and `right`, and all of their similarities."""
    whole = collect(X, resolve(similarity))
    a, b = whole.take(left), whole.take(right)
    i, j = (grid.ravel().astype(np.int32) for grid in np.meshgrid(left, right, indexing="ij"))
    space = whole.space()
    forth, back = (space.score(*pair).reshape(left.size, right.size) for pair in ((i, j), (j, i)))
    return a.against(b), b.against(a), forth, back.T


rows = np.random.default_rng(0).integers(0, 4, (60, 5)).astype(float)
ACROSS = {
    "dense": (rows, "cosine"),
    "screened": (np.random.default_rng(1).normal(size=(60, 5)), "euclidean"),
    "single precision": (rows.astype(np.float32), "dot"),
    "CSR": (sp.csr_array(rows), "cosine"),
    "bits": (rows > 1, "jaccard"),
    "words": ([f"{'abcdefgh'[n % 8] * (n % 5 + 1)}{n}" for n in range(60)], letters),
    "asymmetric": (
        list(range(60)),
        covey.Similarity(
            Counted(similarity_matrix(60, np.random.default_rng(2), False, 5)), symmetric=False, trusted=True
        ),
    ),
}


@pytest.mark.parametrize("form", ACROSS)
@settings(max_examples=15)
@given(
    n_left=st.integers(1, 30), n_right=st.integers(1, 30), k=st.integers(1, 35), seed=st.integers(0, 99), data=st.data()
)
def test_the_nearest_across_are_those_of_all_pairs(form, n_left, n_right, k, seed, data):
    X, similarity = ACROSS[form]
    order = np.random.default_rng(seed).permutation(60)
    left, right = np.sort(order[:n_left]), np.sort(order[n_left : n_left + n_right])
    forward, backward, forth, back = two_sides(X, similarity, left, right)
    symmetric = resolve(similarity).symmetric
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exact, "TILE", data.draw(st.sampled_from([4, 7, 1024])))
        found = nearest_across(forward, backward, k, symmetric=symmetric)
    assert_nearest(found[0], forth, min(k, n_right))
    assert_nearest(found[1], back, min(k, n_left))
    assert forward.n_evaluations + backward.n_evaluations == n_left * n_right * (1 if symmetric else 2)


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_callable_is_called_once_for_each_pair_across(symmetric):
    counted = Counted(similarity_matrix(50, np.random.default_rng(0), symmetric), symmetric)
    whole = collect(list(range(50)), resolve(counted))
    left, right = whole.take(np.arange(0, 50, 2)), whole.take(np.arange(1, 50, 2))
    nearest_across(left.against(right), right.against(left), 6, symmetric=symmetric)
    across = {(a, b) for a in range(0, 50, 2) for b in range(1, 50, 2)}
    if not symmetric:
        across |= {(b, a) for a, b in across}
    assert len(counted.pairs) == len(set(counted.pairs)) == len(across)
    assert set(counted.pairs) == {tuple(sorted(pair)) if symmetric else pair for pair in across}


def merged(space, on_right, k, seed, similarities):
    """The merge of two exact graphs, which are made from a matrix of all similarities, with lists of some length."""
    length = length_of_lists(k)
    lists = NeighborLists.empty(on_right.size, length)
    for side in (np.flatnonzero(~on_right), np.flatnonzero(on_right)):
        for x in side.tolist():
            best = ranked(similarities[x], (y for y in side.tolist() if y != x))[:length]
            lists.indices[x, : len(best)], lists.similarities[x, : len(best)] = best, similarities[x][best]
    return merge(space, on_right, lists, k, np.random.default_rng(seed), covey.NNDescent())


@settings(max_examples=30)
@given(
    n=st.integers(2, 90),
    share=st.sampled_from([0.05, 0.3, 0.5, 0.9]),
    k=st.integers(1, 12),
    seed=st.integers(0, 999),
    symmetric=st.booleans(),
    levels=st.sampled_from([None, 4]),
    bitmap=st.booleans(),
)
def test_a_merge_scores_no_pair_within_a_group_and_none_twice(n, share, k, seed, symmetric, levels, bitmap):
    rng = np.random.default_rng(seed)
    values = similarity_matrix(n, rng, symmetric, levels)
    on_right = rng.random(n) < share
    on_right[:2] = [True, False]
    counted = Counted(values, symmetric)
    with pytest.MonkeyPatch.context() as patch:
        if not bitmap:
            patch.setattr(pair_memory, "BITMAP_LIMIT", 0)
        space = space_of(list(range(n)), counted)
        lists, recall = merged(space, on_right, min(k, n - 1), seed, values)
    assert all(on_right[a] != on_right[b] for a, b in counted.pairs)
    assert len(counted.pairs) == len(set(counted.pairs)) == space.n_evaluations
    assert 0 <= recall.value <= 1
    for x in range(n):
        listed = lists.indices[x][lists.indices[x] >= 0].tolist()
        assert x not in listed
        assert len(set(listed)) == len(listed)
        assert listed == ranked(values[x], listed)
        assert lists.similarities[x][: len(listed)].tolist() == values[x][listed].tolist()
        within = ranked(values[x], [y for y in range(n) if on_right[y] == on_right[x] and y != x])
        assert set(within) & set(ranked(values[x], range(n))[: k + 1]) <= set(listed)  # good neighbors are kept


def recall_of(found, truth, k):
    return np.mean([len(set(a[:k]) & set(b[:k])) / k for a, b in zip(found.tolist(), truth.tolist(), strict=True)])


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01])
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_a_merge_finds_nearly_all_neighbors(share, similarity):
    rng = np.random.default_rng(1)
    X, k = rng.normal(size=(3000, 8)), 10
    on_right = rng.random(3000) < share
    space = space_of(X, similarity)
    lists = NeighborLists.empty(3000, length_of_lists(k))
    for side in (np.flatnonzero(~on_right), np.flatnonzero(on_right)):
        graph = build(space_of(X[side], similarity), length_of_lists(k), covey.NNDescent(), rng)
        width = graph.indices.shape[1]
        lists.indices[side, :width] = np.where(graph.indices >= 0, side[graph.indices], -1)
        lists.similarities[side, :width] = graph.similarities
    lists, recall = merge(space, on_right, lists, k, rng, covey.NNDescent())
    truth = covey.neighbor_graph(X, k, similarity, method="exact").indices
    found = recall_of(lists.indices, truth, k)
    assert found >= 0.95
    assert abs(found - recall.value) < 0.05
    assert space.n_evaluations < 3000 * 2999 / 4
