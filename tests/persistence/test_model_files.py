"""Model files that nobody vouches for: older formats load, and what could not have been saved is refused on loading."""

import copy
import json
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.exceptions import FileFormatError
from covey.persistence.loading import ModelFile
from covey.similarity.measures import resolve
from tests.attack import models
from tests.damage import change_file, inflate, put

SIMILARITY = "another similarity asked for"
FORMAT_1 = sorted((Path(__file__).parents[1] / "files" / "format-1").glob("*.covey"))
"""Written by covey as it was when that was the only format; the notes hold queries and the answers of that time."""

rng = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 6)
X = np.abs(rng.normal(Y[:, None], 0.3, (18, 4))) + 0.1


def letters(a, b):
    return len(set(a) & set(b)) / max(len(set(a) | set(b)), 1)


def unlike(a, b):
    return 1 - letters(a, b)


def lengths(left, right):
    return [1 / (1 + abs(len(a) - len(b))) for a, b in zip(left, right, strict=True)]


FUNCTIONS = {
    "batches": lengths,
    "distances-of-strings": unlike,
    "nested-objects": lambda a, b: letters(a[0], b[0]),
    "strings": letters,
}
"""The similarities that files of format 1 were made with, and do not hold."""


@pytest.mark.parametrize("path", FORMAT_1, ids=lambda path: path.stem)
def test_a_file_of_format_1_answers_as_it_did(path):
    with zipfile.ZipFile(path) as archive:
        assert json.loads(archive.read("covey.json"))["format"] == 1
    notes = ModelFile(path).notes()
    model = covey.load(path, FUNCTIONS.get(path.stem))
    selector = getattr(model, "selector_", model)
    np.testing.assert_array_equal(selector.sample_indices_, notes["sample_indices"])
    if path.stem != "selector":
        queries = notes["queries"]
        if path.stem == "frame":
            pandas = pytest.importorskip("pandas")
            queries = pandas.DataFrame(queries, columns=list("abcd"))
        np.testing.assert_array_equal(model.predict(queries), notes["predictions"])
        # Another compiler may add the coordinates in another order.
        np.testing.assert_allclose(model.class_similarities(queries), notes["similarities"], rtol=1e-14)
        assert [prototype.label for prototype in selector.prototypes_.values()] == list(selector.prototypes_)


def test_labels_that_are_dates_are_dates_again():
    """Format 1 wrote them as integers; the classes tell which dates these were."""
    [path] = [path for path in FORMAT_1 if path.stem == "dates"]
    model = covey.load(path)
    for labels in (model.selector_.prototypes_, model.selector_.stopped_by_):
        assert list(labels) == list(model.classes_)
        assert {type(label) for label in labels} == {np.datetime64}


@pytest.mark.parametrize("unit", ["ns", "us", "D", "Y"])
@pytest.mark.parametrize("kind", ["M8", "m8"])
def test_labels_and_objects_that_are_dates_stay_dates(kind, unit, tmp_path):
    labels = np.array([0, 1, 2]).astype(f"{kind}[{unit}]")[Y]
    selector = covey.DeltaMedoids(similarity=lambda a, b: 1 / (1 + abs(a - b).astype(float))).fit(labels, labels)
    covey.save(selector, tmp_path / "model", labels.tolist() if unit == "ns" else list(labels))
    again = covey.load(tmp_path / "model", abs)
    assert list(again.prototypes_) == list(selector.prototypes_)
    assert {(type(label), label.dtype) for label in again.prototypes_} == {(labels.dtype.type, labels.dtype)}


def test_callables_are_left_out_as_similarity_and_nowhere_else(tmp_path):
    functions = [lambda: 1, lambda: 2, lambda: 3, lambda: 4]
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=lambda a, b: a() == b()))
    with pytest.raises(TypeError, match="Cannot save representatives of type function"):
        covey.save(model.fit(functions, [0, 0, 1, 1]), tmp_path / "model")
    mixed = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=letters)).fit(["a", "b"], [0, 1])
    mixed.selector.similarity = unlike
    with pytest.raises(ValueError, match="must have one callable as similarity"):
        covey.save(mixed, tmp_path / "model")


