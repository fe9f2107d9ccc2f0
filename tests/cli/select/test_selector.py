"""What `covey select` selects by wish: how many rows, by which method, which of them, and how much each counts."""

import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.cli.select.selector import proportional_sizes
from tests.cli import commands
from tests.cli.commands import READ, iris, one_line

SELECT = ("select", "iris.csv", "-l", "species", "--id", "name", "-o", "few.csv", "-f")


@pytest.fixture
def flowers(folder):
    marks = {3: "x", 77: "TRUE", 100: "yes", 5: "no", 6: "0"}
    frame = iris().assign(must=[marks.get(at, "") for at in range(150)], weight=np.arange(150) % 7 / 3)
    frame.to_csv("iris.csv", index=False)
    return frame


def data(frame):
    return frame.iloc[:, :4], frame["species"].to_numpy(dtype=str)


FEATURES = ("--features", "sepal_length,sepal_width,petal_length,petal_width")


def rows(path="few.csv"):
    return pd.read_csv(path)["covey_row"].tolist()


@pytest.mark.parametrize(("budget", "size"), [("12", 12), ("0.06", 0.06), ("3", 3), ("0.001", 0.001)])
def test_a_budget_is_the_size_of_the_library(run, flowers, budget, size):
    code, _, err = run(*SELECT, *FEATURES, "-n", budget)
    X, y = data(flowers)
    fitted = covey.CRS(size=size, random_state=0).fit(X, y)
    assert code == 0
    assert rows() == fitted.sample_indices_.tolist()
    n_rows = size if size >= 1 else max(round(size * 150), 3)  # at least one of each cluster
    assert len(rows()) == n_rows
    covered = np.mean(np.concatenate([found.covered_by for found in fitted.prototypes_.values()]) >= 0)
    assert f"{n_rows} of 150 rows selected from 3 clusters; they cover {covered:.1%} of the rows; " in err


@pytest.mark.filterwarnings("always:size asks for")
@pytest.mark.parametrize("method", [(), ("--sharpen",)], ids=str)
def test_a_budget_beyond_the_distinct_rows_is_told(run, folder, caplog, method):
    pd.DataFrame({"a": [1, 1, 0, 2, 2, 1], "b": [0, 0, 1, 1, 1, 2], "kind": list("xxxyyy")}).to_csv(
        "t.csv", index=False
    )
    code, _, err = run("select", "t.csv", "-l", "kind", "-o", "few.csv", "-n", "6", *method)
    assert code == 0
    assert "size asks for 6 representatives, but only 4 can be selected, because equal objects" in caplog.text
    assert "4 of 6 rows selected" in err


METHODS = {
    "crs": covey.CRS(random_state=0),
    "sharpened": covey.Sharpened(covey.CRS(random_state=0), random_state=0),
    "delta-medoids": covey.DeltaMedoids(random_state=0),
    "ds3": covey.DS3(),
    "random": covey.RandomSelector(random_state=0),
    "all": covey.KeepAll(),
}


@pytest.mark.parametrize("method", METHODS)
def test_methods_select_what_the_library_selects(run, flowers, method):
    X, y = data(flowers)
    fitted = METHODS[method].fit(X, y)
    assert run(*SELECT, *FEATURES, "--method", method, "--members", "all.csv", "-m", "m")[0] == 0
    assert rows() == fitted.sample_indices_.tolist()
    told, expected = pd.read_csv("all.csv"), fitted.members(X)
    for name in ("row", "covered"):
        np.testing.assert_array_equal(told[f"covey_{name}"], expected[name])
    covered = expected[expected["covered"]]
    assert told["covey_covered_by"].dropna().tolist() == covered["representative"].tolist()
    assert json.loads(run("inspect", "m", "--json")[1])["method"].startswith(type(fitted).__name__)


def test_a_threshold_is_the_delta_of_delta_medoids(run, flowers):
    X, y = data(flowers)
    assert run(*SELECT, *FEATURES, "--method", "delta-medoids", "--threshold", "0.999")[0] == 0
    assert rows() == covey.DeltaMedoids(0.999, random_state=0).fit(X, y).sample_indices_.tolist()


def test_the_recall_goes_to_the_graph_and_into_the_model(run, flowers):
    assert run(*SELECT, *FEATURES, "--recall", "0.8", "-m", "m")[0] == 0
    assert covey.load("m").selector.recall == covey.load("m").selector_.recall == 0.8


def test_all_neighbors_above_a_threshold_represent_every_row(run, flowers):
    X, y = data(flowers)
    options = ("-k", "all", "--threshold", "0.999", "--coverage", "1", "--members", "all.csv")
    assert run(*SELECT, *FEATURES, *options)[0] == 0
    assert rows() == covey.CRS(None, threshold=0.999, coverage=1).fit(X, y).sample_indices_.tolist()
    assert pd.read_csv("all.csv")["covey_similarity"].min() >= 0.999


