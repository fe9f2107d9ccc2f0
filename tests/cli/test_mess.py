"""Tables as people bring them: any encoding, delimiter and decimal sign, odd names and labels, Excel, JSON, pipes."""

import csv
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from covey.cli.files.columns import column_of, numbers_of
from covey.cli.files.dialect import Dialect, listed
from covey.cli.files.reading import blocks, read
from covey.cli.objects.lint import warn_of_labels
from covey.exceptions import FileFormatError
from covey.storage.compression import PACKED, PREFIX, open_packed
from tests.cli.commands import expected, iris, one_line
from tests.cli.commands import run_here as run_with_input

FIRST = ("-k", 5, "-l", "species")
NUMBERS = ["sepal_length", "sepal_width", "petal_length", "petal_width"]
CZECH = {"setosa": "kosatec štětinatý", "versicolor": "kosatec různobarvý", "virginica": "kosatec žlutý, řídký"}


def flowers():
    """Iris flowers with names of kinds that need more than ASCII."""
    return iris().replace({"species": CZECH})


def selected():
    """The rows that the library selects from the numbers of the flowers, under their Czech labels."""
    import covey

    labels = flowers()["species"].to_numpy(dtype=str)
    fitted = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0)).fit(flowers()[NUMBERS], labels)
    return fitted.selector_.sample_indices_


def check_selected(run, *command, out="few.csv"):
    code, _, err = run("select", *command, *FIRST, "-o", out, "-f")
    assert code == 0, err
    few = pd.read_csv(out)
    np.testing.assert_array_equal(few["covey_row"], selected())
    assert few["species"].tolist() == flowers()["species"].iloc[selected()].tolist()
    return err


# Text tables


LETTERS = {
    "utf-8": "abcž語 é;,|\"'.",
    "utf-16": "abcž語 é;,|\"'.",
    "cp1250": "abcžřů é;,|\"'.",
    "latin-1": "abcéñß ø;,|\"'.",
    "shift_jis": "abc東京カ ナ;,|\"'.",
}


