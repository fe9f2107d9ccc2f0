"""Searches, compositions and other estimators of scikit-learn around covey's."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.cluster import HDBSCAN
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_iris
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import StandardScaler

import covey
from tests.forms import batched_cosine, compiled_cosine, plain_cosine

X, Y = load_iris(return_X_y=True)
NAMES = ["sepal length", "sepal width", "petal length", "petal width"]


def nearest(**parameters):
    return covey.NearestPrototypeClassifier(covey.CRS(5, **parameters))


@pytest.mark.processes
def test_selectors_are_searched_over_in_several_processes():
    selectors = [covey.CRS(5), covey.DeltaMedoids(), covey.Sharpened(covey.CRS(5), random_state=0)]
    searches = [
        GridSearchCV(covey.NearestPrototypeClassifier(), {"selector": selectors}, cv=3, n_jobs=n_jobs).fit(X, Y)
        for n_jobs in (1, 2)
    ]
    scores = [search.cv_results_["mean_test_score"].tolist() for search in searches]
    assert scores[0] == scores[1]
    assert min(scores[0]) > 0.9


def test_similarities_of_every_form_and_neighbors_are_searched_over_by_any_scorer():
    forms = ["cosine", plain_cosine, covey.batched(batched_cosine), compiled_cosine]
    grid = {"selector__similarity": forms, "selector__n_neighbors": [3, 30]}
    search = GridSearchCV(nearest(), grid, cv=3, scoring=["f1_macro", "accuracy"], refit="f1_macro").fit(X, Y)
    found = pd.DataFrame(search.cv_results_).groupby("param_selector__n_neighbors")["mean_test_f1_macro"]
    assert (found.max() - found.min() < 1e-12).all()  # a similarity answers the same in each of its forms
    assert search.best_params_["selector__n_neighbors"] == 3
    assert search.best_estimator_.selector_.get_params()["n_neighbors"] == 3


@pytest.mark.parametrize(("container", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_columns_keep_their_names_through_unions_and_transformers_of_columns(container, frame):
    table = frame(dict(zip(NAMES, X.T, strict=True)))
    beside = ColumnTransformer([("near", nearest(), NAMES), ("length", StandardScaler(), NAMES[:1])])
    union = make_union(nearest(), StandardScaler())
    with sklearn.config_context(transform_output=container):
        for composed in (beside, union):
            found = composed.fit_transform(table, Y)
            assert isinstance(found, frame)
            assert list(found.columns) == composed.get_feature_names_out().tolist()
            rows = nearest().fit(X, Y).selector_.sample_indices_
            ends = [name.partition("__similarity_to_")[2] for name in found.columns if "similarity" in name]
            assert ends == [str(row) for row in sorted(rows.tolist())]


def test_clusters_of_another_method_get_representatives():
    labels = HDBSCAN(min_cluster_size=5, copy=True).fit_predict(X)
    selector = covey.CRS(5).fit(X, labels)
    assert set(selector.prototypes_) == set(labels.tolist())


@pytest.mark.parametrize(
    "around",
    [
        CalibratedClassifierCV(nearest(), cv=3),
        BaggingClassifier(nearest(), 3, random_state=0),
        StackingClassifier([("near", nearest())], LogisticRegression(C=100, max_iter=1000), cv=3),
        VotingClassifier([("near", nearest()), ("all", KNeighborsClassifier())]),
        OneVsRestClassifier(nearest()),
        make_pipeline(StandardScaler(), nearest(similarity="euclidean")),
    ],
    ids=lambda around: type(around).__name__,
)
def test_estimators_take_the_classifier_as_a_part(around):
    assert clone(around).fit(X, Y).score(X, Y) > 0.85


def test_copies_select_the_same_whatever_the_form_of_the_similarity():
    for similarity in (plain_cosine, compiled_cosine, covey.from_distance("manhattan"), covey.batched(batched_cosine)):
        selector = covey.CRS(5, similarity=similarity)
        expected = selector.fit(X[:60]).sample_indices_
        for copy in (clone(selector), pickle.loads(pickle.dumps(selector))):
            np.testing.assert_array_equal(copy.fit(X[:60]).sample_indices_, expected)
