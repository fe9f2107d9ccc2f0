"""Values that are not there: NaN, NaT, None, pandas' NA, and masked entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags


def is_missing(value: Any) -> bool:
    """Whether a single value stands for no value; told without importing pandas."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:  # pandas' NA answers every comparison with itself, which is neither true nor false
        return True
    except ValueError:  # an array
        return False


def missing_in(values: NDArray[Any]) -> Flags:
    """Which entries of an array of any type are missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values.flat), dtype=bool, count=values.size).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)


def refuse_masked(values: Any, name: str) -> None:
    """Refuse an array that hides some of its entries: what lies under a mask must not count."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        where = place(np.argwhere(np.ma.getmaskarray(values))[0])
        raise ValueError(f"{name} must not hold masked entries, got one at {where}; drop or fill such objects first.")


def place(position: Any) -> str:
    """Where an entry is, in words."""
    row, *column = map(int, position)
    return f"row {row}, column {column[0]}" if column else f"position {row}"


def first_marked(X: Any, marked: Flags) -> tuple[Any, str]:
    """The first entry that is marked, and its place; of a sparse X only stored entries are."""
    if not sp.issparse(X):
        where = tuple(np.argwhere(marked)[0])
        return X[where], place(where)
    position = int(np.flatnonzero(marked)[0])
    row = int(np.searchsorted(X.indptr, position, side="right")) - 1
    return X.data[position], place((row, X.indices[position]))
