"""The screen: it keeps pairs out by estimates, forgets which ones, and changes nothing about counts and threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.graph import descent, pair_memory, screen
from covey.graph.evaluator import Evaluator
from covey.graph.lists import NeighborLists
from covey.graph.screen import Estimator, Screen, move
from covey.runtime.executor import Executor
from covey.similarity.measures import resolve
from tests.forms import Counted, compiled_cosine, space_of


def rows_of_low_rank(n, rank, seed=0):
    rng = np.random.default_rng(seed)
    return rng.random((n, rank)) @ rng.random((rank, 3 * rank))


def moved_slowly(vectors, landmarks, columns, indices, similarities):
    moved = []
    for x, start in enumerate(vectors):
        vector = start.copy()
        known = [(y, columns[x, t]) for t, y in enumerate(landmarks) if y != x]
        known += [(y, similarities[x, t]) for t, y in enumerate(indices[x]) if y >= 0]
        for _ in range(screen.PASSES):
            for y, similarity in known:
                other = vectors[y]
                vector += screen.STEP * (similarity - vector @ other) / (other @ other) * other
        moved.append((vector + start) / 2)
    return np.array(moved)


def test_vectors_move_as_the_slow_version_moves_them():
    rng = np.random.default_rng(0)
    vectors, landmarks = rng.normal(size=(30, 4)), np.array([3, 7, 20], np.int32)
    columns, similarities = rng.random((30, 3)), rng.random((30, 5))
    indices = rng.integers(-1, 30, (30, 5)).astype(np.int32)
    moved = np.zeros((30, 4), np.float32)
    single = [part.astype(np.float32) for part in (vectors, columns, similarities)]
    for start, stop in ((0, 11), (11, 30)):
        move(single[0], landmarks, single[1], indices, single[2], start, stop, moved)
    np.testing.assert_allclose(moved, moved_slowly(vectors, landmarks, columns, indices, similarities), atol=1e-4)


def test_a_pair_passes_if_it_may_enter_one_of_both_lists():
    """With exact estimates, and nothing that is known to be off, bars are the last similarities of the lists."""
    X = np.random.default_rng(0).random((40, 3))
    values = X @ X.T
    np.fill_diagonal(values, -1)
    lists = NeighborLists.empty(40, 4)
    lists.indices[:] = np.argsort(-values, axis=1)[:, 2:6]  # the two best of each are still missing
    lists.similarities[:] = np.take_along_axis(values, lists.indices, axis=1)
    landmarks = np.arange(3, dtype=np.int32)
    looking = Screen(Estimator(X), landmarks, X @ X[:3].T, 1.0, Executor(1))
    looking.adapt(lists, 0.0)
    i, j = np.triu_indices(40, 1)
    last = lists.similarities[:, -1]
    passed = looking.passed_by(i.astype(np.int32), j.astype(np.int32))
    clear = np.abs(values[i, j] - np.minimum(last[i], last[j])) > 1e-4
    np.testing.assert_array_equal(passed[clear], (values[i, j] > np.minimum(last[i], last[j]))[clear])


def test_what_is_kept_out_is_neither_counted_nor_remembered():
    values = np.random.default_rng(0).random((50, 50))
    values = (values + values.T) / 2
    counted = Counted(values)
    evaluator = Evaluator(space_of(list(range(50)), resolve(counted)), 5)
    i, j = (part.astype(np.int32) for part in np.triu_indices(50, 1))

    class Half:
        def passed_by(self, i, j):
            return (i + j) % 2 == 0

    evaluator.screen = Half()
    evaluator.meet_likely(i, j)
    passed = (i + j) % 2 == 0
    assert sorted(counted.pairs) == sorted(zip(i[passed].tolist(), j[passed].tolist(), strict=True))
    np.testing.assert_array_equal(evaluator.met.add(i, j), ~passed)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 70), st.integers(0, 70)).filter(lambda s: s[1] != s[2])))
def test_a_bitmap_forgets_exactly_what_is_removed(steps):
    pairs, expected = pair_memory.BitmapPairs(71), set()
    for adds, a, b in steps:
        i, j = np.array([[a], [b]], dtype=np.int32)
        if adds:
            assert pairs.add(i, j).tolist() == [frozenset((a, b)) not in expected]
            expected.add(frozenset((a, b)))
        else:
            pairs.remove(i, j)
            expected.discard(frozenset((a, b)))


def test_other_memories_cannot_forget_single_pairs():
    pair = np.array([[0], [1]], dtype=np.int32)
    for memory in (pair_memory.HashedPairs(9), pair_memory.ForgottenPairs(9)):
        with pytest.raises(RuntimeError, match="Only a bitmap"):
            memory.remove(*pair)


def test_threads_and_blocks_change_nothing(monkeypatch):
    X = rows_of_low_rank(1500, 12)
    one = covey.neighbor_graph(X, 10, compiled_cosine, "nn-descent", random_state=0)
    monkeypatch.setattr(descent, "OWNERS", 8)
    monkeypatch.setattr(screen, "CHUNK_ROWS", 64)
    many = covey.neighbor_graph(X, 10, compiled_cosine, "nn-descent", random_state=0, n_jobs=8)
    np.testing.assert_array_equal(many.indices, one.indices)
    np.testing.assert_array_equal(many.similarities, one.similarities)
    assert (many.n_evaluations, many.estimated_recall) == (one.n_evaluations, one.estimated_recall)
    monkeypatch.setattr(descent, "FEW", 10**9)
    forest = covey.neighbor_graph(X, 10, compiled_cosine, "nn-descent", random_state=0)
    assert one.n_evaluations < 0.9 * forest.n_evaluations  # so there were landmarks, and a screen


@pytest.mark.parametrize("symmetric", [True, False])
def test_a_screen_asks_for_no_pair_twice(symmetric):
    X = rows_of_low_rank(1200, 6)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    values = X @ X.T
    values = (values + values.T) / 2 if symmetric else values * np.linspace(0.9, 1, 1200)
    counted = Counted(values, symmetric)
    graph = covey.neighbor_graph(range(1200), 10, counted, "nn-descent", random_state=0)
    assert graph.n_evaluations == len(counted.calls) == len(set(counted.pairs))
    best = -np.sort(-(values - 9 * np.eye(1200)), axis=1)[:, 9:10]
    assert np.mean(graph.similarities >= best) > 0.93
