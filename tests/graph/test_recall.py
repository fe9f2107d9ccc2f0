"""The estimated recall of a graph, and the interval around it."""

import numpy as np
import pytest

import covey
from tests.graph.compared import recall


def test_the_estimated_recall_is_honest():
    """Over many seeds its mean meets the true recall; what the random pairs find lifts the true one a little."""
    X = np.random.default_rng(0).random((400, 12))
    exact = covey.neighbor_graph(X, 10, method="exact")
    method = covey.NNDescent(sample_rate=0.3)
    graphs = [  # the first estimate counts, whatever it is
        covey.neighbor_graph(X, 10, method=method, random_state=seed, recall=0.01) for seed in range(60)
    ]
    estimates = np.array([graph.estimated_recall.value for graph in graphs])
    truths = np.array([recall(graph, exact) for graph in graphs])
    assert abs(estimates.mean() - truths.mean()) < 4 * estimates.std() / np.sqrt(60) + 0.01
    covered = [
        graph.estimated_recall.low <= truth <= graph.estimated_recall.high
        for graph, truth in zip(graphs, truths, strict=True)
    ]
    assert np.mean(covered) > 0.8
    assert exact.estimated_recall is None


def test_the_interval_of_the_recall_is_that_of_a_poisson_number():
    """Published exact limits: 10 events may be 4.80 to 18.39, none up to 3.69."""
    found = covey.results.Recall.of(10, 100.0)
    expected = [1 / (1 + missed / 100) for missed in (10, 18.39, 4.80)]
    assert (found.value, found.low, found.high) == pytest.approx(expected, abs=1e-4)
    none = covey.results.Recall.of(0, 100.0)
    assert (none.value, none.high) == (1, 1)
    assert none.low == pytest.approx(1 / (1 + 0.0369), abs=1e-4)


def test_equally_similar_neighbors_are_interchangeable_in_the_recall():
    """Every graph of equal rows is perfect, whichever of them it lists."""
    graph = covey.neighbor_graph(np.ones((600, 2)), 10, covey.from_distance("manhattan"), "nn-descent", random_state=0)
    assert graph.estimated_recall.value == 1
