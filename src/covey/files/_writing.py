"""Rows into files, whole or not at all, and never over a file that is there unless that is asked for."""

import json
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._extras import require
from covey._packed import open_packed
from covey._whole import whole
from covey.files._formats import STANDARD, format_of
from covey.files._reading import SEPARATORS, Block

Added = Mapping[str, NDArray[Any]]
"""Columns to add to a block, by name."""


class Writer(Protocol):
    def __call__(self, frame: Any) -> None:
        """Write the frame's rows after those before."""


def may_write(path: str, force: bool) -> None:
    """Refuse to replace a file unless forced to."""
    if path != STANDARD and not force and Path(path).exists():
        raise FileExistsError(f"{path} exists; choose another name, or pass --force to replace it.")


@contextmanager
def writer(path: str, form: str | None = None, *, force: bool = False) -> Iterator[Writer]:
    """A function that writes frames, one after another; the file appears when all are written."""
    kind = format_of(path, form)
    may_write(path, force)
    if kind not in ("csv", "tsv", "jsonl", "parquet"):
        raise ValueError(f"{path}: results of this kind are written as CSV, TSV, JSON Lines or Parquet, not as {kind}.")
    with ExitStack() as stack:
        if kind == "parquet":
            if path == STANDARD:
                raise ValueError("Parquet cannot be written to standard output; pass a file.")
            yield stack.enter_context(_parquet(stack.enter_context(whole(path))))
            return
        if path == STANDARD:
            file = sys.stdout
        else:
            temporary = stack.enter_context(whole(path))
            file = stack.enter_context(open_packed(temporary, "wt", encoding="utf-8", newline=""))
        yield _lines(file) if kind == "jsonl" else _table(file, SEPARATORS[kind])


def _table(file: Any, separator: str) -> Writer:
    header = True

    def put(frame: Any) -> None:
        nonlocal header
        nested = [name for name in frame if frame[name].map(lambda value: isinstance(value, dict | list)).any()]
        for name in nested:
            frame = frame.assign(**{name: frame[name].map(lambda value: json.dumps(value, default=_plain))})
        frame.to_csv(file, sep=separator, index=False, header=header, lineterminator="\n")
        header = False

    return put


def _lines(file: Any) -> Writer:
    def put(frame: Any) -> None:
        for record in frame.to_dict("records"):
            file.write(json.dumps(record, default=_plain, ensure_ascii=False) + "\n")

    return put


def _plain(value: Any) -> Any:
    """What JSON has no form for."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    return None if require("pandas", "cli").isna(value) else str(value)


@contextmanager
def _parquet(path: Path) -> Iterator[Writer]:
    pyarrow, parquet = require("pyarrow", "cli"), require("pyarrow.parquet", "cli")
    with ExitStack() as stack:
        opened: list[Any] = []

        def put(frame: Any) -> None:
            if not opened:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False)
                opened.append(stack.enter_context(parquet.ParquetWriter(path, table.schema)))
            else:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False, schema=opened[0].schema)
            opened[0].write_table(table)

        yield put


def write(path: str, block: Block, added: Added, form: str | None = None, *, force: bool = False) -> None:
    """A whole block with added columns, in any format."""
    kind = format_of(path, form)
    if kind in ("npz", "svmlight") and block.matrix is not None:
        may_write(path, force)
        with whole(path) as temporary:
            (_write_npz if kind == "npz" else _write_svmlight)(temporary, block, added)
        return
    pandas = require("pandas", "cli")
    frame = block.frame if block.frame is not None else _named(block)
    with writer(path, form, force=force) as put:
        put(pandas.concat([frame.reset_index(drop=True), pandas.DataFrame(dict(added))], axis=1))


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
    dump_svmlight_file(csr, labels, buffer, zero_based=False)
    comments = (" ".join(f"{name}={values[at]}" for name, values in added.items()) for at in range(len(block)))
    lines = zip(buffer.getvalue().decode("ascii").splitlines(), comments, strict=True)
    with open_packed(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line} # {comment}\n" for line, comment in lines)
