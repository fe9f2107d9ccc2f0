"""Tables whose columns have names: CSV, TSV, JSON Lines and Parquet, block by block."""

import csv
import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from covey.cli.files.block import Block, How, check_exists, name_of
from covey.cli.files.formats import STANDARD
from covey.runtime.extras import require
from covey.runtime.progress import Bar
from covey.storage.limits import FREE, MOST_RATIO, justified
from covey.storage.errors import first_line
from covey.storage.errors import FileFormatError
from covey.storage.packed import open_text

BYTES_OF_CELL = 8


def read_csv(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas = require("pandas", "cli")
    csv.field_size_limit(sys.maxsize)  # texts may be long
    with opened(path, how.bar) as (file, share):
        top, n_above = _first_filled_line(path, file)
        reader = csv.reader(chain([top], file), delimiter="\t" if kind == "tsv" else _delimiter(top), strict=True)
        try:
            header = list(how.columns) or [name.strip() for name in next(reader)]
            _check_names("--columns" if how.columns else f"{name_of(path)}, line {n_above + reader.line_num}", header)
            rows = _csv_rows(path, reader, len(header), n_above)
            while part := list(islice(rows, how.n_rows(len(header)))):
                values, lines = zip(*part, strict=True)
                frame = pandas.DataFrame(list(values), columns=header, dtype="str")
                yield Block(path, frame=frame, lines=np.array(lines), share=share())
        except csv.Error as error:
            raise FileFormatError(f"{name_of(path)}, line {n_above + reader.line_num}: {error}.") from error


def _first_filled_line(path: str, file: Iterator[str]) -> tuple[str, int]:
    """The first line that is not empty, and how many stand above it."""
    for n_above, line in enumerate(file):
        if line.lstrip().startswith("{"):
            raise FileFormatError(f"{name_of(path)} looks like JSON Lines; pass --format jsonl.")
        if line.strip():
            return line, n_above
    raise FileFormatError(f"{name_of(path)} is empty.")


def _delimiter(header: str) -> str:
    """A comma; if the header has none, what other programs write instead."""
    return next((sign for sign in ",;\t" if sign in header), ",")


def _check_names(where: str, names: Sequence[str]) -> None:
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise FileFormatError(f"{where}: two columns are called {name!r}; give each a name of its own.")


def _csv_rows(path: str, reader: Any, width: int, n_above: int) -> Iterator[tuple[list[str], int]]:
    """Rows and the lines on which they end; empty lines are no rows."""
    for row in reader:
        line = n_above + reader.line_num
        if len(row) == width:
            yield row, line
        elif row:
            raise FileFormatError(f"{name_of(path)}, line {line}: the header has {width} columns, the row {len(row)}.")


def read_jsonl(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas = require("pandas", "cli")
    with opened(path, how.bar) as (file, share):
        objects = _json_objects(path, file)
        part = list(islice(objects, 100))  # to see how wide they are
        while part:
            part += islice(objects, max(how.n_rows(len(part[0][0])) - len(part), 0))
            values, lines = zip(*part, strict=True)
            check_full_enough(path, len(values), len(set().union(*values)), sum(map(len, values)))
            frame = pandas.DataFrame(list(values), dtype=object)  # a gap must not make floats of ints
            yield Block(path, frame=frame, lines=np.array(lines), share=share())
            part = list(islice(objects, 100))


def check_full_enough(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Refuse rows with so few columns in common that a table of them would be nearly all gaps, and large."""
    if n_rows * n_columns > max(FREE // BYTES_OF_CELL, MOST_RATIO * n_values):
        raise FileFormatError(
            f"{name_of(path)}: {n_rows} rows have {n_columns} different keys, but only {n_values} values; put what "
            "differs from row to row into one column of profiles {key: number} and pass --profile."
        )


def _json_objects(path: str, file: Iterator[str]) -> Iterator[tuple[dict[str, Any], int]]:
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if "\\ud" in line.lower():  # half a character can be written so, but nowhere else
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError) as error:  # also of numbers with thousands of digits
            raise FileFormatError(f"{name_of(path)}, line {number}: no JSON ({first_line(error)}).") from error
        if not isinstance(value, dict):
            raise FileFormatError(f"{name_of(path)}, line {number}: {type(value).__name__} where an object should be.")
        yield value, number


def read_parquet(path: str, kind: str, how: How) -> Iterator[Block]:
    pandas, parquet = require("pandas", "cli"), require("pyarrow.parquet", "cli")
    check_exists(path)
    # Arrow's own types lose nothing; what was pandas' index are columns like the others.
    options = {"types_mapper": pandas.ArrowDtype, "ignore_metadata": True}
    with parquet.ParquetFile(path) as file:
        names = [name for name in file.schema_arrow.names if not name.startswith("__index_level_")]
        _check_names(name_of(path), names)
        done = 0
        for batch in file.iter_batches(how.n_rows(len(names)), columns=names):
            batch.validate(full=True)  # otherwise bytes that are no text are noticed when they are printed
            done += batch.num_rows
            yield Block(path, frame=batch.to_pandas(**options), share=done / max(file.metadata.num_rows, done, 1))


def check_declared_rows(path: str) -> None:
    """Refuse, before it is read as a whole, a file that declares many more values than its size justifies."""
    parquet = require("pyarrow.parquet", "cli")
    check_exists(path)
    declared, size = parquet.read_metadata(path), os.path.getsize(path)
    n_rows = max(declared.num_rows, sum(declared.row_group(at).num_rows for at in range(declared.num_row_groups)))
    if n_rows * declared.num_columns * BYTES_OF_CELL > justified(size):
        raise FileFormatError(
            f"{path} declares {n_rows} rows of {declared.num_columns} columns, which take more than {MOST_RATIO} times "
            f"the {size} bytes of the file and may be an attack on memory; if it is your own, save it as CSV."
        )


@contextmanager
def opened(path: str, bar: Bar | None) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """The text in a file, and a function that tells how much of the file has been read."""
    if path == STANDARD:
        yield sys.stdin, lambda: None
        return
    check_exists(path)
    with open_text(Path(path), bar) as found:
        yield found
