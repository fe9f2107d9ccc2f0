"""Readers of tables and arrays: for any fault of a file one error names it, and little memory is spent on it."""

import gzip
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from covey.cli.files.reading import read
from covey.exceptions import FileFormatError
from covey.storage.compression import PACKED, open_packed
from covey.storage.limits import FREE, MOST_RATIO
from tests.attack import tables
from tests.cli.commands import one_line

DEEP = "[" * 100_000 + "]" * 100_000
TEXTS = {
    "digits.jsonl": ('{"a": 1}\n{"a": ' + "9" * 5000 + "}\n", r", line 2: not JSON \(Exceeds the limit"),
    "deep.jsonl": ('{"a": 1}\n\n{"a": ' + DEEP + "}\n", r", line 3: not JSON \(maximum recursion depth"),
    "half.jsonl": ('{"a": "\\ud83d\\ude00"}\n{"a": "\\ud800"}\n', r", line 2: not JSON \('utf-8' codec can't encode"),
    "large.svmlight": ("1 1:1\n1 3000000000:1\n", r", line 2: no svmlight row \(a number is too large\)"),
    "larger.svmlight": ("1 1:1\n1 99999999999999999999:1\n", r", line 2: no svmlight row \(a number is too large\)"),
    "nan.svmlight": ("1 1:1\nnan 1:1\n", ", row 1: the label is nan, where a finite number must be"),
    "wide.svmlight": ("0 1:1\n0 300000000:1\n1 5:1\n1 6:2\n", " numbers its columns or rows up to 300000001, "),
    "empty.svmlight": ("# nothing\n", " holds no rows"),
    "blank.csv": ("\n \na,b\n1,2\n3\n", ", line 5: the header has 2 columns, the row 1"),
    "twice.csv": ("\na,b,a\n1,2,3\n", ", line 2: two columns are called 'a'"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_broken_text_is_named_with_its_line(folder, name):
    content, message = TEXTS[name]
    Path(name).write_text(content)
    with pytest.raises(FileFormatError, match=f"^{name}{message}"):
        read(name)


def csr_parts(**changed):
    parts = {
        "indptr": np.array([0, 2, 3]),
        "indices": np.array([0, 2, 1]),
        "data": np.ones(3),
        "shape": np.array([2, 3]),
        "format": np.array(b"csr"),
    }
    return parts | changed


ARRAYS = {
    "no X": ({"a": np.ones(3)}, "must hold an array X"),
    "nothing": ({}, "must hold an array X"),
    "no columns": ({"X": np.ones((10**9, 0), dtype=np.int8)}, r"must have rows and columns, .* \(1000000000, 0\)"),
    "texts": ({"X": np.array([["a"]])}, "must hold numbers, it holds the type <U1"),
    "complex": ({"X": np.ones((2, 2), dtype=complex)}, "must hold numbers"),
    "dates": (
        {"X": np.ones((1, 2)), "y": np.array(["2024-01-01"], "datetime64[D]")},
        r"labels in .* must be numbers or strings, got dtype datetime64\[D\]\.",
    ),
    "bytes": ({"X": np.ones((1, 2)), "y": np.array([b"\xff"])}, "can't decode byte"),
    "objects": ({"X": np.array([[None]])}, "could run code"),
    "an index too large": (csr_parts(indices=np.array([0, 2, 10**6])), "indices must be <|indices must be less"),
    "an index below 0": (csr_parts(indices=np.array([0, -5, 1])), "indices must be >= 0|negative"),
    "rows that go back": (csr_parts(indptr=np.array([0, 5, 3])), "cannot be read|damaged"),
    "rows of no number": (csr_parts(indptr=np.array([0.0, 2, 3])), "must be whole numbers"),
    "a column too large of columns": (
        csr_parts(format=np.array(b"csc"), indptr=np.array([0, 2, 3, 3]), indices=np.array([0, 10**6, 1])),
        "indices must be <|indices must be less",
    ),
    "far too many columns": (csr_parts(shape=np.array([2, 10**12])), "numbers its columns or rows up to 1000000000000"),
    "far too many rows": (
        csr_parts(format=np.array(b"csc"), indptr=np.array([0, 2, 3, 3]), shape=np.array([10**12, 3])),
        "numbers its columns or rows up to 1000000000000",
    ),
    "a format of another kind": (csr_parts(format=np.array(b"dia")), "in the format csr or csc, it holds 'dia'"),
    "a shape of three": (csr_parts(shape=np.array([2, 3, 4])), "must be whole numbers|shape"),
}


@pytest.mark.parametrize("what", ARRAYS)
def test_broken_arrays_are_refused_by_name(folder, what):
    arrays, message = ARRAYS[what]
    np.savez("bad.npz", **arrays)
    with pytest.raises(FileFormatError, match=r"bad\.npz") as caught:
        read("bad.npz")
    caught.match(message)


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_sparse_arrays_come_back_equal(folder, form):
    matrix = sp.random_array((20, 7), density=0.3, format=form, rng=np.random.default_rng(0))
    sp.save_npz("x.npz", matrix)
    np.testing.assert_array_equal(read("x.npz").matrix.toarray(), matrix.toarray())


def test_indices_out_of_range_do_not_crash_the_command(run):
    np.savez("bad.npz", **csr_parts(indices=np.array([0, 2, 2**30])))
    code, _, err = run("select", "bad.npz", "-o", "few.npz")
    assert code == 1
    assert "bad.npz is not an .npz file, or damaged" in one_line(err)


def test_other_values_that_are_no_numbers_are_named_with_their_row(run):
    rows = [{"a": 1.5, "b": at} for at in range(5)]
    for odd, named in (([1], r"[1]"), ({"x": 1}, "{'x': 1}"), (True, "True"), (10**400, "1000"), (None, "no value")):
        Path("t.jsonl").write_text("\n".join(json.dumps(row) for row in [*rows, {"a": odd, "b": 1}]))
        code, _, err = run("select", "t.jsonl", "--features", "a,b", "-o", "few.csv", "-f")
        assert code == 1
        assert f"t.jsonl, line 6: {named}" in one_line(err)


def test_rows_with_nothing_in_common_are_refused_before_they_fill_memory(folder):
    """20 000 rows of 20 000 keys would take 3 GB as a table."""
    Path("t.jsonl").write_text("\n".join(json.dumps({f"key{at}": 1}) for at in range(20_000)))
    with pytest.raises(FileFormatError, match=r"^t\.jsonl: 20000 rows have 20000 different keys, .* pass --profile"):
        read("t.jsonl")


READ_IN_LITTLE_MEMORY = """
import resource, sys
import pandas, pyarrow, zstandard
from covey.exceptions import FileFormatError
from covey.datasets import read_hosts
from covey.cli.files.reading import read
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
for name in sys.argv[1:]:
    for reader in (read, read_hosts):
        try:
            reader(name)
        except FileFormatError as error:
            print(error)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is limited as on Linux")
def test_a_packed_file_that_unpacks_to_far_too_much_is_refused(folder):
    """The text of 200 MB in one line cannot be read within 300 MiB; the refusal must come first."""
    names = [f"t.csv{suffix}" for suffix in PACKED]
    for name in names:
        parts = []
        for text in (b"time,src,dst\n", b"0" * 10**7):
            with open_packed(Path(name), "wb") as file:
                file.write(text)
            parts.append(Path(name).read_bytes())
        Path(name).write_bytes(parts[0] + 20 * parts[1])  # packed files may be joined
    command = [sys.executable, "-c", READ_IN_LITTLE_MEMORY, *names]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    lines = iter(done.stdout.splitlines())
    for name in names:
        for _ in range(2):
            assert next(lines).startswith(f"{name} cannot be read: it unpacks to more than 64 MiB (each file may take")
    assert not list(lines)


def test_a_packed_file_may_unpack_to_what_its_size_justifies(folder):
    text = "a\n" + "1\n" * 20_000
    with gzip.open("t.csv.gz", "wt") as file:
        file.write(text)
    assert MOST_RATIO * Path("t.csv.gz").stat().st_size < len(text) < FREE
    assert len(read("t.csv.gz")) == 20_000


def test_options_that_a_file_would_ignore_are_refused(run):
    np.savez("x.npz", X=np.ones((2, 2)))
    Path("m").touch()
    for command in (("select", "x.npz"), ("classify", "x.npz", "-m", "m"), ("compare", "x.npz")):
        code, _, err = run(*command, "--columns", "a")
        assert (code, "--columns says nothing about npz files; leave it out." in one_line(err)) == (2, True)


def test_damaged_files_are_read_or_refused_by_name():
    """The attack of `tests.attack`, briefly."""
    outcomes = tables.attack(np.random.default_rng(0), 300)
    assert set(outcomes) <= {tables.READ, tables.REFUSED}, outcomes
    assert outcomes[tables.READ] > 20
    assert outcomes[tables.REFUSED] > 100


def test_undamaged_files_of_the_attack_are_read(tmp_path):
    for name, build in tables.BUILDERS.items():
        path = tmp_path / name
        tables.write_packed(path, build(np.random.default_rng(0)))
        tables._look_at(path)
