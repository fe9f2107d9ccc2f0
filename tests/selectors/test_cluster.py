"""A cluster stands for the fit: what a selector selects from it is what its fit selects."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils import check_random_state

import covey
from covey.runtime.parameters import generator
from covey.selectors.cluster import Cluster
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3)) + np.repeat(rng.standard_normal((3, 3)) * 3, 20, axis=0)
X[7] = X[3]
GRAPH = covey.neighbor_graph(X, 8, method="exact")


class Shorter(covey.CRS):
    """A user's own kind of CRS."""


class ByAnother(covey.Selector):
    """A user's own selector that lets another one decide, with its own label on the result."""

    def __init__(self, other, similarity="cosine"):
        self.other, self.similarity = other, similarity

    def select(self, cluster, rng):
        return self.other.select(cluster, rng)


SELECTORS = {
    "CRS": covey.CRS(4),
    "CRS of a share": covey.CRS(4, size=0.2),
    "CRS of a number, counted": covey.CRS(4, size=30, gain="count", on_orphan="outlier"),
    "CRS refined": covey.CRS(4, gain="count", refine=True),
    "CRS of a graph": covey.CRS(4, graph=GRAPH, threshold=None),
    "CRS of a graph and a similarity": covey.CRS(4, graph=GRAPH),
    "CRS without k": covey.CRS(None, threshold=0.7),
    "CRS by NN-Descent": covey.CRS(4, graph="nn-descent"),
    "a subclass": Shorter(4),
    "a delegate": ByAnother(covey.CRS(4, size=0.1, random_state=0)),
    "DeltaMedoids": covey.DeltaMedoids(),
    "DS3": covey.DS3(budget=4),
    "RandomSelector": covey.RandomSelector(0.2),
    "KeepAll": covey.KeepAll(),
}


def cluster_of(rows, **about):
    collection = collect(X, resolve("cosine"))
    return Cluster(0, np.asarray(rows), collection, **about)


def random_of_fit(seed):
    """The numbers that a fit with this seed passes to its first cluster."""
    return generator(check_random_state(seed))


def assert_same(found, expected):
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)


@pytest.mark.parametrize("name", SELECTORS)
def test_an_unfitted_selector_selects_what_its_fit_selects_from_a_single_cluster(name):
    selector = SELECTORS[name]
    merged = name != "CRS of a graph"  # the fit does not ask which objects are equal then
    alone = selector.select(cluster_of(np.arange(60), merged=merged), random_of_fit(3))
    assert not hasattr(selector, "prototypes_")
    seed = {"random_state": 3} if "random_state" in selector.get_params() else {}
    assert_same(alone, clone(selector).set_params(**seed).fit(X).prototypes_[0])


@pytest.mark.parametrize("options", [{}, {"size": 12}, {"size": 0.2}])
def test_weights_and_rows_to_include_come_with_the_cluster(options):
    weights, rows = rng.integers(1, 9, 60).astype(float), np.array([50, 3, 31])
    expected = covey.CRS(4, random_state=3, **options).fit(X, sample_weight=weights, include=rows).prototypes_[0]
    cluster = cluster_of(np.arange(60), weights=weights, included=rows)
    assert_same(covey.CRS(4, **options).select(cluster, random_of_fit(3)), expected)


def test_members_of_a_larger_x_are_numbered_as_there():
    rows = np.arange(20, 40)
    found = covey.CRS(4, graph=GRAPH, threshold=None).select(cluster_of(rows), np.random.default_rng(0))
    expected = covey.CRS(4, graph=GRAPH, threshold=None).fit(X, np.repeat([1, 0, 2], 20)).prototypes_[0]
    assert_same(found, expected)


def test_what_fit_refuses_is_refused():
    whole = cluster_of(np.arange(60))
    draws = np.random.default_rng(0)
    with pytest.raises(ValueError, match="n_neighbors"):
        covey.CRS(0).select(whole, draws)
    with pytest.raises(ValueError, match="refine looks for fewer"):
        covey.CRS(size=3, refine=True).select(whole, draws)
    with pytest.raises(ValueError, match="threshold must be 'homogeneity' or a number if n_neighbors is None"):
        covey.CRS(None, threshold=None).select(whole, draws)
    with pytest.raises(ValueError, match="graph must have one row for each object of X, got 50, but row 59 of X is in"):
        covey.CRS(graph=sp.csr_array((50, 50))).select(whole, draws)
    with pytest.raises(ValueError, match="size must allow for the 2 rows to include, got 1 of 60 objects"):
        covey.CRS(size=1).select(cluster_of(np.arange(60), included=np.array([1, 2])), draws)
    with pytest.raises(ValueError, match="p must be inf with a budget"):
        covey.DS3(p=2).select(whole, draws)


@pytest.mark.parametrize("inner", [None, covey.CRS(4, size=5), covey.DeltaMedoids(), ByAnother(covey.DS3(budget=3))])
def test_sharpening_leaves_a_single_cluster_to_the_inner_selector_and_says_so(inner):
    cluster = cluster_of(np.arange(60))
    with pytest.warns(UserWarning, match="Sharpened needs at least two classes to tell apart, got one") as told:
        found = covey.Sharpened(inner).select(cluster, np.random.default_rng(5))
    assert told[0].filename == __file__
    assert_same(found, (inner or covey.CRS()).select(cluster_of(np.arange(60)), np.random.default_rng(5)))
