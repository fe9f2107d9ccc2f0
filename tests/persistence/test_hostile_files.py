"""Files that were made to take time or memory, or to break what is done with a model after it is loaded."""

import io
import json
import shutil
import sys
import tracemalloc
import zipfile
from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp

import covey
from covey.exceptions import FileFormatError
from covey.persistence import loading
from covey.persistence.format import DEEPEST_ESTIMATOR
from covey.persistence.loading import ModelFile
from covey.persistence.values import MOST_EQUAL_HASHES
from covey.runtime.wording import LONGEST_ERROR
from covey.storage import archive as archives
from tests.attack._model_kinds import FILES, FirstOfAll, alike
from tests.damage import change_file

Y = np.repeat([0, 1, 2], 6)
X = np.abs(np.random.default_rng(0).normal(Y[:, None], 0.3, (18, 4))) + 0.1


@pytest.fixture
def path(tmp_path):
    covey.save(covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y), tmp_path / "model")
    return tmp_path / "model"


def written(notes):
    """A file with these notes as JSON."""
    buffer = io.BytesIO()
    covey.save(covey.CRS(2).fit(X), buffer, "notes")
    with zipfile.ZipFile(buffer) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    parts["covey.json"] = json.dumps(json.loads(parts["covey.json"]) | {"notes": notes}).encode()
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    made.seek(0)
    return made


def nested(n):
    """A selector that lies n levels deep."""
    return covey.CRS(2) if n == 1 else covey.Sharpened(nested(n - 1))


def test_estimators_lie_within_each_other_up_to_a_limit(tmp_path, monkeypatch):
    """Showing an estimator takes twice as long for each level."""
    model = covey.NearestPrototypeClassifier(covey.CRS(2)).fit(X, Y)
    model.selector = nested(DEEPEST_ESTIMATOR - 1)
    covey.save(model, tmp_path / "model")
    assert repr(covey.load(tmp_path / "model").selector) == repr(model.selector)
    model.selector = nested(DEEPEST_ESTIMATOR)
    with pytest.raises(ValueError, match=r"Cannot save this CRS, .* at most 6 levels deep"):
        covey.save(model, tmp_path / "model")
    monkeypatch.setattr("covey.persistence.format.DEEPEST_ESTIMATOR", 100)
    covey.save(model, tmp_path / "model")
    monkeypatch.undo()
    with pytest.raises(FileFormatError, match="at most 6 levels deep"):
        covey.load(tmp_path / "model")


def colliding(n):
    """Integers that all have the hash of 1."""
    return [hex(1 + (2**61 - 1) * factor) for factor in range(1, n + 1)]


@pytest.mark.parametrize(
    "holder",
    [
        lambda values: {"set": values},
        lambda values: {"frozenset": values},
        lambda values: [{"set": [value]} for value in values],
        lambda values: {"dict": [[value, 0] for value in values]},
        lambda values: [int(value["int"], 16) for value in values],
    ],
)
def test_values_that_share_a_hash_are_few(holder):
    """A dict of n such values takes n^2 steps, and a file of some megabytes would take minutes."""
    values = [{"int": digits} for digits in colliding(MOST_EQUAL_HASHES + 1)]
    ModelFile(written(holder(values[:-1]))).notes()
    with pytest.raises(FileFormatError, match="more than 1000 values share a hash"):
        ModelFile(written(holder(values))).notes()


def test_equal_values_may_be_many():
    notes = [{(2**70, "a")}] * 3000
    buffer = io.BytesIO()
    covey.save(covey.CRS(2).fit(X), buffer, notes)
    assert ModelFile(io.BytesIO(buffer.getvalue())).notes() == notes


WIDE = sp.coo_array(([1.0], ([0], [0])), shape=(1, 2**30))
CROSSED = sp.coo_array((np.ones(20000), (np.arange(20000), np.arange(20000)[::-1])), shape=(20000, 20000))


@pytest.mark.parametrize(
    ("matrix", "form"),
    [(WIDE, "csc_array"), (WIDE, "dia_matrix"), (CROSSED, "dia_array")],
    ids=["many columns", "a long diagonal", "many diagonals"],
)
def test_a_sparse_matrix_cannot_grow_when_it_gets_its_format(matrix, form, path):
    """The file holds CSR, in which neither columns nor places without entries take room."""
    covey.save(covey.CRS(2).fit(X), path, matrix)
    change_file(path, lambda content, arrays: content["notes"]["sparse"].__setitem__(0, form))
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="a sparse matrix of shape"):
        ModelFile(path).notes()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24


def test_a_sparse_matrix_that_load_would_refuse_is_refused_by_save(path, monkeypatch):
    monkeypatch.setattr("covey.storage.limits.FREE", 1000)
    wide = sp.csc_array(([1.0], ([0], [0])), shape=(1, 10**6))
    with pytest.raises(ValueError, match="Cannot save notes, because load would refuse it: a sparse matrix of shape"):
        covey.save(covey.CRS(2).fit(X), path, wide)


def test_the_members_of_an_archive_are_added_up_once(path, monkeypatch):
    """Else a file of n arrays would take n^2 steps, and a list of 100 000 small arrays minutes."""
    calls = []
    monkeypatch.setattr(archives, "check_ratio", lambda archive: calls.append(archive))
    covey.load(path)
    assert len(calls) == 1


@pytest.mark.parametrize("kind", ["f8,i4", "V8"])
def test_an_array_of_records_is_refused(kind, path):
    def change(content, arrays):
        content["notes"] = {"array": len(arrays)}
        arrays.append(np.zeros(3, dtype=kind))

    change_file(path, change)
    with pytest.raises(FileFormatError, match="an array must hold numbers, dates or strings"):
        ModelFile(path).notes()


