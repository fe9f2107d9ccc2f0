"""Every file that a command writes is read again by pandas, polars and pyarrow, with a column of every type."""

import csv
import datetime as dt
import json
import sys
import uuid
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet as pq
import pytest

from covey import __main__ as cli
from covey.cli.files import reading
from covey.cli.files.reading import blocks, read
from covey.exceptions import FileFormatError

N = 24
GAP = 5
DAY, NOON = dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 12, 0, 7)
UTC = dt.UTC
POINT = pa.struct([("a", pa.int64()), ("b", pa.string())])
VISIT = pa.struct([("at", pa.timestamp("us", "UTC")), ("n", pa.int32())])


def every(make, kind):
    """An array of values that a function makes of their rows, with a gap."""
    return pa.array([None if row == GAP else make(row) for row in range(N)], kind)


def stored(make, kind):
    """The same for a type that is stored as another."""
    return pa.ExtensionArray.from_storage(kind, every(make, kind.storage_type))


NUMBERS = {
    **{
        f"{sign}int{bits}": every(lambda row: row, getattr(pa, f"{sign}int{bits}")())
        for sign in ("", "u")
        for bits in (8, 16, 32, 64)
    },
    "large int64": every(lambda row: 2**63 - 1 - row, pa.int64()),
    "large uint64": every(lambda row: 2**64 - 1 - row, pa.uint64()),
    "float16": every(lambda row: np.float16(row / 2), pa.float16()),
    "float32": every(lambda row: row / 4, pa.float32()),
    "float64": every(lambda row: row / 3, pa.float64()),
    "decimal128": every(lambda row: Decimal(row) / 4 + 10**20, pa.decimal128(30, 2)),
}
TIMES = {
    "date32": every(lambda row: DAY + dt.timedelta(row), pa.date32()),
    "date64": every(lambda row: DAY + dt.timedelta(row), pa.date64()),
    "time32": every(lambda row: dt.time(1, 2, row), pa.time32("ms")),
    "time64": every(lambda row: dt.time(1, 2, row, 7), pa.time64("us")),
    **{
        f"timestamp {unit}": every(lambda row: NOON + row * dt.timedelta(1), pa.timestamp(unit)) for unit in ("s", "ns")
    },
    **{
        f"timestamp {zone}": every(
            lambda row: NOON.replace(tzinfo=UTC) + row * dt.timedelta(9), pa.timestamp("us", zone)
        )
        for zone in ("UTC", "Europe/Prague", "+02:00")
    },
    **{f"duration {unit}": every(lambda row: dt.timedelta(row, 5), pa.duration(unit)) for unit in ("s", "us", "ns")},
}
TEXTS = {
    "string": every(lambda row: f'é,"\n{row}', pa.string()),
    "large_string": every(lambda row: f"é{row}", pa.large_string()),
    "string_view": every(lambda row: f"é{row}", pa.string_view()),
    "dictionary": every(lambda row: "red" if row % 3 else "blue", pa.dictionary(pa.int32(), pa.string())),
    "ordered dictionary": every(lambda row: "few" if row % 3 else "many", pa.dictionary(pa.int8(), pa.string(), True)),
}
OTHERS = {
    "bool": every(lambda row: row % 3 == 0, pa.bool_()),
    "null": pa.nulls(N),
    "dictionary of numbers": every(lambda row: row % 3, pa.dictionary(pa.int32(), pa.int64())),
    "binary": every(lambda row: bytes([row, 255]), pa.binary()),
    "large_binary": every(lambda row: bytes([row, 255]), pa.large_binary()),
    "binary_view": every(lambda row: bytes([row, 255]), pa.binary_view()),
    "fixed binary": every(lambda row: bytes([row, 255]), pa.binary(2)),
    **({"uuid": stored(lambda row: uuid.UUID(int=row).bytes, pa.uuid())} if hasattr(pa, "uuid") else {}),
}
NESTED = {
    "list": every(lambda row: [f"é{row}", None][: row % 3], pa.list_(pa.string())),
    "embedding": every(lambda row: [row / 4, 1.0], pa.list_(pa.float32())),
    "large_list": every(lambda row: [row] * (row % 3), pa.large_list(pa.int64())),
    "fixed list": every(lambda row: [row / 4, 1.0], pa.list_(pa.float32(), 2)),
    "list of lists": every(lambda row: [[row], [], [row, 1]], pa.list_(pa.list_(pa.int32()))),
    "list of bytes": every(lambda row: [bytes([row, 255])], pa.list_(pa.binary())),
    "list of views": every(lambda row: [f"é{row}"], pa.list_(pa.string_view())),
    "struct": every(lambda row: {"a": row, "b": None}, POINT),
    "struct of lists": every(lambda row: {"a": [Decimal(row) / 4]}, pa.struct([("a", pa.list_(pa.decimal128(9, 2)))])),
    "struct of structs": every(lambda row: {"a": {"b": DAY}}, pa.struct([("a", pa.struct([("b", pa.date32())]))])),
    "list of structs": every(lambda row: [{"at": NOON.replace(tzinfo=UTC), "n": row}], pa.list_(VISIT)),
    "map": every(lambda row: [("k", row / 2)][: row % 2], pa.map_(pa.string(), pa.float64())),
    "map of lists": every(lambda row: [(row, [1.5])], pa.map_(pa.int64(), pa.list_(pa.float64()))),
    "struct of maps": every(lambda row: {"m": [("k", row)]}, pa.struct([("m", pa.map_(pa.string(), pa.int64()))])),
}