def written(rows, names, delimiter, encoding, decimal):
    """A table as bytes: the last value of each row is a text, the others are numbers."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(names)
    writer.writerows([[repr(number).replace(".", decimal) for number in row[:-1]] + [row[-1]] for row in rows])
    return text.getvalue().encode(encoding)


@settings(max_examples=300)
@given(st.sampled_from(sorted(LETTERS)), st.sampled_from(",;\t| ~"), st.sampled_from(".,"), st.data())
def test_what_was_written_is_read_in_any_encoding_with_any_signs(encoding, delimiter, decimal, data):
    assume(delimiter != decimal)
    number = st.floats(-1e6, 1e6, allow_nan=False).map(lambda x: round(x, 3))
    label = st.text(LETTERS[encoding], min_size=1, max_size=6).filter(lambda text: text.strip())
    rows = data.draw(st.lists(st.tuples(number, number, label), min_size=1, max_size=8))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(written(rows, ["a", "b", "kind"], delimiter, encoding, decimal))
        block = read(str(path), dialect=Dialect((), delimiter, decimal, encoding))
    assert block.frame["kind"].tolist() == [row[-1] for row in rows]
    np.testing.assert_array_equal(numbers_of(block, ["a", "b"]), [row[:-1] for row in rows])


@settings(max_examples=200)
@given(
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16"]),
    st.sampled_from(",;\t|"),
    st.lists(st.tuples(st.integers(-99, 99), st.text("xyž, ;|.", max_size=5)), min_size=1, max_size=6),
)
def test_unicode_and_the_delimiter_are_found_without_being_named(encoding, delimiter, rows):
    rows = [(float(number), text + "z") for number, text in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "t.csv")
        path.write_bytes(written(rows, ["size", "kind"], delimiter, encoding, "."))
        block = read(str(path))
    assert block.frame.columns.tolist() == ["size", "kind"]
    assert block.frame["kind"].tolist() == [row[-1] for row in rows]


@pytest.mark.parametrize("suffix", ["", *PACKED])
@pytest.mark.parametrize("encoding", ["cp1250", "utf-16", "utf-8"])
def test_files_in_other_encodings_give_the_same_selection(run, caplog, suffix, encoding):
    with open_packed(Path(f"t.csv{suffix}"), "wb") as file:
        file.write(flowers().to_csv(index=False, sep=";").encode(encoding))
    check_selected(run, f"t.csv{suffix}")
    said = f"t.csv{suffix} is not UTF-8 and is read as cp1250; pass --encoding if that is wrong."
    assert (said in caplog.text) == (encoding == "cp1250")
    assert encoding == "cp1250" or not caplog.text


def test_an_encoding_that_is_named_is_used_and_nothing_is_said(run, caplog):
    Path("t.csv").write_bytes(flowers().to_csv(index=False).encode("iso8859-2"))
    check_selected(run, "t.csv", "--encoding", "iso8859-2")
    assert not caplog.text
    Path("t.jsonl").write_bytes(flowers().to_json(orient="records", lines=True, force_ascii=False).encode("utf-16"))
    check_selected(run, "t.jsonl")
    check_selected(run, "t.jsonl", "--encoding", "UTF-16")


def test_answers_about_a_table_in_another_encoding_are_utf_8(run):
    Path("t.csv").write_bytes(flowers().to_csv(index=False).encode("cp1250"))
    check_selected(run, "t.csv", "-m", "m")
    assert run("classify", "t.csv", "-m", "m", "--keep", "-o", "a.csv")[0] == 0
    answers = pd.read_csv("a.csv", encoding="utf-8")
    assert answers["species"].tolist() == flowers()["species"].tolist()
    assert set(answers["covey_label"]) == set(CZECH.values())


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.jsonl", "t.json", "t.svmlight"])
def test_a_byte_far_down_that_is_no_text_is_named_with_its_line(folder, name):
    """The bytes that are looked at first are fine, so the text was taken for UTF-8."""
    long = b"x" * 90
    line = {
        "csv": b"1,%b,y\n" % long,
        "jsonl": b'{"a": 1, "b": "%b"}\n' % long,
        "json": b'{"a": 1, "b": "%b"},\n' % long,
        "svmlight": b"1 1:2 # %b\n" % long,
    }
    kind = name.split(".")[1]
    n_lines = 2 * PREFIX // len(line[kind])
    content = {"csv": b"a,b,c\n", "json": b"[\n"}.get(kind, b"") + line[kind] * n_lines
    bad = content.count(b"\n") + 1
    with open_packed(Path(name), "wb") as file:
        file.write(content + b"\xe9" + line[kind] * 3)
    for reader in (read, lambda path: list(blocks(path))):
        with pytest.raises(FileFormatError, match=rf"^{name}, line {bad}: the byte 0xe9 .* utf-8; pass .* --encoding"):
            reader(name)


def test_columns_that_spaces_align_are_read(run):
    frame = flowers().drop(columns="name").assign(species=iris()["species"])
    Path("t.csv").write_text("\n".join(line + "  " for line in frame.to_string(index=False).splitlines()))
    assert run("select", "t.csv", *FIRST, "--delimiter", "space", "-o", "few.csv")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], expected()[0].selector_.sample_indices_)


@pytest.mark.parametrize("given_as", [";", "semicolon", "tab", "\\t", "|", "pipe", "~"])
def test_a_delimiter_that_is_named_is_used(run, given_as):
    sign = {"semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|"}.get(given_as, given_as)
    flowers().rename(columns={"name": "name, or so, or else, or not at all"}).to_csv("t.csv", index=False, sep=sign)
    check_selected(run, "t.csv", "--delimiter", given_as)


def test_numbers_with_a_comma_are_read_if_the_user_says_so(run):
    flowers().to_csv("t.csv", index=False, sep=";", decimal=",")
    code, _, err = run("select", "t.csv", *FIRST, "-o", "few.csv")
    assert (code, "pass --decimal comma" in one_line(err)) == (1, True)
    for sign in (",", "comma"):
        check_selected(run, "t.csv", "--decimal", sign, "-m", "m")
    assert pd.read_csv("few.csv", dtype=str)["sepal_length"].str.fullmatch(r"\d,\d").all()  # as the file has it
    assert run("select", "t.csv", *FIRST, "--decimal", ",", "-o", "few.parquet")[0] == 0
    assert pd.read_parquet("few.parquet")["sepal_length"].dtype == np.float64
    assert run("classify", "t.csv", "-m", "m", "--decimal", ",", "--keep", "-o", "a.jsonl")[0] == 0
    answers = pd.read_json("a.jsonl", lines=True)
    np.testing.assert_array_equal(answers["sepal_length"], flowers()["sepal_length"])


@pytest.mark.parametrize("value", ["1.234,5", "1.234", "1 234,5", "1,2,3"])
def test_signs_between_thousands_are_no_numbers(run, value):
    Path("t.csv").write_text(f"a;b\n1,5;2\n2,5;3\n{value};4\n3,5;5\n")
    code, _, err = run("select", "t.csv", "--decimal", ",", "-o", "few.csv")
    assert code == 1
    assert f"t.csv, line 4: '{value}' in column 'a', where a finite number must be." in one_line(err)


def test_options_about_reading_that_make_no_sense_are_refused(run):
    iris().to_csv("t.csv", index=False)
    iris().to_parquet("t.parquet")
    Path("conn.log").write_text("#fields\tts\n")
    for command, message in {
        (
            "t.csv",
            "--delimiter",
            "ab",
        ): "--delimiter must be one character, or one of comma, semicolon, tab, pipe",
        ("t.csv", "--delimiter", '"'): "--delimiter must be one character",
        ("t.csv", "--decimal", "x"): "--decimal must be a comma or a point, got 'x'",
        ("t.csv", "--decimal", ",", "--delimiter", ","): "--delimiter and --decimal must be different characters",
        ("t.csv", "--encoding", "utf-99"): "--encoding must be the name of an encoding, such as utf-8",
        ("t.csv", "--encoding", "base64"): "--encoding must be the name of an encoding, such as utf-8",
        ("t.csv", "--sheet", "Data"): "--sheet says nothing about csv files; leave it out",
        ("t.parquet", "--encoding", "utf-8"): "--encoding says nothing about parquet files",
        ("t.parquet", "--decimal", ","): "--decimal says nothing about parquet files",
        ("conn.log", "--hosts", "--delimiter", ";"): "leave out other options about columns",
        ("conn.log", "--hosts", "--missing", "drop"): "leave out other options about columns",
    }.items():
        code, _, err = run("select", *command, "-o", "few.csv")
        assert (code, message in one_line(err)) == (2, True), err


# Names and labels


def test_names_of_columns_may_hold_commas(run):
    frame = flowers().rename(columns={"petal_width": "petal, width", "petal_length": 'petal "length"'})
    frame.to_csv("t.csv", index=False)
    asked = ("--features", '"petal, width",sepal_length')
    code, _, err = run("select", "t.csv", *asked, "-o", "few.csv", "-m", "m")
    assert code == 0
    assert "compared: the columns petal, width, sepal_length, by cosine" in err
    assert run("classify", "t.csv", "-m", "m", "-o", "a.csv")[0] == 0
    code, _, err = run("select", "t.csv", "--features", "petal, width", "-o", "few.csv", "-f")
    assert code == 1
    assert """must stand in double quotes: '"petal, width"'.""" in one_line(err)
    Path("bare.csv").write_text("1,2,x\n2,1,y\n3,3,x\n")
    assert run("select", "bare.csv", "--columns", 'a,"b, or c",kind', "-l", "kind", "-o", "few.csv", "-f")[0] == 0
    assert pd.read_csv("few.csv").columns[1] == "b, or c"


NAMES = st.lists(st.text("ab,\"'", min_size=1, max_size=3), min_size=1, max_size=2).map(" ".join)
"""Blanks stand within names only."""


@given(names=st.lists(NAMES, min_size=1, max_size=4))
def test_any_names_can_be_listed(names):
    text = io.StringIO()
    csv.writer(text, quoting=csv.QUOTE_ALL).writerow(names)
    assert listed(text.getvalue().rstrip("\r\n")) == names


def test_labels_that_differ_only_by_blanks_or_case_are_named(run, caplog):
    frame = iris()
    check = ["select", "t.csv", *FIRST, "-o", "few.csv", "-f"]
    frame.to_csv("t.csv", index=False)
    run(*check)
    assert "labels differ" not in caplog.text
    frame.loc[3, "species"] = "setosa "
    frame.loc[5, "species"] = "Setosa"
    frame.loc[70, "species"] = "versi  color"
    frame.loc[71, "species"] = "versi color"
    frame.to_csv("t.csv", index=False)
    assert run(*check)[0] == 0
    hint = "labels differ only by blanks or by small and capital letters, and are different clusters"
    assert f"{hint}: 'Setosa' and 'setosa' and 'setosa '; 'versi  color' and 'versi color'." in caplog.text
    assert len(set(pd.read_csv("few.csv")["covey_cluster"])) == 7  # nothing is changed
    caplog.clear()
    warn_of_labels(np.array([f"kind {at // 2}{' ' * (at % 2)}" for at in range(150)]))
    assert " and 72 more." in caplog.text


# Excel and JSON


def test_a_sheet_of_excel_is_a_table(run, caplog):
    flowers().to_excel("t.xlsx", index=False)
    check_selected(run, "t.xlsx", "-m", "m")
    assert run("classify", "t.xlsx", "-m", "m", "-o", "a.csv")[0] == 0
    assert len(pd.read_csv("a.csv")) == 150
    assert not caplog.text
    with pd.ExcelWriter("two.xlsx") as book:
        pd.DataFrame({"note": ["see Data"]}).to_excel(book, sheet_name="Read me", index=False)
        flowers().to_excel(book, sheet_name="Data", index=False, startrow=2)
    check_selected(run, "two.xlsx", "--sheet", "Data")
    code, _, err = run("select", "two.xlsx", "--sheet", "data", "-o", "few.csv", "-f")
    assert (code, "two.xlsx has no sheet 'data'; it has 'Read me', 'Data'." in one_line(err)) == (1, True)
    run("select", "two.xlsx", "-o", "few.csv", "-f")
    assert "two.xlsx has the sheets 'Read me', 'Data'; the first one is read, pass --sheet for another." in caplog.text


def test_places_in_a_workbook_are_its_lines(run):
    frame = flowers().astype(object)
    frame.iloc[7, 2] = "junk"
    frame.to_excel("t.xlsx", index=False)
    code, _, err = run("select", "t.xlsx", *FIRST, "--features", "petal_length", "-o", "few.csv")
    assert (code, "t.xlsx, line 9: 'junk' in column 'petal_length'" in one_line(err)) == (1, True)
    Path("t.xlsx").write_bytes(Path("t.xlsx").read_bytes()[:1000])
    code, _, err = run("select", "t.xlsx", "-o", "few.csv")
    assert (code, "t.xlsx is not a workbook of Excel, or damaged" in one_line(err)) == (1, True)
    Path("t.xls").write_bytes(b"an old workbook")
    code, _, err = run("select", "t.xls", "-o", "few.csv")
    assert (code, "save it as .xlsx" in one_line(err)) == (1, True)


def test_arrays_of_json_are_tables(run):
    records = flowers().to_dict("records")
    rows = [list(record.values()) for record in records]
    for name, value, indent in (
        ("objects.json", records, None),
        ("pretty.json", records, 2),
        ("headed.json", [list(records[0]), *rows], None),
    ):
        Path(name).write_text(json.dumps(value, indent=indent, ensure_ascii=False), encoding="utf-8")
        check_selected(run, name)
    Path("bare.json").write_text(json.dumps(rows))
    check_selected(run, "bare.json", "--columns", ",".join(records[0]))
    assert run("select", "bare.json", "-l", "x4", "-k", 5, "-o", "few.csv", "-f")[0] == 0
    np.testing.assert_array_equal(pd.read_csv("few.csv")["covey_row"], selected())


WRONG_JSON = {
    "an object": ('{"a": {"0": 1}}', "must hold an array .* pass --format jsonl"),
    "cut off": ('[{"a": 1},\n{"a": 2},\n{"a": ', ", line 3: not JSON"),
    "no end": ('[{"a": 1}\n', ", line 1: the array must go on or end"),
    "more": ('[{"a": 1}]\n[]', ", line 1: something follows"),
    "numbers": ("[1, 2]", ", line 1: int where an object should be"),
    "both": ('[{"a": 1},\n[2]]', ", line 2: list where an object should be"),
    "both arrays": ('[[2],\n{"a": 1}]', ", line 2: dict where an array should be"),
    "uneven": ("[[1, 2],\n[3]]", ", line 2: there are 2 columns, the row has 1"),
    "nothing": ("[]", " holds no rows"),
    "empty": ("", "must hold an array"),
    "deep": ('[{"a": ' + "[" * 100_000, ", line 1: not JSON"),
    "half a character": ('[{"a": "\\ud800"}]', ", line 1: not JSON"),
    "twice": ('[["a", "a"], [1, 2]]', ", line 1: two columns are called 'a'"),
}


@pytest.mark.parametrize("what", WRONG_JSON)
def test_other_json_is_refused_with_its_line(folder, what):
    content, message = WRONG_JSON[what]
    Path("t.json").write_text(content)
    with pytest.raises(FileFormatError, match=rf"^t\.json ?{message}"):
        read("t.json")


NESTED = st.recursive(
    st.none() | st.integers(),
    lambda inner: st.dictionaries(st.sampled_from(["a", "b", "a.b", "b.a"]), inner, max_size=3),
    max_leaves=8,
)


def found_within(value, path):
    """What a path leads to, by trying every way to cut it; the longest key goes first at each step."""
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    cuts = [at for at, sign in enumerate(path) if sign == "."]
    found = [found_within(value.get(path[:at]), path[at + 1 :]) for at in reversed(cuts)]
    return next((one for one in found if one is not None), None)


@given(rows=st.lists(NESTED, min_size=1, max_size=4), path=st.sampled_from(["a", "a.b", "a.b.a", "b.a.b.a"]))
def test_paths_lead_to_values_within_objects(rows, path):
    frame = pd.DataFrame({"meta": pd.Series(rows, dtype=object)})
    found = column_of(frame, f"meta.{path}")
    wanted = [found_within(row, path) for row in rows]
    assert (found is None) == all(value is None for value in wanted)
    assert found is None or found.tolist() == wanted


def nested(frame):
    rows = frame.to_dict("records")
    keys = ["sepal_width", "petal_length", "petal_width"]
    return [
        {
            "meta": {"kind": row["species"], "name": {"whole": row["name"]}, "first": row["sepal_length"]},
            "more": {"deep": {key: row[key] for key in keys}},
        }
        for row in rows
    ]


@pytest.mark.parametrize("name", ["t.jsonl", "t.json", "t.parquet"])
def test_values_within_objects_are_columns(run, name):
    rows = nested(flowers())
    if name == "t.parquet":
        pq.write_table(pa.Table.from_pylist(rows), name)
    else:
        Path(name).write_text(json.dumps(rows) if name == "t.json" else "\n".join(map(json.dumps, rows)))
    features = "meta.first,more.deep.sepal_width,more.deep.petal_length,more.deep.petal_width"
    options = ("-l", "meta.kind", "--features", features, "--id", "meta.name.whole", "-k", 5)
    assert run("select", name, *options, "-o", "few.jsonl", "-m", "m")[0] == 0
    few = [json.loads(line) for line in Path("few.jsonl").read_text().splitlines()]
    assert [row["covey_row"] for row in few] == selected().tolist()
    assert set(few[0]) == {"meta", "more", "covey_row", "covey_cluster", "covey_rank", "covey_covers"}
    assert run("classify", name, "-m", "m", "-o", "a.csv")[0] == 0
    assert pd.read_csv("a.csv")["meta.name.whole"].tolist() == iris()["name"].tolist()
    code, _, err = run("select", name, "--text", "meta.kind", "-s", "levenshtein", "-o", "few.csv")
    assert (code, "the text in meta.kind" in err) == (0, True)
    code, _, err = run("select", name, "--features", "meta.last", "-o", "few.csv", "-f")
    assert (code, "t.json" in err or "t.parquet" in err, "has no column 'meta.last'" in err) == (1, True, True)


def test_a_column_whose_name_has_a_point_goes_first(run):
    rows = [{"meta.kind": "right", "meta": {"kind": "wrong"}, "x": at} for at in range(5)]
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert run("select", "t.jsonl", "-l", "meta.kind", "--features", "x", "-o", "few.csv")[0] == 0
    assert set(pd.read_csv("few.csv")["covey_cluster"]) == {"right"}


# Standard input


def as_bytes(name):
    frame, buffer = flowers(), io.BytesIO()
    if name == "xlsx":
        frame.to_excel(buffer, index=False)
    elif name == "parquet":
        frame.to_parquet(buffer)
    elif name == "npy":
        np.save(buffer, frame[NUMBERS].to_numpy())
    elif name == "npz":
        np.savez(buffer, X=frame[NUMBERS].to_numpy(), y=frame["species"].to_numpy(dtype=str))
    else:
        options = {"orient": "records", "lines": name == "jsonl"}
        text = frame.to_csv(index=False) if name == "csv" else frame.to_json(**options)
        buffer.write(text.encode("utf-16" if name == "csv" else "utf-8"))
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["csv", "jsonl", "json", "parquet", "xlsx", "npz", "npy"])
def test_every_format_can_come_from_standard_input(folder, name):
    label = () if name in ("npz", "npy") else ("-l", "species")
    words = ["select", "-", "--format", name, *label, "-k", "5", "-o", "few.csv"]
    code, _, err = run_with_input(words, as_bytes(name))
    assert code == 0, err
    rows = pd.read_csv("few.csv")["covey_row"]
    if name != "npy":  # which has no labels
        np.testing.assert_array_equal(rows, selected())
    code, _, err = run_with_input([*words, "-f"], b"\x00" + as_bytes(name)[:500])
    assert code == 1
    assert one_line(err).startswith("covey: standard input")