@pytest.mark.parametrize(("field", "kind"), [("members", np.int8), ("covered_by", np.int16), ("gains", np.float16)])
def test_rows_and_weights_of_one_or_two_bytes_are_refused(field, kind, path):
    """They would grow to four or eight times their size, and so would what a small file inflates to."""

    def change(content, arrays):
        [selector] = content["content"]["NearestPrototypeClassifier"]["state"]["selector_"].values()
        number = selector["state"]["prototypes_"]["dict"][0][1]["Prototype"][field]["array"]
        arrays[number] = arrays[number].astype(kind)

    change_file(path, change)
    with pytest.raises(FileFormatError, match=f"{field} must be an array of"):
        covey.load(path)


MIXED = [[1.0, "a"], [2.0, "b"], [4.0, "a"], [5.0, None]]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lowest": np.array([9.0]), "highest": np.array([8.0]), "numbers": np.full((4, 1), np.nan)}, "in the ranges"),
        ({"lowest": np.array([-1e200]), "highest": np.array([1e200])}, "in the ranges"),
        (
            {
                "numbers": np.empty((4, 0)),
                "codes": np.empty((4, 0), dtype=np.int32),
                "lowest": np.empty(0),
                "highest": np.empty(0),
                "categories": [],
                "is_number": np.empty(0, dtype=bool),
                "keys": [],
            },
            "rows must have columns",
        ),
    ],
    ids=["range that descends", "range without end", "no columns"],
)
def test_mixed_rows_are_such_as_fit_makes_them(changed, message, tmp_path, monkeypatch):
    """Similarities would be above 1, or 0 / 0."""
    model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="gower")).fit(MIXED, [0, 0, 1, 1])
    model.representatives_ = replace(model.representatives_, **changed)
    with pytest.raises(ValueError, match=f"Cannot save representatives, because load would refuse it: .*{message}"):
        covey.save(model, tmp_path / "model")


def test_a_file_that_asks_for_a_similarity_in_vain_is_blamed_and_not_the_user(path, tmp_path):
    change_file(path, lambda content, arrays: content.update(callable="alike"))
    for similarity in (None, alike):
        with pytest.raises(FileFormatError, match="callable must name the similarity that is left out"):
            covey.load(path, similarity)
    covey.save(covey.CRS(2, similarity=alike).fit(["a", "b"]), path)
    change_file(path, lambda content, arrays: content.update(callable=None))
    for similarity in (None, alike):
        with pytest.raises(FileFormatError, match="callable must name the similarity that is left out"):
            covey.load(path, similarity)


def test_an_error_repeats_no_more_than_some_characters_of_a_file(path):
    def change(content, arrays):
        content["content"]["NearestPrototypeClassifier"]["state"]["x" * 10**6] = 1

    change_file(path, change)
    with pytest.raises(FileFormatError) as caught:
        covey.load(path)
    assert len(str(caught.value)) < LONGEST_ERROR + 200


def test_a_missing_library_is_no_fault_of_the_file(path, monkeypatch):
    def missing(*args):
        raise ImportError("rapidfuzz must be installed")

    monkeypatch.setattr(loading, "EstimatorReader", missing)
    with pytest.raises(ImportError, match="rapidfuzz must be installed"):
        covey.load(path)


def test_a_selector_that_counts_members_as_gains_is_saved(tmp_path):
    """Such gains are integers, as in the example of `Selector`."""
    selector = FirstOfAll().fit(X, Y)
    covey.save(selector, tmp_path / "model")
    np.testing.assert_array_equal(covey.load(tmp_path / "model").prototypes_[0].gains, [6.0])


def test_a_file_that_names_a_part_of_covey_as_its_class_is_refused(path, monkeypatch):
    """Loading that part may need a library that is not installed."""
    monkeypatch.delattr(covey, "dask", raising=False)
    monkeypatch.setitem(sys.modules, "covey.dask", None)
    change_file(path, lambda content, arrays: content.update(content={"dask": {"parameters": {}, "state": {}}}))
    with pytest.raises(FileFormatError, match="holds an estimator of the class 'dask'"):
        covey.load(path)


def test_a_file_of_format_1_with_millions_of_dates_is_refused_before_they_become_objects(tmp_path):
    shutil.copy(FILES / "format-1" / "dates.covey", tmp_path / "model")
    change_file(
        tmp_path / "model",
        lambda content, arrays: arrays.__setitem__(
            content["content"]["NearestPrototypeClassifier"]["state"]["classes_"]["array"], np.zeros(10**6, "M8[D]")
        ),
    )
    tracemalloc.start()
    with pytest.raises(FileFormatError, match="classes_ must be the labels of the prototypes"):
        covey.load(tmp_path / "model")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**25


def test_a_parameter_that_python_cannot_show_is_refused(path):
    def change(content, arrays):
        content["content"]["NearestPrototypeClassifier"]["parameters"]["unknown_label"] = {"int": hex(10**4400)}

    change_file(path, change)
    with pytest.raises(FileFormatError, match="unknown_label must be an integer of at most 14000 bits"):
        covey.load(path)


def test_a_sparse_matrix_of_half_precision_is_refused(tmp_path):
    """SciPy can store such numbers, but not take rows of them."""
    path = tmp_path / "sparse.covey"
    covey.save(covey.NearestPrototypeClassifier(covey.KeepAll()).fit(sp.csr_array(np.eye(3)), [0, 1, 1]), path)

    def change(content, arrays):
        _, data, *_ = content["content"]["NearestPrototypeClassifier"]["state"]["representatives_"]["csr"]
        arrays[data["array"]] = arrays[data["array"]].astype(np.float16)

    change_file(path, change)
    with pytest.raises(FileFormatError, match="of a type that SciPy computes with, got float16"):
        covey.load(path)