@pytest.mark.parametrize("similarity", ["cosine", resolve("cosine"), covey.from_distance("manhattan")])
def test_a_named_similarity_stays_what_it_is(similarity, tmp_path):
    covey.save(covey.CRS(2, similarity=similarity).fit(X), tmp_path / "model")
    found = covey.load(tmp_path / "model").similarity
    assert found == similarity
    assert type(found) is type(similarity)


def test_a_similarity_that_is_no_callable_cannot_take_the_place_of_one(tmp_path):
    covey.save(covey.CRS(2, similarity=letters).fit(["cat", "car"]), tmp_path / "model")
    for given in ("cosine", covey.from_distance("euclidean"), 3):
        with pytest.raises(TypeError, match=r"similarity must be a callable, since .* 'letters'"):
            covey.load(tmp_path / "model", given)


def test_what_load_would_refuse_is_refused_by_save(tmp_path):
    selector = covey.CRS(2).fit(X, Y)
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="ruzicka")).fit(np.abs(X), Y)
    model.representatives_ = -model.representatives_
    with pytest.raises(ValueError, match=r"Cannot save this NearestPrototypeClassifier, .* negative numbers"):
        covey.save(model, tmp_path / "model")
    for name, value, message in [
        ("n_jobs", 0, "Cannot save this CRS, .*: n_jobs must be an integer other than 0"),
        ("n_neighbors", -1, "Cannot save this CRS, .*: The 'n_neighbors' parameter"),
        ("sample_indices_", selector.sample_indices_[1:], "Cannot save this CRS, .*: sample_indices_ must be"),
        ("scan_rate_", None, "Cannot save this CRS, .*: scan_rate_ must be a finite number"),
        (
            "prototypes_",
            {0: replace(selector.prototypes_[0], gains=np.ones(1))},
            "Cannot save prototypes, .*: gains must",
        ),
    ]:
        other = copy.copy(selector)
        setattr(other, name, value)
        with pytest.raises(ValueError, match=message):
            covey.save(other, tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def model_of(content):
    return content["content"]["NearestPrototypeClassifier"]


def fitted(content):
    """The fitted selector of a classifier."""
    [selector] = model_of(content)["state"]["selector_"].values()
    return selector


def prototype(content, at=0):
    return fitted(content)["state"]["prototypes_"]["dict"][at][1]["Prototype"]


def with_state(**values):
    return lambda content, arrays: model_of(content)["state"].update(values)


def with_parameters(**values):
    return lambda content, arrays: fitted(content)["parameters"].update(values)


def with_prototype(**values):
    return lambda content, arrays: prototype(content).update(values)


def with_array(name, value, holder=prototype):
    """Change the array of a prototype, or of a state, in place or for another."""

    def change(content, arrays):
        number = holder(content)[name]["array"]
        arrays[number] = value(arrays[number].copy())

    return change


def state_of(content):
    return model_of(content)["state"]


def selector_state(content):
    return fitted(content)["state"]


def given_graph(content):
    return fitted(content)["parameters"]["graph"]["NeighborGraph"]


TAMPERED = {
    "no content": (lambda content, arrays: content.update(content=None), "object of one key"),
    "a bare array": (
        lambda content, arrays: content.update(content={"array": 0}),
        "an estimator must have parameters and a state",
    ),
    "no estimator": (
        lambda content, arrays: content.update(content={"Prototype": {}}),
        "an estimator must have parameters and a state",
    ),
    "another key": (lambda content, arrays: content.update(more=1), "must be an object of"),
    "format true": (lambda content, arrays: content.update(format=True), "format True is unknown"),
    "callable that is not there": (lambda content, arrays: content.update(callable=3), "name of a function or null"),
    "method as state": (with_state(predict=1), r"keys \['predict'\] are unknown"),
    "missing state": (lambda content, arrays: state_of(content).pop("classes_"), r"keys \['classes_'\] are missing"),
    "unfitted": (lambda content, arrays: model_of(content).update(state={}), "must be fitted"),
    "unfitted selector": (lambda content, arrays: fitted(content).update(state={}), "must be a fitted selector"),
    "unknown parameter": (with_parameters(predict=1), r"parameters \['predict'\] are unknown"),
    "n_jobs NaN": (with_parameters(n_jobs=float("nan")), "'n_jobs' parameter of CRS"),
    "n_jobs 0": (with_parameters(n_jobs=0), "n_jobs must be an integer other than 0"),
    "n_jobs without end": (with_parameters(n_jobs=10**9), "n_jobs must be an integer other than 0"),
    "verbose text": (with_parameters(verbose="yes"), "'verbose' parameter of CRS"),
    "similarity of another kind": (with_parameters(similarity="precomputed"), "must fit a matrix of similarities"),
    "reject too large": (
        lambda content, arrays: model_of(content)["parameters"].update(reject=10**400),
        "'reject' parameter of NearestPrototypeClassifier must be",
    ),
    "unknown_label a class": (
        lambda c, a: model_of(c)["parameters"].update(reject=0.5, unknown_label=1),
        "not be a class",
    ),
    "labels in another order": (with_array("classes_", lambda a: a[::-1], state_of), "classes_ must ascend"),
    "labels twice": (with_array("classes_", put(0, 1), state_of), "classes_ must ascend"),
    "other labels": (with_array("classes_", put(0, -9), state_of), "classes_ must be the labels"),
    "rows of others": (with_array("_rows", lambda a: a + 1, state_of), "_rows must be the rows"),
    "fewer representatives": (with_array("representatives_", lambda a: a[1:], state_of), "one object for each"),
    "narrower representatives": (
        with_array("representatives_", lambda a: a[:, 1:], state_of),
        "n_features_in_ columns",
    ),
    "representatives NaN": (with_array("representatives_", put((0, 0), np.nan), state_of), "X must be finite"),
    "representatives complex": (with_array("representatives_", lambda a: a * 1j, state_of), "Complex data"),
    "representatives a text": (with_state(representatives_="text"), "representatives_ must be an array"),
    "representatives a tuple": (with_state(representatives_={"tuple": []}), "representatives_ must be an array"),
    "representatives of bytes": (
        with_array("representatives_", lambda a: a.astype("S8"), state_of),
        "dtype='numeric' is not compatible with arrays of bytes/strings",
    ),
    "other width": (with_state(n_features_in_=9), "n_features_in_ must be that of the selector"),
    "width true": (with_state(n_features_in_=True), "n_features_in_ must be an integer"),
    "names of other columns": (
        with_state(feature_names_in_={"objects": [[1], ["a"]]}),
        "feature_names_in_ must have n_features_in_ names",
    ),
    "other samples": (with_array("sample_indices_", lambda a: a[::-1], selector_state), "sample_indices_ must be"),
    "negative evaluations": (with_prototype(n_evaluations=-1), "n_evaluations must be an integer of at least 0"),
    "evaluations a float": (with_prototype(n_evaluations=1.5), "n_evaluations must be an integer"),
    "threshold a text": (with_prototype(threshold="high"), "threshold must be a number"),
    "coverage above 1": (with_prototype(coverage=1.5), r"coverage must be a number in \[0, 1\]"),
    "label of another": (with_prototype(label=1), "prototypes_ must be a dict of labels and their prototypes"),
    "unhashable label": (with_prototype(label=[]), "unhashable"),
    "orphans of others": (with_prototype(n_orphans=100), "n_orphans must not exceed"),
    "members of others": (
        with_array("members", lambda a: a + 1),
        "together must be every row once|indices must be some",
    ),
    "members unsorted": (with_array("members", lambda a: a[::-1]), "members must ascend"),
    "members below 0": (with_array("members", put(0, -1)), "members must be an array of row numbers"),
    "indices not members": (with_array("indices", put(0, 17)), "indices must be some of the members"),
    "indices out of range": (with_array("indices", put(0, 10**12)), "indices must be some of the members"),
    "indices floats": (with_array("indices", lambda a: a.astype(float)), "indices must be an array of row numbers"),
    "no indices": (with_array("indices", lambda a: a[:0]), "indices must be some of the members"),
    "gains of others": (with_array("gains", lambda a: a[:-1]), "gains must have one entry"),
    "gains NaN": (with_array("gains", put(0, np.nan)), "gains must be an array of finite floats"),
    "covered by none": (with_array("covered_by", put(0, 17)), "covered_by must be -1 or one of the indices"),
    "covered_by too short": (with_array("covered_by", lambda a: a[:-1]), "covered_by must have one entry"),
    "array that is not there": (with_prototype(gains={"array": 10**6}), "no member '1000000.npy'"),
    "array by name": (with_prototype(gains={"array": "0"}), "referred to by its number"),
    "values of two forms": (with_prototype(gains={"array": 0, "tuple": []}), "object of one key"),
    "text for a list": (with_prototype(label={"tuple": "abc"}), "expected a list"),
    "objects of another shape": (with_state(classes_={"objects": [[2, -1], [1, 2]]}), "a shape must be"),
    "scalar of Python objects": (with_prototype(label={"scalar": ["|O", "00" * 8]}), "a scalar must have a type"),
    "scalar of another size": (with_prototype(label={"scalar": ["<f8", "00"]}), "a scalar must have a type"),
}


@pytest.mark.parametrize("case", TAMPERED)
def test_what_could_not_have_been_saved_is_refused(case, tmp_path):
    change, message = TAMPERED[case]
    path = tmp_path / "model"
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y), path)
    change_file(path, change)
    with pytest.raises(FileFormatError, match=message) as caught:
        covey.load(path)
    assert str(caught.value).startswith(f"{str(path)!r} was not written by covey.save, or is damaged: ")
    assert "\n" not in str(caught.value)


