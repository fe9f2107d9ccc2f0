"""Selectors are samplers: imbalanced-learn's pipelines take them as steps, which thin out the training data."""

import numpy as np
import pytest
from imblearn.pipeline import make_pipeline
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler

import covey

X, Y = load_iris(return_X_y=True)
SELECTORS = [covey.CRS(5), covey.Sharpened(covey.CRS(5), random_state=0), covey.DeltaMedoids(), covey.DS3(budget=3)]


@pytest.mark.parametrize("selector", SELECTORS, ids=lambda selector: type(selector).__name__)
def test_the_classifier_behind_a_selector_sees_only_what_was_selected(selector):
    model = make_pipeline(selector, KNeighborsClassifier(1, metric="cosine")).fit(X, Y)
    rows = model[0].sample_indices_
    assert model[-1].n_samples_fit_ == rows.size < len(X) / 3
    np.testing.assert_array_equal(model[-1].predict(X[rows]), Y[rows])
    assert model.score(X, Y) > 0.9


def test_queries_pass_a_selector_unchanged():
    model = make_pipeline(covey.CRS(5), KNeighborsClassifier(1)).fit(X, Y)
    assert model.predict(X).size == len(X)


def test_a_selector_is_tuned_and_validated_inside_a_pipeline():
    steps = (StandardScaler(), covey.CRS(similarity="euclidean"), KNeighborsClassifier(1))
    search = GridSearchCV(make_pipeline(*steps), {"crs__n_neighbors": [3, 40]}, cv=3).fit(X, Y)
    assert search.best_params_ == {"crs__n_neighbors": 3}
    assert cross_val_score(search.best_estimator_, X, Y, cv=3).mean() > 0.85
