"""Rows into files, whole or not at all, and never over a file that is there unless that is asked for."""

import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.formats import STANDARD, format_of
from covey.runtime.extras import require
from covey.storage.packed import open_packed
from covey.storage.whole import check_target, whole

Added = Mapping[str, NDArray[Any]]
"""Columns to add to a block, by name."""
STREAMED = ("csv", "tsv", "jsonl", "parquet")
TYPED = ("jsonl", "parquet")
"""Where a number is no text; elsewhere values stay as they were written."""
OPTION = "--out-format"


class Writer(Protocol):
    def __call__(self, frame: Any) -> None:
        """Write the frame's rows after those before."""


def may_write(path: str, force: bool) -> None:
    """Refuse, before any work is done, what could not be written, or must not be replaced."""
    if path == STANDARD:
        return
    if not force and Path(path).exists():
        raise FileExistsError(f"{path} exists; choose another name, or pass --force to replace it.")
    check_target(path)


def check_output(path: str, form: str | None, *, streamed: bool, force: bool) -> str:
    """The format of an output that can be written; `streamed` ones take rows, the others whole blocks."""
    kind = format_of(path, form, OPTION)
    may_write(path, force)
    if streamed and kind not in STREAMED:
        raise ValueError(f"{path}: rows of a table are written as CSV, TSV, JSON Lines or Parquet, not as {kind}.")
    if path == STANDARD and kind in ("parquet", "npz", "svmlight"):
        raise ValueError(f"{kind} cannot be written to standard output; pass a file.")
    return kind


@contextmanager
def writer(path: str, form: str | None = None, *, force: bool = False) -> Iterator[Writer]:
    """A function that writes frames, one after another; the file appears when all are written.

    The first frame decides the columns. What a later one lacks is left empty; what it brings is refused.
    """
    kind = check_output(path, form, streamed=True, force=force)
    with ExitStack() as stack:
        if kind == "parquet":
            put = stack.enter_context(_parquet(stack.enter_context(whole(path))))
        else:
            file = sys.stdout if path == STANDARD else _text(stack, path)
            put = _lines(file) if kind == "jsonl" else _table(file, "\t" if kind == "tsv" else ",")
        yield _same_columns(put)


def _text(stack: ExitStack, path: str) -> Any:
    temporary = stack.enter_context(whole(path))
    return stack.enter_context(open_packed(temporary, "wt", encoding="utf-8", newline=""))


def _same_columns(put: Writer) -> Writer:
    columns: dict[str, None] = {}

    def put_aligned(frame: Any) -> None:
        columns.update(dict.fromkeys([] if columns else frame.columns))
        new = [name for name in frame.columns if name not in columns]
        if new:
            raise ValueError(f"a later part of the input has a column {new[0]!r} that its first part lacks.")
        put(frame if list(frame.columns) == list(columns) else frame.reindex(columns=list(columns)))

    return put_aligned


def _table(file: Any, separator: str) -> Writer:
    header = True

    def put(frame: Any) -> None:
        nonlocal header
        nested = {name: frame[name].map(_as_json) for name in frame if _is_nested(frame[name])}
        frame.assign(**nested).to_csv(file, sep=separator, index=False, header=header, lineterminator="\n")
        header = False

    return put


def _is_nested(column: Any) -> bool:
    """Whether there are lists or dicts in it, for which CSV has no form."""
    there = column.dropna()
    return len(there) > 0 and isinstance(there.iloc[0], dict | list | tuple | np.ndarray)


def _as_json(value: Any) -> str:
    if isinstance(value, list | tuple | np.ndarray) and len(value) and isinstance(value[0], tuple):
        value = dict(value)  # as Arrow hands out maps
    return json.dumps(value, default=_plain, ensure_ascii=False)


