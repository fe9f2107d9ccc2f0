"""NumPy's .npy files: one array of numbers, whose first axis counts the rows.

The file is mapped into memory rather than read, so that a large array is not held twice: rows come from the disk when
they are used. An .npy file has no room for labels; these may come from another .npy file of one value a row.
"""

import math
import os
from collections.abc import Iterator
from io import BytesIO
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.how import How
from covey.cli.files.opening import as_file
from covey.cli.files.standard import name_of
from covey.storage.archive import MOST_HEADER, read_header
from covey.storage.errors import FileFormatError, naming

NUMBERS, TEXTS = "biuf", "SU"
"""The letters of NumPy's types that hold numbers, and of those that hold texts."""
SUFFIX = ".npy"
"""How the names of these files end."""
VERDICT = "is no .npy file, or damaged"
"""What is said about a file that cannot be read."""


def read_npy(path: str, how: How) -> Iterator[Block]:
    """Yield the rows of an array; an array of more than two axes, such as images, has its rows flattened."""
    rows, shape = as_rows(name_of(path), _mapped(path))
    labels = None if how.labels is None else _labels_from(how.labels, path, len(rows))
    step = len(rows) if how.whole else how.n_rows(rows.shape[1])
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
    """Return labels, one for each row, as numbers or texts; refuse other values. `name` is what messages call them."""
    if labels.shape != (n_rows,):
        raise FileFormatError(f"{name} must have one value for each of {n_rows} rows, the shape is {labels.shape}.")
    if labels.dtype.kind not in NUMBERS + TEXTS:
        raise FileFormatError(f"{name} must be numbers or texts, they have the type {labels.dtype}.")
    return np.char.decode(labels, "utf-8") if labels.dtype.kind == "S" else labels


def _labels_from(path: str, data: str, n_rows: int) -> NDArray[Any]:
    """Return the labels in another file."""
    if not path.lower().endswith(SUFFIX):
        raise FileFormatError(
            f"{name_of(data)} has no room for labels, so --label must be another .npy file with a label for each row, "
            f"got {path!r}."
        )
    with naming(path, VERDICT):
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
