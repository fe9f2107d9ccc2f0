"""Parquet files: what is wrong with one is said with its name, and a hostile one is refused in little memory."""

import io
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from covey.cli.files.parquet import parts_of
from covey.cli.files.reading import blocks, read
from covey.exceptions import FileFormatError
from covey.storage.limits import unpacking_at_most
from tests.cli.commands import one_line


def parquet(table, **options):
    buffer = io.BytesIO()
    pq.write_table(table, buffer, **options)
    return buffer.getvalue()


def whole_parquet():
    return parquet(pa.table({"a": np.arange(1000.0)}), compression="snappy", use_dictionary=False)


PARQUETS = {
    "a damaged page": lambda: whole_parquet()[:50] + bytes(200) + whole_parquet()[250:],
    "a damaged footer": lambda: whole_parquet()[:-60] + bytes(20) + whole_parquet()[-40:],
    "a cut end": lambda: whole_parquet()[:-1],
    "nothing": lambda: b"",
    "bytes that are no text": lambda: parquet(pa.table({"a": pa.array([b"\xff"]).cast(pa.string(), safe=False)})),
    "two columns of one name": lambda: parquet(pa.table([[1.0], [2.0]], names=["a", "a"])),
}


@pytest.mark.parametrize("what", PARQUETS)
def test_broken_parquet_is_refused_by_name(folder, what):
    Path("bad.parquet").write_bytes(PARQUETS[what]())
    for reader in (read, lambda path: list(blocks(path))):
        with pytest.raises(FileFormatError, match=r"^bad\.parquet"):
            reader("bad.parquet")


def test_a_column_whose_type_contradicts_the_schema_is_refused_and_does_not_end_the_process(folder):
    """Arrow 26 ends the process if it is asked for the metadata of such a column."""
    content = parquet(pa.table({"a": ["x", "y"]}))
    text, number = b"\x15\x0c\x25", b"\x15\x08\x25"  # the type in the schema, and the beginning of the next part
    assert content.count(text) == 1
    Path("bad.parquet").write_bytes(content.replace(text, number))
    with pytest.raises(FileFormatError, match=r"^bad\.parquet is not a Parquet file, or damaged"):
        read("bad.parquet")


@pytest.mark.parametrize("kind", [pa.float64(), pa.int64(), pa.decimal128(5, 2), pa.float32()])
def test_a_gap_in_a_column_of_numbers_is_named_with_its_row(run, kind):
    pq.write_table(pa.table({"a": pa.array([1, 2, None, 4], kind), "b": [1.0, 2.0, 3.0, 4.0]}), "t.parquet")
    code, _, err = run("select", "t.parquet", "-o", "few.csv")
    assert code == 1
    assert "t.parquet, row 2: no value in column 'a', where a finite number must be." in one_line(err)


def test_a_parquet_file_of_millions_of_equal_rows_is_refused(folder):
    schema = pa.schema([("a", pa.int64())])
    with pq.ParquetWriter("t.parquet", schema) as writer:
        for _ in range(20):
            writer.write_table(pa.table({"a": np.zeros(10**6, dtype=np.int64)}))
    assert Path("t.parquet").stat().st_size < 100_000
    for reader in (read, lambda path: next(blocks(path)), lambda path: parts_of([path])):
        with pytest.raises(FileFormatError, match=r"^t\.parquet unpacks to more than 64 MiB .* larger --max-unpacked"):
            reader("t.parquet")
    with unpacking_at_most(10**9):
        assert len(next(blocks("t.parquet"))) == 20_000


def references(text, n):
    """Return n rows that refer to one string."""
    return pa.DictionaryArray.from_arrays(np.zeros(n, dtype=np.int32), pa.array([text]))


def hostile():
    """{name: a table of gigabytes that a small file stands for}."""
    return {
        "referred": pa.table({"a": references("x" * 2_000_000, 10_000)}),
        "repeated": pa.table({"a": np.zeros(10**7, dtype=np.int64)}),
        "true": pa.table({"a": np.ones(2 * 10**7, dtype=bool)}),
    }