def can_be_written(column):
    """Whether this version of Arrow writes such columns to Parquet."""
    try:
        pq.write_table(pa.table({"column": column}), pa.BufferOutputStream())
    except pa.ArrowNotImplementedError:
        return False
    return True


COLUMNS = {
    name: column for name, column in (NUMBERS | TIMES | TEXTS | OTHERS | NESTED).items() if can_be_written(column)
}
READERS = {"pandas": pd.read_parquet, "polars": pl.read_parquet, "pyarrow": pq.read_table}


def table():
    rng = np.random.default_rng(0)
    kinds = ["a" if row % 2 else "b" for row in range(N)]
    return pa.table({"kind": kinds, "x": rng.normal(size=N), "y": rng.normal(size=N), **COLUMNS})


@pytest.fixture(scope="module")
def folder_of_files(tmp_path_factory):
    """A folder in which commands have written the rows of a table in all formats, a few rows at a time."""
    folder = tmp_path_factory.mktemp("written")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(reading, "MOST_ROWS", 7)
        pq.write_table(table(), "all.parquet")

        def covey(*words):
            patch.setattr(sys, "argv", ["covey", *words, "--quiet"] if words[0] != "inspect" else ["covey", *words])
            with pytest.raises(SystemExit) as ended:
                cli.main()
            assert not ended.value.code

        select = ["select", "all.parquet", "--features", "x,y", "--label", "kind", "--id", "string"]
        for form in ("parquet", "csv", "tsv", "jsonl"):
            covey(*select, "-k", "2", "-o", f"few.{form}", "-m", "m.covey", "--members", f"members.{form}", "--force")
            covey("classify", "all.parquet", "-m", "m.covey", "--keep", "-o", f"answers.{form}")
            covey("inspect", "m.covey", "--representatives", "-o", f"model.{form}")
        covey(*select[:-2], "--method", "all", "-o", "every.parquet")
        covey("compare", *select[1:-2], "-s", "euclidean", "--methods", "crs,all", "-k", "2,3", "--folds", "2",
              "--csv", "results.csv", "--json", "results.json")  # fmt: skip
    return folder


def plain(value):
    """A value of any of the three readers, so that equal values are equal; an empty map is an empty list."""
    if isinstance(value, np.ndarray | list | pl.Series):
        made = [plain(own) for own in value]
        if made and all(isinstance(own, tuple) for own in made):  # the entries of a map
            return dict(made)
        return {own["key"]: own["value"] for own in made} if _are_entries(made) else made
    if isinstance(value, tuple):
        return tuple(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(own) for key, own in value.items()} or []
    if value is None or value is pd.NA or value is pd.NaT or value != value:
        return None
    if isinstance(value, dt.date | np.datetime64):
        moment = pd.Timestamp(value)
        return moment if moment.tz is None else moment.tz_convert(UTC)
    if isinstance(value, dt.timedelta | np.timedelta64):
        return pd.Timedelta(value)
    return value.bytes if isinstance(value, uuid.UUID) else value


