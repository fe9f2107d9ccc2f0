"""NumPy's files: .npy holds one array of numbers, and .npz a dense or sparse matrix with its labels.

An .npy file is mapped into memory rather than read, so that a large array is not held twice. It has no room for labels;
these may come from another .npy file of one value a row.
"""

import math
import os
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, name_of
from covey.cli.files.input import ReadOptions, as_file, check_width
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import format_errors_of
from covey.storage.archive import MOST_HEADER, read_array, read_header

NUMBERS, STRINGS = "biuf", "SU"
"""The letters of NumPy's types that hold numbers, and of those that hold strings."""
SUFFIX = ".npy"
"""How the names of these files end."""
VERDICT = "is not an .npy file, or damaged"
"""What is said about a file that cannot be read."""


def read_npy(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows of an array; an array of more than two axes, such as images, has its rows flattened."""
    rows, shape = as_rows(name_of(path), _mapped(path))
    labels = None if options.labels is None else _labels_from(options.labels, path, len(rows))
    step = len(rows) if options.whole else options.n_rows(rows.shape[1])
    for first in range(0, len(rows), step):
        part = slice(first, first + step)
        yield Block(
            path,
            matrix=rows[part],
            labels=None if labels is None else labels[part],
            shape=shape,
            share=min(first + step, len(rows)) / len(rows),
        )


def as_rows(name: str, array: NDArray[Any]) -> tuple[NDArray[Any], tuple[int, ...] | None]:
    """Return an array as a matrix of one row for each object, and the shape of one object if it had more than one axis.

    `name` is what messages call the array.
    """
    if array.dtype.kind not in NUMBERS:
        raise FileFormatError(f"{name} must hold numbers, it holds the type {array.dtype}.")
    if array.ndim not in (2, 3, 4) or not array.size:
        raise FileFormatError(
            f"{name} must have rows and columns, or be images (rows, height, width and perhaps channels); it has the "
            f"shape {array.shape}."
        )
    if array.ndim == 2:
        return array, None
    return array.reshape(len(array), -1), array.shape[1:]


def checked_labels(name: str, labels: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Return labels, one for each row, as numbers or strings; refuse others. `name` is what messages call them."""
    if labels.shape != (n_rows,):
        raise FileFormatError(f"{name} must have one value for each of {n_rows} rows, the shape is {labels.shape}.")
    if labels.dtype.kind not in NUMBERS + STRINGS:
        raise FileFormatError(f"{name} must be numbers or strings, got dtype {labels.dtype}.")
    return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels


def _labels_from(path: str, data: str, n_rows: int) -> NDArray[Any]:
    """Return the labels in another file."""
    if not path.lower().endswith(SUFFIX):
        raise FileFormatError(
            f"{name_of(data)} has no room for labels, so --label must be another .npy file with a label for each row, "
            f"got {path!r}."
        )
    with format_errors_of(path, VERDICT):
        return checked_labels(f"the labels in {path}", _mapped(path), n_rows)


def _mapped(path: str) -> NDArray[Any]:
    """Return the array of a file, which must be exactly as long as its header says."""
    with as_file(path) as place:
        with open(place, "rb") as file:
            head = BytesIO(file.read(MOST_HEADER))
        shape, fortran, dtype = read_header(head)
        n_bytes, there = math.prod(shape) * dtype.itemsize, os.path.getsize(place) - head.tell()
        if n_bytes != there:
            raise FileFormatError(
                f"{name_of(path)} declares {n_bytes} bytes of content (shape {shape}, type {dtype}), but it holds "
                f"{there}."
            )
        if not n_bytes:  # nothing can be mapped
            return np.empty(shape, dtype)
        order: Any = "F" if fortran else "C"
        return np.asarray(np.memmap(place, dtype, "r", head.tell(), shape, order))


LABELS = "y"
"""The array of labels in an .npz file, unless the user names another."""
SPARSE = {"csr": sp.csr_array, "csc": sp.csc_array}
"""The formats of sparse matrices that can be read."""
PARTS = ("indptr", "indices", "data", "shape", "format")
"""The arrays of a sparse matrix that scipy.sparse.save_npz has written."""


def read_npz(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the array X, or the only one that can be meant, or a sparse matrix; with the labels, if there are any."""
    name = name_of(path)
    with as_file(path) as place, zipfile.ZipFile(place) as archive:
        members = [member for member in archive.namelist() if member.endswith(".npy")]
        arrays = {member.removesuffix(".npy"): read_array(archive, member) for member in members}
        size = os.path.getsize(place)
    held = ", ".join(arrays)
    if options.labels is not None and options.labels not in arrays:
        raise FileFormatError(f"{name} holds no array {options.labels!r}; it holds {held}.")
    matrix, shape = (_sparse(name, arrays, size), None) if set(PARTS) <= set(arrays) else _dense(name, arrays, held)
    labels = arrays.get(options.labels or LABELS)
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
        parts |= {"format": np.array(b"csr"), "_is_array": np.bool_(1)}
    else:
        parts = {"X": block.matrix if block.shape is None else block.matrix.reshape(-1, *block.shape)}
    with path.open("wb") as file:
        arrays: dict[str, Any] = {**parts, **labels, **added}
        np.savez(file, **arrays)
