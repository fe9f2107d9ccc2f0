"""svmlight files: on each line a label and the numbers of a sparse row, whose columns have numbers instead of names."""

from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, name_of
from covey.cli.files.input import ReadOptions, check_width, open_input
from covey.exceptions import FileFormatError
from covey.runtime.wording import one_line
from covey.storage.compression import open_packed
from covey.storage.text import undecodable

LARGEST_EXACT = 2**53
"""Below this, float64 holds every whole number exactly."""


def read_svmlight(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows and labels of a file as one block.

    Some programs count columns from 0 and others from 1. If `options.base` is None, a column 0 in the file decides.
    """
    from sklearn.datasets import load_svmlight_file

    with open_input(path, options) as (file, _):
        try:
            content = file.read().encode("utf-8")
        except UnicodeError as error:
            raise undecodable(name_of(path), error, 0) from error
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
    base = min(lowest, 1) if options.base is None else options.base
    if lowest < base:
        raise FileFormatError(f"{name_of(path)} has a column 0, but the model was made of a file that counts from 1.")
    shape = (len(labels), max(matrix.shape[1] - base, 0))
    shifted = sp.csr_array((matrix.data, matrix.indices - base, matrix.indptr), shape=shape)
    yield Block(path, matrix=shifted, labels=_whole_where_exact(labels), base=base)


def _name_line(path: str, content: bytes, load: Any) -> None:
    """Raise the error of the first line that cannot be read alone, if there is one."""
    for number, line in enumerate(content.splitlines(), start=1):
        try:
            load(BytesIO(line), zero_based=True)
        except (ValueError, OverflowError) as error:
            what = "a number is too large" if isinstance(error, OverflowError) else one_line(error, first=True)
            raise FileFormatError(f"{name_of(path)}, line {number}: no svmlight row ({what}).") from error


def _whole_where_exact(labels: NDArray[np.float64]) -> NDArray[Any]:
    """Return labels as integers if all of them are whole numbers."""
    if np.abs(labels).max() < LARGEST_EXACT and (labels == np.rint(labels)).all():
        return labels.astype(np.int64)
    return labels


def write_svmlight(path: Path, block: Block, added: Mapping[str, NDArray[Any]]) -> None:
    """Write the rows; the values of added columns stand in a comment at the end of each line."""
    from sklearn.datasets import dump_svmlight_file

    csr, buffer = sp.csr_matrix(block.matrix), BytesIO()
    csr.indices, csr.indptr = csr.indices.astype(np.int32), csr.indptr.astype(np.int32)  # scikit-learn takes no others
    labels = np.zeros(len(block)) if block.labels is None else block.labels
    dump_svmlight_file(csr, labels, buffer, zero_based=block.base == 0)
    comments = (" ".join(f"{name}={values[at]}" for name, values in added.items()) for at in range(len(block)))
    lines = zip(buffer.getvalue().decode("ascii").splitlines(), comments, strict=True)
    with open_packed(path, "wt", encoding="utf-8") as file:
        file.writelines(f"{line} # {comment}\n" for line, comment in lines)
