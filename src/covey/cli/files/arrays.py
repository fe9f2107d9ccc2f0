"""Files that hold a matrix whose columns have no names, read at once: .npz and svmlight."""

import os
import zipfile
from io import BytesIO
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, check_exists, name_of
from covey.cli.files.tables import opened
from covey.storage.archive import read_array
from covey.storage.limits import justified
from covey.storage.errors import first_line
from covey.storage.errors import FileFormatError

LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""
NUMBERS, TEXTS = "biuf", "SU"
"""The kinds of NumPy's types that hold them."""
SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}
PARTS = ("indptr", "indices", "data", "shape", "format")
"""Of a sparse matrix that scipy.sparse.save_npz has written."""


def read_npz(path: str, labels: str | None) -> Block:
    """The array X, or the only one with two dimensions, or a sparse matrix; and the labels."""
    check_exists(path)
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if name.endswith(".npy")]
        arrays = {name.removesuffix(".npy"): read_array(archive, name) for name in members}
    held = ", ".join(arrays)
    if labels is not None and labels not in arrays:
        raise FileFormatError(f"{path} holds no array {labels!r}; it holds {held}.")
    matrix = _sparse(path, arrays) if set(PARTS) <= set(arrays) else _dense(path, arrays, held)
    found = arrays.get(labels or LABELS)
    if found is not None and found.shape != (matrix.shape[0],):
        raise FileFormatError(f"{path} has {matrix.shape[0]} rows, but its labels have the shape {found.shape}.")
    return Block(path, matrix=matrix, labels=None if found is None else _labels(path, found))


def _dense(path: str, arrays: dict[str, NDArray[Any]], held: str) -> NDArray[Any]:
    tables = [name for name, array in arrays.items() if array.ndim == 2]
    name = tables[0] if "X" not in arrays and len(tables) == 1 else "X"  # there is nothing else to be meant
    if name not in arrays:
        raise FileFormatError(f"{path} must hold an array X (or a SciPy sparse matrix), it holds {held or 'none'}.")
    matrix = arrays[name]
    if matrix.ndim != 2 or not matrix.size:
        raise FileFormatError(f"{name} in {path} must have rows and columns, it has the shape {matrix.shape}.")
    if matrix.dtype.kind not in NUMBERS:
        raise FileFormatError(f"{name} in {path} must hold numbers, it holds the type {matrix.dtype}.")
    return matrix


def _sparse(path: str, arrays: dict[str, NDArray[Any]]) -> sp.csr_array:
    """The matrix, after a check that all its indices lie within it: compiled code does not look at them again."""
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


def check_width(path: str, width: int, size: int) -> None:
    """Refuse more columns than a file of this size justifies: covey keeps a number or two for each of them."""
    most = justified(size) // np.dtype(np.float64).itemsize
    if width > most:
        raise FileFormatError(
            f"{name_of(path)} numbers its columns or rows up to {width}, but a file of {size} bytes justifies {most} "
            "at most; number them without large gaps."
        )


def read_svmlight(path: str, base: int | None) -> Block:
    from sklearn.datasets import load_svmlight_file

    with opened(path, None) as (file, _):
        content = "".join(file).encode("utf-8")
    try:
        matrix, labels = load_svmlight_file(BytesIO(content), zero_based=True)
    except (ValueError, OverflowError):
        _name_line(path, content, load_svmlight_file)
        raise
    if not len(labels):
        raise FileFormatError(f"{name_of(path)} holds no rows.")
    if not np.isfinite(labels).all():
        at = int(np.argmin(np.isfinite(labels)))
        raise FileFormatError(f"{name_of(path)}, row {at}: the label is {labels[at]}, where a finite number must be.")
    check_width(path, matrix.shape[1], len(content))
    lowest = int(matrix.indices.min(initial=1))
    base = min(lowest, 1) if base is None else base
    if lowest < base:
        raise FileFormatError(f"{name_of(path)} has a column 0, but the model was made of a file that counts from 1.")
    shape = (len(labels), max(matrix.shape[1] - base, 0))
    shifted = sp.csr_array((matrix.data, matrix.indices - base, matrix.indptr), shape=shape)
    return Block(path, matrix=shifted, labels=_whole_where_exact(labels), base=base)


def _name_line(path: str, content: bytes, load: Any) -> None:
    """Raise the error of the first line that cannot be read alone, if there is one."""
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            load(BytesIO(line), zero_based=True)
        except (ValueError, OverflowError) as error:
            what = "a number is too large" if isinstance(error, OverflowError) else first_line(error)
            raise FileFormatError(f"{name_of(path)}, line {number}: no svmlight row ({what}).") from error


def _whole_where_exact(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Labels as integers if all of them are."""
    if np.abs(labels).max() < 2**53 and (labels == np.rint(labels)).all():
        return labels.astype(np.int64)
    return labels
