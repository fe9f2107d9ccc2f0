"""Rows from files. Tables come in blocks, however long the file is; matrices without names come as one block.

Nothing is interpreted on the way: values of a CSV stay the strings that they are, so a code of 007 is not a 7, and a
column has the same type in every block. `columns.py` makes numbers of the strings.

Several files can be one table. Its rows are counted through all files, in the order in which these are named.

A file that cannot be read raises a FileFormatError that names it, for any error of a library.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from covey.cli.files.block import Block, name_of
from covey.cli.files.csv import read_delimited
from covey.cli.files.dialect import Dialect
from covey.cli.files.excel import read_xlsx
from covey.cli.files.formats import Format, format_of
from covey.cli.files.input import ReadOptions, check_full_enough
from covey.cli.files.json import read_json, read_jsonl
from covey.cli.files.numpy import read_npy, read_npz
from covey.cli.files.parquet import read_parquet
from covey.cli.files.svmlight import read_svmlight
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import format_errors_of
from covey.runtime.libraries import require
from covey.runtime.progress import Bar, progress

MOST_ROWS = 20_000
"""The most rows of a block, unless the caller asks for fewer. It bounds the memory that long narrow files take."""
READERS: dict[Format, Callable[[str, ReadOptions], Iterator[Block]]] = {
    Format.csv: read_delimited,
    Format.tsv: partial(read_delimited, delimiter="\t"),
    Format.jsonl: read_jsonl,
    Format.json: read_json,
    Format.xlsx: read_xlsx,
    Format.parquet: read_parquet,
    Format.npy: read_npy,
    Format.npz: read_npz,
    Format.svmlight: read_svmlight,
}
"""The function that yields the blocks of a file, by its format."""
PLAIN = Dialect()
"""Values are written as the file itself says."""
LOOSE = (Format.jsonl, Format.json)
"""The formats in which each row says which columns it has."""


def read(
    path: str,
    form: str | None = None,
    *,
    more: Sequence[str] = (),
    labels: str | None = None,
    base: int | None = None,
    dialect: Dialect = PLAIN,
    verbose: int = 0,
) -> Block:
    """Read the whole file as one block, and `more` files of the same table below it.

    `form` is the format, if the path does not say it. `labels` names the array of labels in an .npz file. `base` is
    the number of the first column in an svmlight file; if None, it is 0 if there is such a column, else 1. `dialect`
    says how values are written.
    """
    with progress("reading", None, "MB", shown=verbose > 0) as bar:
        given: Any = {"labels": labels, "base": base, "dialect": dialect, "bar": bar}
        parts = list(blocks(path, form, more=more, whole=True, **given))
    return parts[0] if len(parts) == 1 else _joined(path, parts)


def _joined(path: str, parts: list[Block]) -> Block:
    """Return the blocks of a table as one block."""
    columns = set().union(*(part.frame.columns for part in parts))
    check_full_enough(path, sum(map(len, parts)), len(columns), sum(part.frame.size for part in parts))
    frame = require("pandas", "cli").concat([part.frame for part in parts], ignore_index=True)
    lines = None if parts[0].lines is None else np.concatenate([part.lines for part in parts if part.lines is not None])
    return replace(parts[0], frame=frame, lines=lines, share=None, runs=[run for part in parts for run in part.runs])


def blocks(
    path: str,
    form: str | None = None,
    *,
    more: Sequence[str] = (),
    labels: str | None = None,
    base: int | None = None,
    dialect: Dialect = PLAIN,
    most_rows: int | None = None,
    bar: Bar | None = None,
    whole: bool = False,
) -> Iterator[Block]:
    """Yield the file and `more` files of the same table in blocks of at most `most_rows` rows.

    `bar` watches the reading. If all blocks are going to be held at once, say so by `whole`; for the others see `read`.
    """
    paths = [path, *more]
    kinds = [format_of(name, form) for name in paths]
    options = ReadOptions(labels, base, MOST_ROWS if most_rows is None else most_rows, dialect, bar, whole)
    columns: list[str] | None = None
    first = 0
    for at, (name, kind) in enumerate(zip(paths, kinds, strict=True)):
        done = 0
        with format_errors_of(name_of(name), kind.traits.verdict):
            for block in READERS[kind](name, options):
                found = replace(block, first=first + done)
                if more:
                    found = _of_several(found, name, done, (at, len(paths)))
                    columns = columns or list(found.frame.columns)
                    found = _with_columns(found, path, columns, kind)
                yield found
                done += len(block)
        first += done
    if first == 0:
        raise FileFormatError(f"{name_of(path)} {'and the other files hold' if more else 'holds'} no rows.")


def _of_several(block: Block, path: str, done: int, place: tuple[int, int]) -> Block:
    """Return a block of one of several files; `place` is the number of the file, and how many files there are."""
    share = None if block.share is None else (place[0] + block.share) / place[1]
    return replace(block, share=share, runs=((path, done, len(block)),))


def _with_columns(block: Block, first_path: str, columns: list[str], kind: Format) -> Block:
    """Return the block with the columns of the first file in their order; refuse other columns."""
    there = list(block.frame.columns)
    if there == columns or kind in LOOSE:
        return block
    for name in [*columns, *there]:
        if (name in columns) != (name in there):
            one, other = (first_path, block.path) if name in columns else (block.path, first_path)
            raise FileFormatError(
                f"all files of one table must have the same columns, but {one} has {name!r} and {other} has not."
            )
    return replace(block, frame=block.frame[columns])
