"""`covey inspect --representatives`: a row for each representative, with the values that the model keeps."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import covey
from tests.cli.commands import COVEY, READ, iris, on_a_terminal, one_line, run_here, texts

ADDED = ["covey_row", "covey_cluster", "covey_rank", "covey_covers"]
NUMBERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]


def listed(run, model):
    code, out, err = run("inspect", model, "--representatives")
    assert (code, err) == (0, "")
    return pd.read_csv(io.StringIO(out), dtype={"covey_cluster": str})


@pytest.mark.parametrize("scale", [[], ["--scale"]])
def test_the_rows_that_select_has_written_are_listed_again(run, scale):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "--id", "name", "-k", 5, *scale, "-o", "few.csv", "-m", "m")
    selected, found = pd.read_csv("few.csv"), listed(run, "m")
    assert list(found.columns) == [*ADDED, "name", *NUMBERS]
    pd.testing.assert_frame_equal(found, selected[[*ADDED, "name", *NUMBERS]])


@pytest.mark.parametrize("form", READ)
def test_they_are_written_in_the_formats_of_other_tables(run, form):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    assert run("inspect", "m", "--representatives", "-o", f"r.{form}") == (0, "", "")
    pd.testing.assert_frame_equal(READ[form](f"r.{form}"), listed(run, "m"), check_dtype=False)
    code, _, err = run("inspect", "m", "--representatives", "-o", f"r.{form}")
    assert (code, f"r.{form} exists" in one_line(err)) == (1, True)
    assert run("inspect", "m", "--representatives", "-o", f"r.{form}", "--force")[0] == 0
    told = json.loads(run("inspect", "m", "--representatives", "--json")[1])
    assert told == json.loads(listed(run, "m").to_json(orient="records"))


def test_texts_and_profiles_are_shown_as_the_model_keeps_them(run):
    texts().assign(size=[json.dumps({"n": at}) for at in range(8)]).to_csv("t.csv", index=False)
    run("select", "t.csv", "-l", "topic", "--text", "body", "-s", "osa", "-o", "few.csv", "-m", "strings")
    selected = pd.read_csv("few.csv")
    assert listed(run, "strings")["body"].tolist() == selected["body"].tolist()
    run("select", "t.csv", "-l", "topic", "--profile", "size", "-o", "few.csv", "-m", "profiles", "-f")
    selected = pd.read_csv("few.csv")
    assert [json.loads(value) for value in listed(run, "profiles")["size"]] == [
        {"n": at} for at in selected["covey_row"]
    ]
    run("select", "t.csv", "-l", "topic", "--text", "body", "-o", "few.csv", "-m", "words", "-f")
    selected = pd.read_csv("few.csv")
    for words, body in zip(listed(run, "words")["covey_values"], selected["body"], strict=True):
        assert set(json.loads(words)) == {word for word in body.split() if len(word) > 1}


def test_rows_without_names_have_numbered_columns_and_sparse_ones_what_is_not_0(run):
    rows = np.arange(12.0).reshape(4, 3) % 5
    np.savez("x.npz", X=rows, y=[0, 0, 1, 1])
    sp.save_npz("s.npz", sp.csr_array(rows))
    run("select", "x.npz", "-o", "few.csv", "-m", "dense")
    found = listed(run, "dense")
    np.testing.assert_array_equal(found[["x0", "x1", "x2"]], rows[found["covey_row"]])
    run("select", "s.npz", "-o", "few.csv", "-m", "sparse", "-f")
    found = listed(run, "sparse")
    for row, values in zip(found["covey_row"], found["covey_values"], strict=True):
        assert json.loads(values) == {str(at): value for at, value in enumerate(rows[row]) if value}


def test_mixed_columns_are_shown_as_they_were(run):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"color": rng.choice(["red", "blue"], 50), "size": rng.random(50), "kind": rng.choice(["a", "b"], 50)}
    )
    frame.loc[::5, "size"] = np.nan
    frame.loc[::7, "color"] = None
    frame.to_csv("mixed.csv", index=False)
    run("select", "mixed.csv", "-l", "kind", "-s", "gower", "-o", "few.csv", "-m", "m")
    selected = pd.read_csv("few.csv")
    pd.testing.assert_frame_equal(listed(run, "m"), selected[[*ADDED, "color", "size"]])
    objects = [{"color": "red", "size": 1.0}, {"color": None, "size": 2.0}, {"color": "blue", "size": float("nan")}]
    covey.save(covey.NearestPrototypeClassifier(covey.KeepAll(similarity="gower")).fit(objects, [0, 0, 1]), "dicts")
    found = listed(run, "dicts")
    assert found["color"].fillna("").tolist() == ["red", "", "blue"]
    assert found["size"].fillna(-1).tolist() == [1.0, 2.0, -1.0]


def test_rows_that_were_left_out_do_not_shift_the_others(run):
    frame = iris()
    frame.loc[[0, 40, 99], "petal_length"] = np.nan
    frame.to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "--id", "name", "--missing", "drop", "-o", "few.csv", "-m", "m")
    selected = pd.read_csv("few.csv")
    pd.testing.assert_frame_equal(listed(run, "m"), selected[[*ADDED, "name", *NUMBERS]])


def test_packed_bits_are_shown_as_hexadecimal_numbers(run):
    bits = np.random.default_rng(0).integers(0, 256, (6, 4), dtype=np.uint8)
    fitted = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="jaccard"))
    covey.save(fitted.fit(covey.PackedBits(bits), [0, 0, 0, 1, 1, 1]), "m")
    code, out, _ = run("inspect", "m", "--representatives")
    assert code == 0
    found = pd.read_csv(io.StringIO(out), dtype=str)
    assert found["covey_values"].tolist() == [row.tobytes().hex() for row in bits]


def test_a_matrix_of_similarities_keeps_no_values(run):
    pd.DataFrame(np.eye(4) + 0.1, columns=list("abcd")).to_csv("m.csv", index=False)
    run("select", "m.csv", "--matrix", "-o", "few.csv", "-m", "m")
    assert list(listed(run, "m").columns) == ADDED


def test_models_that_were_saved_from_python_are_listed_whatever_their_objects_are(run):
    objects = [{"a", "b"}, {"b"}, {"c"}, {"c", "d"}]
    fitted = covey.NearestPrototypeClassifier(covey.CRS(2, similarity="jaccard")).fit(objects, [0, 0, 1, 1])
    covey.save(fitted, "m")
    found = listed(run, "m")
    assert found["covey_row"].tolist() == fitted.selector_.sample_indices_.tolist()
    for file in sorted((Path(__file__).parents[2] / "files").glob("*/*.covey")):
        code, out, err = run("inspect", file, "--representatives")
        if code:  # some files hold a selector, which is no model
            assert "cannot classify" in one_line(err)
        else:
            assert out.startswith("covey_row,covey_cluster,covey_rank,covey_covers")


def test_a_terminal_shows_the_first_ones_and_says_how_many_there_are_more(folder):
    frame = pd.DataFrame(np.random.default_rng(0).random((300, 60)), columns=[f"column {at}" for at in range(60)])
    frame.to_csv("wide.csv", index=False)
    assert run_here(["select", "wide.csv", "-k", "2", "-o", "few.csv", "-m", "m"])[0] == 0
    n_selected = len(pd.read_csv("few.csv"))
    assert n_selected > 40
    lines = on_a_terminal([*COVEY, "inspect", "m", "--representatives"]).splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 200
    assert lines[-1].startswith("and ")
    assert f"{n_selected - (len(lines) - 2)} more rows" in lines[-1]
    assert "more columns; --out writes all of them to a file." in lines[-1]


def test_options_of_the_list_need_the_list(run):
    Path("m").touch()
    code, _, err = run("inspect", "m", "-o", "r.csv")
    assert (code, "--out and --out-format are for --representatives" in one_line(err)) == (2, True)
    code, _, err = run("inspect", "m", "--representatives", "--json", "-o", "r.csv")
    assert (code, "--json prints to standard output" in one_line(err)) == (2, True)
    code, _, err = run("inspect", "m", "--representatives", "-o", "r.npz")
    assert (code, "rows of a table are written as" in one_line(err)) == (1, True)
