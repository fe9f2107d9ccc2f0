"""Model files of the command line: those of earlier versions answer as they did, and damaged notes are refused."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import dump_svmlight_file

from covey.cli.model_file import read_model
from covey.cli.objects.recipe import Settings
from covey.cli.objects.registry import KINDS, read_recipe, recipe_of, write_recipe
from covey.exceptions import FileFormatError
from covey.persistence.loading import ModelFile
from tests.cli.commands import iris, texts
from tests.damage import change_file

FILES = Path(__file__).parents[1] / "files" / "command-line"


def few_flowers():
    return iris().groupby("species").head(10).reset_index(drop=True)


def numbers_of_flowers():
    return few_flowers().iloc[:, :4].to_numpy()


def table():
    few_flowers().to_csv("table.csv", index=False)
    return "table.csv"


def topics():
    texts().to_csv("texts.csv", index=False)
    return "texts.csv"


def profiles():
    rows = [
        {"kind": kind, "seen": {key: n + at for at, key in enumerate(keys)}}
        for kind, keys in (("a", "xyz"), ("b", "uvwx"))
        for n in (1, 2, 3, 4)
    ]
    Path("profiles.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return "profiles.jsonl"


def distances():
    X = numbers_of_flowers()
    np.savez(
        "distances.npz", X=np.abs(X[:, None] - X[None]).sum(axis=2), y=few_flowers()["species"].to_numpy(dtype=str)
    )
    return "distances.npz"


def similarities():
    X = numbers_of_flowers()
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    np.savez("similarities.npz", X=X @ X.T, y=few_flowers()["species"].to_numpy(dtype=str))
    return "similarities.npz"


def sparse():
    dump_svmlight_file(numbers_of_flowers(), np.repeat([1, 2, 3], 10), "rows.svmlight")
    return "rows.svmlight"


def module():
    Path("models_mine.py").write_text(
        "def near(a, b):\n    return 1 / (1 + abs(a['petal_width'] - b['petal_width']))\n"
    )
    return table()


SELECTED = {
    "scaled": (table, "-l", "species", "--id", "name", "--scale", "-s", "euclidean"),
    "tf-idf": (topics, "-l", "topic", "--text", "body"),
    "strings": (topics, "-l", "topic", "--text", "body", "-s", "osa"),
    "profiles": (profiles, "-l", "kind", "--profile", "seen"),
    "matrix": (similarities, "--matrix"),
    "distances": (distances, "--distances"),
    "svmlight": (sparse,),
    "mixed": (module, "-l", "species", "--features", "petal_width,name", "-s", "models_mine:near"),
}
"""How the models in tests/files/command-line were made, by a development version before 0.2.0, with -k 2 added."""


@pytest.mark.parametrize("name", SELECTED)
def test_a_model_of_each_kind_made_by_an_earlier_version_gives_the_same_answers(run, name):
    build = SELECTED[name][0]
    again = ("-s", "models_mine:near") if name == "mixed" else ()
    code, _, err = run("classify", build(), "-m", FILES / f"{name}.covey", *again, "-o", "answers.csv")
    assert code == 0, err
    pd.testing.assert_frame_equal(pd.read_csv("answers.csv"), pd.read_csv(FILES / f"{name}.csv"))


@pytest.mark.parametrize("name", SELECTED)
def test_a_new_model_keeps_the_same_recipe_as_an_earlier_version(run, name):
    from covey.persistence.loading import ModelFile

    build, *options = SELECTED[name]
    code, _, err = run("select", build(), *options, "-k", 2, "-o", "few.csv", "-m", "m")
    assert code == 0, err
    new, old = ModelFile("m").notes(), ModelFile(FILES / f"{name}.covey").notes()
    assert new.keys() == old.keys()
    assert {key for key, value in new["recipe"].items() if value is not None} <= old["recipe"].keys()
    for key, value in old["recipe"].items():
        np.testing.assert_array_equal(new["recipe"][key], value)


def test_a_model_file_is_opened_once(run, monkeypatch):
    path = table()
    assert run("select", path, "-l", "species", "-o", "few.csv", "-m", "m")[0] == 0
    opened = []
    read = Path.read_bytes
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self.name) or read(self))
    for command in (("classify", path, "-m", "m", "-o", "answers.csv"), ("inspect", "m")):
        opened.clear()
        assert run(*command)[0] == 0
        assert opened == ["m"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_recipe_comes_back_from_a_file_as_it_was(kind):
    recipe = recipe_of(Settings(kind, ["a"], "cosine", ["a"], label="b", id="c"))
    again = read_recipe(write_recipe(recipe))
    assert type(again) is type(recipe)
    assert again == recipe


@pytest.mark.parametrize(
    "changed",
    [{"kind": "magic"}, {"columns": "a"}, {"columns": [1]}, {"base": 2}, {"label": 3}, {"weights": [1.0]}, {"more": 1}],
)
def test_a_recipe_with_values_that_covey_has_not_written_is_refused(changed):
    with pytest.raises((TypeError, ValueError)):
        read_recipe({"kind": "text", "columns": ["a"], "similarity": "cosine"} | changed)


# Notes that `covey select` could not have written


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
    """The file claims that a similarity of covey is a custom function."""
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
