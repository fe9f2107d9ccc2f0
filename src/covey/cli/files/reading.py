"""Rows from files. CSV, TSV, JSON Lines and Parquet come in blocks, however long the file is; the others at once.

Nothing is interpreted on the way: values of a CSV stay the text that they are, so a code of 007 is not a 7, and a
column has the same type in every block. What has to be a number is made one by whoever needs it.

A file that cannot be read raises a FileFormatError that names it, whatever the library below has raised.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from covey.cli.files.arrays import read_npz, read_svmlight
from covey.cli.files.block import Block, How, name_of
from covey.cli.files.formats import format_of
from covey.cli.files.tables import check_declared_rows, check_full_enough, read_csv, read_jsonl, read_parquet
from covey.runtime.extras import require
from covey.runtime.progress import Bar, progress
from covey.storage.errors import naming
from covey.storage.errors import FileFormatError

MOST_ROWS = 20_000
"""In a block, about."""
READERS = {"csv": read_csv, "tsv": read_csv, "jsonl": read_jsonl, "parquet": read_parquet}
VERDICTS = {"npz": "is no .npz file, or damaged", "parquet": "is no Parquet file, or damaged"}
"""What is said of a file that a library refuses; of the others that they cannot be read."""


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
    if format_of(path, form) == "parquet":
        with naming(name_of(path), VERDICTS["parquet"]):
            check_declared_rows(path)
    with progress("reading", None, "MB", shown=verbose > 0) as bar:
        parts = list(blocks(path, form, labels=labels, base=base, columns=columns, bar=bar))
    return parts[0] if len(parts) == 1 else _joined(path, parts)


def _joined(path: str, parts: list[Block]) -> Block:
    """Blocks of a table as one."""
    columns = set().union(*(part.frame.columns for part in parts))
    check_full_enough(path, sum(map(len, parts)), len(columns), sum(part.frame.size for part in parts))
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
    with naming(name_of(path), VERDICTS.get(kind, "cannot be read")):
        if kind == "npz":
            yield read_npz(path, labels)
        elif kind == "svmlight":
            yield read_svmlight(path, base)
        else:
            yield from _numbered(path, READERS[kind](path, kind, how))


def _numbered(path: str, parts: Iterator[Block]) -> Iterator[Block]:
    """Blocks that know the number of their first row."""
    first = 0
    for block in parts:
        yield replace(block, first=first)
        first += len(block)
    if first == 0:
        raise FileFormatError(f"{name_of(path)} holds no rows.")
