"""CSV and TSV: lines of values with a delimiter between them, read and written block by block."""

import csv
import sys
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any

import numpy as np

from covey.cli.files.block import Block, name_of
from covey.cli.files.dialect import Dialect
from covey.cli.files.input import ReadOptions, check_names, open_input
from covey.cli.files.json import as_json, plain_text, plain_values
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.storage.text import delimiter_of, undecodable

FIRST_ROWS = 5
"""How many lines below the header are looked at to find the delimiter."""


def read_delimited(path: str, options: ReadOptions, delimiter: str | None = None) -> Iterator[Block]:
    """Yield the rows of a file in blocks, every value as the string that it is.

    Without a delimiter, the header and the lines below it do.
    """
    pandas = require("pandas", "cli")
    csv.field_size_limit(sys.maxsize)  # a field may hold a long string
    dialect = options.dialect
    with open_input(path, options) as (file, share):
        n_above, reader = 0, csv.reader([])
        try:
            top, n_above = _first_filled_lines(path, file)
            delimiter = dialect.delimiter or delimiter or _delimiter(top, dialect)
            reader = _reader(chain(top, file), delimiter)
            header = (
                list(dialect.columns) or _numbers(top, delimiter, dialect) or [name.strip() for name in next(reader)]
            )
            check_names(
                "--columns" if dialect.columns else f"{name_of(path)}, line {n_above + reader.line_num}", header
            )
            rows = _rows(path, reader, len(header), n_above)
            while part := list(islice(rows, options.n_rows(len(header)))):
                values, lines = zip(*part, strict=True)
                frame = pandas.DataFrame(list(values), columns=header, dtype="str")
                yield Block(path, frame=frame, lines=np.array(lines), share=share(), decimal=dialect.decimal or ".")
        except csv.Error as error:
            raise FileFormatError(f"{name_of(path)}, line {n_above + reader.line_num}: {error}.") from error
        except UnicodeError as error:
            raise undecodable(name_of(path), error, n_above + reader.line_num) from error


def _first_filled_lines(path: str, file: Iterator[str]) -> tuple[list[str], int]:
    """Return the first line that is not empty with a few lines below it, and how many lines stand above them."""
    for n_above, line in enumerate(file):
        if line.lstrip().startswith("{"):
            raise FileFormatError(f"{name_of(path)} looks like JSON Lines; pass --format jsonl.")
        if line.strip():
            return [line, *islice(file, FIRST_ROWS)], n_above
    raise FileFormatError(f"{name_of(path)} is empty.")


def _delimiter(top: Sequence[str], dialect: Dialect) -> str:
    """Return the delimiter, going by the first lines. What stands within numbers separates no columns."""
    below = [line for line in top[1:] if line.strip()]
    return delimiter_of(top[0], below, dialect.decimal or "")


def _numbers(top: Sequence[str], delimiter: str, dialect: Dialect) -> list[str]:
    """Return numbers from 1 for the columns of a file without a header; none if it has one."""
    n_columns = len(next(_reader(iter(top), delimiter))) if dialect.numbered else 0
    return [str(number) for number in range(1, n_columns + 1)]


def _reader(lines: Iterator[str], delimiter: str) -> Any:
    """Return a reader of values. Several spaces count as one, since they are there to align columns."""
    if delimiter == " ":
        lines = (line.rstrip() + "\n" for line in lines)
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=delimiter == " ", strict=True)


def _rows(path: str, reader: Any, width: int, n_above: int) -> Iterator[tuple[list[str], int]]:
    """Yield each row and the line on which it ends; empty lines are not rows."""
    for row in reader:
        line = n_above + reader.line_num
        if len(row) == width:
            yield row, line
        elif row:
            raise FileFormatError(f"{name_of(path)}, line {line}: the header has {width} columns, the row {len(row)}.")


class DelimitedWriter:
    """Writes frames to a text file, with a header above the first."""

    def __init__(self, file: Any, delimiter: str) -> None:
        self._file, self._delimiter = file, delimiter
        self._header = True

    def __call__(self, frame: Any) -> None:
        strings = {name: _as_strings(frame[name]) for name in frame if _is_unwritable(frame[name])}
        frame.assign(**strings).to_csv(
            self._file, sep=self._delimiter, index=False, header=self._header, lineterminator="\n"
        )
        self._header = False


def _is_unwritable(column: Any) -> bool:
    """Return whether a column holds values that pandas would write as Python shows them: lists, dicts or bytes.

    Times are among them, since pandas drops their nanoseconds.
    """
    kind = getattr(column.dtype, "pyarrow_dtype", None)
    if kind is None:
        there = column.dropna()
        return len(there) > 0 and isinstance(there.iloc[0], dict | list | tuple | np.ndarray)
    pyarrow = require("pyarrow", "cli")
    types = pyarrow.types
    is_binary = types.is_binary(kind) or types.is_large_binary(kind) or types.is_fixed_size_binary(kind)
    return is_binary or types.is_nested(kind) or types.is_time(kind) or isinstance(kind, pyarrow.BaseExtensionType)


def _as_strings(column: Any) -> list[str | None]:
    """Return the values as strings, lists and dicts as JSON, and None for gaps, which are left empty."""
    values = plain_values(column)
    return [None if value is None else _as_string(value) for value in values]


def _as_string(value: Any) -> str:
    if isinstance(value, str):
        return value
    return as_json(value) if isinstance(value, dict | list | tuple | np.ndarray) else plain_text(value)
