"""Columns that hold a list of numbers in each row are objects: in Parquet, JSON Lines and CSV."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import load_iris

import covey
from covey.cli.files.columns import vector_columns, vectors_of
from covey.cli.files.reading import read
from covey.cli.objects.infer import infer_recipe
from covey.cli.options import Source
from tests.cli.commands import one_line

VECTORS = load_iris().data.astype(np.float32)
SPECIES = load_iris().target_names[load_iris().target].astype(str)


def lists(kind):
    return pa.array(VECTORS.tolist(), kind)


def write_parquet(column, **more):
    titles = [f"flower {at}" for at in range(150)]
    pq.write_table(pa.table({"species": SPECIES, "title": titles, **more, "v": column}), "v")


def write_jsonl():
    rows = [json.dumps({"species": s, "v": row}) for s, row in zip(SPECIES, VECTORS.tolist(), strict=True)]
    with open("v", "w") as file:
        file.write("\n".join(rows))


def write_csv():
    pd.DataFrame({"species": SPECIES, "v": [json.dumps(row) for row in VECTORS.tolist()]}).to_csv("v", index=False)


FORMS = {
    "list": ("parquet", lambda: write_parquet(lists(pa.list_(pa.float32())))),
    "large list": ("parquet", lambda: write_parquet(lists(pa.large_list(pa.float32())))),
    "fixed size": ("parquet", lambda: write_parquet(lists(pa.list_(pa.float32(), 4)))),
    "doubles": ("parquet", lambda: write_parquet(lists(pa.list_(pa.float64())))),
    "JSON Lines": ("jsonl", write_jsonl),
    "CSV": ("csv", write_csv),
}


def expected(X=VECTORS, similarity="cosine"):
    return covey.NearestPrototypeClassifier(covey.CRS(5, similarity=similarity, random_state=0)).fit(X, SPECIES)


@pytest.mark.parametrize("features", [(), ("--features", "v")])
@pytest.mark.parametrize("form", FORMS)
def test_the_only_column_of_lists_is_compared(run, form, features):
    kind, write = FORMS[form]
    write()
    options = ("--format", kind, "-l", "species", "-k", 5, *features)
    code, _, err = run("select", "v", *options, "-o", "few.jsonl", "-m", "m")
    assert code == 0
    assert "compared: the lists of numbers in v, by cosine" in err
    rows = pd.read_json("few.jsonl", lines=True)
    assert rows["covey_row"].tolist() == expected().selector_.sample_indices_.tolist()
    kept = [json.loads(value) if kind == "csv" else value for value in rows["v"]]
    np.testing.assert_allclose(kept, VECTORS[rows["covey_row"]], rtol=1e-7)
    assert run("classify", "v", "--format", kind, "-m", "m", "-o", "answers.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("answers.csv")["covey_label"], expected().predict(VECTORS))
    assert "on the lists of numbers in v, by cosine" in run("inspect", "m")[1]


def not_of_lists(name):
    original = getattr(pd.arrays.ArrowExtensionArray, name)

    def method(self, *args, **options):
        assert "list" not in str(self.dtype)
        return original(self, *args, **options)

    return method


@pytest.mark.parametrize("form", ["list", "fixed size"])
def test_numbers_keep_their_type_and_never_become_objects(run, form, monkeypatch):
    FORMS[form][1]()
    block = read("v", "parquet")
    with monkeypatch.context() as patch:
        for name in ("__iter__", "tolist", "map"):  # the ways to objects of Python
            patch.setattr(pd.arrays.ArrowExtensionArray, name, not_of_lists(name))
        recipe = infer_recipe(block, Source("v", label="species"))
        assert not recipe.gaps(block).rows.any()
        found = recipe.objects(block)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, VECTORS)
    part = block.take(np.array([140, 3, 77]))
    np.testing.assert_array_equal(vectors_of(part, "v"), VECTORS[[140, 3, 77]])


def test_all_types_of_numbers_can_be_in_lists(run):
    for kind, dtype in ((pa.int8(), np.int8), (pa.float16(), np.float16), (pa.bool_(), np.bool_)):
        values = VECTORS.astype(dtype)
        write_parquet(pa.array([list(row) for row in values], pa.list_(kind)))
        found = vectors_of(read("v", "parquet"), "v")
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, values)


def test_vectors_are_scaled_as_columns_are(run):
    FORMS["list"][1]()
    options = ("--format", "parquet", "-l", "species", "-s", "euclidean", "--scale", "-k", 5)
    assert run("select", "v", *options, "-o", "few.csv", "-m", "m")[0] == 0
    lowest = VECTORS.min(axis=0)
    model = expected((VECTORS - lowest) / (VECTORS.max(axis=0) - lowest), "euclidean")
    assert pd.read_csv("few.csv")["covey_row"].tolist() == model.selector_.sample_indices_.tolist()
    assert covey.load("m").representatives_.dtype == np.float32
    assert run("classify", "v", "--format", "parquet", "-m", "m", "-o", "answers.csv")[0] == 0
    assert (pd.read_csv("answers.csv")["covey_similarity"] > 0.5).all()


def test_methods_are_compared_on_vectors(run):
    FORMS["list"][1]()
    options = ("--format", "parquet", "-l", "species", "--methods", "crs", "-k", "5", "--folds", "2")
    code, _, err = run("compare", "v", *options, "--html", "report.html")
    assert code == 0
    assert "trying 2 similarities: cosine; euclidean." in err
    with open("report.html") as page:
        shown = page.read()
    assert "title: flower" in shown
    assert "v: [" not in shown


@pytest.mark.processes
def test_workers_of_a_cluster_read_vectors(run):
    FORMS["list"][1]()
    options = ("--format", "parquet", "-l", "species", "-k", 5, "--dask", "local", "-j", 1)
    assert run("select", "v", *options, "-o", "few.csv")[0] == 0
    assert pd.read_csv("few.csv")["covey_row"].tolist() == expected().selector_.sample_indices_.tolist()


def test_columns_of_numbers_go_first_and_the_lists_are_mentioned(run, caplog):
    write_parquet(lists(pa.list_(pa.float32())), size=VECTORS[:, 0], width=VECTORS[:, 1])
    code, _, err = run("select", "v", "--format", "parquet", "-l", "species", "-o", "few.csv")
    assert code == 0
    assert "compared: the columns size, width" in err
    assert "column 'v' holds lists of numbers, which are not compared" in caplog.text


def test_a_column_of_lists_is_named_alone(run):
    write_parquet(lists(pa.list_(pa.float32())))
    code, _, err = run("select", "v", "--format", "parquet", "--features", "v,title", "-o", "few.csv")
    assert code == 1
    assert "column 'v' holds lists of numbers; name it alone as --features" in one_line(err)


def test_profiles_and_texts_are_no_lists_of_numbers():
    frame = pd.DataFrame(
        {
            "list": [[1, 2.5]],
            "text": ["[1, 2]"],
            "strings": [["a"]],
            "profile": [{"a": 1}],
            "words": ["[not a list"],
            "gap": [None],
            "truths": [[True]],
        }
    )
    assert vector_columns(frame, list(frame)) == ["list", "text"]


def with_row(column, at, value):
    made = list(column)
    made[at] = value
    return made


LISTS = VECTORS.tolist()
TEXTS = [json.dumps(row) for row in LISTS]
WRONG = {
    "shorter": (
        [1.0, 2.0],
        "a list of 2 numbers in column 'v', where a list of 4 numbers must be, as in the first",
    ),
    "missing": (None, "no value in column 'v', where a list"),
    "a gap": ([1.0, None, 2.0, 3.0], "in column 'v', where a list of finite numbers must be"),
    "no number": ([1.0, float("nan"), 2.0, 3.0], "nan is number 1 of the list in column 'v'"),
    "infinite": ([1.0, 2.0, 3.0, float("inf")], "inf is number 3 of the list in column 'v'"),
}
PLACES = {"parquet": "v, row 7: ", "jsonl": "v, line 8: ", "csv": "v, line 9: "}


def write_as(kind, values):
    if kind == "parquet":
        pq.write_table(pa.table({"species": SPECIES, "v": pa.array(values, pa.list_(pa.float32()))}), "v")
    elif kind == "jsonl":
        with open("v", "w") as file:
            file.writelines(json.dumps({"species": s, "v": v}) + "\n" for s, v in zip(SPECIES, values, strict=True))
    else:
        texts = [None if value is None else json.dumps(value) for value in values]
        pd.DataFrame({"species": SPECIES, "v": texts}).to_csv("v", index=False)


@pytest.mark.parametrize("kind", PLACES)
@pytest.mark.parametrize("name", WRONG)
def test_a_row_that_does_not_fit_is_refused_with_its_place(run, name, kind):
    value, message = WRONG[name]
    write_as(kind, with_row(LISTS, 7, value))
    code, _, err = run("select", "v", "--format", kind, "-l", "species", "--features", "v", "-o", "few.csv")
    assert code == 1
    assert f"covey: {PLACES[kind]}" in one_line(err)
    assert message in err
    options = ("--format", kind, "-l", "species", "--features", "v", "--missing", "drop", "-o", "few.csv")
    assert run("select", "v", *options)[0] == (0 if name == "missing" else 1)


@pytest.mark.parametrize("text", ["[1, 2", "1], [2", "{}", "[1, 2, 3, true]", '[1, 2, 3, "4"]', "[[1], 2, 3, 4]"])
def test_a_text_that_is_no_list_is_refused_with_its_place(run, text):
    pd.DataFrame({"species": SPECIES, "v": with_row(TEXTS, 7, text)}).to_csv("v.csv", index=False)
    code, _, err = run("select", "v.csv", "-l", "species", "--features", "v", "-o", "few.csv")
    assert code == 1
    assert "v.csv, line 9: " in one_line(err)
    assert "in column 'v', where a list of finite numbers must be" in err


def test_means_cannot_fill_lists(run):
    write_as("parquet", with_row(LISTS, 7, None))
    code, _, err = run("select", "v", "--format", "parquet", "-l", "species", "--missing", "mean", "-o", "few.csv")
    assert code == 1
    assert "--missing mean is for columns of numbers" in one_line(err)
