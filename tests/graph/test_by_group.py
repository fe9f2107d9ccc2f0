"""The nearest of each group, and of each side, are those that a look at all pairs finds, however the work is cut up."""

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.graph import by_group
from covey.graph.by_group import Sides, nearest_of_groups
from covey.graph.lists import NeighborLists
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from tests.forms import similarity_matrix

RNG = np.random.default_rng(0)
# Small whole numbers make many ties, which go to the lowest index.
QUERIES, MEMBERS = RNG.integers(0, 3, (70, 4)).astype(float), RNG.integers(0, 3, (50, 4)).astype(float)
GROUPS = np.concatenate([np.arange(6), RNG.integers(0, 6, 44)])


def product(a, b):
    return float(a @ b)


def space_of_queries(similarity, n_jobs=1):
    return collect(MEMBERS, resolve(similarity)).space_of_queries(QUERIES, n_jobs=n_jobs)


def nearest_by_group():
    """For each query and group (similarity, index), the most similar first, then the lowest index."""
    products = QUERIES @ MEMBERS.T
    best = [[min((-row[m], m) for m in np.flatnonzero(group == GROUPS)) for group in range(6)] for row in products]
    return [[(-negative, int(index)) for negative, index in row] for row in best]


@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("similarity", ["dot", product])
def test_every_group_has_its_nearest(similarity, n_jobs, tile, monkeypatch):
    monkeypatch.setattr(by_group, "TILE", tile)
    space = space_of_queries(similarity, n_jobs)
    indices, similarities = nearest_of_groups(space, GROUPS)
    expected = nearest_by_group()
    assert indices.tolist() == [[index for _, index in row] for row in expected]
    assert similarities.tolist() == [[value for value, _ in row] for row in expected]
    assert space.n_evaluations == len(QUERIES) * len(MEMBERS)


@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize("n_best", [1, 2, 5])
def test_the_best_groups_are_right_and_the_others_do_not_reach_them(n_best, tile, monkeypatch):
    monkeypatch.setattr(by_group, "TILE", tile)
    indices, similarities = nearest_of_groups(space_of_queries("dot"), GROUPS, n_best)
    for found, values, row in zip(indices.tolist(), similarities.tolist(), nearest_by_group(), strict=True):
        wanted = sorted((value for value, _ in row), reverse=True)[n_best - 1]
        for index, value, (true_value, true_index) in zip(found, values, row, strict=True):
            if true_value >= wanted:
                assert (index, value) == (true_index, true_value)
            else:
                assert value < wanted


def test_groups_that_cannot_be_among_the_best_are_not_scored():
    """Otherwise `explain` would cost as much as evidence for all classes."""
    indices, _ = nearest_of_groups(space_of_queries("dot"), GROUPS, 1)
    assert (indices < 0).any()


N = 90
ROWS = RNG.integers(0, 3, (N, 4)).astype(float)
CLASSES = RNG.integers(0, 4, N)
RIGHT = np.sort(RNG.permutation(N)[:40])


FORMS = {
    "dense": lambda: (ROWS, "dot"),
    "csr": lambda: (sp.csr_array(ROWS), "dot"),
    "callable": lambda: (ROWS, product),
    "matrix": lambda: (ROWS @ ROWS.T + np.eye(N) * 99, "precomputed"),
}


def offered(form, length=5, left=None, n_jobs=None, parts=1):
    """The sides after the right side was offered, in parts, and the number of evaluations."""
    X, similarity = FORMS[form]()
    collection = collect(X, resolve(similarity)).prepared()
    left = np.arange(N) if left is None else left
    found, n_evaluations = Sides(CLASSES, length), 0
    for part in np.array_split(RIGHT, parts):
        space = collection.take(left).against(collection.take(part), n_jobs)
        found.offer(space, left.astype(np.int32), part.astype(np.int32))
        n_evaluations += space.n_evaluations
    return found, n_evaluations


