"""Landmarks: estimates that are exact where they can be, and no use made of them where they tell nothing."""

import numpy as np
import pytest

import covey
from covey.graph import descent
from covey.graph import starts as _landmarks
from covey.graph.evaluator import Evaluator
from covey.graph.screen import Estimator
from covey.graph.starts import Columns, passes_trial, start_from_landmarks
from covey.similarity.measures import resolve
from covey.similarity.space import draw_pairs
from tests.forms import Counted, similarity_matrix, space_of


def low_rank(n, rank=4, seed=0):
    """Similarities of rank `rank`, in [0, 1] and with diagonal 1."""
    X = np.random.default_rng(seed).random((n, rank))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    values = np.minimum(X @ X.T, 1)
    values = (values + values.T) / 2
    np.fill_diagonal(values, 1)
    return values


def filled_columns(space, landmarks):
    columns = Columns(space, landmarks, None)
    everyone = np.arange(space.n_left, dtype=np.int32)
    columns.enter(space.score_pairs(*columns.missing(everyone, landmarks.size)))
    return columns


def test_similarities_of_low_rank_are_estimated_exactly():
    """Nystrom's approximation from at least `rank` landmarks in general position is the matrix itself."""
    values = low_rank(60)
    counted = Counted(values)
    space = space_of(list(range(60)), resolve(counted))
    columns = filled_columns(space, np.array([3, 14, 15, 9, 26, 5], np.int32))
    assert len(counted.calls) == len(set(counted.pairs)) == 6 * 54 + 15
    estimator = Estimator(columns.vectors(np.arange(6)))
    i, j = np.indices((60, 60)).reshape(2, -1).astype(np.int32)
    np.testing.assert_allclose(estimator.estimate(i, j).reshape(60, 60), values, atol=2e-3)
    i, j = estimator.candidates(7, None)
    best = np.argsort(-(values - 2 * np.eye(60)), axis=1)[:, :7]
    assert np.mean([np.isin(a, b).mean() for a, b in zip(j.reshape(60, 7), best, strict=True)]) > 0.9


def test_known_pairs_are_not_missing():
    space = space_of(list(range(50)), resolve(Counted(low_rank(50))))
    known = space.score_pairs(*draw_pairs(50, 200, np.random.default_rng(0)))
    columns = Columns(space, np.arange(10, dtype=np.int32), known)
    missing = set(zip(*(part.tolist() for part in columns.missing(np.arange(50, dtype=np.int32), 10)), strict=True))
    unordered = {tuple(sorted(pair)) for pair in missing}
    assert len(unordered) == len(missing)
    assert not unordered & set(zip(known.i.tolist(), known.j.tolist(), strict=True))
    landmarks_first = {(i, j) for i in range(10) for j in range(50) if i < j}
    assert unordered | set(zip(known.i.tolist(), known.j.tolist(), strict=True)) >= landmarks_first


@pytest.mark.parametrize(
    ("values", "useful"),
    [
        (low_rank(600, rank=15), True),
        (similarity_matrix(600, np.random.default_rng(0)), False),
        (np.ones((600, 600)), False),
    ],
    ids=["low rank", "noise", "constant"],
)
def test_a_probe_tells_whether_landmarks_are_of_use(values, useful):
    counted = Counted(values)
    evaluator = Evaluator(space_of(list(range(600)), resolve(counted)), 10)
    assert start_from_landmarks(evaluator, None, np.random.default_rng(0)) == useful
    if not useful:
        probed = _landmarks.PROBED_OBJECTS + _landmarks.PROBED_LANDMARKS
        assert len(counted.calls) <= probed * _landmarks.PROBED_LANDMARKS


@pytest.mark.parametrize("width", [1, 2])
def test_a_trial_refuses_landmarks_where_trees_are_sharp(width):
    """In few dimensions estimates explain nearly all of the variance, but cannot tell neighbors from others."""
    X = np.random.default_rng(0).random((2000, width))
    values = 1 / (1 + np.abs(X[:, None] - X).sum(axis=2))
    space = space_of(values, resolve("precomputed"))
    columns = filled_columns(space, np.random.default_rng(1).permutation(2000)[:24].astype(np.int32))
    assert columns.explained(np.arange(200, dtype=np.int32), np.arange(18), np.arange(18, 24)) > 0.8
    assert not passes_trial(columns, 10, np.random.default_rng(0))
    assert not start_from_landmarks(Evaluator(space, 10), None, np.random.default_rng(0))


def test_hits_count_equally_similar_objects_alike():
    values = np.full((30, 30), 0.5)
    np.fill_diagonal(values, 1)
    columns = filled_columns(space_of(values, resolve("precomputed")), np.arange(4, dtype=np.int32))
    assert columns.hits(0, np.arange(20, 30), 10) == 1
    assert columns.hits(0, np.arange(20, 25), 10) == 0.5


@pytest.mark.parametrize(("n", "k"), [(500, 10), (900, 100), (600, 400)])
def test_long_lists_need_many_landmarks_but_leave_objects_to_probe(n, k):
    values = low_rank(n)
    graph = covey.neighbor_graph(values, k, "precomputed", "nn-descent", random_state=0)
    exact = covey.neighbor_graph(values, k, "precomputed", "exact")
    assert graph.method == "nn-descent"
    assert np.mean([np.isin(a, b).mean() for a, b in zip(graph.indices, exact.indices, strict=True)]) > 0.95


@pytest.mark.parametrize("symmetric", [True, False])
def test_no_pair_is_evaluated_twice_on_the_way(symmetric):
    """Homogeneity, probe, columns, candidates, rounds and controls share what they know."""
    values = low_rank(700)
    values = values if symmetric else np.triu(values) + 0.9 * np.tril(values, -1)
    counted = Counted(values, symmetric)
    selector = covey.CRS(10, similarity=counted, random_state=0).fit(range(700))
    assert selector.n_evaluations_ == len(counted.calls) == len(set(counted.pairs))
    assert selector.scan_rate_ < 0.35


def test_landmarks_save_evaluations(monkeypatch):
    values = low_rank(1500, rank=8)
    exact = covey.neighbor_graph(values, 10, "precomputed", "exact")
    found = {}
    for start, few in (("landmarks", descent.FEW), ("forest", 10**9)):
        monkeypatch.setattr(descent, "FEW", few)
        graph = covey.neighbor_graph(values, 10, "precomputed", "nn-descent", random_state=0)
        hits = np.mean([np.isin(a, b).mean() for a, b in zip(graph.indices, exact.indices, strict=True)])
        found[start] = (graph.n_evaluations, hits)
    assert found["landmarks"][0] < 0.9 * found["forest"][0]
    assert found["landmarks"][1] > 0.95