WRAPPED = {"symmetric": True, "kind": "objects", "conversion": None, "batch_size": 1}
SELECTORS = {
    "weights of other rows": (
        covey.DS3(2),
        with_array("row_weights_", lambda a: a[1:], selector_state),
        "row_weights_",
    ),
    "outliers of other rows": (
        covey.DS3(2),
        with_array("outliers_", lambda a: np.append(a, 10**6), selector_state),
        "outliers_ must be rows",
    ),
    "ends of other labels": (
        covey.DeltaMedoids(),
        lambda content, arrays: selector_state(content).update(stopped_by_={"dict": [[0, "cycle"]]}),
        "stopped_by_ must have the labels",
    ),
    "other ends": (
        covey.DeltaMedoids(),
        lambda content, arrays: selector_state(content).update(stopped_by_={"dict": [[0, "boredom"]]}),
        "stopped_by_ must be a dict",
    ),
    "graph out of range": (
        covey.CRS(2, graph=covey.neighbor_graph(X, 17)),
        with_array(
            "indices", put((0, 0), 10**8), lambda content: fitted(content)["parameters"]["graph"]["NeighborGraph"]
        ),
        r"must lie in \[0, 18\)",
    ),
    "distance of another name": (
        covey.CRS(2),
        with_parameters(similarity={"from_distance": ["cosine", "inverse"]}),
        "distance must be a callable or one of",
    ),
    "callable that was not announced": (
        covey.CRS(2),
        with_parameters(similarity={"callable": {**WRAPPED}}),
        "callable must name the similarity that is left out",
    ),
}


