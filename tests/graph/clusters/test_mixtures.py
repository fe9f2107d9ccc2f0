"""Clusters of many random mixtures, which are those of the mixtures, and not worse than those of scikit-learn."""

import numpy as np
import pytest
from sklearn.cluster import HDBSCAN
from sklearn.metrics import adjusted_rand_score

import covey
from covey.graph.clusters.density import _hdbscan
from covey.graph.clusters.links import lengths_of
from covey.similarity.measures import resolve
from tests.graph.clusters.mixtures import is_far, mixture

N_MIXTURES = 60

pytestmark = pytest.mark.xdist_group("mixtures")  # all share them


@pytest.fixture(scope="module")
def mixtures():
    return [mixture(seed) for seed in range(N_MIXTURES)]


@pytest.fixture(scope="module")
def agreement(mixtures):
    """The adjusted Rand index and the number of clusters that mix what lies 10 sigma apart, for each mixture."""

    def by_scikit_learn(one):
        return HDBSCAN(copy=True).fit(one.X).labels_ if len(one.X) >= 5 else np.full(len(one.X), -1)

    methods = {
        "auto": lambda one: covey.find_clusters(one.X, "auto", "euclidean").labels,
        "number": lambda one: covey.find_clusters(one.X, int(one.groups.max()) + 1, "euclidean").labels,
        "hdbscan": lambda one: covey.find_clusters(one.X, "hdbscan", "euclidean").labels,
        "scikit-learn": by_scikit_learn,
    }
    found = {}
    for name, method in methods.items():
        labels = [method(one) for one in mixtures]
        found[name] = np.array(
            [
                (adjusted_rand_score(one.groups, label), one.n_mixed(label))
                for one, label in zip(mixtures, labels, strict=True)
            ]
        )
    return found


@pytest.mark.parametrize("asked", ["auto", "number", "hdbscan"])
def test_no_cluster_mixes_what_lies_10_sigma_apart(agreement, asked):
    assert not agreement[asked][:, 1].any()
    assert agreement["scikit-learn"][:, 1].any()


def test_clusters_agree_with_the_truth_at_least_as_well_as_those_of_scikit_learn(agreement):
    far = np.array([is_far(seed) for seed in range(N_MIXTURES)])
    mean = {name: (found[far, 0].mean(), found[~far, 0].mean()) for name, found in agreement.items()}
    for name in ("auto", "number", "hdbscan"):
        assert np.all(np.array(mean[name]) >= mean["scikit-learn"]), mean
    assert mean["number"][0] == 1
    assert mean["auto"][0] > 0.98
    assert mean["auto"][1] > mean["scikit-learn"][1] + 0.1


def test_hdbscan_is_that_of_scikit_learn(mixtures):
    """Ties of mutual reachability may be broken either way, so that a few of many mixtures differ."""
    n_same = 0
    for one in mixtures[:60]:
        n = len(one.X)
        edges = covey.neighbor_graph(one.X, n - 1, "euclidean", "exact").to_csr()
        labels, strength = _hdbscan(lengths_of(edges, resolve("euclidean"), None), np.ones(n, dtype=np.int64), 3)
        other = HDBSCAN(min_cluster_size=3, copy=True).fit(one.X)
        if adjusted_rand_score(labels, other.labels_) == 1 and ((labels < 0) == (other.labels_ < 0)).all():
            n_same += np.allclose(strength, other.probabilities_, rtol=1e-6)
    assert n_same >= 45