def _are_entries(made):
    """Whether these are the entries of a map, as polars shows them."""
    return bool(made) and all(isinstance(own, dict) and set(own) == {"key", "value"} for own in made)


def values_of(table, name):
    column = table[name]
    return [plain(value) for value in (column.to_pylist() if isinstance(column, pa.ChunkedArray) else column.to_list())]


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("file", ["few.parquet", "answers.parquet", "every.parquet"])
def test_parquet_gives_every_reader_the_values_of_the_input(folder_of_files, file, reader):
    found = READERS[reader](folder_of_files / file)
    rows = values_of(found, "covey_row")
    assert set(rows) == set(range(N)) or file == "few.parquet"
    for name, column in COLUMNS.items():
        given = [plain(value) for value in column.to_pylist()]
        assert values_of(found, name) == [given[row] for row in rows], name


def test_parquet_keeps_the_types_of_columns(folder_of_files):
    """Views of texts and bytes become texts and bytes."""
    without_views = {
        "string_view": pa.large_string(),
        "binary_view": pa.large_binary(),
        "list of views": pa.list_(pa.large_string()),
    }
    given, *found = (pq.read_schema(folder_of_files / f"{file}.parquet") for file in ("all", "few", "answers"))
    for name in COLUMNS:
        expected = without_views.get(name, given.field(name).type)
        assert [schema.field(name).type for schema in found] == [expected] * 2, name


def text_of(value):
    """What CSV and JSON say of a value within lists and objects."""
    if isinstance(value, list) and value and isinstance(value[0], tuple):
        return {str(key): text_of(own) for key, own in value}
    if isinstance(value, list):
        return [text_of(own) for own in value]
    if isinstance(value, dict):
        return {key: text_of(own) for key, own in value.items()}
    if isinstance(value, bytes):
        return value.hex()
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)


def parsed(text, name):
    """The value of a column that CSV, or a text in JSON, says."""
    kind = COLUMNS[name].type
    if text is None or text == "":
        return None
    if name in NESTED:
        return json.loads(text)
    if pa.types.is_boolean(kind):
        return {"True": True, "False": False}[text]
    if pa.types.is_temporal(kind) and not pa.types.is_time(kind):
        return plain(pd.Timedelta(text) if pa.types.is_duration(kind) else pd.Timestamp(text))
    if pa.types.is_time(kind):
        return dt.time.fromisoformat(text)
    if name == "uuid":
        return uuid.UUID(text).bytes
    if "binary" in name:
        return bytes.fromhex(text)
    if name in TEXTS:
        return text
    return Decimal(text) if pa.types.is_decimal(kind) else float(text) if pa.types.is_floating(kind) else int(text)


def given_values(name):
    """What the input holds in a column, row by row; of nested values, what CSV and JSON say of them."""
    values = COLUMNS[name].to_pylist()
    if name not in NESTED:
        return [plain(value) for value in values]
    is_map = pa.types.is_map(COLUMNS[name].type)
    return [{} if is_map and value == [] else text_of(value) for value in values]


def csv_columns(path):
    """The columns of a delimited file as texts, by each of the readers."""
    sign = "\t" if path.suffix == ".tsv" else ","
    with path.open(newline="") as file:
        header = next(csv.reader(file, delimiter=sign))
    parse = pyarrow.csv.ParseOptions(delimiter=sign, newlines_in_values=True)
    convert = pyarrow.csv.ConvertOptions(column_types=dict.fromkeys(header, pa.string()))
    return {
        "pandas": pd.read_csv(path, sep=sign, dtype=str, keep_default_na=False),
        "polars": pl.read_csv(path, separator=sign, infer_schema=False).fill_null(""),
        "pyarrow": pyarrow.csv.read_csv(path, parse_options=parse, convert_options=convert).to_pydict(),
    }


@pytest.mark.parametrize("file", ["few.csv", "answers.csv", "few.tsv", "answers.tsv"])
def test_delimited_texts_give_every_reader_the_values_of_the_input(folder_of_files, file):
    for reader, found in csv_columns(folder_of_files / file).items():
        rows = [int(row) for row in found["covey_row"]]
        for name in COLUMNS:
            given = given_values(name)
            assert [parsed(text, name) for text in found[name]] == [given[row] for row in rows], (reader, name)


