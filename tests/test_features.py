"""Similarities to representatives as features: names, forms, pipelines, and files."""

import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import covey
from covey.graph import exact
from tests.forms import COSINES, WORDS, letters

DIGITS, LABELS = load_digits(return_X_y=True)
X, Y, Q, TRUTH = DIGITS[:600], LABELS[:600], DIGITS[600:900], LABELS[600:900]
PROFILES = [{f"key {i % 20} {j}": 1.0 for j in range(3)} for i in range(200)]
"""Profiles of 20 kinds that have nothing in common with each other."""


@pytest.mark.parametrize("form", COSINES)
def test_every_form_of_a_similarity_gives_the_same_features(form):
    rng = np.random.default_rng(0)
    rows, y = rng.integers(0, 5, (80, 6)).astype(float), np.arange(80) % 3
    plain = covey.NearestPrototypeClassifier(covey.CRS(4)).fit(rows[:60], y[:60])
    objects, similarity = COSINES[form](rows)
    model = covey.NearestPrototypeClassifier(covey.CRS(4, similarity=similarity))
    if similarity == "precomputed":
        found = model.fit(objects[:60, :60], y[:60]).transform(objects[60:, :60])
    else:
        found = model.fit(objects[:60], y[:60]).transform(objects[60:])
    np.testing.assert_array_equal(found, plain.transform(rows[60:]))
    assert model.get_feature_names_out().tolist() == plain.get_feature_names_out().tolist()


def test_columns_are_the_representatives_in_the_order_of_their_rows():
    """The best of the columns of a class is therefore the similarity to this class."""
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, Y)
    features, names = model.transform(Q), model.get_feature_names_out()
    rows = sorted(model.selector_.sample_indices_.tolist())
    assert names.tolist() == [f"similarity_to_{row}" for row in rows]
    of_class = [features[:, Y[rows] == label].max(axis=1) for label in model.classes_]
    np.testing.assert_array_equal(np.transpose(of_class), model.class_similarities(Q))
    np.testing.assert_array_equal(np.array(rows)[features.argmax(axis=1)], model.nearest_prototypes(Q, 1)[0][:, 0])
    np.testing.assert_array_equal(model.fit_transform(X, Y), model.transform(X))


def test_threads_and_blocks_change_nothing(monkeypatch):
    expected = covey.NearestPrototypeClassifier(covey.CRS(5)).fit(X, Y).transform(Q)
    monkeypatch.setattr(exact, "TILE", 13)
    for n_jobs in (1, 2):
        found = covey.NearestPrototypeClassifier(covey.CRS(5, n_jobs=n_jobs)).fit(X, Y).transform(Q)
        np.testing.assert_array_equal(found, expected)


def test_an_asymmetric_similarity_is_asked_from_the_object_to_the_representative():
    def within(a, b):
        return len(set(a) & set(b)) / len(set(a))

    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=covey.Similarity(within, symmetric=False)))
    found = model.fit(WORDS, [0, 1] * 6).transform(["care", "dodo"])
    assert found.tolist() == [[within(word, other) for other in WORDS] for word in ("care", "dodo")]


def test_features_are_sparse_where_most_are_zero_whatever_is_asked():
    """What was decided at `fit` holds for every query, so that a further model gets what it has been fitted to."""
    model = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(PROFILES, [i % 2 for i in range(200)])
    assert model.sparse_output_
    alike = [{f"key {i} {j}": 1.0 for i in range(20) for j in range(3)}]
    for queries in (PROFILES, alike):
        found = model.transform(queries)
        assert isinstance(found, sp.csr_array)
        dense = model.set_output(transform="pandas").transform(queries)
        np.testing.assert_array_equal(dense.to_numpy(), found.toarray())
        model.set_output(transform="default")
    assert not covey.NearestPrototypeClassifier().fit(X, Y).sparse_output_


@pytest.mark.parametrize(("container", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_frames_have_the_names_of_the_features(container, frame):
    model = covey.NearestPrototypeClassifier(covey.CRS(5)).set_output(transform=container)
    found = model.fit_transform(X, Y)
    assert isinstance(found, frame)
    assert list(found.columns) == model.get_feature_names_out().tolist()
    np.testing.assert_array_equal(found.to_numpy(), model.set_output(transform="default").transform(X))


def test_a_linear_model_on_top_in_a_pipeline_and_a_grid_search():
    features = covey.NearestPrototypeClassifier(covey.CRS(10))
    model = make_pipeline(features, StandardScaler(), LogisticRegression(max_iter=1000)).fit(X, Y)
    assert model.score(Q, TRUTH) > 0.8
    names = model[:-1].get_feature_names_out()
    assert names.tolist() == model[0].get_feature_names_out().tolist()
    grid = {"nearestprototypeclassifier__selector__n_neighbors": [5, 30]}
    search = GridSearchCV(model, grid, cv=3).fit(X, Y)
    assert search.best_score_ > 0.8
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(Q), search.predict(Q))


def test_strings_and_profiles_in_a_pipeline():
    words, labels = WORDS * 3, ([0] * 6 + [1] * 6) * 3
    for similarity in (letters, covey.batched(lambda a, b: [letters(*pair) for pair in zip(a, b, strict=True)])):
        features = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=similarity))
        assert make_pipeline(features, LogisticRegression(C=100)).fit(words, labels).score(words, labels) == 1
    sparse = make_pipeline(covey.NearestPrototypeClassifier(covey.CRS(3)), LogisticRegression(C=100))
    halves = [i % 20 < 10 for i in range(200)]
    assert sparse.fit(PROFILES, halves).score(PROFILES, halves) == 1


def test_a_precomputed_matrix_is_sliced_both_ways_in_cross_validation():
    unit = X[:200] / np.linalg.norm(X[:200], axis=1, keepdims=True)
    features = covey.NearestPrototypeClassifier(covey.CRS(5, similarity="precomputed"))
    scores = cross_val_score(make_pipeline(features, LogisticRegression(max_iter=1000)), unit @ unit.T, Y[:200], cv=3)
    assert scores.min() > 0.8


def test_features_need_a_fit():
    model = covey.NearestPrototypeClassifier()
    for method in (lambda: model.transform(X), model.get_feature_names_out):
        with pytest.raises(NotFittedError):
            method()


def test_a_file_keeps_whether_features_are_sparse(tmp_path):
    model = covey.NearestPrototypeClassifier(covey.CRS(3)).fit(PROFILES, [i % 2 for i in range(200)])
    covey.save(model, tmp_path / "model")
    again = covey.load(tmp_path / "model")
    found = again.transform(PROFILES[:30])
    assert isinstance(found, sp.csr_array)
    np.testing.assert_array_equal(found.toarray(), model.transform(PROFILES[:30]).toarray())
    assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()


def test_a_file_of_an_earlier_version_gives_dense_features():
    model = covey.load(Path(__file__).parent / "files" / "format-1" / "dates.covey")
    found = model.transform(model.representatives_)
    np.testing.assert_array_equal(found.max(axis=1), np.diag(found))
    assert not model.sparse_output_
