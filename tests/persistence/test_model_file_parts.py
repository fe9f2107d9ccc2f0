"""A model file is read from disk once, and no more of it is unpacked than is asked for."""

from pathlib import Path

import numpy as np
import pytest

import covey
from covey.exceptions import FileFormatError
from covey.persistence import values
from covey.persistence.loading import ModelFile
from covey.similarity.measures import resolve

X = np.random.default_rng(0).random((12, 3))
STRINGS = Path(__file__).parents[1] / "files" / "command-line" / "levenshtein-0.1.0.covey"


@pytest.fixture
def path(tmp_path):
    model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, np.arange(12) % 2)
    covey.save(model, tmp_path / "model", {"columns": ["a", "b", "c"]})
    return tmp_path / "model"


def test_the_file_is_opened_once(path):
    file = ModelFile(path)
    path.unlink()
    assert file.notes() == {"columns": ["a", "b", "c"]}
    assert file.missing_callable is None
    for _ in range(2):
        np.testing.assert_array_equal(file.load().predict(X), np.arange(12) % 2)


def test_notes_are_read_without_the_arrays_of_the_model(path, monkeypatch):
    monkeypatch.setattr(values, "read_array", lambda *args: pytest.fail("an array was unpacked"))
    assert ModelFile(path).notes() == {"columns": ["a", "b", "c"]}


def test_a_file_that_is_no_model_is_refused_when_it_is_opened(tmp_path):
    (tmp_path / "model").write_bytes(b"not a zip")
    with pytest.raises(FileFormatError, match="is not a model, but another kind of file"):
        ModelFile(tmp_path / "model")


@pytest.mark.parametrize("similarity", ["levenshtein", resolve("levenshtein")])
def test_strings_of_version_0_1_0_are_compared_by_name(similarity):
    """That version stored rapidfuzz' function, which has a name today."""
    pytest.importorskip("rapidfuzz")
    file = ModelFile(STRINGS)
    assert file.missing_callable == "normalized_similarity"
    for _ in range(2):  # upgrading does not change what was read
        model = file.load(similarity)
        assert model.selector.similarity == model.selector_.similarity == "levenshtein"
        assert model.predict(["hallo"]).tolist() == ["a"]
    with pytest.raises(ValueError, match="similarity must be passed to load"):
        file.load()
    with pytest.raises(TypeError, match="similarity must be a callable"):
        file.load("cosine")