@pytest.mark.parametrize("case", SELECTORS)
def test_what_no_selector_could_have_found_is_refused(case, tmp_path):
    selector, change, message = SELECTORS[case]
    covey.save(covey.NearestPrototypeClassifier(selector).fit(X, Y), tmp_path / "model")
    change_file(tmp_path / "model", change)
    with pytest.raises(FileFormatError, match=message):
        covey.load(tmp_path / "model")


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"kind": "rows"}, "kind must be 'objects' or 'batches'"),
        ({"conversion": "magic"}, "conversion must be"),
        ({"batch_size": 0}, "batch_size must be an integer of at least 1"),
        ({"symmetric": 1}, "symmetric must be true or false"),
        ({"function": 1}, "keys .'function'. are unknown"),
    ],
)
def test_the_wrapping_of_a_callable_is_checked(wrong, message, tmp_path):
    covey.save(
        covey.NearestPrototypeClassifier(covey.KeepAll(similarity=letters)).fit(["a", "b"], [0, 1]), tmp_path / "m"
    )
    change_file(tmp_path / "m", with_parameters(similarity={"callable": {**WRAPPED, **wrong}}))
    with pytest.raises(FileFormatError, match=message):
        covey.load(tmp_path / "m", letters)
    covey.save(covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, Y), tmp_path / "m")
    change_file(tmp_path / "m", lambda content, arrays: content.update(callable="letters"))
    with pytest.raises(FileFormatError, match="callable must name the similarity that is left out"):
        covey.load(tmp_path / "m", letters)


