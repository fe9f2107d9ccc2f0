"""A custom selector takes about ten lines and works wherever those of covey do."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import parametrize_with_checks

import covey

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3)) + np.repeat(rng.standard_normal((3, 3)) * 3, 20, axis=0)
X[7] = X[3]
GRAPH = covey.neighbor_graph(X, 8, method="exact")


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
