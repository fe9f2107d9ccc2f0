"""Files of all formats in and out of the commands; broken ones are named with the line."""

import csv
import json
import os
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

import covey
from tests.cli.commands import READ, WRITE, expected, iris, one_line

ADDED = ["covey_row", "covey_cluster", "covey_rank", "covey_covers"]


@pytest.mark.parametrize("name", WRITE)
def test_tables_come_back_in_their_format_with_what_the_library_selects(run, name):
    """What goes in comes out, in the same format, with what the library itself selects and answers."""
    frame = iris()
    WRITE[name](frame, name)
    read = READ[name.split(".")[1]]
    code, out, _ = run("select", name, "--label", "species", "--id", "name", "-k", 5, "-o", f"few-{name}", "-m", "m")
    assert (code, out) == (0, "")
    few = read(f"few-{name}")
    fitted, X, _ = expected()
    rows = fitted.selector_.sample_indices_
    assert few.columns.tolist() == [*frame.columns, *ADDED]
    np.testing.assert_array_equal(few["covey_row"], rows)
    pd.testing.assert_frame_equal(few[list(frame.columns)], frame.iloc[rows].reset_index(drop=True), check_dtype=False)
    np.testing.assert_array_equal(few["covey_cluster"], few["species"])
    for label, part in few.groupby("covey_cluster"):
        assert part["covey_rank"].tolist() == list(range(1, len(part) + 1))
        assert part["covey_covers"].sum() == round(fitted.selector_.prototypes_[label].coverage * 50)

    code, _, _ = run("classify", name, "--model", "m", "-o", f"answers-{name}")
    assert code == 0
    answers = read(f"answers-{name}")
    np.testing.assert_array_equal(answers["covey_label"], fitted.predict(X))
    decided, similarities = fitted.nearest_prototypes(X, n=1)
    np.testing.assert_array_equal(answers["covey_representative"], decided[:, 0])
    np.testing.assert_allclose(answers["covey_similarity"], similarities[:, 0])
    assert answers["covey_representative_id"].tolist() == frame["name"].iloc[decided[:, 0]].tolist()
    both = np.sort(fitted.class_similarities(X), axis=1)
    np.testing.assert_allclose(answers["covey_margin"], both[:, -1] - both[:, -2])
    assert (answers["covey_runner_up"] != answers["covey_label"]).all()
    assert not [path for path in os.listdir() if path.startswith(".")]  # no temporary file is left


