"""How neighbor graphs are compared."""

import numpy as np


def assert_same(a, b):
    np.testing.assert_array_equal(a.indices, b.indices)
    np.testing.assert_array_equal(a.similarities, b.similarities)
    assert a.n_evaluations == b.n_evaluations


def recall(graph, exact):
    k = graph.n_neighbors
    return np.mean([np.isin(a, b[:k]).mean() for a, b in zip(graph.indices, exact.indices, strict=True)])