@pytest.mark.parametrize("name", ["all.csv", "all.tsv", "all.jsonl", "all.parquet"])
def test_members_are_written_in_every_format_of_tables(run, flowers, name):
    assert run(*SELECT, *FEATURES, "--members", name)[0] == 0
    told = READ[name.split(".")[1]](name)
    assert told.columns.tolist() == [
        "name",
        "covey_row",
        "covey_cluster",
        "covey_representative",
        "covey_representative_id",
        "covey_similarity",
        "covey_rank",
        "covey_covered",
        "covey_covered_by",
    ]
    assert told["covey_row"].tolist() == list(range(150))
    assert told["covey_cluster"].tolist() == flowers["species"].tolist()
    few = pd.read_csv("few.csv").set_index("covey_row")
    assert set(told["covey_representative"]) <= set(few.index)
    chosen = few.loc[told["covey_representative"]]
    assert told["covey_representative_id"].tolist() == chosen["name"].tolist()
    assert told["covey_rank"].tolist() == chosen["covey_rank"].tolist()
    counts = told[told["covey_covered"]].groupby("covey_covered_by").size()
    assert counts.reindex(few.index, fill_value=0).tolist() == few["covey_covers"].tolist()


def test_members_of_rows_without_names_have_no_names(run):
    rng = np.random.default_rng(0)
    np.savez("x.npz", X=rng.random((30, 3)))
    assert run("select", "x.npz", "-o", "few.npz", "--members", "-")[0] == 0
    code, out, _ = run("select", "x.npz", "-o", "few.npz", "-f", "--members", "-")
    assert code == 0
    assert out.splitlines()[0] == (
        "covey_row,covey_cluster,covey_representative,covey_similarity,covey_rank,covey_covered,covey_covered_by"
    )


ANSWERED = {
    "few neighbors": ("-k", "5"),
    "few rows": ("-n", "6"),
    "sharpened": ("--sharpen",),
    "scaled and euclidean": ("--scale", "-s", "euclidean"),
    "mixed columns": ("-s", "gower"),
    "at random": ("--method", "random"),
    "hardly any covered": ("--threshold", "0.9999", "-n", "9"),
    "texts": ("--text", "name"),
}


@pytest.mark.parametrize("how", ANSWERED)
def test_members_name_the_representatives_that_classify_names(run, flowers, how):
    """Of the rows that a model was made of, equal ones included."""
    pd.concat([flowers, flowers.iloc[::-7].assign(species="setosa")]).to_csv("iris.csv", index=False)
    options = ANSWERED[how] if "--text" in ANSWERED[how] else (*FEATURES, *ANSWERED[how])
    code, _, err = run(*SELECT, *options, "--members", "all.csv", "-m", "m")
    assert code == 0
    assert run("classify", "iris.csv", "-m", "m", "-o", "answers.csv")[0] == 0
    told, answers = pd.read_csv("all.csv"), pd.read_csv("answers.csv")
    for name in ("covey_representative", "covey_representative_id", "covey_similarity"):
        assert told[name].tolist() == answers[name].tolist()
    few = pd.read_csv("few.csv").set_index("covey_row")
    assert told["covey_rank"].tolist() == few.loc[told["covey_representative"], "covey_rank"].tolist()
    n_foreign = (answers["covey_label"] != told["covey_cluster"]).sum()
    assert n_foreign > 0
    assert f"representative of {n_foreign} rows is one of another cluster, which covey classify would answer." in err
    assert f"--members took {len(told) * len(few):,} more evaluations; " in err


def test_members_of_a_function_take_as_many_calls_as_is_said(run, flowers, monkeypatch):
    monkeypatch.setattr(commands, "calls", [], raising=False)
    monkeypatch.setattr(sys, "path", list(sys.path))
    Path("counted.py").write_text(
        "from tests.cli import commands\n"
        "def near(a, b):\n"
        "    commands.calls.append((a, b))\n"
        "    return -float(abs(len(a) - len(b)))\n"
    )
    flowers.assign(name=["flower" * (1 + row % 50) for row in range(150)]).to_csv("iris.csv", index=False)
    counts = []
    for members in ((), ("--members", "all.csv")):
        code, _, err = run(*SELECT, "--text", "name", "-s", "counted.py:near", "-j", "1", *members)
        assert code == 0
        counts.append(len(commands.calls))
        commands.calls.clear()
    del sys.modules["counted"]
    assert f"--members took {counts[1] - counts[0]:,} more evaluations" in err


