"""Shortlists never lose an object that belongs to the k best, and hold few others in the end."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from covey.graph import exact, shortlists
from covey.graph.exact import nearest, nearest_others
from covey.graph.shortlists import Shortlists, select_largest
from covey.similarity.space import Space
from tests.forms import space_of


def search(estimates, slack, k, parts, *, transposed, rng):
    """Offer all columns of a matrix to its rows, part by part in random order; the pairs that spill, and those left."""
    n, m = estimates.shape
    lists = Shortlists.empty(n, k)
    cuts = np.unique([0, *rng.integers(0, m + 1, parts - 1), m])
    found = []
    for at in rng.permutation(cuts.size - 1):
        columns = slice(int(cuts[at]), int(cuts[at + 1]))
        tile, rows = estimates[:, columns], slice(0, n)
        if transposed:
            found.append(lists.offer(np.ascontiguousarray(tile.T), slack, columns, rows, transposed=True))
        else:
            found.append(lists.offer(tile, slack, rows, columns, transposed=False))
    return found, lists.left(slice(0, n), slack)


@given(
    seed=st.integers(0, 10**6),
    k=st.integers(1, 40),
    m=st.integers(1, 300),
    levels=st.sampled_from([1, 2, 5, 1000]),
    slack=st.sampled_from([0.0, 0.01, 0.2]),
    transposed=st.booleans(),
)
def test_all_that_may_be_among_the_k_best_is_found_once(seed, k, m, levels, slack, transposed):
    rng = np.random.default_rng(seed)
    estimates = (rng.integers(0, levels, (4, m)) / levels).astype(np.float32)
    estimates[rng.random((4, m)) < 0.05] = -np.inf
    spilled, (i, j) = search(estimates, np.full(4, slack), k, 5, transposed=transposed, rng=rng)
    i, j = (np.concatenate([side, *others]) for side, others in zip((i, j), zip(*spilled, strict=True), strict=True))
    found = set(zip(i.tolist(), j.tolist(), strict=True))
    assert len(found) == i.size
    for row in range(4):
        own = estimates[row].astype(float)
        pairs = np.flatnonzero(own > -np.inf)
        hurdle = np.sort(own[pairs])[-k] - 2 * slack if pairs.size >= k else -np.inf
        assert {(row, column) for column in pairs[own[pairs] >= hurdle].tolist()} <= found
        assert all(own[column] > -np.inf for x, column in found if x == row)


def test_what_is_left_are_the_k_best_and_what_estimates_cannot_tell_from_them():
    rng = np.random.default_rng(0)
    estimates = rng.random((20, 3000))
    spilled, (i, _) = search(estimates, np.full(20, 1e-3), 25, 6, transposed=False, rng=rng)
    assert sum(part[0].size for part in spilled) == 0
    within = (estimates >= np.sort(estimates, axis=1)[:, -25:-24] - 2e-3).sum(axis=1)
    assert np.bincount(i).tolist() == within.tolist()


def test_equal_estimates_spill_instead_of_overflowing():
    """All 1 000 others may be among the three best."""
    spilled, (i, j) = search(np.zeros((2, 1000)), np.zeros(2), 3, 4, transposed=False, rng=np.random.default_rng(0))
    assert sum(part[0].size for part in spilled) > 1900
    assert sum(part[0].size for part in spilled) + i.size == 2000
    assert max(j.max(), *(part[1].max() for part in spilled)) == 999


@given(st.lists(st.integers(0, 6), min_size=1, max_size=50), st.data())
def test_selection_finds_the_kth_largest(values, data):
    k = data.draw(st.integers(1, len(values)))
    found = select_largest(np.array(values, dtype=float), np.empty(len(values)), k)
    assert found == sorted(values, reverse=True)[k - 1]


class Rough(Space):
    """Objects whose estimates are off by up to .1, and which counts how many pairs it has to score."""

    screened = True

    def __init__(self, scores, seed):
        super().__init__(*scores.shape, symmetric=False, n_jobs=2)
        self._scores = scores
        self._estimates = scores + np.random.default_rng(seed).uniform(-0.1, 0.1, scores.shape)
        self.n_scored = 0

    def _evaluate(self, i, j):
        self.n_scored += i.size
        return self._scores[i, j]

    def estimates(self, rows, columns):
        return self._estimates[rows, columns].copy()

    def slack(self, rows):
        return np.full(len(range(*rows.indices(self.n_left))), 0.1)


@pytest.mark.parametrize("levels", [4, 10**6])
@pytest.mark.parametrize(("k", "tile"), [(1, 16), (7, 50), (60, 1024), (100, 64)])
def test_rough_estimates_find_the_very_same_lists(k, tile, levels, monkeypatch):
    monkeypatch.setattr(exact, "TILE", tile)
    rng = np.random.default_rng(k)
    scores = rng.integers(0, levels, (70, 300)) / levels
    lists = nearest(Rough(scores, k), k)
    order = np.lexsort((np.broadcast_to(np.arange(300), scores.shape), -scores), axis=1)[:, :k]
    np.testing.assert_array_equal(lists.indices, order)
    np.testing.assert_array_equal(lists.similarities, np.take_along_axis(scores, order, axis=1))


def test_few_pairs_are_scored_although_tiles_are_small(monkeypatch):
    """A tile that knows nothing of those before it would have every object score k pairs of its own."""
    monkeypatch.setattr(exact, "TILE", 64)
    space = Rough(100 * np.random.default_rng(1).random((70, 3000)), 0)
    nearest(space, 30)
    assert space.n_scored < 70 * 45


@pytest.mark.parametrize("room", [1, 32])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_the_room_of_shortlists_changes_no_list(room, n_jobs, monkeypatch):
    monkeypatch.setattr(shortlists, "LEAST_ROOM", room)
    rows = np.random.default_rng(5).integers(0, 3, (400, 6)).astype(float)
    found = nearest_others(space_of(rows, "euclidean", n_jobs=n_jobs), 9)[0]
    scores = -((rows[:, None] - rows) ** 2).sum(axis=2)
    np.fill_diagonal(scores, -np.inf)
    order = np.lexsort((np.broadcast_to(np.arange(400), scores.shape), -scores), axis=1)[:, :9]
    np.testing.assert_array_equal(found.indices, order)