def _lines(file: Any) -> Writer:
    def put(frame: Any) -> None:
        known = frame.astype(object).where(frame.notna(), None)
        for record in known.to_dict("records"):
            file.write(json.dumps(record, default=_plain, ensure_ascii=False, allow_nan=False) + "\n")

    return put


def _plain(value: Any) -> Any:
    """What JSON has no form for."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)


@contextmanager
def _parquet(path: Path) -> Iterator[Writer]:
    pyarrow, parquet = require("pyarrow", "cli"), require("pyarrow.parquet", "cli")
    with ExitStack() as stack:
        opened: list[Any] = []

        def put(frame: Any) -> None:
            schema = opened[0].schema if opened else None
            try:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False, schema=schema)
            except pyarrow.ArrowException as error:
                raise ValueError(
                    f"the values of a column do not fit one type of Parquet: {error}; write CSV."
                ) from error
            if not opened:
                opened.append(stack.enter_context(parquet.ParquetWriter(path, table.schema)))
            opened[0].write_table(table)

        yield put


def write(
    path: str, block: Block, added: Added, form: str | None = None, *, numbers: Sequence[str] = (), force: bool = False
) -> None:
    """A whole block with added columns, in any format; `numbers` are columns of numbers, where the format has types."""
    kind = check_output(path, form, streamed=block.matrix is None, force=force)
    if kind in ("npz", "svmlight"):
        with whole(path) as temporary:
            (_write_npz if kind == "npz" else _write_svmlight)(temporary, block, added)
        return
    with writer(path, form, force=force) as put:
        put(beside(_named(block) if block.frame is None else block.frame, added, numbers if kind in TYPED else ()))


def beside(frame: Any, added: Mapping[str, Any], numbers: Sequence[str] = ()) -> Any:
    """The frame with more columns, which replace those of an earlier run; `numbers` are made numbers."""
    pandas = require("pandas", "cli")
    kept = frame.drop(columns=list(added), errors="ignore").reset_index(drop=True)
    typed = kept.assign(**{name: pandas.to_numeric(kept[name]) for name in numbers if name in kept})
    return pandas.concat([typed, pandas.DataFrame(dict(added))], axis=1)


def _named(block: Block) -> Any:
    """A matrix as a frame of columns x0, x1, ...; a sparse one would fill it with zeros and is left out."""
    pandas = require("pandas", "cli")
    labels = {} if block.labels is None else {"y": block.labels}
    if sp.issparse(block.matrix):
        return pandas.DataFrame(labels, index=range(len(block)))
    columns = {f"x{at}": column for at, column in enumerate(block.matrix.T)}
    return pandas.DataFrame(columns | labels)


def _write_npz(path: Path, block: Block, added: Added) -> None:
    labels = {} if block.labels is None else {"y": block.labels}
    if sp.issparse(block.matrix):  # in the form that scipy.sparse.load_npz reads
        csr = block.matrix
        parts = {"indptr": csr.indptr, "indices": csr.indices, "data": csr.data, "shape": csr.shape}
        parts |= {"format": np.array(b"csr"), "_is_array": np.array(True)}
    else:
        parts = {"X": block.matrix}
    with path.open("wb") as file:
        arrays: dict[str, Any] = {**parts, **labels, **added}
        np.savez(file, **arrays)


def _write_svmlight(path: Path, block: Block, added: Added) -> None:
    """What is added stands in a comment at the end of each line."""
    from sklearn.datasets import dump_svmlight_file

    csr, buffer = sp.csr_matrix(block.matrix), BytesIO()
    csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)  # it takes no others
    labels = np.zeros(len(block)) if block.labels is None else block.labels
    dump_svmlight_file(csr, labels, buffer, zero_based=block.base == 0)
    comments = (" ".join(f"{name}={values[at]}" for name, values in added.items()) for at in range(len(block)))
    lines = zip(buffer.getvalue().decode("ascii").splitlines(), comments, strict=True)
    with open_packed(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line} # {comment}\n" for line, comment in lines)
