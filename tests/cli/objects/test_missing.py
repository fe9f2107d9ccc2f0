"""Missing values: refused with their number, left out, or filled; and the rows of the file keep their numbers."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.cli.files.block import Block
from covey.cli.files.columns import MARKERS, column_sums, evidence_of, gaps_of, means_of, numbers_of
from tests.cli.commands import iris, one_line, texts

NUMBERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
LABEL = ("-k", 5, "-l", "species")
GAPS = {3: "petal_width", 60: "petal_width", 61: "sepal_length", 110: "petal_length"}


def holes():
    """Iris flowers with some gaps, of which row 61 has two."""
    frame = iris()
    for row, name in GAPS.items():
        frame.loc[row, name] = np.nan
    frame.loc[61, "petal_width"] = np.nan
    return frame


def write(frame, name):
    if name.endswith(".csv"):
        frame.to_csv(name, index=False, na_rep="NA")
    elif name.endswith(".jsonl"):
        frame.to_json(name, orient="records", lines=True)
    elif name.endswith(".xlsx"):
        frame.to_excel(name, index=False)
    else:
        frame.to_parquet(name)


def fitted(frame, labels):
    return covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(frame, labels.to_numpy(dtype=str))


TABLES = ["t.csv", "t.jsonl", "t.xlsx", "t.parquet"]


@pytest.mark.parametrize("name", TABLES)
def test_all_missing_values_are_counted_and_the_first_has_its_place(run, name):
    write(holes(), name)
    place = {"t.csv": "line 5: 'NA'", "t.jsonl": "line 4: no value", "t.xlsx": "line 5: no value"}
    for options in ((), ("--missing", "error")):
        code, _, err = run("select", name, *LABEL, *options, "-o", "few.csv")
        assert code == 1
        first = f"{name}, {place.get(name, 'row 3: no value')} in column 'petal_width', where a finite number must be."
        assert first in one_line(err)
        assert "4 of 150 rows lack 5 values (3 in 'petal_width', 1 in 'sepal_length', 1 in 'petal_length'" in err
        assert "pass --missing drop to leave such rows out, or --missing mean to fill" in err
        assert ("'NA' counts as missing" in err) == (name == "t.csv")


def test_a_single_row_and_a_single_value_are_spoken_of_in_the_singular(run, caplog):
    frame = iris()
    frame.loc[5, "petal_width"] = np.nan
    frame.to_csv("iris.csv", index=False)
    _, _, err = run("select", "iris.csv", *LABEL, "-o", "few.csv")
    assert "1 of 150 rows lacks 1 value (1 in 'petal_width')" in one_line(err)
    frame.loc[5, "petal_length"] = np.nan
    frame.to_csv("iris.csv", index=False)
    _, _, err = run("select", "iris.csv", *LABEL, "-o", "few.csv")
    assert "1 of 150 rows lacks 2 values (" in one_line(err)
    options = ("--missing", "drop", "--features", "petal_width", "-s", "euclidean")
    _, _, err = run("select", "iris.csv", *LABEL, *options, "-o", "few.csv", "-m", "m")
    assert "1 of 150 rows is left out, because a value is missing: 1 in 'petal_width'." in caplog.text
    assert "compared: the column petal_width, by euclidean" in err
    frame.iloc[4:6].to_csv("new.csv", index=False)
    _, _, err = run("classify", "new.csv", "-m", "m", "--missing", "drop", "-o", "a.csv")
    assert "1 row is left out and has no answer, because a value is missing in it." in caplog.text
    assert "1 row classified." in err


@pytest.mark.parametrize("name", TABLES)
def test_rows_that_are_left_out_leave_the_numbers_of_the_others(run, caplog, name):
    frame = holes()
    write(frame, name)
    options = ("--missing", "drop", "--id", "name")
    assert run("select", name, *LABEL, *options, "-o", "few.csv", "-m", "m", "--picture", "map.html")[0] == 0
    assert "4 of 150 rows are left out, because a value is missing: 3 in 'petal_width'" in caplog.text
    kept = frame.dropna()
    reference = fitted(kept[NUMBERS], kept["species"])
    few = pd.read_csv("few.csv")
    assert few["covey_row"].tolist() == kept.index[reference.selector_.sample_indices_].tolist()
    assert few["name"].tolist() == frame["name"].iloc[few["covey_row"]].tolist()

    assert run("classify", name, "-m", "m", "-o", "a.csv")[0] == 1
    caplog.clear()
    code, _, err = run("classify", name, "-m", "m", "--missing", "drop", "-o", "a.csv")
    assert (code, "146 rows classified" in err) == (0, True)
    assert "4 rows are left out and have no answer, because a value is missing in them." in caplog.text
    answers = pd.read_csv("a.csv")
    assert answers["covey_row"].tolist() == kept.index.tolist()
    assert answers["covey_label"].tolist() == reference.predict(kept[NUMBERS]).tolist()
    decided = kept.index[reference.nearest_prototypes(kept[NUMBERS], n=1)[0][:, 0]]
    assert answers["covey_representative"].tolist() == decided.tolist()
    assert answers["covey_representative_id"].tolist() == frame["name"].iloc[decided].tolist()


@pytest.mark.parametrize("name", TABLES)
def test_means_of_columns_are_learned_kept_and_used_again(run, caplog, name):
    frame = holes()
    write(frame, name)
    assert run("select", name, *LABEL, "--missing", "mean", "-o", "few.csv", "-m", "m")[0] == 0
    assert "4 of 150 rows lack 5 values" in caplog.text
    assert "they are filled with the mean of their column" in caplog.text
    filled = frame[NUMBERS].fillna(frame[NUMBERS].mean())
    reference = fitted(filled, frame["species"])
    assert pd.read_csv("few.csv")["covey_row"].tolist() == reference.selector_.sample_indices_.tolist()

    new = frame.iloc[[3, 61, 0, 110]].reset_index(drop=True)  # whose own means are others
    write(new, f"new-{name}")
    for options in ((), ("--missing", "mean")):
        assert run("classify", f"new-{name}", "-m", "m", *options, "-o", "a.csv", "-f")[0] == 0
        answers = pd.read_csv("a.csv")
        wanted = reference.class_similarities(filled.iloc[[3, 61, 0, 110]]).max(axis=1)
        np.testing.assert_allclose(answers["covey_similarity"], wanted)
    assert run("classify", f"new-{name}", "-m", "m", "--missing", "error", "-o", "a.csv", "-f")[0] == 1
    assert run("classify", f"new-{name}", "-m", "m", "--missing", "drop", "-o", "a.csv", "-f")[0] == 0
    assert pd.read_csv("a.csv")["covey_row"].tolist() == [2]
    assert run("classify", f"new-{name}", "-m", "m", "--keep", "-o", "a.parquet")[0] == 0
    assert pd.read_parquet("a.parquet")["petal_width"].isna().tolist() == [True, True, False, False]


def test_a_scaled_selection_scales_what_was_filled(run):
    frame = holes()
    frame.to_csv("t.csv", index=False)
    options = ("--missing", "mean", "--scale", "-s", "euclidean")
    assert run("select", "t.csv", *LABEL, *options, "-o", "few.csv", "-m", "m")[0] == 0
    filled = frame[NUMBERS].fillna(frame[NUMBERS].mean())
    scaled = (filled - filled.min()) / (filled.max() - filled.min())
    model = covey.NearestPrototypeClassifier(covey.CRS(5, similarity="euclidean", random_state=0))
    reference = model.fit(scaled, frame["species"].to_numpy(dtype=str))
    assert pd.read_csv("few.csv")["covey_row"].tolist() == reference.selector_.sample_indices_.tolist()
    assert run("classify", "t.csv", "-m", "m", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_label"].tolist() == reference.predict(scaled).tolist()


@pytest.mark.parametrize("name", ["t.npy", "t.npz"])
def test_arrays_have_missing_values_too(run, caplog, name):
    frame = holes()
    X, y = frame[NUMBERS].to_numpy(), frame["species"].to_numpy(dtype=str)
    np.save("y.npy", y)
    np.save(name, X) if name == "t.npy" else np.savez(name, X=X, y=y)
    label = ("-l", "y.npy") if name == "t.npy" else ()
    code, _, err = run("select", name, *label, "-k", 5, "-o", "few.csv")
    assert code == 1
    assert f"{name}, row 3: no number in column 3. 4 of 150 rows lack 5 values (3 in '3', 1 in '0', 1 in '2')" in err
    filled, kept = frame[NUMBERS].fillna(frame[NUMBERS].mean()), frame.dropna()
    for missing, rows, labels in (("mean", filled, frame["species"]), ("drop", kept[NUMBERS], kept["species"])):
        options = ("--missing", missing)
        assert run("select", name, *label, *options, "-k", 5, "-o", "few.csv", "-m", "m", "-f")[0] == 0
        reference = fitted(rows.to_numpy(), labels)
        at = rows.index[reference.selector_.sample_indices_]
        assert pd.read_csv("few.csv")["covey_row"].tolist() == at.tolist()
        assert run("classify", name, "-m", "m", *options, "-o", "a.csv", "-f")[0] == 0
        answers = pd.read_csv("a.csv")
        assert answers["covey_row"].tolist() == rows.index.tolist()
        assert answers["covey_label"].tolist() == reference.predict(rows.to_numpy()).tolist()
    np.savez("i.npz", X=np.where(X[0, 0] == X, np.inf, X))
    assert "must be finite" in run("select", "i.npz", "--missing", "mean", "-o", "few.csv", "-f")[2]


def test_rows_of_a_sparse_matrix_can_be_left_out(run):
    matrix = sp.csr_array(np.eye(6) + 1)
    matrix.data[7] = np.nan
    sp.save_npz("s.npz", matrix)
    assert run("select", "s.npz", "--missing", "drop", "--coverage", 1, "-k", 1, "-o", "few.npz")[0] == 0
    with np.load("few.npz") as few:
        assert 1 not in few["covey_row"]
        assert np.isfinite(few["data"]).all()
    code, _, err = run("select", "s.npz", "--missing", "mean", "-o", "few.npz", "-f")
    assert (code, "--missing mean is not for sparse matrices; pass --missing drop" in one_line(err)) == (1, True)


def test_texts_profiles_and_labels_can_be_left_out_but_not_filled(run, caplog):
    frame = texts().assign(topic=[None, *texts()["topic"][1:]])
    records = frame.to_dict("records")
    records[3]["body"] = None
    Path("t.jsonl").write_text("\n".join(map(json.dumps, records)))
    asked = ("select", "t.jsonl", "-l", "topic", "--text", "body", "-o", "few.csv", "-f", "--coverage", 1)
    code, _, err = run(*asked)
    assert code == 1
    assert "t.jsonl, line 4: no value in column 'body'; fill it, or pass --missing drop" in one_line(err)
    code, _, err = run(*asked, "--missing", "mean")
    assert (code, "--missing mean is for columns of numbers; pass --missing drop" in one_line(err)) == (2, True)
    assert run(*asked, "--missing", "drop")[0] == 0
    assert "2 of 8 rows are left out, because a value is missing: 1 in 'body', 1 in 'topic'." in caplog.text
    assert not {0, 3} & set(pd.read_csv("few.csv")["covey_row"])
    lines = [{"kind": "a", "seen": {"x": 1}}, {"kind": "a", "seen": None}, {"kind": "a", "seen": {"x": 2, "y": 1}}]
    Path("p.jsonl").write_text("\n".join(map(json.dumps, lines)))
    asked = ("select", "p.jsonl", "-l", "kind", "--profile", "seen", "-o", "few.csv", "-f")
    assert run(*asked)[0] == 1
    assert run(*asked, "--missing", "drop")[0] == 0


def test_labels_that_are_missing_are_counted(run):
    frame = iris()
    frame.loc[[4, 9, 70], "species"] = ""
    frame.to_csv("t.csv", index=False)
    code, _, err = run("select", "t.csv", *LABEL, "-o", "few.csv")
    assert code == 1
    assert "t.csv, line 6: column 'species' has no value here and in 2 more rows; fill it, or pass" in one_line(err)


def test_what_cannot_be_done_about_missing_values_is_said(run):
    holes().to_csv("t.csv", index=False)
    iris().to_csv("full.csv", index=False)
    run("select", "full.csv", *LABEL, "-o", "few.csv", "-m", "m")
    code, _, err = run("classify", "t.csv", "-m", "m", "--missing", "mean", "-o", "a.csv")
    assert (code, "m knows no means to fill in; make it by covey select --missing mean" in one_line(err)) == (2, True)
    Path("never.csv").write_text("a,b\n1,\n2,NA\n3,?\n")
    code, _, err = run("select", "never.csv", "--features", "a,b", "--missing", "mean", "-o", "few.csv", "-f")
    assert (code, "column 'b' holds no number at all, so --missing mean cannot fill it" in one_line(err)) == (1, True)
    code, _, err = run("select", "never.csv", "--features", "a,b", "--missing", "drop", "-o", "few.csv", "-f")
    assert (code, "a value is missing in every row (3 in 'b'" in one_line(err)) == (1, True)
    np.savez("d.npz", X=np.eye(4))
    for missing in ("drop", "mean"):
        code, _, err = run("select", "d.npz", "--distances", "--missing", missing, "-o", "few.csv", "-f")
        assert (code, f"--missing {missing} is for objects to compare" in one_line(err)) == (2, True)


def test_rows_of_similarities_that_lack_one_get_no_answer(run):
    np.savez("m.npz", X=np.eye(4) + 1)
    assert run("select", "m.npz", "--matrix", "-k", 1, "-o", "few.csv", "-m", "m")[0] == 0
    queries = np.ones((3, 4))
    queries[1, 2] = np.nan
    np.savez("q.npz", X=queries)
    assert run("classify", "q.npz", "-m", "m", "-o", "a.csv")[0] == 1
    assert run("classify", "q.npz", "-m", "m", "--missing", "drop", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["covey_row"].tolist() == [0, 2]


def test_junk_in_a_column_of_numbers_stays_an_error_whatever_is_missing(run):
    frame = holes().astype(object)
    frame.loc[100, "sepal_width"] = "about 3"
    frame.to_csv("t.csv", index=False, na_rep="?")
    for missing in ("mean", "drop"):
        code, _, err = run("select", "t.csv", *LABEL, "--missing", missing, "-o", "few.csv")
        assert (code, "t.csv, line 102: 'about 3' in column 'sepal_width', where" in one_line(err)) == (1, True)


@pytest.mark.parametrize("marker", ["", " ", "NA", "n/a", "NaN", "NULL", "None", "?", "-", " na "])
def test_words_for_nothing_count_as_missing_in_columns_of_numbers(run, caplog, marker):
    """Three of five values are missing, so the column would not count as one of numbers if they were texts."""
    Path("t.csv").write_text("a,b,word\n" + "".join(f"{a},{at},NA\n" for at, a in enumerate([1, 2, *[marker] * 3])))
    code, _, err = run("select", "t.csv", "--missing", "mean", "-l", "word", "-o", "few.csv")
    assert (code, "compared: the columns a, b" in err) == (0, True)
    shown = f"; {marker.strip()!r} counts as missing" if marker.strip() else ""
    assert f"3 of 5 rows lack 3 values (3 in 'a'{shown})" in caplog.text
    assert set(pd.read_csv("few.csv", keep_default_na=False)["covey_cluster"]) == {"NA"}  # a label is a text


cells = st.floats(-1e3, 1e3).map(repr) | st.sampled_from([*sorted(MARKERS), "NA", "Null", " ? "])


@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=12))
def test_gaps_means_and_numbers_agree_with_a_slow_reference(rows):
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype="str")
    block = Block("t.csv", frame=frame)
    known = [[None if cell.strip().lower() in MARKERS else float(cell) for cell in row] for row in rows]
    gaps = gaps_of(block, ["a", "b"])
    assert gaps.where.tolist() == [[value is None for value in row] for row in known]
    assert gaps.rows.tolist() == [None in row for row in known]
    columns = [[value for value in column if value is not None] for column in zip(*known, strict=True)]
    for name, column, evidence in zip("ab", columns, evidence_of(frame, ["a", "b"]).values(), strict=True):
        assert (evidence.n_values, evidence.n_numbers) == (len(column), len(column)), name
    if not all(columns):
        return
    means = means_of(column_sums(block, ["a", "b"]), ["a", "b"])
    np.testing.assert_allclose(means, [np.mean(column) for column in columns], atol=1e-9)
    filled = [[means[at] if value is None else value for at, value in enumerate(row)] for row in known]
    np.testing.assert_array_equal(numbers_of(block, ["a", "b"], means), filled)


@given(data=st.data())
def test_means_of_parts_are_the_means_of_the_whole(data):
    rows = data.draw(st.lists(st.tuples(cells, cells), min_size=2, max_size=12))
    cut = data.draw(st.integers(1, len(rows) - 1))
    whole, first, second = (
        column_sums(Block("t", frame=pd.DataFrame(part, columns=["a", "b"], dtype="str")), ["a", "b"])
        for part in (rows, rows[:cut], rows[cut:])
    )
    np.testing.assert_allclose(first + second, whole, atol=1e-9)


@pytest.mark.processes
def test_workers_fill_missing_values_with_the_same_means(run):
    pytest.importorskip("distributed")
    frame = holes()
    for at, part in enumerate((frame[:70], frame[70:])):
        pq.write_table(pa.Table.from_pandas(part, preserve_index=False), f"part-{at}.parquet")
    files = ("part-0.parquet", "part-1.parquet")
    code, _, err = run("select", *files, *LABEL, "--missing", "drop", "--dask", "local", "-o", "few.csv")
    assert (code, "--missing drop needs all data in one process" in one_line(err)) == (2, True)
    common = (*LABEL, "--missing", "mean", "--graph", "exact")
    assert run("select", *files, *common, "-o", "here.csv", "-m", "here")[0] == 0
    assert run("select", *files, *common, "--dask", "local", "--jobs", 1, "-o", "there.csv", "-m", "there")[0] == 0
    assert pd.read_csv("there.csv")["covey_row"].tolist() == pd.read_csv("here.csv")["covey_row"].tolist()
    for model in ("here", "there"):
        assert run("classify", *files, "-m", model, "-o", f"{model}-answers.csv")[0] == 0
    here, there = (pd.read_csv(f"{model}-answers.csv") for model in ("here", "there"))
    pd.testing.assert_frame_equal(here, there)
    assert len(here) == 150


def test_a_table_that_lacks_a_column_of_the_model_is_refused_by_name(run):
    Path("a.csv").write_text("x,y,kind\n1,2,a\n2,1,b\n3,3,a\n4,1,b\n")
    assert run("select", "a.csv", "--label", "kind", "-k", "1", "-o", "few.csv", "-m", "model")[0] == 0
    Path("b.csv").write_text("x,z\n1,2\n")
    code, _, err = run("classify", "b.csv", "-m", "model", "-o", "out.csv", "--missing", "drop")
    assert (code, "b.csv has no column 'y'" in err) == (1, True)
