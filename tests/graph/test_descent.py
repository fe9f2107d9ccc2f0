"""NN-Descent as a value: its parameters go wherever a graph is asked for."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

import covey
from covey.exceptions import CheckpointMismatchError
from tests.damage import change_file

X = np.random.default_rng(0).random((400, 6))
Y = np.arange(400) % 2


@pytest.mark.parametrize("parameters", [{"sample_rate": 0.3}, {"tol": 0.2}, {"sample_rate": 1, "tol": 0}])
def test_the_parameters_decide_about_the_graph(parameters):
    method = covey.NNDescent(**parameters)
    other = covey.neighbor_graph(X, 5, method=method, random_state=0)
    default = covey.neighbor_graph(X, 5, method="nn-descent", random_state=0)
    assert other.method == default.method == "nn-descent"
    assert other.n_evaluations != default.n_evaluations
    assert covey.CRS(5, graph=method, random_state=0).fit(X).n_evaluations_ == other.n_evaluations


def test_the_name_stands_for_the_defaults():
    by_name, by_value = (
        covey.neighbor_graph(X, 5, method=m, random_state=0) for m in ("nn-descent", covey.NNDescent())
    )
    np.testing.assert_array_equal(by_name.indices, by_value.indices)
    assert by_name.n_evaluations == by_value.n_evaluations


@pytest.mark.parametrize("value", [0, -1, 1.1, np.nan, None, "1", True, np.inf, 10**400])
def test_a_wrong_sample_rate_is_refused(value):
    with pytest.raises(ValueError, match=r"^sample_rate must be a number in \(0, 1\], got"):
        covey.NNDescent(sample_rate=value)


@pytest.mark.parametrize("value", [-0.1, 1.1, np.nan, None, "1", True])
def test_a_wrong_tolerance_is_refused(value):
    with pytest.raises(ValueError, match=r"^tol must be a number in \[0, 1\], got"):
        covey.NNDescent(tol=value)


def test_estimators_clone_and_search_it():
    selector = covey.CRS(5, graph=covey.NNDescent(tol=0.1))
    assert clone(selector).graph == selector.graph
    assert selector.get_params()["graph"] == covey.NNDescent(tol=0.1)
    grid = {"selector__graph": ["exact", covey.NNDescent(sample_rate=0.5)]}
    search = GridSearchCV(covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)), grid, cv=2).fit(X, Y)
    assert search.best_params_["selector__graph"] in grid["selector__graph"]


def test_find_clusters_takes_it():
    found, again = (covey.find_clusters(X, graph=m, random_state=0) for m in ("nn-descent", covey.NNDescent()))
    np.testing.assert_array_equal(found.labels, again.labels)


@pytest.mark.parametrize("method", [covey.NNDescent(tol=0.1), covey.NNDescent(sample_rate=0.5), "exact"])
def test_a_checkpoint_of_other_parameters_is_refused(tmp_path, method):
    path, original = tmp_path / "graph", covey.NNDescent()
    made = covey.neighbor_graph(X, 5, method=original, checkpoint=path, random_state=0)
    again = covey.neighbor_graph(X, 5, method=original, checkpoint=path, random_state=0)
    assert (again.indices == made.indices).all()
    assert again.checkpoint.n_saved == made.n_evaluations
    with pytest.raises(CheckpointMismatchError):
        covey.neighbor_graph(X, 5, method=method, checkpoint=path, random_state=0)
    path = tmp_path / "selector"
    covey.CRS(5, graph=original, checkpoint=path, random_state=0).fit(X)
    with pytest.raises(CheckpointMismatchError):
        covey.CRS(5, graph=method, checkpoint=path, random_state=0).fit(X)


def test_model_files_hold_it(tmp_path):
    for method in (covey.NNDescent(sample_rate=0.5), covey.NNDescent(1, 0), covey.NNDescent(np.float32(0.5))):
        covey.save(covey.CRS(5, graph=method, random_state=0).fit(X), tmp_path / "model")
        assert covey.load(tmp_path / "model").graph == method


@pytest.mark.parametrize(
    ("graph", "sample_rate", "tol", "loaded"),
    [
        ("auto", 0.7, 0.001, "auto"),
        ("nn-descent", 0.7, 0.001, "nn-descent"),
        ("auto", 0.5, 0.001, covey.NNDescent(sample_rate=0.5)),
        ("nn-descent", 0.7, 0.1, covey.NNDescent(tol=0.1)),
        ("exact", 0.5, 0.1, "exact"),
    ],
)
@pytest.mark.parametrize("number", [1, 2])
def test_files_of_older_formats_turn_their_parameters_into_it(tmp_path, number, graph, sample_rate, tol, loaded):
    path = tmp_path / "model"
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(X, Y), path)

    def age(content, arrays):
        content["format"] = number
        outer = content["content"]["NearestPrototypeClassifier"]
        for selector in (outer["parameters"]["selector"], outer["state"]["selector_"]):
            selector["CRS"]["parameters"].update(graph=graph, sample_rate=sample_rate, tol=tol)

    change_file(path, age)
    model = covey.load(path)
    assert model.selector.graph == model.selector_.graph == loaded
    covey.save(model, path)
    change_file(path, lambda content, arrays: _assert_new(json.dumps(content)))
    assert covey.load(path).selector.graph == loaded


def _assert_new(content):
    assert '"format": 3' in content
    assert ("sample_rate" in content) == ("NNDescent" in content)


def test_a_stored_method_that_is_out_of_range_is_refused(tmp_path):
    path = tmp_path / "model"
    covey.save(covey.CRS(5, graph=covey.NNDescent(), random_state=0).fit(X), path)

    def change(content, arrays):
        content["content"]["CRS"]["parameters"]["graph"]["NNDescent"]["sample_rate"] = 0

    change_file(path, change)
    with pytest.raises(covey.exceptions.FileFormatError, match="sample_rate must be a number in"):
        covey.load(path)
