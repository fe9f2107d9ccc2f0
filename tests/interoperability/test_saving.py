"""Fitted models inside pipelines and searches, written and read by pickle, joblib and cloudpickle."""

import io
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import covey

X, Y = load_iris(return_X_y=True)


@pytest.fixture(scope="module")
def pipeline():
    model = covey.NearestPrototypeClassifier(covey.CRS(5, similarity="euclidean"), reject="calibrated")
    return make_pipeline(StandardScaler(), model).fit(X, Y)


def through_joblib(model):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    return joblib.load(file)


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "joblib": through_joblib,
}


@pytest.mark.parametrize("way", WAYS)
def test_a_fitted_pipeline_answers_the_same_after_a_round_trip(way, pipeline):
    again = WAYS[way](pipeline)
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
    np.testing.assert_array_equal(again[-1].selector_.sample_indices_, pipeline[-1].selector_.sample_indices_)


def test_a_pipeline_is_mapped_into_memory_by_joblib(tmp_path, pipeline):
    joblib.dump(pipeline, tmp_path / "model.joblib")
    again = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))


def test_cloudpickle_takes_a_similarity_that_has_no_name():
    selector = covey.CRS(5, similarity=lambda a, b: -float(np.abs(a - b).sum()))
    model = covey.NearestPrototypeClassifier(selector).fit(X, Y)
    np.testing.assert_array_equal(WAYS["cloudpickle"](model).predict(X), model.predict(X))


def test_covey_saves_its_own_step_of_a_pipeline_and_refuses_the_whole(tmp_path, pipeline):
    search = GridSearchCV(pipeline[-1], {"selector__n_neighbors": [3]}, cv=2).fit(X, Y)
    for whole in (pipeline, search):
        with pytest.raises(TypeError, match=r"got (Pipeline|GridSearchCV) of .*; save the covey estimator inside it"):
            covey.save(whole, tmp_path / "model.covey")
    assert not list(tmp_path.iterdir())
    covey.save(pipeline[-1], tmp_path / "model.covey")
    scaled = pipeline[0].transform(X)
    np.testing.assert_array_equal(covey.load(tmp_path / "model.covey").predict(scaled), pipeline.predict(X))
