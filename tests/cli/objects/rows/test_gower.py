"""`--similarity gower`: columns of numbers and of categories, with gaps, on the command line."""

import json

import numpy as np
import pandas as pd
import pytest

import covey
from tests.cli.commands import one_line

NUMBERS = ["weight", "age"]


def pets(n=90):
    rng = np.random.default_rng(0)
    kind = rng.choice(["cat", "dog", "owl"], n)
    frame = pd.DataFrame(
        {
            "name": [f"pet {row}" for row in range(n)],
            "kind": kind,
            "weight": np.where(kind == "dog", 20.5, 4.25) + rng.normal(0, 1, n).round(2),
            "color": rng.choice(["black", "white", "brown"], n).astype(object),
            "flies": np.where(kind == "owl", "yes", "no").astype(object),
            "age": rng.integers(0, 15, n).astype(float),
        }
    )
    for at, column in enumerate(("weight", "color", "age")):
        frame.loc[at :: 9 + at, column] = None
    return frame


WRITE = {
    "pets.csv": lambda frame: frame.to_csv("pets.csv", index=False),
    "pets.jsonl": lambda frame: frame.to_json("pets.jsonl", orient="records", lines=True),
    "pets.parquet": lambda frame: frame.to_parquet("pets.parquet"),
}


def expected(columns):
    return covey.NearestPrototypeClassifier(covey.CRS(5, similarity="gower", random_state=0)).fit(
        pets()[columns], pets()["kind"].to_numpy(dtype=str)
    )


@pytest.mark.parametrize("name", WRITE)
def test_all_columns_but_the_label_and_the_name_are_compared(run, name, caplog):
    WRITE[name](pets())
    options = ("--label", "kind", "--id", "name", "-s", "gower", "-k", 5)
    code, _, err = run("select", name, *options, "-o", "few.csv", "-m", "m")
    assert code == 0
    assert "compared: the columns weight, color, flies, age (2 of numbers, 2 of categories), by gower" in err
    assert "identifier" not in caplog.text
    model = expected(["weight", "color", "flies", "age"])
    assert pd.read_csv("few.csv")["covey_row"].tolist() == model.selector_.sample_indices_.tolist()
    assert run("classify", name, "-m", "m", "-o", "answers.csv")[0] == 0
    answers = pd.read_csv("answers.csv")
    assert answers["covey_label"].tolist() == model.predict(pets()[["weight", "color", "flies", "age"]]).tolist()
    np.testing.assert_allclose(
        answers["covey_similarity"], model.decision_function(pets()[["weight", "color", "flies", "age"]]).max(axis=1)
    )


def test_a_model_of_one_format_classifies_rows_of_another(run):
    for write in WRITE.values():
        write(pets())
    options = ("-l", "kind", "--id", "name", "-s", "gower")
    assert run("select", "pets.parquet", *options, "-o", "few.csv", "-m", "m")[0] == 0
    answers = []
    for name in WRITE:
        assert run("classify", name, "-m", "m", "-o", "answers.csv", "-f")[0] == 0
        answers.append(pd.read_csv("answers.csv"))
    for other in answers[1:]:
        pd.testing.assert_frame_equal(answers[0], other)


def test_features_restrict_what_is_compared(run):
    WRITE["pets.csv"](pets())
    options = ("--features", "weight,flies", "-k", 5)
    assert run("select", "pets.csv", "-l", "kind", "-s", "gower", *options, "-o", "few.csv")[0] == 0
    rows = expected(["weight", "flies"]).selector_.sample_indices_.tolist()
    assert pd.read_csv("few.csv")["covey_row"].tolist() == rows


def test_identifiers_get_a_warning_unless_they_are_asked_for(run, caplog):
    WRITE["pets.csv"](pets().assign(number=range(90)))
    common = ("select", "pets.csv", "-l", "kind", "-s", "gower", "-o", "few.csv")
    assert run(*common)[0] == 0
    assert "column 'name' looks like an identifier, which tells nothing" in caplog.text
    assert "column 'number' looks like an identifier, which tells nothing" in caplog.text
    assert "column 'flies'" not in caplog.text
    caplog.clear()
    assert run(*common, "--features", "name,flies", "-f")[0] == 0
    assert "identifier" not in caplog.text


def test_the_model_says_what_is_compared(run):
    WRITE["pets.csv"](pets())
    assert run("select", "pets.csv", "-l", "kind", "--id", "name", "-s", "gower", "-o", "few.csv", "-m", "m")[0] == 0
    found = json.loads(run("inspect", "m", "--json")[1])
    assert found["similarity"] == "gower"
    assert found["objects"] == "the columns weight, color, flies, age (2 of numbers, 2 of categories)"


def test_methods_are_compared_on_mixed_columns(run):
    WRITE["pets.csv"](pets())
    options = ("-l", "kind", "--id", "name", "-s", "gower", "--methods", "crs,random", "-k", "5", "--folds", "2")
    code, out, _ = run("compare", "pets.csv", *options, "--html", "report.html")
    assert code == 0
    assert "covey select pets.csv --label kind --id name --similarity gower -k 5" in out


def test_rows_without_names_of_columns_may_have_gaps(run):
    X = pets()[NUMBERS].to_numpy()
    np.savez("pets.npz", X=X, y=pets()["kind"].to_numpy(dtype=str))
    assert run("select", "pets.npz", "-s", "gower", "-k", 5, "-o", "few.npz", "-m", "m")[0] == 0
    with np.load("few.npz") as few:
        assert few["covey_row"].tolist() == expected(NUMBERS).selector_.sample_indices_.tolist()
    assert run("classify", "pets.npz", "-m", "m", "-o", "answers.csv")[0] == 0


def test_words_for_missing_numbers_are_gaps_and_other_words_are_refused(run):
    frame = pets().astype({"age": object})
    frame.loc[3, "age"] = "NA"
    WRITE["pets.csv"](frame)
    assert run("select", "pets.csv", "-l", "kind", "--id", "name", "-s", "gower", "-o", "few.csv")[0] == 0
    frame.loc[4, "age"] = "old"
    WRITE["pets.csv"](frame)
    code, _, err = run("select", "pets.csv", "-l", "kind", "--id", "name", "-s", "gower", "-o", "few.csv", "-f")
    assert code == 1
    assert "pets.csv, line 6: 'old' in column 'age', where a finite number or nothing must be." in one_line(err)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--scale",), "divides each column of numbers by its range itself; leave out --scale"),
        (("--text", "color"), "compares columns; leave out --text and --profile"),
        (("--profile", "color"), "compares columns; leave out --text and --profile"),
        (("--missing", "mean"), "skips missing values; leave out --missing mean"),
        (("--image", "2x2"), "--image is for objects that are rows of numbers"),
    ],
)
def test_options_that_gower_has_no_use_for_are_refused(run, options, message):
    WRITE["pets.csv"](pets())
    code, _, err = run("select", "pets.csv", "-l", "kind", "-s", "gower", *options, "-o", "few.csv")
    assert code == 2
    assert message in one_line(err)


def test_a_cluster_of_machines_is_refused(run):
    WRITE["pets.parquet"](pets())
    code, _, err = run("select", "pets.parquet", "-l", "kind", "-s", "gower", "--dask", "local", "-o", "few.csv")
    assert code == 2
    assert "--similarity gower needs all data in one process" in one_line(err)


def test_a_table_without_numbers_is_told_about_gower(run):
    pets()[["kind", "color"]].to_csv("pets.csv", index=False)
    code, _, err = run("select", "pets.csv", "-l", "kind", "-o", "few.csv")
    assert code == 1
    assert "or compare all by --similarity gower" in one_line(err)