def nearest_by_side(length, left, s):
    """(similarity, index) of the best others on each side: the most similar first, then the lowest index."""
    found = {}
    for x in left:
        for side, same in enumerate((True, False)):
            others = [r for r in RIGHT if r != x and (CLASSES[r] == CLASSES[x]) == same]
            found[2 * x + side] = sorted(others, key=lambda r: (-s[x, r], r))[:length]
    return found


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("tile", [7, 1024])
@pytest.mark.parametrize(("length", "parts", "n_jobs"), [(1, 1, 1), (5, 3, 2), (50, 1, -1)])
def test_each_side_holds_its_nearest_and_every_pair_counts_once(form, tile, length, parts, n_jobs, monkeypatch):
    monkeypatch.setattr(by_group, "TILE", tile)
    s = ROWS @ ROWS.T
    for left in (np.arange(N), np.array([3, 8, 55, RIGHT[0]])):
        found, n_evaluations = offered(form, length, left, n_jobs, parts)
        lists = found.lists
        for number, expected in nearest_by_side(length, left, s).items():
            filled = lists.indices[number] >= 0
            assert lists.indices[number][filled].tolist() == expected
            assert lists.similarities[number][filled].tolist() == s[number // 2, expected].tolist()
        untouched = np.setdiff1d(np.arange(2 * N), np.concatenate([2 * left, 2 * left + 1]))
        assert (lists.indices[untouched] == -1).all()
        assert n_evaluations == left.size * RIGHT.size - np.isin(left, RIGHT).sum()


def test_what_is_offered_again_changes_nothing():
    found, _ = offered("dense")
    indices, similarities = found.lists.indices.copy(), found.lists.similarities.copy()
    X, similarity = FORMS["dense"]()
    collection = collect(X, resolve(similarity)).prepared()
    space = collection.against(collection.take(RIGHT))
    found.offer(space, np.arange(N, dtype=np.int32), RIGHT.astype(np.int32))
    np.testing.assert_array_equal(found.lists.indices, indices)
    np.testing.assert_array_equal(found.lists.similarities, similarities)


def test_lists_that_were_cleared_are_filled_again():
    found, _ = offered("dense")
    indices = found.lists.indices.copy()
    X, similarity = FORMS["dense"]()
    collection = collect(X, resolve(similarity)).prepared()
    rows = np.array([0, 3, 50], dtype=np.int32)
    found.clear(rows)
    assert (found.lists.indices[2 * rows] == -1).all()
    found.offer(collection.take(rows.astype(np.intp)).against(collection.take(RIGHT)), rows, RIGHT.astype(np.int32))
    np.testing.assert_array_equal(found.lists.indices, indices)


@pytest.mark.parametrize("symmetric", [True, False])
def test_an_object_is_compared_as_the_left_one(symmetric):
    """A query is the first argument of the similarity when it is classified, so that s(x, r) must count here, too."""
    s = similarity_matrix(N, RNG, symmetric)
    collection = collect(s, resolve("precomputed"))
    found = Sides(CLASSES, 3)
    found.offer(collection.against(collection.take(RIGHT)), np.arange(N, dtype=np.int32), RIGHT.astype(np.int32))
    lists = found.lists
    for number, expected in nearest_by_side(3, np.arange(N), s).items():
        assert lists.indices[number][lists.indices[number] >= 0].tolist() == expected


@pytest.mark.parametrize("tile", [17, 1024])
@pytest.mark.parametrize("parts", [1, 5])
@pytest.mark.parametrize("csr", [False, True])
@pytest.mark.parametrize("similarity", ["cosine", "dot", "euclidean", "ruzicka", "jaccard", "manhattan", "negative"])
def test_screening_loses_no_object_whatever_the_similarity(similarity, csr, parts, tile, monkeypatch):
    """Estimates are off by their slack and need not be on the scale of the scores, which fill the lists."""
    monkeypatch.setattr(by_group, "TILE", tile)
    rng = np.random.default_rng(1)
    rows = rng.poisson(0.7, (200, 12)).astype(np.float32) + np.eye(12)[0]
    rows = (rows > 0).astype(float) if similarity == "jaccard" else rows
    own = {
        "manhattan": covey.from_distance("manhattan"),
        "negative": covey.from_distance("sqeuclidean", "negative"),
    }
    classes, right = rng.integers(0, 3, 200), np.sort(rng.permutation(200)[:90])
    X = sp.csr_array(rows) if csr else rows
    collection = collect(X, resolve(own.get(similarity, similarity))).prepared()
    screened, plain = Sides(classes, 4), NeighborLists.empty(400, 4)
    every = np.arange(200, dtype=np.int32)
    for part in np.array_split(rng.permutation(right), parts):
        space = collection.against(collection.take(part))
        screened.offer(space, every, part.astype(np.int32))
    i, j = (side.ravel().astype(np.int32) for side in np.meshgrid(every, np.arange(right.size), indexing="ij"))
    scores = collection.against(collection.take(right)).score(i, j)
    different = i != right[j]
    numbers = (2 * i + (classes[i] != classes[right[j]])).astype(np.int32)
    plain.offer(numbers[different], right[j][different].astype(np.int32), scores[different])
    np.testing.assert_array_equal(screened.lists.indices, plain.indices)
    np.testing.assert_array_equal(screened.lists.similarities, plain.similarities)