IN_LITTLE_MEMORY = """
import resource, sys
import pandas, pyarrow, pyarrow.compute, pyarrow.parquet
from covey.exceptions import FileFormatError
from covey.cli.files.parquet import parts_of
from covey.cli.files.reading import read
pyarrow.set_cpu_count(1)
pyarrow.set_io_thread_count(1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 600 * 2**20,) * 2)
for name in sys.argv[1:]:
    for reader in (read, lambda name: [part.read() for part in parts_of([name])]):
        try:
            reader(name)
        except FileFormatError as error:
            print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is limited as on Linux")
def test_a_file_that_stands_for_gigabytes_is_refused_in_little_memory(folder):
    names = [f"{name}.parquet" for name in hostile()]
    for name, table in zip(names, hostile().values(), strict=True):
        pq.write_table(table, name, compression="zstd", store_schema=False)
        assert Path(name).stat().st_size < 100_000
    done = subprocess.run([sys.executable, "-c", IN_LITTLE_MEMORY, *names], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert [line.partition(" ")[0] for line in lines] == [name for name in names for _ in range(2)]
    assert all(
        "unpacks to more than 64 MiB (each file may take 64 MiB or 100 times its size)" in line for line in lines
    )


def test_rows_that_refer_to_long_strings_are_refused(folder):
    """The 800 MB of these strings are counted in batches, whether they stand in lists or by themselves."""
    rows = references("x" * 200_000, 4000)
    for column in (rows, pa.ListArray.from_arrays(np.arange(4001), rows)):
        pq.write_table(pa.table({"a": column}), "t.parquet", compression="zstd", store_schema=False)
        for reader in (read, lambda path: [part.read() for part in parts_of([path])]):
            with pytest.raises(FileFormatError, match=r"^t\.parquet unpacks to more than 64 MiB"):
                reader("t.parquet")


KINDS = {
    "strings": pa.array(["b", None, "a", "", "b"]),
    "large strings": pa.array(["b", None, "a", "", "b"], pa.large_string()),
    "views": pa.array(["b", None, "a", "", "b"], pa.string_view()),
    "bytes": pa.array([b"b", None, b"a", b"", b"b"]),
    "fixed bytes": pa.array([b"bb", None, b"aa", b"cc", b"bb"], pa.binary(2)),
    "categories": pa.array(["b", None, "a", "", "b"]).dictionary_encode(),
    "lists": pa.array([["b"], None, [], [None, "a"], ["b"]]),
    "large lists": pa.array([["b"], None, [], [None, "a"], ["b"]], pa.large_list(pa.large_string())),
    "structs": pa.array([{"x": "b", "y": 1}, None, {"x": None, "y": 2}, {"x": "", "y": None}, {"x": "b", "y": 1}]),
    "maps": pa.array([[("k", "b")], None, [], [("l", None)], [("k", "b")]], pa.map_(pa.string(), pa.string())),
    "decimals": pa.array([1, None, 2, 3, 1], pa.decimal128(5, 2)),
}


@pytest.mark.parametrize("use_dictionary", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_values_of_all_kinds_come_back(folder, kind, use_dictionary):
    """Strings are read as references; in the frame they are strings again, whatever they are part of."""
    table = pa.table({"a": KINDS[kind], "n": range(5)})
    pq.write_table(table, "t.parquet", use_dictionary=use_dictionary, row_group_size=3)
    plain = table.cast(pa.schema([("a", pa.large_string()), ("n", pa.int64())])) if kind == "views" else table
    wanted = plain.to_pandas(types_mapper=pd.ArrowDtype)
    for frame in (read("t.parquet").frame, next(iter(parts_of(["t.parquet"]))).read().frame):
        pd.testing.assert_frame_equal(frame, wanted)


@pytest.mark.parametrize("encoding", ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY", "PLAIN"])
@pytest.mark.parametrize("n_groups", [1, 3])
def test_strings_are_read_in_each_encoding_in_the_order_of_the_rows(folder, encoding, n_groups):
    words = [f"word {'x' * (i % 50)} {i}" for i in range(4500)]
    table = pa.table({"name": words, "number": np.arange(4500.0)})
    with pq.ParquetWriter(
        "t.parquet", table.schema, use_dictionary=False, column_encoding={"name": encoding}
    ) as writer:
        for start in range(0, 4500, 4500 // n_groups):
            writer.write_table(table.slice(start, 4500 // n_groups))
    frame = read("t.parquet").frame
    assert frame["name"].tolist() == words
    assert frame["number"].tolist() == list(range(4500))


def test_strings_whose_encoding_changes_within_a_file_are_read_on_from_the_row_that_was_reached(folder, monkeypatch):
    """Some writers go on with differences where a dictionary is full. pyarrow writes no such file, so it reads one."""

    class ReferencesUntilRow4000(pq.ParquetFile):
        def iter_batches(self, *args, **options):
            n = 0
            for batch in super().iter_batches(*args, **options):
                n += batch.num_rows
                if n > 4000 and pa.types.is_dictionary(batch.schema.field("name").type):
                    raise OSError("no references")
                yield batch

    words = [f"word {i}" for i in range(9000)]
    pq.write_table(pa.table({"name": words}), "t.parquet")
    monkeypatch.setattr(pq, "ParquetFile", ReferencesUntilRow4000)
    monkeypatch.setattr("covey.cli.files.input.ReadOptions.n_rows", lambda self, n_columns: 1300)
    assert read("t.parquet").frame["name"].tolist() == words
