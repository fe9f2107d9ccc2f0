"""Several files as one table, in every format of tables."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from covey.cli.files.reading import blocks, read
from tests.cli.commands import expected, iris, one_line

WRITE = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".csv.gz": lambda frame, path: frame.to_csv(path, index=False),
    ".tsv": lambda frame, path: frame.to_csv(path, index=False, sep="\t"),
    ".jsonl": lambda frame, path: frame.to_json(path, orient="records", lines=True),
    ".json": lambda frame, path: frame.to_json(path, orient="records"),
    ".xlsx": lambda frame, path: frame.to_excel(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path),
}
CUTS = (0, 20, 100, 150)
LABEL = ("-k", 5, "-l", "species")


def cut(suffix, folder="."):
    """Write the flowers to three files; the second has its columns in another order."""
    frame, names = iris(), []
    Path(folder).mkdir(exist_ok=True)
    for at, (first, end) in enumerate(pairwise(CUTS)):
        names.append(str(Path(folder, f"part-{at}{suffix}")))
        part = frame[first:end].reset_index(drop=True)
        WRITE[suffix](part[part.columns[::-1]] if at == 1 and suffix != ".parquet" else part, names[-1])
    return names


@pytest.mark.parametrize("suffix", WRITE)
def test_several_files_are_one_table(run, suffix):
    names = cut(suffix, "folder")
    fitted, X, _ = expected()
    for at, given_as in enumerate((names, ["folder"], [f"folder/part-*{suffix}"])):
        out = f"few-{at}.csv"
        assert run("select", *given_as, *LABEL, "-o", out, "-m", "m", "-f")[0] == 0
        few = pd.read_csv(out)
        np.testing.assert_array_equal(few["covey_row"], fitted.selector_.sample_indices_)
        assert few["name"].tolist() == iris()["name"].iloc[few["covey_row"]].tolist()
        assert run("classify", *given_as, "-m", "m", "--keep", "-o", "a.csv", "-f")[0] == 0
        answers = pd.read_csv("a.csv")
        assert answers["covey_row"].tolist() == list(range(150))
        assert answers["name"].tolist() == iris()["name"].tolist()
        assert answers["covey_label"].tolist() == fitted.predict(X).tolist()


@pytest.mark.parametrize("suffix", [".csv", ".jsonl", ".parquet"])
def test_small_blocks_of_several_files_are_the_whole(folder, suffix):
    path, *more = cut(suffix)
    whole = read(path, more=more)
    parts = list(blocks(path, more=more, most_rows=30))
    assert [part.first for part in parts] == [0, 20, 50, 80, 100, 130]
    assert pd.concat([part.frame for part in parts])["name"].tolist() == whole.frame["name"].tolist()
    shares = [part.share for part in parts]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    for part in parts:
        for at in (0, len(part) - 1):
            assert part.place(at) == whole.place(part.first + at)
            assert part.take(np.array([at])).place(0) == part.place(at)


@pytest.mark.parametrize(("suffix", "place"), [(".csv", "line 7"), (".jsonl", "line 6"), (".parquet", "row 5")])
@pytest.mark.parametrize("command", ["select", "classify"])
def test_places_are_those_in_the_file_itself(run, suffix, place, command):
    names = cut(suffix)
    run("select", *names, *LABEL, "-o", "few.csv", "-m", "m")
    part = iris()[100:].reset_index(drop=True)
    part.loc[5, "petal_width"] = np.nan
    WRITE[suffix](part, names[2])
    model = ("-m", "m") if command == "classify" else LABEL
    code, _, err = run(command, *names, *model, "-o", "new.csv")
    assert code == 1
    assert f"part-2{suffix}, {place}: no value in column 'petal_width'" in one_line(err)


@pytest.mark.parametrize("suffix", [".csv", ".xlsx", ".parquet"])
def test_files_with_other_columns_are_refused_by_name(run, suffix):
    names = cut(suffix)
    run("select", *names, *LABEL, "-o", "few.csv", "-m", "m")
    WRITE[suffix](iris().rename(columns={"name": "title"}), names[1])
    for command in (("select", *names, "-o", "new.csv"), ("classify", *names, "-m", "m", "-o", "new.csv")):
        code, _, err = run(*command)
        assert code == 1
        assert all(part in one_line(err) for part in (names[0], names[1], "must have the same columns", "'name'"))
    assert not Path("new.csv").exists()


def test_a_file_without_rows_is_no_hindrance_among_several(run):
    names = cut(".csv")
    Path("part-1b.csv").write_text("sepal_length,sepal_width,petal_length,petal_width,species,name\n")
    assert run("select", names[0], names[1], "part-1b.csv", names[2], *LABEL, "-o", "few.csv")[0] == 0
    code, _, err = run("select", "part-1b.csv", "part-1b.csv", "-o", "new.csv")
    assert (code, "part-1b.csv and the other files hold no rows" in one_line(err)) == (1, True)


def test_files_that_cannot_be_one_table_are_refused(run):
    names = cut(".csv", "csv")
    cut(".parquet", "csv")
    np.savez("x.npz", X=np.eye(3))
    np.save("x.npy", np.eye(3))
    Path("x.svmlight").write_text("1 1:1\n")
    run("select", *names, *LABEL, "-o", "few.csv", "-m", "m")
    for files, message in {
        (names[0], "csv/part-1.parquet"): "all files of one table must have the same format",
        (names[0], "-"): "standard input cannot be one of several files",
        ("x.npz", "x.npz"): "npz files cannot be parts of one table",
        ("x.npy", "x.npy"): "npy files cannot be parts of one table",
        ("x.svmlight", "x.svmlight"): "svmlight files cannot be parts of one table",
    }.items():
        for command in (("select",), ("classify", "-m", "m")):
            code, _, err = run(*command, *files, "-o", "new.csv", "-f")
            assert (code, message in one_line(err)) == (2, True), err
    code, _, err = run("select", "csv", "-o", "new.csv")
    assert code == 1
    assert "csv is a folder of files in several formats, such as part-0.csv and part-0.parquet" in one_line(err)


def test_json_lines_of_several_files_may_lack_keys(run):
    records = iris().to_dict("records")
    for record in records[:75]:
        del record["name"]
    for at in (0, 1):
        Path(f"part-{at}.jsonl").write_text("\n".join(map(json.dumps, records[75 * at : 75 * at + 75])))
    assert run("select", "part-0.jsonl", "part-1.jsonl", *LABEL, "-o", "few.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], expected()[0].selector_.sample_indices_)


def test_files_without_a_header_are_one_table(run):
    for at in (0, 1):
        iris()[75 * at : 75 * at + 75].to_csv(f"part-{at}.csv", index=False, header=False)
    names = ("--columns", ",".join(iris().columns))
    assert run("select", "part-*.csv", *names, *LABEL, "-o", "few.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], expected()[0].selector_.sample_indices_)
