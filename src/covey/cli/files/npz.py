"""NumPy's .npz files: a dense or sparse matrix, whose columns have no names, and its labels."""

import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, How
from covey.cli.files.checks import check_width
from covey.cli.files.opening import check_exists
from covey.storage.archive import read_array
from covey.storage.errors import FileFormatError

LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""
NUMBERS, TEXTS = "biuf", "SU"
"""The letters of NumPy's types that hold numbers, and of those that hold texts."""
SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}
"""The formats of sparse matrices that can be read."""
PARTS = ("indptr", "indices", "data", "shape", "format")
"""The arrays of a sparse matrix that scipy.sparse.save_npz has written."""


def read_npz(path: str, how: How) -> Iterator[Block]:
    """Yield the array X, or the only one with two dimensions, or a sparse matrix; with the labels, if there are any."""
    check_exists(path)
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): read_array(archive, name) for name in members}
    held = ", ".join(arrays)
    if how.labels is not None and how.labels not in arrays:
        raise FileFormatError(f"{path} holds no array {how.labels!r}; it holds {held}.")
    matrix = _sparse(path, arrays) if set(PARTS) <= set(arrays) else _dense(path, arrays, held)
    found = arrays.get(how.labels or LABELS)
    if found is not None and found.shape != (matrix.shape[0],):
        raise FileFormatError(f"{path} has {matrix.shape[0]} rows, but its labels have the shape {found.shape}.")
    yield Block(path, matrix=matrix, labels=None if found is None else _labels(path, found))


def _dense(path: str, arrays: dict[str, NDArray[Any]], held: str) -> NDArray[Any]:
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = tables[0] if "X" not in arrays and len(tables) == 1 else "X"  # nothing else can be meant
    if name not in arrays:
        raise FileFormatError(f"{path} must hold an array X (or a SciPy sparse matrix), it holds {held or 'none'}.")
    matrix = arrays[name]
    if matrix.ndim != 2 or not matrix.size:
        raise FileFormatError(f"{name} in {path} must have rows and columns, it has the shape {matrix.shape}.")
    if matrix.dtype.kind not in NUMBERS:
        raise FileFormatError(f"{name} in {path} must hold numbers, it holds the type {matrix.dtype}.")
    return matrix


def _sparse(path: str, arrays: dict[str, NDArray[Any]]) -> sp.csr_array:
    """Return the matrix after a check that all its indices lie within it: compiled code does not check them again."""
    indptr, indices, data, shape, form = (arrays[name] for name in PARTS)
    kind = form.item() if form.ndim == 0 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    if kind not in SPARSE:
        raise FileFormatError(f"{path} must hold a sparse matrix in the format csr or csc, it holds {kind!r}.")
    if shape.shape != (2,) or any(part.dtype.kind not in "iu" for part in (indptr, indices, shape)):
        raise FileFormatError(f"{path}: indptr, indices and shape of the sparse matrix must be whole numbers.")
    if data.dtype.kind not in NUMBERS:
        raise FileFormatError(f"{path} must hold numbers, its sparse matrix holds the type {data.dtype}.")
    rows, columns = (int(length) for length in shape)
    if not rows:
        raise FileFormatError(f"{path} holds no rows.")
    check_width(path, max(rows, columns), os.path.getsize(path))
    matrix = SPARSE[kind]((data, indices, indptr), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return sp.csr_array(matrix)


def _labels(path: str, labels: NDArray[Any]) -> NDArray[Any]:
    if labels.dtype.kind not in NUMBERS + TEXTS:
        raise FileFormatError(f"the labels in {path} must be numbers or texts, they have the type {labels.dtype}.")
    return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels


def write_npz(path: Path, block: Block, added: Mapping[str, NDArray[Any]]) -> None:
    """Write the matrix, its labels, and an array for each added column."""
    labels = {} if block.labels is None else {LABELS: block.labels}
    if sp.issparse(block.matrix):  # in the form that scipy.sparse.load_npz reads
        csr = block.matrix
        parts = {"indptr": csr.indptr, "indices": csr.indices, "data": csr.data, "shape": csr.shape}
        parts |= {"format": np.array(b"csr"), "_is_array": np.array(True)}
    else:
        parts = {"X": block.matrix}
    with path.open("wb") as file:
        arrays: dict[str, Any] = {**parts, **labels, **added}
        np.savez(file, **arrays)
