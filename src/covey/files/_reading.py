"""Rows from files. CSV, TSV, JSON Lines and Parquet come in blocks, however long the file is; the others at once."""

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._extras import require
from covey._packed import open_text
from covey._progress import Bar, progress
from covey.files._formats import STANDARD, format_of

Frame = tuple[Any, float | None]
"""A frame, and how much of the file has been read after it."""

ROWS = 20_000
"""In a block."""
SEPARATORS = {"csv": ",", "tsv": "\t"}
LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a file, one after another.

    Attributes
    ----------
    first : int
        The number of the first row in the file, from 0.
    frame : DataFrame or None
        The rows under the names of their columns, if these have names.
    matrix : array, CSR array or None
        The rows, if their columns have no names.
    labels : array or None
        Those that come with a matrix.
    share : float or None
        How much of the file has been read after it, if that is known.
    """

    first: int
    frame: Any = None
    matrix: Any = None
    labels: NDArray[Any] | None = None
    share: float | None = None

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])


def read(path: str, form: str | None = None, *, labels: str | None = None, verbose: int = 0) -> Block:
    """The whole file; `labels` names the array of labels in an .npz file."""
    kind = format_of(path, form)
    if kind == "npz":
        return _npz(path, labels)
    if kind == "svmlight":
        return _svmlight(path)
    with progress("reading", None, "MB", shown=verbose > 0) as bar:
        (block,) = blocks(path, form, rows=None, bar=bar)
    return block


def blocks(
    path: str,
    form: str | None = None,
    *,
    rows: int | None = ROWS,
    labels: str | None = None,
    bar: Bar | None = None,
) -> Iterator[Block]:
    """The file in blocks of so many rows; None for a single one. The bar watches the reading."""
    kind = format_of(path, form)
    if kind in ("npz", "svmlight"):
        yield read(path, form, labels=labels)
        return
    first = 0
    for frame, share in {"csv": _csv, "tsv": _csv, "jsonl": _jsonl, "parquet": _parquet}[kind](path, kind, rows, bar):
        yield Block(first, frame.reset_index(drop=True), share=share)
        first += len(frame)
    if first == 0:
        raise ValueError(f"{_name(path)} holds no rows.")


def place(path: str, form: str | None, row: int) -> str:
    """Where a row stands, for a message: its line where lines can be counted again, else its number."""
    kind = format_of(path, form)
    if path == STANDARD or kind not in ("csv", "tsv", "jsonl"):
        return f"{_name(path)}, row {row}"
    with open_text(Path(path)) as (file, _):
        if kind == "jsonl":
            lines = (at for at, line in enumerate(file, start=1) if line.strip())
            line = next(islice(lines, row, None))
        else:
            reader = csv.reader(file, delimiter=SEPARATORS[kind])
            filled = (reader.line_num for values in reader if values)  # where a row ends
            line = next(islice(filled, row + 1, None))
    return f"{_name(path)}, line {line}"


def _csv(path: str, kind: str, rows: int | None, bar: Bar | None) -> Iterator[Frame]:
    pandas = require("pandas", "cli")
    with _opened(path, bar) as (opened, share):
        file = _Reads(opened)
        try:
            # A column's type must not depend on where a block ends: text stays text, the rest is decided later.
            options = {"sep": SEPARATORS[kind], "index_col": False, "low_memory": False, "skipinitialspace": True}
            if rows is None:
                yield pandas.read_csv(file, **options), share()
            else:
                with pandas.read_csv(file, chunksize=rows, **options) as chunks:
                    yield from ((chunk, share()) for chunk in chunks)
        except pandas.errors.EmptyDataError:
            raise ValueError(f"{_name(path)} is empty.") from None
        except pandas.errors.ParserError as error:
            if file.failure is None and "read(nbytes)" in str(error):  # the file could be read, so it was Ctrl-C
                raise KeyboardInterrupt from error
            raise ValueError(_broken(path, str(file.failure or error))) from error
        except (EOFError, OSError, UnicodeDecodeError) as error:
            raise ValueError(f"{_name(path)} cannot be read: {error}.") from error


class _Reads:
    """Passes reads on and remembers why one failed, which pandas forgets."""

    def __init__(self, file: Any) -> None:
        self._file = file
        self.failure: Exception | None = None

    def read(self, size: int = -1) -> str:
        try:
            content: str = self._file.read(size)
        except Exception as error:
            self.failure = error
            raise
        return content

    def __iter__(self) -> Iterator[str]:
        return iter(self._file)


def _broken(path: str, complaint: str) -> str:
    """What is wrong with which line, of pandas' words for it."""
    found = re.search(r"Expected (\d+) fields in line (\d+), saw (\d+)", complaint)
    if found is None:
        return f"{_name(path)} cannot be read: {complaint.strip()}"
    expected, line, saw = found.groups()
    return f"{_name(path)}, line {line}: {saw} values where the header has {expected}."