@pytest.mark.parametrize("value", [10**8, -1])
def test_a_sparse_model_with_an_index_out_of_range_is_refused(value, tmp_path):
    path = tmp_path / "model"
    covey.save(covey.NearestPrototypeClassifier(covey.KeepAll()).fit(sp.csr_array(X), Y), path)

    def change(content, arrays):
        columns = state_of(content)["representatives_"]["csr"][2]["array"]
        arrays[columns][5] = value

    change_file(path, change)
    with pytest.raises(FileFormatError, match=r"indices must lie in \[0, 4\)"):
        covey.load(path)


@pytest.mark.parametrize("bomb", ["array", "lists", "nested lists"])
def test_a_small_file_cannot_take_much_memory(bomb, tmp_path):
    path = tmp_path / "model"
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y), path)
    if bomb == "array":
        inflate(path, "0.npy", 2**27, bytes(2**20))
    else:
        inflate(path, "covey.json", 2**25, b"[]," * 2**15 if bomb == "lists" else b"[" * 2**15)
    assert path.stat().st_size < 2**18
    tracemalloc.start()
    with pytest.raises(FileFormatError):
        covey.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_json_that_is_nested_without_end_is_refused(tmp_path):
    path = tmp_path / "model"
    covey.save(covey.CRS(2).fit(X), path)
    inflate(path, "covey.json", 2**20, b"[" * 2**20)
    with pytest.raises(FileFormatError, match="recursion"):
        covey.load(path)


def test_a_model_that_packs_too_well_is_stored_unpacked(tmp_path, monkeypatch):
    monkeypatch.setattr("covey.storage.limits.FREE", 1000)
    monkeypatch.setattr("covey.persistence.format.JSON_FREE", 5000)
    selector = covey.CRS(2).fit(X)
    for notes in (np.zeros(10**6), ["a"] * 10**5):
        covey.save(selector, tmp_path / "model", notes)
        np.testing.assert_array_equal(ModelFile(tmp_path / "model").notes(), notes)
        with zipfile.ZipFile(tmp_path / "model") as archive:
            assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_STORED}
    covey.save(selector, tmp_path / "model", rng.random(1000))
    with zipfile.ZipFile(tmp_path / "model") as archive:
        assert {info.compress_type for info in archive.infolist()} == {zipfile.ZIP_DEFLATED}


def test_tampered_files_are_refused_or_work():
    outcomes = models.attack(np.random.default_rng(0), 300)
    assert {outcome.split(" within ")[0] for outcome in outcomes} == {"works", "refused", SIMILARITY}, outcomes