def test_arrays_come_back_in_their_format_with_what_the_library_selects(run):
    fitted, X, y = expected()
    values, codes = X.to_numpy(), np.unique(y, return_inverse=True)[1]
    rows = fitted.selector_.sample_indices_
    np.savez("iris.npz", X=values, y=codes)
    assert run("select", "iris.npz", "-k", 5, "-o", "few.npz", "-m", "m")[0] == 0
    with np.load("few.npz") as few:
        np.testing.assert_array_equal(few["X"], values[rows])
        np.testing.assert_array_equal(few["y"], codes[rows])
        np.testing.assert_array_equal(few["covey_row"], rows)
    assert run("classify", "iris.npz", "-m", "m", "-o", "answers.csv")[0] == 0
    answers = pd.read_csv("answers.csv")["covey_label"]
    np.testing.assert_array_equal(answers, np.unique(y, return_inverse=True)[0].searchsorted(fitted.predict(X)))

    sp.save_npz("sparse.npz", sp.csr_array(values))
    assert run("select", "sparse.npz", "-k", 5, "-o", "all.npz")[0] == 0  # no labels: one cluster
    with np.load("all.npz") as few:
        np.testing.assert_allclose(sp.load_npz("all.npz").toarray(), values[few["covey_row"]])
        assert set(few["covey_cluster"]) == {"all"}

    dump_svmlight_file(values, codes, "iris.svmlight")
    assert run("select", "iris.svmlight", "-k", 5, "-o", "few.svmlight", "-m", "n")[0] == 0
    few, labels = load_svmlight_file("few.svmlight")
    np.testing.assert_allclose(few.toarray(), values[rows])
    np.testing.assert_array_equal(labels, codes[rows])
    assert f"covey_row={rows[0]} covey_cluster=0 covey_rank=1" in Path("few.svmlight").read_text().splitlines()[0]
    assert run("classify", "iris.svmlight", "-m", "n", "-o", "b.csv")[0] == 0
    Path("narrow.svmlight").write_text("0 1:5.1 2:3.5\n")  # columns 3 and 4 are 0
    assert run("classify", "narrow.svmlight", "-m", "n", "-o", "narrow.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("b.csv")["covey_label"], answers)


BAD = {
    "a row too long": ("a,b,kind\n1,2,x\n3,4,5,6\n", r"bad\.csv, line 3: the header has 3 columns, the row 4"),
    "a row too short": ("a,b,kind\n1,2,x\n3\n4,5,y\n", r"bad\.csv, line 3: the header has 3 columns, the row 1"),
    "a first row too long": ("a,b,kind\n1,2,x,9\n3,4,y\n", r"bad\.csv, line 2: the header has 3 columns, the row 4"),
    "a gap": ("a,b,kind\n1,2,x\n3,,x\n4,5,y\n", r"bad\.csv, line 3: no value in column 'b'"),
    "after lines within a field": ('a,b,note,kind\n1,2,"\n\n",x\n3,4\n', r"bad\.csv, line 5: the header has 4"),
    "a column twice": ("a,a,kind\n1,2,x\n", r"bad\.csv, line 1: two columns are called 'a'"),
    "an open quote": ('a,kind\n1,"x\n2,y\n', r"bad\.csv, line 3"),
    "no number": ("a,b,kind\n1,2,x\n3,4,x\n\n5,oops,x\n6,7,y\n", r"bad\.csv, line 5: 'oops' in column 'b'"),
    "no label": ("a,b,kind\n1,2,x\n3,4,\n", r"bad\.csv, line 3: no value in column 'kind'"),
    "lines within a field": (
        'a,b,note,kind\n1,2,"two\nlines",x\n3,,"",y\n',
        r"bad\.csv, line 4: no value in column 'b'",
    ),
    "nothing": ("", r"bad\.csv is empty"),
    "a header only": ("a,b,kind\n", r"bad\.csv holds no rows"),
    "no numbers": ("a,kind\nred,x\nblue,y\n", r"no columns of numbers beside the label.*its columns are a, kind"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_broken_table_is_named_with_its_line(run, what):
    content, message = BAD[what]
    Path("bad.csv").write_text(content)
    code, out, err = run("select", "bad.csv", "--label", "kind", "-o", "few.csv")
    assert (code, out) == (1, "")
    assert re.search(message, one_line(err)), err
    assert not Path("few.csv").exists()


def test_broken_files_of_every_format_are_named(run):
    Path("bad.jsonl").write_text('{"a": 1}\n{"a": \n')
    Path("list.jsonl").write_text("[1, 2]\n")
    Path("iris.doc").write_text("a\n1\n")
    Path("bad.svmlight").write_text("1 1:0.5\n1 what\n")
    for name in ("bad.parquet", "bad.npz"):
        Path(name).write_bytes(b"nothing of the kind")
    iris().to_csv("iris.csv.gz", index=False)
    whole = Path("iris.csv.gz").read_bytes()
    Path("cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    messages = {
        "bad.jsonl": "bad.jsonl, line 2: not JSON",
        "list.jsonl": "list.jsonl, line 1: list where an object should be",
        "bad.svmlight": "bad.svmlight, line 2",
        "bad.parquet": "bad.parquet is not a Parquet file, or damaged",
        "bad.npz": "bad.npz is not an .npz file, or damaged",
        "cut.csv.gz": "cut.csv.gz cannot be read",
        "absent.csv": "absent.csv: no such file",
        "iris.doc": "does not say its format",
    }
    for name, message in messages.items():
        code, _, err = run("select", name)
        assert code == 1
        assert message in one_line(err)


def test_selected_rows_are_what_a_reader_of_csv_sees(run):
    """Quotes, commas, line ends and other alphabets survive."""
    frame = pd.DataFrame(
        {"x": [1.0, 2.0, 3.0], "note": ['say "hi", twice', "two\nlines", "žluťoučký"], "kind": ["a", "b", "c"]}
    )
    frame.to_csv("t.csv", index=False)
    assert run("select", "t.csv", "-l", "kind", "-o", "few.csv")[0] == 0
    with Path("few.csv").open(newline="", encoding="utf-8") as file:
        notes = {row["note"] for row in csv.DictReader(file)}
    assert notes == set(frame["note"])


def in_small_blocks(monkeypatch, rows=40):
    from covey.cli.files import reading

    monkeypatch.setattr(reading, "MOST_ROWS", rows)


@pytest.mark.parametrize("name", ["iris.csv", "iris.jsonl", "iris.parquet"])
@pytest.mark.parametrize("out", ["a.csv", "a.jsonl", "a.parquet"])
def test_blocks_make_no_difference(run, monkeypatch, name, out):
    WRITE[name](iris(), name)
    run("select", name, "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    common = ("classify", name, "-m", "m", "--keep", "-o")
    assert run(*common, f"whole-{out}")[0] == 0
    in_small_blocks(monkeypatch)
    assert run(*common, f"parts-{out}")[0] == 0
    read = READ[out.split(".")[1]]
    pd.testing.assert_frame_equal(read(f"parts-{out}"), read(f"whole-{out}"))
    assert read(f"parts-{out}")["covey_row"].tolist() == list(range(150))


def test_values_pass_through_unchanged(run, monkeypatch):
    """007 is no 7, NA is a word, and a column is of one type whatever a block holds."""
    in_small_blocks(monkeypatch)
    frame = iris().assign(code=[f"{at:03}" if at < 100 else f"A{at}" for at in range(150)], word="NA")
    frame["zip"] = [f"{at:05}" for at in range(150)]
    frame.to_csv("t.csv", index=False)
    features = ("--features", "petal_length,petal_width")
    assert run("select", "t.csv", "-l", "word", "--id", "zip", *features, "-o", "few.csv", "-m", "m")[0] == 0
    few = pd.read_csv("few.csv", dtype=str, keep_default_na=False)
    rows = few["covey_row"].astype(int)
    for column in ("code", "word", "zip"):
        assert few[column].tolist() == frame[column].iloc[rows].tolist()
    assert run("classify", "t.csv", "-m", "m", "--keep", "-o", "out.parquet")[0] == 0
    out = pd.read_parquet("out.parquet")
    assert out["zip"].tolist() == frame["zip"].tolist()
    assert out["petal_width"].dtype == np.float64
    assert set(out["covey_representative_id"]) <= set(frame["zip"])
    assert run("select", "t.csv", "--text", "zip", "-s", "levenshtein", "-o", "texts.csv")[0] == 0


def test_digits_stay_in_text_and_become_numbers_where_there_are_types(run):
    Path("t.tsv").write_text("x\ty\n1.10\t2.0\n3.00\t4.50\n")
    for name in ("few.tsv", "few.csv"):
        assert run("select", "t.tsv", "-s", "euclidean", "--coverage", 1, "-k", 1, "-o", name)[0] == 0
        written = Path(name).read_text().splitlines()[1:]
        assert all(re.match(r"(1\.10[\t,]2\.0|3\.00[\t,]4\.50)[\t,]", line) for line in written), written
    assert run("select", "t.tsv", "-s", "euclidean", "-k", 1, "-o", "few.jsonl")[0] == 0
    assert isinstance(json.loads(Path("few.jsonl").read_text().splitlines()[0])["x"], float)


def test_answers_of_an_earlier_run_are_replaced(run):
    iris().to_csv("iris.csv", index=False)
    run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")
    few = pd.read_csv("few.csv").assign(covey_label="STALE")
    few.to_csv("few.csv", index=False)
    assert run("classify", "few.csv", "-m", "m", "--keep", "-o", "a.csv")[0] == 0
    answers = pd.read_csv("a.csv")
    assert answers.columns.is_unique
    assert "STALE" not in set(answers["covey_label"])
    assert answers["covey_row"].tolist() == list(range(len(few)))
    assert run("select", "few.csv", "-l", "species", "-o", "again.csv", "-m", "n")[0] == 0
    again = pd.read_csv("again.csv")
    assert again.columns.is_unique
    assert covey.load("n").n_features_in_ == 4  # covey's own columns are no features
    assert run("select", "a.csv", "-l", "covey_label", "-o", "by-answer.csv")[0] == 0  # but they may be labels


def test_json_lines_with_other_keys_further_down_are_aligned_or_refused(run, monkeypatch):
    in_small_blocks(monkeypatch, 50)
    records = iris().to_dict("records")
    for record in records[60:]:
        del record["name"]
    turned = [dict(reversed(record.items())) if at >= 60 else record for at, record in enumerate(records)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, turned)))
    run("select", "t.jsonl", "-l", "species", "--id", "name", "-o", "few.csv", "-m", "m")
    for options in ((), ("--keep",)):
        assert run("classify", "t.jsonl", "-m", "m", "-o", "out.csv", "-f", *options)[0] == 0
        out = pd.read_csv("out.csv")
        assert out["covey_row"].tolist() == list(range(150))
        assert set(out["covey_label"]) == {"setosa", "versicolor", "virginica"}
        assert out["name"].isna().sum() == 90
    turned[120]["surprise"] = 1
    Path("t.jsonl").write_text("\n".join(map(json.dumps, turned)))
    code, _, err = run("classify", "t.jsonl", "-m", "m", "--keep", "-o", "new.csv")
    assert code == 1
    assert "a column 'surprise' that its first part lacks" in one_line(err)


def test_gaps_in_json_are_null(run):
    Path("t.jsonl").write_text('{"x": 1, "note": "a"}\n{"x": 2}\n{"x": 9007199254740993, "note": null}\n')
    assert run("select", "t.jsonl", "--features", "x", "-o", "few.jsonl")[0] == 0
    few = [json.loads(line, parse_constant=pytest.fail) for line in Path("few.jsonl").read_text().splitlines()]
    assert {record["x"] for record in few} <= {1, 2, 9007199254740993}
    assert run("select", "t.jsonl", "--features", "x", "--id", "note", "-o", "b.csv", "-m", "m")[0] == 0


def test_svmlight_counts_columns_as_the_model_does(run):
    Path("train.svmlight").write_text("0 0:5\n0 0:4 1:1\n1 1:5\n1 1:4 2:1\n")  # from 0
    Path("new.svmlight").write_text("0 1:5\n1 1:5 2:1\n")  # no column 0 here
    assert run("select", "train.svmlight", "-o", "few.svmlight", "-m", "m")[0] == 0
    assert run("classify", "new.svmlight", "-m", "m", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_label"].tolist() == [1, 1]
    Path("one.svmlight").write_text("0 1:5\n1 2:5\n")
    run("select", "one.svmlight", "-o", "few1.svmlight", "-m", "n")
    code, _, err = run("classify", "train.svmlight", "-m", "n")
    assert code == 1
    assert "has a column 0" in one_line(err)


def test_decimals_lists_maps_and_indices_of_parquet_survive(run):
    from decimal import Decimal

    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "price": pa.array([Decimal("1.50"), Decimal("2.50"), Decimal("9.00")], pa.decimal128(6, 2)),
            "big": pa.array([9007199254740993, None, 7], pa.int64()),
            "values": pa.array([list(range(1500))] * 3),
            "seen": pa.array(
                [[("a", 1.0)], [("a", 2.0), ("b", 1.0)], [("b", 3.0)]], pa.map_(pa.string(), pa.float64())
            ),
            "kind": pa.array(["x", "x", "y"]).dictionary_encode(),
        }
    )
    pq.write_table(table, "t.parquet")
    assert run("select", "t.parquet", "-l", "kind", "--features", "price", "-o", "few.csv", "-m", "m")[0] == 0
    few = pd.read_csv("few.csv", dtype=str)
    assert "9007199254740993" in set(few["big"])
    assert len(json.loads(few["values"][0])) == 1500
    assert run("select", "few.csv", "-l", "kind", "--profile", "seen", "-o", "again.csv")[0] == 0
    assert run("select", "t.parquet", "-l", "kind", "--profile", "seen", "-o", "few.parquet")[0] == 0
    assert pq.read_schema("few.parquet").field("seen").type == table.schema.field("seen").type
    iris().set_index("name").to_parquet("i.parquet")
    assert run("select", "i.parquet", "-l", "species", "--id", "name", "-o", "i.csv")[0] == 0
    assert "flower" in pd.read_csv("i.csv")["name"][0]


def test_tables_as_other_programs_write_them_are_read(run):
    text = iris().to_csv(index=False)
    for name, content in {
        "bom.csv": "\ufeff" + text,
        "crlf.csv": text.replace("\n", "\r\n"),
        "semicolon.csv": text.replace(",", ";"),
        "UPPER.CSV": text,
        "index.csv": iris().to_csv(),
    }.items():
        Path(name).write_bytes(content.encode())
        assert run("select", name, "-l", "species", "-o", "few.csv", "-m", "m", "-f")[0] == 0, name
        assert covey.load("m").n_features_in_ == 4


def test_damaged_files_of_all_kinds_of_packing_are_named(run):
    for name in ("iris.csv.zst", "iris.csv.xz", "iris.csv.bz2", "iris.jsonl.gz"):
        WRITE[name](iris(), name)
        whole = Path(name).read_bytes()
        Path(f"cut-{name}").write_bytes(whole[: len(whole) // 2])
        Path(f"no-{name}").write_bytes(b"nothing of the kind, and quite long enough to be looked at")
        for damaged in (f"cut-{name}", f"no-{name}"):
            code, _, err = run("select", damaged)
            assert code == 1
            assert damaged in one_line(err)


def test_files_are_not_replaced_unless_forced(run):
    iris().to_csv("iris.csv", index=False)
    for option in ("-o", "--model", "--picture"):
        name = "there.png"
        Path(name).write_text("precious")
        options = ["-o", "new.csv"] if option != "-o" else ["--out-format", "csv"]
        code, _, err = run("select", "iris.csv", "-l", "species", *options, option, name)
        assert code == 1
        assert f"{name} exists; choose another name, or pass --force" in one_line(err)
        assert Path(name).read_text() == "precious"
        assert not Path("new.csv").exists()
    assert run("select", "iris.csv", "-l", "species", "-o", "there.png", "--out-format", "csv", "--force")[0] == 0
    assert len(pd.read_csv("there.png")) > 3


def test_what_cannot_be_written_is_said_before_the_work(run, monkeypatch):
    monkeypatch.setattr("covey.cli.objects.load.load", lambda *args: pytest.fail("this is work"))
    Path("iris.csv").write_text("a\n1\n")
    for options, message in {
        ("-o", "few.doc"): "or pass --out-format",
        ("-o", "nowhere/few.csv"): "an existing folder",
        ("-o", "few.csv", "-m", "nowhere/m"): "an existing folder",
        ("-o", "few.parquet.gz"): "packed inside",
        ("-o", "few.npz"): "not as npz",
        ("--out-format", "svmlight"): "not as svmlight",
    }.items():
        code, _, err = run("select", "iris.csv", *options)
        assert code == 1
        assert message in one_line(err)


def test_only_files_are_replaced(run):
    iris().to_csv("iris.csv", index=False)
    os.mkfifo("pipe")
    code, _, err = run("select", "iris.csv", "-o", "pipe", "--out-format", "csv", "--force")
    assert (code, "regular file" in one_line(err)) == (1, True)
    Path("real.csv").write_text("old")
    Path("link.csv").symlink_to("real.csv")
    assert run("select", "iris.csv", "-o", "link.csv", "--force")[0] == 0
    assert Path("link.csv").is_symlink()
    assert Path("real.csv").read_text().startswith("sepal_length")