def test_marked_rows_are_selected_first(run, flowers):
    assert run(*SELECT, *FEATURES, "--include", "must", "-n", "9")[0] == 0
    few = pd.read_csv("few.csv")
    assert len(few) == 9
    assert set(few[few["covey_rank"] == 1]["covey_row"]) == {3, 77, 100}
    X, y = data(flowers)
    expected = covey.CRS(size=9, random_state=0).fit(X, y, include=[3, 77, 100])
    assert rows() == expected.sample_indices_.tolist()


def test_columns_about_rows_are_not_compared(run, flowers):
    _, _, err = run(*SELECT, "--include", "must", "--weight", "weight")
    assert "compared: the columns sepal_length, sepal_width, petal_length, petal_width, by cosine" in err


def test_an_earlier_selection_is_extended(run, flowers):
    assert run(*SELECT, *FEATURES, "-n", "6")[0] == 0
    before = rows()
    assert run(*SELECT[:-3], *FEATURES, "-n", "12", "--include", "few.csv", "-o", "more.csv")[0] == 0
    assert len(rows("more.csv")) == 12
    assert set(before) < set(rows("more.csv"))
    flowers.iloc[::-1].to_csv("iris.csv", index=False)  # names hold in another order of the rows, numbers do not
    assert run(*SELECT[:-3], *FEATURES, "-n", "12", "--include", "few.csv", "-o", "turned.csv")[0] == 0
    assert {149 - row for row in before} < set(rows("turned.csv"))


@pytest.mark.parametrize(
    ("name", "content", "options"),
    [
        ("names.txt", "flower 9\n\nflower 60\n", ("--id", "name")),
        ("names.csv", "name,why\nflower 9,so\nflower 60,so\n", ("--id", "name")),
        ("rows", "60\n9\n9\n", ()),
        ("rows.csv", "covey_row,name\n9,\n60,\n", ()),
    ],
)
def test_rows_to_include_come_from_files(run, flowers, name, content, options):
    Path(name).write_text(content)
    common = ("select", "iris.csv", "-l", "species", *FEATURES, "-o", "few.csv")
    assert run(*common, *options, "--include", name)[0] == 0
    few = pd.read_csv("few.csv")
    assert {9, 60} <= set(few[few["covey_rank"] == 1]["covey_row"])


def test_rows_keep_their_numbers_where_others_are_left_out(run, flowers):
    flowers.loc[[0, 5, 40], "sepal_width"] = np.nan
    flowers.to_csv("iris.csv", index=False)
    Path("rows").write_text("9\n60\n")
    common = ("select", "iris.csv", "-l", "species", *FEATURES, "--missing", "drop", "-o", "few.csv")
    assert run(*common, "--include", "rows", "--members", "all.csv")[0] == 0
    told = pd.read_csv("all.csv")
    assert sorted({*range(150)} - {*told["covey_row"]}) == [0, 5, 40]
    assert {9, 60} <= set(rows()) == set(told["covey_representative"])
    Path("rows").write_text("5\n")
    code, _, err = run(*common, "--include", "rows", "-f")
    assert (code, "rows, line 1: '5' is not the number of a row" in err) == (1, True)


def test_weights_are_those_of_the_library(run, flowers):
    X, y = data(flowers)
    assert run(*SELECT, *FEATURES, "--weight", "weight", "-n", "9")[0] == 0
    weighted = covey.CRS(size=9, random_state=0).fit(X, y, sample_weight=flowers["weight"])
    assert rows() == weighted.sample_indices_.tolist()
    assert rows() != covey.CRS(size=9, random_state=0).fit(X, y).sample_indices_.tolist()


@given(st.lists(st.integers(1, 50), min_size=1, max_size=8), st.data())
def test_a_budget_is_shared_out_by_size(sizes, data):
    counts = Counter({f"c{at}": size for at, size in enumerate(sizes)})
    n_rows = data.draw(st.integers(len(sizes), sum(sizes)))
    given_rows = proportional_sizes(n_rows, counts)
    assert sum(given_rows.values()) == n_rows
    for label, size in counts.items():
        exact = n_rows * size / sum(sizes)
        assert 1 <= given_rows[label] <= size
        assert given_rows[label] < exact + 1 or given_rows[label] == 1