def _jsonl(path: str, kind: str, rows: int | None, bar: Bar | None) -> Iterator[Frame]:
    pandas = require("pandas", "cli")
    with _opened(path, bar) as (file, share):
        objects = _json_objects(path, file)
        while block := list(islice(objects, rows)):
            yield pandas.DataFrame.from_records(block), share()


def _json_objects(path: str, file: Any) -> Iterator[dict[str, Any]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except json.JSONDecodeError as error:
            raise ValueError(f"{_name(path)}, line {number}: no JSON ({error}).") from error
        if not isinstance(value, dict):
            raise ValueError(f"{_name(path)}, line {number}: {type(value).__name__} where an object should be.")
        yield value


def _parquet(path: str, kind: str, rows: int | None, bar: Bar | None) -> Iterator[Frame]:
    pyarrow, parquet = require("pyarrow", "cli"), require("pyarrow.parquet", "cli")
    _exists(path)
    try:
        with parquet.ParquetFile(path) as file:
            if rows is None:
                yield file.read().to_pandas(), 1.0
                return
            done = 0
            for batch in file.iter_batches(rows):
                done += batch.num_rows
                yield batch.to_pandas(), done / file.metadata.num_rows
    except pyarrow.ArrowException as error:
        raise ValueError(f"{_name(path)} is no Parquet file, or damaged: {error}.") from error


def _npz(path: str, labels: str | None) -> Block:
    _exists(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except Exception as error:  # a damaged archive fails in many ways
        raise ValueError(f"{_name(path)} is no .npz file, or damaged: {error}.") from error
    sparse = {"indptr", "indices", "data", "shape"} <= set(arrays)
    if not sparse and "X" not in arrays:
        raise ValueError(
            f"{_name(path)} must hold an array X (or a SciPy sparse matrix), it holds {', '.join(arrays)}."
        )
    if labels is not None and labels not in arrays:
        raise ValueError(f"{_name(path)} holds no array {labels!r}; it holds {', '.join(arrays)}.")
    matrix = sp.csr_array(sp.load_npz(path)) if sparse else arrays["X"]
    if matrix.ndim != 2:
        raise ValueError(f"X in {_name(path)} must have two dimensions, it has {matrix.ndim}.")
    found = arrays.get(labels or LABELS)
    if found is not None and len(found) != matrix.shape[0]:
        raise ValueError(f"{_name(path)} has {matrix.shape[0]} rows but {len(found)} labels.")
    return Block(0, matrix=matrix, labels=found)


def _svmlight(path: str) -> Block:
    from sklearn.datasets import load_svmlight_file

    with _opened(path) as (file, _):
        content = file.read().encode("utf-8")
    try:
        matrix, labels = load_svmlight_file(BytesIO(content))
    except ValueError:
        for number, line in enumerate(content.splitlines(), start=1):  # which one is it?
            try:
                load_svmlight_file(BytesIO(line))
            except ValueError as error:
                raise ValueError(f"{_name(path)}, line {number}: no svmlight row ({error}).") from error
        raise
    whole = labels.astype(np.int64)
    return Block(0, matrix=sp.csr_array(matrix), labels=whole if np.array_equal(whole, labels) else labels)


@contextmanager
def _opened(path: str, bar: Bar | None = None) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """The text in a file, and a function that tells how much of the file has been read."""
    if path == STANDARD:
        yield sys.stdin, lambda: None
        return
    _exists(path)
    with open_text(Path(path), bar) as opened:
        yield opened


def _exists(path: str) -> None:
    if path == STANDARD:
        raise ValueError("this format cannot be read from standard input; pass a file.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")


def _name(path: str) -> str:
    return "standard input" if path == STANDARD else path
