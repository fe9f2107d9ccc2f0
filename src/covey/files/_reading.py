"""Rows from files. CSV, TSV, JSON Lines and Parquet come in blocks, however long the file is; the others at once.

Nothing is interpreted on the way: values of a CSV stay the text that they are, so a code of 007 is not a 7, and a
column has the same type in every block. What has to be a number is made one by whoever needs it.
"""

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._extras import require
from covey._packed import is_damage, open_text
from covey._progress import Bar, progress
from covey.files._formats import STANDARD, format_of

CELLS, MOST_ROWS = 2_000_000, 20_000
"""In a block, about."""
LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""


@dataclass(frozen=True)
class How:
    """How a file is read: names for columns without any, the most rows of a block, and the bar that watches."""

    columns: Sequence[str]
    most_rows: int
    bar: Bar | None

    def n_rows(self, n_columns: int) -> int:
        """How many rows of so many columns make a block."""
        return int(np.clip(CELLS // max(n_columns, 1), 1, self.most_rows))


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a file, one after another.

    Attributes
    ----------
    path : str
    first : int
        The number of the first row in the file, from 0.
    frame : DataFrame or None
        The rows under the names of their columns, if these have names.
    matrix : array, CSR array or None
        The rows, if their columns have no names.
    labels : array or None
        Those that come with a matrix.
    lines : int array or None
        The line on which each row ends, if the file has lines.
    share : float or None
        How much of the file has been read after it, if that is known.
    base : int or None
        From what an svmlight file counts columns.
    """

    path: str
    first: int = 0
    frame: Any = None
    matrix: Any = None
    labels: NDArray[Any] | None = None
    lines: NDArray[np.int64] | None = None
    share: float | None = None
    base: int | None = None

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])

    def place(self, at: int) -> str:
        """Where one of the rows stands, for a message."""
        where = f"row {self.first + at}" if self.lines is None else f"line {self.lines[at]}"
        return f"{name_of(self.path)}, {where}"


def read(
    path: str,
    form: str | None = None,
    *,
    labels: str | None = None,
    base: int | None = None,
    columns: Sequence[str] = (),
    verbose: int = 0,
) -> Block:
    """The whole file.

    `labels` names the array of labels in an .npz file, `base` is what an svmlight file counts columns from (if None, 0
    if there is such a column, else 1), `columns` are the names of columns in a CSV without a header.
    """
    kind = format_of(path, form)
    if kind == "npz":
        return _npz(path, labels)
    if kind == "svmlight":
        return _svmlight(path, base)
    with progress("reading", None, "MB", shown=verbose > 0) as bar:
        parts = list(blocks(path, form, columns=columns, bar=bar))
    frame = require("pandas", "cli").concat([part.frame for part in parts], ignore_index=True)
    lines = None if parts[0].lines is None else np.concatenate([part.lines for part in parts if part.lines is not None])
    return Block(path, frame=frame, lines=lines)


def blocks(
    path: str,
    form: str | None = None,
    *,
    labels: str | None = None,
    base: int | None = None,
    columns: Sequence[str] = (),
    most_rows: int | None = None,
    bar: Bar | None = None,
) -> Iterator[Block]:
    """The file in blocks; see `read`. The bar watches the reading."""
    kind = format_of(path, form)
    how = How(columns, MOST_ROWS if most_rows is None else most_rows, bar)
    if columns and kind not in ("csv", "tsv"):
        raise ValueError(f"{name_of(path)}: columns are named by the file itself; leave out --columns.")
    if kind in ("npz", "svmlight"):
        yield read(path, form, labels=labels, base=base)
        return
    first = 0
    reader = {"csv": _csv, "tsv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind]
    for block in reader(path, kind, how):
        yield replace(block, first=first)
        first += len(block)
    if first == 0:
        raise ValueError(f"{name_of(path)} holds no rows.")


def name_of(path: str) -> str:
    return "standard input" if path == STANDARD else path


def _csv(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas = require("pandas", "cli")
    csv.field_size_limit(sys.maxsize)  # texts may be long
    with _opened(path, how.bar) as (file, share):
        top = next((line for line in file if line.strip()), None)
        if top is None:
            raise ValueError(f"{name_of(path)} is empty.")
        if top.lstrip().startswith("{"):
            raise ValueError(f"{name_of(path)} looks like JSON Lines; pass --format jsonl.")
        reader = csv.reader(_chain(top, file), delimiter="\t" if kind == "tsv" else _delimiter(top), strict=True)
        try:
            header = list(how.columns) or [name.strip() for name in next(reader)]
            _check_header(path, header)
            rows = _csv_rows(path, reader, len(header))
            while part := list(islice(rows, how.n_rows(len(header)))):
                values, lines = zip(*part, strict=True)
                frame = pandas.DataFrame(list(values), columns=header, dtype="str")
                yield Block(path, frame=frame, lines=np.array(lines), share=share())
        except csv.Error as error:
            raise ValueError(f"{name_of(path)}, line {reader.line_num}: {error}.") from error


def _chain(top: str, rest: Iterator[str]) -> Iterator[str]:
    yield top
    yield from rest


def _delimiter(header: str) -> str:
    """A comma; if the header has none, what other programs write instead."""
    return next((sign for sign in ",;\t" if sign in header), ",")


def _check_header(path: str, header: list[str]) -> None:
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise ValueError(f"{name_of(path)}, line 1: two columns are called {twice[0]!r}.")


def _csv_rows(path: str, reader: Any, width: int) -> Iterator[tuple[list[str], int]]:
    """Rows and the lines on which they end; empty lines are no rows."""
    for row in reader:
        if len(row) == width:
            yield row, reader.line_num
        elif row:
            where = f"{name_of(path)}, line {reader.line_num}"
            raise ValueError(f"{where}: the header has {width} columns, the row {len(row)}.")


def _jsonl(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas = require("pandas", "cli")
    with _opened(path, how.bar) as (file, share):
        objects = _json_objects(path, file)
        part = list(islice(objects, 100))  # to see how wide they are
        while part:
            part += islice(objects, max(how.n_rows(len(part[0][0])) - len(part), 0))
            values, lines = zip(*part, strict=True)
            frame = pandas.DataFrame(list(values), dtype=object)  # a gap must not make floats of ints
            yield Block(path, frame=frame, lines=np.array(lines), share=share())
            part = list(islice(objects, 100))


def _json_objects(path: str, file: Iterator[str]) -> Iterator[tuple[dict[str, Any], int]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{name_of(path)}, line {number}: no JSON ({error}).") from error
        if not isinstance(value, dict):
            raise ValueError(f"{name_of(path)}, line {number}: {type(value).__name__} where an object should be.")
        yield value, number


def _parquet(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas, pyarrow = require("pandas", "cli"), require("pyarrow", "cli")
    parquet = require("pyarrow.parquet", "cli")
    check_exists(path)
    # Arrow's own types lose nothing; what was pandas' index are columns like the others.
    options = {"types_mapper": pandas.ArrowDtype, "ignore_metadata": True}
    try:
        with parquet.ParquetFile(path) as file:
            done = 0
            names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
            for batch in file.iter_batches(how.n_rows(len(names)), columns=names):
                done += batch.num_rows
                yield Block(path, frame=batch.to_pandas(**options), share=done / file.metadata.num_rows)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{name_of(path)} is no Parquet file, or damaged: {_first_line(error)}.") from error


def _npz(path: str, labels: str | None) -> Block:
    check_exists(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # a damaged archive fails in many ways
        raise ValueError(f"{name_of(path)} is no .npz file, or damaged: {_first_line(error)}.") from error
    sparse = {"indptr", "indices", "data", "shape"} <= set(arrays)
    held = ", ".join(arrays)
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    if "X" not in arrays and len(tables) == 1:  # there is nothing else to be meant
        arrays["X"] = arrays[tables[0]]
    if not sparse and "X" not in arrays:
        raise ValueError(f"{name_of(path)} must hold an array X (or a SciPy sparse matrix), it holds {held}.")
    if labels is not None and labels not in arrays:
        raise ValueError(f"{name_of(path)} holds no array {labels!r}; it holds {held}.")
    matrix = sp.csr_array(sp.load_npz(path)) if sparse else arrays["X"]
    if matrix.ndim != 2:
        raise ValueError(f"X in {name_of(path)} must have two dimensions, it has {matrix.ndim}.")
    found = arrays.get(labels or LABELS)
    if found is not None and found.shape != (matrix.shape[0],):
        raise ValueError(f"{name_of(path)} has {matrix.shape[0]} rows, but its labels have the shape {found.shape}.")
    return Block(path, matrix=matrix, labels=found)


def _svmlight(path: str, base: int | None) -> Block:
    from sklearn.datasets import load_svmlight_file

    with _opened(path, None) as (file, _):
        content = "".join(file).encode("utf-8")
    try:
        matrix, labels = load_svmlight_file(BytesIO(content), zero_based=True)
    except ValueError:
        for number, line in enumerate(content.splitlines(), start=1):  # which one is it?
            try:
                load_svmlight_file(BytesIO(line), zero_based=True)
            except ValueError as error:
                raise ValueError(f"{name_of(path)}, line {number}: no svmlight row ({error}).") from error
        raise
    lowest = int(matrix.indices.min(initial=1))
    base = min(lowest, 1) if base is None else base
    if lowest < base:
        raise ValueError(f"{name_of(path)} has a column 0, but the model was made of a file that counts from 1.")
    shifted = sp.csr_array(
        (matrix.data, matrix.indices - base, matrix.indptr), shape=(len(labels), matrix.shape[1] - base)
    )
    whole = labels.astype(np.int64)
    return Block(path, matrix=shifted, labels=whole if np.array_equal(whole, labels) else labels, base=base)


@contextmanager
def _opened(path: str, bar: Bar | None) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """The text in a file, and a function that tells how much of the file has been read."""
    if path == STANDARD:
        yield sys.stdin, lambda: None
        return
    check_exists(path)
    try:
        with open_text(Path(path), bar) as opened:
            yield opened
    except Exception as error:
        if not is_damage(error):
            raise
        remedy = "; save it as UTF-8" if isinstance(error, UnicodeError) else ""
        raise ValueError(f"{path} cannot be read: {_first_line(error)}{remedy}.") from error


def check_exists(path: str) -> None:
    if path == STANDARD:
        raise ValueError("this format cannot be read from standard input; pass a file.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
