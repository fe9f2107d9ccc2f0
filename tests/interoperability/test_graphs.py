"""Neighbor graphs that scikit-learn and pynndescent have made."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.neighbors import KNeighborsTransformer, kneighbors_graph

import covey

X = np.random.default_rng(0).random((60, 5))


@pytest.fixture(scope="module")
def expected():
    return covey.neighbor_graph(X, 7, "euclidean")


def like_pynndescent(n_neighbors):
    """The matrix that pynndescent's transformer gives: single precision, each row begins with the object itself at a
    stored distance of 0, and the nearest come next, so that the columns of a row are not sorted.
    """
    distances = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2)).astype(np.float32)
    nearest = np.argsort(distances, axis=1)[:, : n_neighbors + 1]
    starts = np.arange(len(X) + 1) * (n_neighbors + 1)
    stored = np.take_along_axis(distances, nearest, axis=1)
    return sp.csr_array((stored.ravel(), nearest.ravel().astype(np.int32), starts), shape=(len(X), len(X)))


def check(matrix, expected):
    """The graph read from the matrix, and what CRS selects with it, are covey's own."""
    with pytest.raises(ValueError, match=r"looks like distances.*from_distance='inverse'"):
        covey.NeighborGraph.from_csr(matrix)
    graph = covey.NeighborGraph.from_csr(matrix, from_distance="inverse")
    np.testing.assert_array_equal(graph.indices, expected.indices)
    np.testing.assert_allclose(graph.similarities, expected.similarities, rtol=1e-6)
    found = covey.CRS(7, similarity="euclidean", graph=graph).fit(X).sample_indices_
    np.testing.assert_array_equal(found, covey.CRS(7, similarity="euclidean", graph=expected).fit(X).sample_indices_)
    assert covey.NeighborGraph.from_csr(matrix, 3, from_distance="inverse").n_neighbors == 3


def test_a_transformer_of_scikit_learn_gives_the_same_graph(expected):
    check(KNeighborsTransformer(mode="distance", n_neighbors=7).fit_transform(X), expected)


def test_a_graph_function_of_scikit_learn_gives_the_same_graph(expected):
    matrix = kneighbors_graph(X, 7, mode="distance")
    graph = covey.NeighborGraph.from_csr(matrix, from_distance="inverse")
    np.testing.assert_array_equal(graph.indices, expected.indices)


def test_a_matrix_in_the_form_of_pynndescent_gives_the_same_graph(expected):
    matrix = like_pynndescent(7)
    assert not matrix.has_sorted_indices
    check(matrix, expected)


@pytest.mark.minutes
def test_pynndescent_gives_the_same_graph(expected):
    """For so few objects its search is exact. It compiles for a minute or two."""
    library = pytest.importorskip("pynndescent", reason="needs the extra bench")
    matrix = library.PyNNDescentTransformer(n_neighbors=7, metric="euclidean", random_state=0).fit_transform(X)
    check(matrix, expected)
    assert abs(matrix - like_pynndescent(7)).max() < 1e-6
