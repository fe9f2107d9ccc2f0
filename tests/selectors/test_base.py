"""A custom selector takes about ten lines and works wherever those of covey do, and `select` needs no fit."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

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


def test_a_fit_leaves_nothing_on_the_selector_but_what_it_declares():
    selector = covey.CRS(4, size=9, graph=GRAPH).fit(X, np.arange(60) % 3, include=[5], sample_weight=np.ones(60))
    attributes = vars(selector).keys() - selector.get_params().keys()
    assert attributes == {"prototypes_", "sample_indices_", "n_evaluations_", "scan_rate_", "n_features_in_"}


class Medoid(covey.Selector):
    """Represents each cluster by its medoid: the member to which all members together are most similar."""

    def __init__(self, similarity="cosine"):
        self.similarity = similarity

    def select(self, cluster, rng):
        n = cluster.rows.size
        x, r = np.indices((n, n), dtype=np.int32).reshape(2, -1)
        sums = cluster.multiplicity @ cluster.space.score(x, r).reshape(n, n)
        medoid = np.array([np.argmax(sums)])
        return cluster.prototype(indices=medoid, gains=sums[medoid], covered_by=np.repeat(medoid, n))


class AnyOne(covey.Selector):
    """Draws one member of each cluster. It has no parameters and needs no similarity."""

    def select(self, cluster, rng):
        drawn = np.array([rng.integers(cluster.rows.size)])
        return cluster.prototype(indices=drawn, gains=np.ones(1), covered_by=np.repeat(drawn, cluster.rows.size))


LABELS = np.repeat(["a", "b", "c"], 8)
ROWS = np.random.default_rng(0).integers(1, 5, (24, 3)) + 9 * (LABELS[:, None] == ["a", "b", "c"])
WORDS = ["kitten", "sitting", "mitten", "kitten", "bitten", "smitten", "written", "mittens"]


def shared_letters(a, b):
    return len(set(a) & set(b)) / len(set(a) | set(b))


def euclidean(a, b):
    return 1 / (1 + np.sqrt(sum((a - b) ** 2)))


def medoid_of(objects, similarity):
    """The obvious version: the first object with the largest sum of the similarities of all objects to it."""
    sums = [sum(similarity(x, r) for x in objects) for r in objects]
    return int(np.argmax(np.round(sums, 9)))


def medoids_of_rows():
    groups = [np.flatnonzero(label == LABELS) for label in "abc"]
    return [group[medoid_of(ROWS[group], euclidean)] for group in groups]


def test_it_selects_the_medoid_of_each_cluster():
    selector = Medoid("euclidean").fit(ROWS, LABELS)
    assert selector.sample_indices_.tolist() == medoids_of_rows()
    assert list(selector.prototypes_) == ["a", "b", "c"]
    for prototype in selector.prototypes_.values():
        assert prototype.coverage == 1
        assert set(prototype.covered_by) == set(prototype.indices)
    assert selector.n_evaluations_ == sum(prototype.n_evaluations for prototype in selector.prototypes_.values()) > 0


def test_it_takes_any_similarity_and_copies_count():
    """One of the words is there twice, and both copies weigh in the sum."""
    selector = Medoid(shared_letters).fit(WORDS)
    assert selector.sample_indices_.tolist() == [medoid_of(WORDS, shared_letters)]
    assert selector.prototypes_[0].stands_for.tolist() == [8]


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array, pd.DataFrame, lambda rows: rows.tolist()])
def test_fit_resample_keeps_the_type_of_x(form):
    X = form(ROWS)
    few, labels = Medoid("euclidean").fit_resample(X, LABELS)
    assert type(few) is type(X)
    rows = few.toarray() if sp.issparse(few) else np.asarray(few)
    np.testing.assert_array_equal(rows, ROWS[medoids_of_rows()])
    assert labels.tolist() == ["a", "b", "c"]


def test_the_classifier_answers_the_label_of_the_nearest_medoid():
    model = covey.NearestPrototypeClassifier(Medoid("euclidean")).fit(ROWS, LABELS)
    queries = np.random.default_rng(1).integers(0, 14, (50, 3))
    medoids = medoids_of_rows()
    nearest = [max(medoids, key=lambda medoid: euclidean(query, ROWS[medoid])) for query in queries]
    assert model.predict(queries).tolist() == LABELS[nearest].tolist()
    assert model.explain(queries).representatives.tolist() == nearest


def test_it_is_cloned_and_searched_like_any_estimator():
    assert clone(Medoid("dot")).get_params() == {"similarity": "dot"}
    grid = {"selector": [Medoid()], "selector__similarity": ["dot", "euclidean"]}
    search = GridSearchCV(covey.NearestPrototypeClassifier(), grid, cv=2).fit(ROWS, LABELS)
    assert search.best_score_ == 1


@pytest.mark.parametrize("selector", [Medoid("euclidean"), AnyOne()])
def test_it_is_saved_and_loaded_alone_and_in_a_classifier(selector, tmp_path):
    model = covey.NearestPrototypeClassifier(selector).fit(ROWS, LABELS)
    covey.save(model, tmp_path / "model")
    covey.save(model.selector_, tmp_path / "selector")
    loaded = covey.load(tmp_path / "model")
    assert type(loaded.selector_) is type(covey.load(tmp_path / "selector")) is type(selector)
    np.testing.assert_array_equal(loaded.predict(ROWS), model.predict(ROWS))
    np.testing.assert_array_equal(loaded.selector_.sample_indices_, model.selector_.sample_indices_)


def test_a_selector_without_parameters_uses_cosine_and_computes_nothing():
    selector = AnyOne().fit(ROWS, LABELS)
    assert selector.get_params() == {}
    assert selector.n_evaluations_ == 0
    assert LABELS[selector.sample_indices_].tolist() == ["a", "b", "c"]
    model = covey.NearestPrototypeClassifier(AnyOne()).fit(ROWS, LABELS)
    row = ROWS[model.selector_.sample_indices_[0]]
    assert model.explain([2 * row]).similarities == pytest.approx([1])


@parametrize_with_checks([Medoid(), AnyOne(), covey.NearestPrototypeClassifier(Medoid("euclidean"))])
def test_scikit_learn_agrees(estimator, check):
    check(estimator)
