"""Missing values: NaN, NaT, None, pandas' NA, and masked entries."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags


def is_missing(value: Any) -> bool:
    """Say whether a single value is missing. Pandas is not imported for this."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:  # every comparison with pandas' NA yields NA, which has no truth value
        return True
    except ValueError:  # the value is an array, which is not missing
        return False


def missing_in(values: NDArray[Any]) -> Flags:
    """Say for each entry of an array of any type whether it is missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values.flat), dtype=bool, count=values.size).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)


def refuse_masked(values: Any, name: str) -> None:
    """Refuse an array that has masked entries. Their hidden values must not be used."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        where = place(np.argwhere(np.ma.getmaskarray(values))[0])
        raise ValueError(f"{name} must not hold masked entries, got one at {where}; drop or fill such objects first.")


def place(position: Any) -> str:
    """Say in words where an entry is."""
    row, *column = map(int, position)
    return f"row {row}, column {column[0]}" if column else f"position {row}"


def first_marked(X: Any, marked: Flags) -> tuple[Any, str]:
    """Return the first entry that is marked, and where it is. In a sparse X only stored entries can be marked."""
    if not sp.issparse(X):
        where = tuple(np.argwhere(marked)[0])
        return X[where], place(where)
    position = int(np.flatnonzero(marked)[0])
    row = int(np.searchsorted(X.indptr, position, side="right")) - 1
    return X.data[position], place((row, X.indices[position]))
