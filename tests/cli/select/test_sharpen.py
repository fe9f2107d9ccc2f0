"""`covey select --sharpen`: what it selects, what other commands make of the model, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covey
from tests.cli.commands import iris, one_line

SELECT = ("select", "iris.csv", "-l", "species", "-k", "5", "-o", "few.csv", "--force")


@pytest.fixture
def flowers(folder):
    iris().to_csv("iris.csv", index=False)


def sharpened(size=None):
    frame = iris()
    X, y = frame.iloc[:, :4], frame["species"].to_numpy(dtype=str)
    selector = covey.Sharpened(covey.CRS(5, random_state=0), size=size, random_state=0)
    return covey.NearestPrototypeClassifier(selector).fit(X, y), X


@pytest.mark.parametrize(("size", "total"), [(None, None), ("9", 9), ("0.05", 0.05)])
def test_sharpened_rows_are_those_of_the_library(run, flowers, size, total):
    code, _, err = run(*SELECT, "--sharpen", *(() if size is None else ("--budget", size)))
    selector = sharpened(total)[0].selector_
    few = pd.read_csv("few.csv")
    assert code == 0
    assert f"{selector.sample_indices_.size} of 150 rows selected from 3 clusters" in err
    np.testing.assert_array_equal(few["covey_row"], selector.sample_indices_)
    assert few["covey_covers"].sum() == 150
    assert (few.groupby("covey_cluster")["covey_covers"].diff().dropna() <= 0).all()


def test_a_sharpened_model_classifies_and_can_be_inspected(run, flowers):
    assert run(*SELECT, "--sharpen", "-m", "m")[0] == 0
    fitted, X = sharpened()
    assert run("classify", "iris.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("answers.csv")["covey_label"], fitted.predict(X))
    assert run("inspect", "m")[1].startswith("Sharpened CRS on the columns sepal_length, ")
    told = json.loads(run("inspect", "m", "--json")[1])
    assert told["sharpened"] is True
    assert told["evaluations"] == fitted.selector_.n_evaluations_
    assert [cluster["representatives"] for cluster in told["clusters"]] == [
        found.indices.size for found in fitted.selector_.prototypes_.values()
    ]


def test_inspect_shows_the_k_of_what_was_sharpened(run, flowers):
    run(*SELECT, "-k", "7", "--sharpen", "-m", "m")
    assert {cluster["neighbors"] for cluster in json.loads(run("inspect", "m", "--json")[1])["clusters"]} == {7}


def test_pictures_of_a_sharpened_selection_are_drawn(run, flowers):
    assert run(*SELECT, "--sharpen", "--picture", "map.html")[0] == 0
    found = sharpened()[0].selector_.sample_indices_
    assert f"{found.size} of 150 objects represent" in Path("map.html").read_text()
    assert run(*SELECT, "--sharpen", "--picture", "coverage.png")[0] == 0


def test_one_cluster_is_selected_without_sharpening_and_one_line_says_so(run, flowers, caplog):
    common = ("select", "iris.csv", "--id", "name", "-k", "5", "-f")
    code, _, err = run(*common, "--sharpen", "-o", "few.csv")
    assert code == 0
    assert caplog.messages == [
        "--sharpen needs at least two clusters to tell apart, but all labels are 'all'; is --label right? "
        "Rows are selected without it."
    ]
    assert "Warning" not in err
    run(*common, "-o", "plain.csv")
    assert Path("few.csv").read_text() == Path("plain.csv").read_text()
    assert run(*common, "--sharpen", "--budget", "5", "-o", "few.csv")[0] == 0
    assert len(pd.read_csv("few.csv")) == 5


def test_a_selection_that_sharpening_leaves_as_it_is_says_so(run):
    pd.DataFrame({"x": [1.0, 1.1, 9.0, 9.1], "y": [9.0, 9.1, 1.0, 1.1], "kind": list("aabb")}).to_csv("t.csv")
    select = ("select", "t.csv", "-l", "kind", "--features", "x,y", "--sharpen", "-k", "1", "-o", "few.csv", "-m", "m")
    assert "these are the rows that are selected without --sharpen" in run(*select)[2]
    assert "(no exchange of representatives was found to help)" in run("inspect", "m")[1]


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--sharpen", "--budget", "0"), 2, "must be a whole number of rows or a share between 0 and 1, got '0'"),
        (("--sharpen", "--budget", "1.5"), 2, "got '1.5'"),
        (("--sharpen", "--budget", "nan"), 2, "got 'nan'"),
        (("--sharpen", "--budget", "few"), 2, "got 'few'"),
        (("--sharpen", "--budget", "2"), 1, "one row of each of the 3 clusters, got 2."),
    ],
)
def test_a_size_that_cannot_be_is_refused(run, flowers, options, code, message):
    found, _, err = run(*SELECT, *options)
    assert (found, message in one_line(err)) == (code, True)
    assert not Path("few.csv").exists()
