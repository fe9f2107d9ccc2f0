"""Checks of matrices that users pass. Sparse ones are checked before compiled code follows their indices.

Neither SciPy nor compiled loops check the indices that a sparse matrix is built of. A single index out of range would
make the loops read or write foreign memory.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

COMPRESSED = ("csr", "csc", "bsr")
"""The sparse formats that store their entries list by list, with `indptr` and `indices`."""


def check_csr(matrix: Any, name: str) -> sp.csr_array:
    """Return a sparse matrix of any format as a CSR array in which every index is in range.

    The array shares its memory with the matrix where it can. Raise ValueError if an index is out of range, or if the
    arrays of the matrix do not fit each other. The error calls the matrix by `name`.
    """
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got a sparse array of shape {matrix.shape}.")
    if matrix.format in COMPRESSED:
        _check_compressed(matrix, name)
    else:
        matrix = matrix.tocoo(copy=False)
        _check_coordinates(matrix, name)
    csr = sp.csr_array(matrix)
    csr.prune()  # drops unused room behind the last entry, which SciPy allows
    return csr


def _check_compressed(matrix: Any, name: str) -> None:
    """Check the indices of a matrix that stores its entries list by list."""
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    n_lists, n_places = (length // side for length, side in zip(matrix.shape, block, strict=True))
    if matrix.format == "csc":
        n_lists, n_places = n_places, n_lists
    starts, places = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    _check_integers(starts, f"{name}.indptr")
    _check_integers(places, f"{name}.indices")
    if starts.size != n_lists + 1:
        raise ValueError(
            f"{name}.indptr must have {n_lists + 1} entries for a {matrix.format} matrix of shape {matrix.shape}, got "
            f"{starts.size}; build the matrix anew."
        )
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}.indptr must start with 0 and never decrease, but it does; build the matrix anew.")
    if places.size != len(matrix.data) or starts[-1] > places.size:
        raise ValueError(
            f"{name} must have as many indices as values, and indptr must end with their number, got {places.size} "
            f"indices, {len(matrix.data)} values and {starts[-1]}; build the matrix anew."
        )
    _check_range(places[: int(starts[-1])], n_places, f"{name}.indices")


def _check_coordinates(matrix: Any, name: str) -> None:
    """Check the indices of a matrix that stores a row and a column for each entry."""
    for places, length, axis in zip(matrix.coords, matrix.shape, ("row", "col"), strict=True):
        _check_integers(places, f"{name}.{axis}")
        if places.size != matrix.data.size:
            raise ValueError(
                f"{name}.{axis} must have one entry for each of the {matrix.data.size} values, got {places.size}; "
                "build the matrix anew."
            )
        _check_range(places, length, f"{name}.{axis}")


def _check_integers(array: NDArray[Any], name: str) -> None:
    """Refuse an index array that does not hold integers in one dimension."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, got shape {array.shape} and type {array.dtype}; "
            "build the matrix anew."
        )


def _check_range(places: NDArray[Any], end: int, name: str) -> None:
    """Refuse indices that do not lie from 0 up to `end`."""
    if not places.size:
        return
    for extreme in (int(places.min()), int(places.max())):
        if not 0 <= extreme < end:
            raise ValueError(f"{name} must lie in [0, {end}), got {extreme}; build the matrix anew.")


def looks_like_distances(matrix: Any) -> bool:
    """Say whether no object is more similar to itself than to any other object, and some are less similar."""
    diagonal = matrix.diagonal()
    if not sp.issparse(matrix):
        return bool((diagonal <= matrix.min(axis=1)).all() and matrix.max() > diagonal.max())
    # A sparse graph need not store its diagonal. Only a stored one tells how similar an object is to itself.
    itself = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) == matrix.indices
    others = matrix.data[~itself]
    if np.count_nonzero(itself) < matrix.shape[0] or not others.size:
        return False
    return bool(diagonal.max() <= others.min() and diagonal.max() < others.max())
