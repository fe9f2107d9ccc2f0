"""Rows from files. Tables come in blocks, however long the file is; matrices without names come as one block.

Nothing is interpreted on the way: values of a CSV stay the text that they are, so a code of 007 is not a 7, and a
column has the same type in every block. Whoever needs numbers makes them of the texts.

A file that cannot be read raises a FileFormatError that names it, whatever the library below has raised.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from covey.cli.files.block import Block, How
from covey.cli.files.checks import check_full_enough
from covey.cli.files.delimited import read_delimited
from covey.cli.files.formats import Format, format_of
from covey.cli.files.jsonl import read_jsonl
from covey.cli.files.npz import read_npz
from covey.cli.files.parquet import check_declared_rows, read_parquet
from covey.cli.files.standard import name_of
from covey.cli.files.svmlight import read_svmlight
from covey.runtime.extras import require
from covey.runtime.progress import Bar, progress
from covey.storage.errors import FileFormatError, naming

MOST_ROWS = 20_000
"""The most rows of a block, unless the caller asks for fewer. It bounds the memory that long narrow files take."""
READERS: dict[Format, Callable[[str, How], Iterator[Block]]] = {
    Format.csv: read_delimited,
    Format.tsv: partial(read_delimited, delimiter="\t"),
    Format.jsonl: read_jsonl,
    Format.parquet: read_parquet,
    Format.npz: read_npz,
    Format.svmlight: read_svmlight,
}
"""The function that yields the blocks of a file, by its format."""


def read(
    path: str,
    form: str | None = None,
    *,
    labels: str | None = None,
    base: int | None = None,
    columns: Sequence[str] = (),
    verbose: int = 0,
) -> Block:
    """Read the whole file as one block.

    `form` is the format, if the path does not say it. `labels` names the array of labels in an .npz file. `base` is
    the number of the first column in an svmlight file; if None, it is 0 if there is such a column, else 1. `columns`
    are the names of the columns of a CSV or TSV without a header.
    """
    kind = format_of(path, form)
    if kind is Format.parquet:
        with naming(name_of(path), kind.facts.verdict):
            check_declared_rows(path)
    with progress("reading", None, "MB", shown=verbose > 0) as bar:
        parts = list(blocks(path, form, labels=labels, base=base, columns=columns, bar=bar))
    return parts[0] if len(parts) == 1 else _joined(path, parts)


def _joined(path: str, parts: list[Block]) -> Block:
    """Return the blocks of a table as one block."""
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
    """Yield the file in blocks of at most `most_rows` rows. `bar` watches the reading; for the others see `read`."""
    kind = format_of(path, form)
    how = How(columns, labels, base, MOST_ROWS if most_rows is None else most_rows, bar)
    if columns and kind not in (Format.csv, Format.tsv):
        raise ValueError(f"{name_of(path)}: columns are named by the file itself; leave out --columns.")
    with naming(name_of(path), kind.facts.verdict):
        yield from _numbered(path, READERS[kind](path, how))


def _numbered(path: str, parts: Iterator[Block]) -> Iterator[Block]:
    """Yield the blocks, each with the number of its first row; a file without rows is refused."""
    first = 0
    for block in parts:
        yield replace(block, first=first)
        first += len(block)
    if first == 0:
        raise FileFormatError(f"{name_of(path)} holds no rows.")
