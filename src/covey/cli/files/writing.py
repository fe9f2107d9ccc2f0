"""Rows into files, whole or not at all, and never over a file that is there unless the user asks for it."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import STANDARD, STANDARD_OUTPUT, Block
from covey.cli.files.columns import as_numbers
from covey.cli.files.csv import DelimitedWriter
from covey.cli.files.formats import Format
from covey.cli.files.json import JsonLinesWriter
from covey.cli.files.numpy import LABELS, write_npz
from covey.cli.files.parquet import ParquetWriter
from covey.cli.files.paths import check_output
from covey.cli.files.svmlight import write_svmlight
from covey.cli.terminal import VisibleOutput
from covey.runtime.file_errors import system_errors_of
from covey.runtime.libraries import require
from covey.storage.atomic import whole
from covey.storage.compression import open_packed

FrameWriter = Callable[[Any], None]
"""A function that writes the rows of a frame below those of the frames before."""
TEXT_WRITERS: dict[Format, Callable[[Any], FrameWriter]] = {
    Format.csv: partial(DelimitedWriter, delimiter=","),
    Format.tsv: partial(DelimitedWriter, delimiter="\t"),
    Format.jsonl: JsonLinesWriter,
}
"""Tables as text; a writer is made of an open file."""
FILE_WRITERS = {Format.parquet: ParquetWriter}
"""Tables that are not text; a writer is made of a path, and has to be closed."""
MATRIX_WRITERS = {Format.npz: write_npz, Format.svmlight: write_svmlight}
"""Matrices, written as a whole."""


@contextmanager
def writer(path: str, form: str | None = None, *, force: bool = False) -> Iterator[FrameWriter]:
    """Yield a function that writes frames, one after another; the file appears when all are written.

    The first frame decides the columns. What a later frame lacks is left empty, and what it adds is refused.
    """
    kind = check_output(path, form, as_table=True, force=force)
    with ExitStack() as stack:
        if path == STANDARD:
            stack.enter_context(system_errors_of(STANDARD_OUTPUT))
        if kind in FILE_WRITERS:
            put: FrameWriter = stack.enter_context(FILE_WRITERS[kind](stack.enter_context(whole(path))))
        else:
            put = TEXT_WRITERS[kind](VisibleOutput() if path == STANDARD else _text(stack, path))
        yield _same_columns(put)


def _text(stack: ExitStack, path: str) -> Any:
    """Open a text file that appears under its name when the stack is closed."""
    temporary = stack.enter_context(whole(path))
    return stack.enter_context(open_packed(temporary, "wt", encoding="utf-8", newline=""))


def _same_columns(put: FrameWriter) -> FrameWriter:
    """Return a writer that gives every frame the columns of the first."""
    columns: dict[str, None] = {}

    def put_aligned(frame: Any) -> None:
        columns.update(dict.fromkeys([] if columns else frame.columns))
        new = [name for name in frame.columns if name not in columns]
        if new:
            raise ValueError(f"a later part of the input has a column {new[0]!r} that its first part lacks.")
        put(frame if list(frame.columns) == list(columns) else frame.reindex(columns=list(columns)))

    return put_aligned


def write(
    path: str,
    block: Block,
    added: Mapping[str, NDArray[Any]],
    form: str | None = None,
    *,
    numbers: Sequence[str] = (),
    force: bool = False,
) -> None:
    """Write a whole block with added columns, in any format.

    `numbers` names the columns of numbers. They may be strings in the block and are written as numbers where the format
    has types.
    """
    kind = check_output(path, form, as_table=block.matrix is None, force=force)
    if kind in MATRIX_WRITERS:
        with whole(path) as temporary:
            MATRIX_WRITERS[kind](temporary, block, added)
        return
    with writer(path, form, force=force) as put:
        frame = _named(block) if block.frame is None else block.frame
        put(beside(frame, added, numbers if kind.traits.is_typed else (), block.decimal))


def beside(frame: Any, added: Mapping[str, Any], numbers: Sequence[str] = (), decimal: str = ".") -> Any:
    """Return the frame with added columns, which replace columns of the same name; `numbers` are made numbers.

    `decimal` stands between the whole and the fraction of numbers that are strings.
    """
    pandas = require("pandas", "cli")
    kept = frame.drop(columns=list(added), errors="ignore").reset_index(drop=True)
    typed = kept.assign(**{name: _typed(kept[name], decimal) for name in numbers if name in kept})
    return pandas.concat([typed, pandas.DataFrame(dict(added))], axis=1)


def _typed(column: Any, decimal: str) -> Any:
    """Return a column of strings as whole numbers if all of them are such, or as numbers with gaps."""
    pandas = require("pandas", "cli")
    try:
        whole = pandas.to_numeric(column)
    except (ValueError, TypeError):
        whole = None
    if whole is not None and not pandas.api.types.is_float_dtype(whole):
        return whole
    return pandas.Series(as_numbers(column, decimal), index=column.index)


def _named(block: Block) -> Any:
    """Return a matrix as a frame of columns x0, x1, ...; a sparse one is left out, since it would be full of zeros."""
    pandas = require("pandas", "cli")
    labels = {} if block.labels is None else {LABELS: block.labels}
    if sp.issparse(block.matrix):
        return pandas.DataFrame(labels, index=range(len(block)))
    columns = {f"x{at}": column for at, column in enumerate(block.matrix.T)}
    return pandas.DataFrame(columns | labels)
