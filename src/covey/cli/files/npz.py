"""NumPy's .npz files: a dense or sparse matrix, whose columns have no names, and its labels."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.checks import check_width
from covey.cli.files.how import How
from covey.cli.files.npy import NUMBERS, as_rows, checked_labels
from covey.cli.files.opening import as_file
from covey.cli.files.standard import name_of
from covey.storage.archive import read_array
from covey.storage.errors import FileFormatError

LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""
SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}
"""The formats of sparse matrices that can be read."""
PARTS = ("indptr", "indices", "data", "shape", "format")
"""The arrays of a sparse matrix that scipy.sparse.save_npz has written."""


def read_npz(path: str, how: How) -> Iterator[Block]:
    """Yield the array X, or the only one that can be meant, or a sparse matrix; with the labels, if there are any."""
    name = name_of(path)
    with as_file(path) as place, zipfile.ZipFile(place) as archive:
        members = [member for member in archive.namelist() if member.endswith(".npy")]
        arrays = {member.removesuffix(".npy"): read_array(archive, member) for member in members}
        size = os.path.getsize(place)
    held = ", ".join(arrays)
    if how.labels is not None and how.labels not in arrays:
        raise FileFormatError(f"{name} holds no array {how.labels!r}; it holds {held}.")
    matrix, shape = (_sparse(name, arrays, size), None) if set(PARTS) <= set(arrays) else _dense(name, arrays, held)
    labels = arrays.get(how.labels or LABELS)
    if labels is not None:
        labels = checked_labels(f"the labels in {name}", labels, matrix.shape[0])
    yield Block(path, matrix=matrix, labels=labels, shape=shape)


def _dense(name: str, arrays: dict[str, NDArray[Any]], held: str) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Return the rows and the shape of one row."""
    if "X" in arrays:
        return as_rows(f"X in {name}", arrays["X"])
    for n_axes in ((2,), (3, 4)):
        tables = [found for found, array in arrays.items() if array.ndim in n_axes]
        if len(tables) == 1:  # nothing else can be meant
            return as_rows(f"{tables[0]} in {name}", arrays[tables[0]])
    raise FileFormatError(f"{name} must hold an array X (or a SciPy sparse matrix), it holds {held or 'none'}.")


def _sparse(name: str, arrays: dict[str, NDArray[Any]], size: int) -> sp.csr_array:
    """Return the matrix after a check that all its indices lie within it: compiled code does not check them again."""
    indptr, indices, data, shape, form = (arrays[part] for part in PARTS)
    kind = form.item() if form.ndim == 0 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if kind not in SPARSE:
        raise FileFormatError(f"{name} must hold a sparse matrix in the format csr or csc, it holds {kind!r}.")
    if shape.shape != (2,) or any(part.dtype.kind not in "iu" for part in (indptr, indices, shape)):
        raise FileFormatError(f"{name}: indptr, indices and shape of the sparse matrix must be whole numbers.")
    if data.dtype.kind not in NUMBERS:
        raise FileFormatError(f"{name} must hold numbers, its sparse matrix holds the type {data.dtype}.")
    rows, columns = (int(length) for length in shape)
    if not rows:
        raise FileFormatError(f"{name} holds no rows.")
    check_width(name, max(rows, columns), size)
    matrix = SPARSE[kind]((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def write_npz(path: Path, block: Block, added: Mapping[str, NDArray[Any]]) -> None:
    """Write the matrix, its labels, and an array for each added column."""
    labels = {} if block.labels is None else {LABELS: block.labels}
    if sp.issparse(block.matrix):  # in the form that scipy.sparse.load_npz reads
        csr = block.matrix
        parts = {"indptr": csr.indptr, "indices": csr.indices, "data": csr.data, "shape": csr.shape}
        parts |= {"format": np.array(b"csr"), "_is_array": np.array(True)}
    else:
        parts = {"X": block.matrix if block.shape is None else block.matrix.reshape(-1, *block.shape)}
    with path.open("wb") as file:
        arrays: dict[str, Any] = {**parts, **labels, **added}
        np.savez(file, **arrays)
