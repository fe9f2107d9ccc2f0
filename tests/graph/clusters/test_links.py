"""Links: what the edges of a neighbor graph are worth."""

import numpy as np
import pytest

import covey
from covey.graph.clusters.links import dimensions, lengths_of, links_of
from covey.similarity.measures import resolve


@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_the_dimension_is_that_of_uniform_data(d):
    X = np.random.default_rng(d).uniform(size=(2000, d))
    lengths = lengths_of(covey.neighbor_graph(X, 15, "euclidean").to_csr(), resolve("euclidean"), None)
    assert np.median(dimensions(lengths)) == pytest.approx(d, rel=0.15)


def test_similarities_of_any_size_have_lengths():
    X = np.random.default_rng(0).normal(size=(40, 2))
    X[20:] += 50
    D = np.linalg.norm(X[:, None] - X, axis=2)
    for scale in (1e-140, 1.0, 1e140):
        found = covey.find_clusters(-D * scale, 2, "precomputed")
        assert sorted(found.labels) == [0] * 20 + [1] * 20
    ties = covey.find_clusters(np.ones((6, 6)) + 4 * np.eye(6), 2, "precomputed")
    assert ties.sizes.sum() == 6
    assert covey.find_clusters(np.exp(-100 * D), 2, covey.from_distance("precomputed", "negative")) is not None


def test_links_are_symmetric_and_edges_that_are_too_long_join_nothing():
    X = np.vstack([np.random.default_rng(0).normal(size=(30, 2)), [[0.0, 90.0], [0.5, 90.0], [0.0, 90.5]]])
    lengths = lengths_of(covey.neighbor_graph(X, 8, "euclidean").to_csr(), resolve("euclidean"), None)
    links, every = links_of(lengths, np.ones(len(X), dtype=np.int64))
    for array in (links, every):
        assert abs(array - array.T).sum() == 0
    assert not links[30:][:, :30].nnz
    assert every[30:][:, :30].nnz
    assert links.data.max() <= 2