@pytest.mark.parametrize("file", ["few.jsonl", "answers.jsonl"])
def test_json_lines_hold_the_values_of_the_input(folder_of_files, file):
    found = [json.loads(line) for line in (folder_of_files / file).read_text().splitlines()]
    for name in COLUMNS:
        given = given_values(name)
        for record in found:
            value = record[name]
            told = parsed(value, name) if isinstance(value, str) else value
            assert told == given[record["covey_row"]], name


@pytest.mark.parametrize("file", ["few.jsonl", "answers.jsonl"])
def test_every_reader_reads_json_lines(folder_of_files, file):
    path = folder_of_files / file
    records = [json.loads(line) for line in path.read_text().splitlines()]
    for found in (pd.read_json(path, lines=True), pl.read_ndjson(path), pyarrow.json.read_json(path)):
        assert values_of(found, "covey_row") == [record["covey_row"] for record in records]
        for name in COLUMNS:
            there = [value is not None for value in values_of(found, name)]
            assert there == [record[name] is not None for record in records], name


@pytest.mark.parametrize("file", ["members", "model"])
def test_every_reader_finds_the_same_in_tables_about_rows_and_models(folder_of_files, file):
    path = folder_of_files / f"{file}.parquet"
    tables = [READERS[name](path) for name in READERS]
    names = tables[0].columns.tolist()
    texts = [csv_columns(path.with_suffix(suffix)) for suffix in (".csv", ".tsv")]
    lines = [json.loads(line) for line in path.with_suffix(".jsonl").read_text().splitlines()]
    for name in names:
        one, *others = [values_of(table, name) for table in tables]
        assert one == others[0] == others[1] == [record[name] for record in lines]
        assert {tuple(found[name]) for own in texts for found in own.values()} == {tuple(map(str, one))}


def test_every_reader_reads_the_results_of_a_comparison(folder_of_files):
    path = folder_of_files / "results.csv"
    told = json.loads((folder_of_files / "results.json").read_text())["results"]
    found = [pd.read_csv(path), pl.read_csv(path), pyarrow.csv.read_csv(path)]
    for name in told[0]:
        for table in found:
            assert values_of(table, name) == [record[name] for record in told], name


def test_numbers_that_json_has_no_word_for_are_null(run, caplog):
    pq.write_table(
        pa.table({"x": [1.0, 2.0, 3.0], "odd": [float("nan"), float("inf"), 1.5], "in": [[float("nan")]] * 3}),
        "t.parquet",
    )
    assert run("select", "t.parquet", "--features", "x", "--method", "all", "-o", "few.jsonl")[0] == 0
    assert "column 'odd' holds infinite numbers, for which JSON has no word; they are written as null." in caplog.text
    found = [json.loads(line) for line in Path("few.jsonl").read_text().splitlines()]
    assert [(record["odd"], record["in"]) for record in found] == [(None, [None]), (None, [None]), (1.5, [None])]


@pytest.mark.parametrize("kind", [pa.list_view(pa.int64()), pa.struct([("a", pa.large_list_view(pa.int64()))])])
def test_a_column_of_views_of_lists_is_refused_by_name(folder, kind):
    values = [{"a": [1]}] if pa.types.is_struct(kind) else [[1]]
    pq.write_table(pa.table({"x": [1.0], "views": pa.array(values, kind)}), "t.parquet")
    for reader in (read, lambda path: list(blocks(path))):
        with pytest.raises(FileFormatError, match=r"^t\.parquet: column 'views' is of the type .*list_view"):
            reader("t.parquet")


def test_values_of_json_are_read_again_from_parquet(run):
    """Lists, objects, and columns that some rows lack."""
    rows = [{"x": row / 7, "tags": ["a", "b"][: row % 3], "at": {"n": row}} for row in range(12)]
    rows[3]["note"] = "é"
    Path("t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    assert (
        run("select", "t.jsonl", "--features", "x", "-s", "euclidean", "--method", "all", "-o", "few.parquet")[0] == 0
    )
    for reader, read_file in READERS.items():
        found = read_file("few.parquet")
        for name in ("x", "tags", "at", "note"):
            given = [plain(rows[row].get(name)) for row in values_of(found, "covey_row")]
            assert values_of(found, name) == given, (reader, name)
