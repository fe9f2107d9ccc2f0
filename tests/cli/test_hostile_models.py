"""Model files with notes that `covey select` could not have written are refused by name."""

import shutil
from pathlib import Path

import numpy as np
import pytest

from covey.cli.model_file import read_model
from covey.exceptions import FileFormatError
from covey.persistence.loading import ModelFile
from tests.damage import change_file

FILES = Path(__file__).parents[1] / "files" / "command-line"


def with_note(name, value):
    """A change that sets one of the notes."""

    def change(content, arrays):
        notes = content["notes"]["dict"]
        notes[:] = [[key, old] for key, old in notes if key != name] + [[name, value]]

    return change


def with_longer_scale(content, arrays):
    [recipe] = [value for key, value in content["notes"]["dict"] if key == "recipe"]
    [number] = [value["array"] for key, value in recipe["dict"] if key == "lowest"]
    arrays[number] = np.append(arrays[number], 0.0)


def without_function(content, arrays):
    """The file claims that a similarity of covey is a function of the user's own."""
    content["callable"] = "distance"
    wrapped = {"callable": {"symmetric": True, "kind": "objects", "conversion": None, "batch_size": 1}}
    model = content["content"]["NearestPrototypeClassifier"]
    for selector in (*model["parameters"]["selector"].values(), *model["state"]["selector_"].values()):
        selector["parameters"]["similarity"] = wrapped


@pytest.mark.parametrize(
    ("file", "change", "message"),
    [
        ("strings", with_note("names", True), "must name each of"),
        ("strings", without_function, "names a similarity that it was not made with"),
        ("scaled", with_longer_scale, "must hold a scale for each of its columns"),
    ],
)
def test_notes_that_covey_select_has_not_written_are_refused(file, change, message, tmp_path):
    path = tmp_path / "model.covey"
    shutil.copy(FILES / f"{file}.covey", path)
    assert read_model(str(path), ModelFile(path), to_look_at=True).rows.size > 0
    change_file(path, change)
    with pytest.raises(FileFormatError, match=message):
        read_model(str(path), ModelFile(path), to_look_at=True)