def test_random_rows_are_shared_out_by_the_size_of_clusters(run, flowers):
    flowers.iloc[40:].to_csv("iris.csv", index=False)  # 10 of setosa, 50 of the others
    assert run(*SELECT, *FEATURES, "--method", "random", "-n", "22")[0] == 0
    assert pd.read_csv("few.csv")["covey_cluster"].value_counts().to_dict() == {
        "virginica": 10,
        "versicolor": 10,
        "setosa": 2,
    }


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("-n", "0"), 2, "--budget must be a whole number of rows or a share between 0 and 1, got '0'"),
        (("-n", "2"), 1, "-n (--budget) must allow for one row of each of the 3 clusters, got 2."),
        (("-n", "151"), 1, "-n (--budget) must be at most 150, the number of rows, got 151."),
        (("-n", "9", "--coverage", "0.5"), 2, "--coverage would change it"),
        (("-n", "9", "--refine"), 2, "--refine would change it"),
        (("-n", "9", "--method", "ds3"), 2, "--budget is for --method crs, sharpened and random, got --method ds3"),
        (("-n", "9", "--method", "delta-medoids"), 2, "--budget is for --method"),
        (("--method", "delta-medoids", "--threshold", "none"), 2, "needs a --threshold"),
        (("--method", "random", "-k", "3"), 2, "-k is for --method crs and sharpened, got --method random"),
        (("--method", "all", "--refine"), 2, "--refine is for --method"),
        (("--method", "ds3", "--graph", "exact"), 2, "--graph is for --method"),
        (("--recall", "1"), 2, "--recall must be between 0 and 1, got 1.0; --graph exact finds all of them."),
        (("--recall", "0.9", "--graph", "exact"), 2, "--graph exact finds all neighbors"),
        (("--method", "ds3", "--sharpen"), 2, "--sharpen is the method sharpened, got --method ds3"),
        (("--sharpen", "--include", "must"), 2, "--include is for --method crs, got --method sharpened"),
        (("--sharpen", "--weight", "weight"), 2, "--weight is for --method crs"),
        (("--include", "species"), 1, "iris.csv, line 2: 'setosa' in column 'species', where a mark must be"),
        (("--include", "nothing"), 1, "--include must be a column of iris.csv or a file, and 'nothing' is neither"),
        (("--include", "names.txt"), 1, "names.txt: no row of the data is called 'rose'."),
        (("--include", "other.csv"), 1, "other.csv must have a column name or covey_row"),
        (("--include", "empty.txt"), 1, "--include empty.txt names no row"),
        (("--weight", "species"), 1, "iris.csv, line 2: 'setosa' in column 'species', where a finite number must be"),
        (("--weight", "none"), 1, "has no column 'none'"),
        (("--weight", "minus"), 1, "iris.csv, line 2: -1 in column 'minus', where a weight must be at least 0."),
        (("--members", "few.csv"), 2, "--out, --model, --picture and --members must be different files"),
        (("--members", "m.npz"), 1, "m.npz: rows of a table are written as CSV"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_written(run, flowers, options, code, message):
    flowers.assign(minus=-1).to_csv("iris.csv", index=False)
    for name, content in {"names.txt": "flower 3\nrose\n", "other.csv": "a,b\n1,2\n", "empty.txt": "\n"}.items():
        Path(name).write_text(content)
    found, _, err = run(*SELECT, *options)
    assert (found, message in one_line(err.splitlines()[-1])) == (code, True), err
    assert not Path("few.csv").exists()


def test_rows_are_named_without_doubt(run, flowers):
    flowers.assign(name="same").to_csv("iris.csv", index=False)
    Path("names.txt").write_text("same\n")
    code, _, err = run(*SELECT, "--include", "names.txt")
    assert (code, "names.txt: 150 rows are called 'same'; name rows by numbers" in err) == (1, True)
    Path("names.txt").write_text("150\n")
    code, _, err = run("select", "iris.csv", "-l", "species", "--include", "names.txt", "-o", "few.csv")
    assert (code, "'150' is not the number of a row, which are whole numbers from 0 to 149" in err) == (1, True)


def test_rows_of_a_matrix_have_no_columns_to_weigh_by(run):
    np.savez("x.npz", X=np.random.default_rng(0).random((30, 3)))
    code, _, err = run("select", "x.npz", "-o", "few.npz", "--weight", "w")
    assert (code, "--weight is for columns with names, and x.npz has none" in one_line(err)) == (2, True)


@pytest.mark.parametrize(
    ("far", "options", "told"),
    [
        (
            [10, 20, 40, 80],
            ["--coverage", "1"],
            "4 of the selected rows stand only for themselves; with a lower --threshold, or none, ",
        ),
        ([10, 20, 40, 80], ["--coverage", "1", "--threshold", "none"], None),
        ([10], ["-n", "3"], "2 of the selected rows stand only for themselves.\n"),
        ([], [], None),
    ],
)
def test_many_rows_that_stand_only_for_themselves_are_told(run, folder, far, options, told):
    near = [number / 100 for number in range(20)]
    Path("t.csv").write_text("a\n" + "\n".join(map(str, near + far)) + "\n")
    code, _, err = run("select", "t.csv", "-s", "euclidean", *options, "-o", "few.csv")
    assert code == 0
    n_alone = sum(line.endswith(",1") for line in Path("few.csv").read_text().splitlines()[1:])
    assert (told is None) == ("only for" not in err)
    if told is not None:
        assert told.startswith(f"{n_alone} ")
        assert told in err
