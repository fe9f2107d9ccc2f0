"""Frames: those of pandas and polars, and tables of Arrow. They are recognised by their attributes, so that none of
these libraries has to be imported.
"""

from typing import Any

import numpy as np

ARROW_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
ARROW_NUMBERS |= {"halffloat", "float", "double", "bool"}
"""What Arrow calls its types of numbers and of truth values."""


def is_frame(X: Any) -> bool:
    """Say whether X is a frame of pandas or polars, or a table of Arrow."""
    return _is_arrow(X) or all(hasattr(X, name) for name in ("columns", "dtypes", "shape"))


def _is_arrow(X: Any) -> bool:
    """Say whether X is a table, or a batch of rows, of Arrow."""
    return all(hasattr(X, name) for name in ("column_names", "schema", "to_pylist"))


def names(X: Any) -> list[Any]:
    """Return the names of the columns of a frame."""
    return list(X.column_names if _is_arrow(X) else X.columns)


def columns(X: Any) -> list[Any]:
    """Return the columns of a frame. They are taken by position where names may occur twice."""
    if _is_arrow(X):
        return [_arrow_column(X.column(number)) for number in range(X.num_columns)]
    if hasattr(X, "iloc"):
        return [X.iloc[:, number] for number in range(X.shape[1])]
    return [X[name] for name in X.columns]


def _arrow_column(column: Any) -> Any:
    """Return numbers and dates as an array, and anything else as a list."""
    is_date = str(column.type).startswith(("date", "timestamp", "duration"))
    return np.asarray(column) if is_date or is_number_type(column.type) else column.to_pylist()


def dicts(X: Any) -> list[dict[Any, Any]]:
    """Return the rows of a frame as dicts."""
    if _is_arrow(X):
        return list(X.to_pylist())
    return list(X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records"))


def is_numeric(X: Any) -> bool:
    """Say whether X holds rows of numbers.

    Only types are looked at, so that any rows of one table give the same answer.
    """
    if is_frame(X):
        return all(map(is_number_type, _types(X)))
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def has_one_numpy_type(X: Any) -> bool:
    """Say whether all columns of a frame have the same type, and this is a type of NumPy."""
    return len(set(_types(X))) == 1 and all(isinstance(dtype, np.dtype) for dtype in _types(X))


def _types(X: Any) -> list[Any]:
    """Return the types of the columns of a frame."""
    return list(X.schema.types if _is_arrow(X) else X.dtypes)


def is_number_type(dtype: Any) -> bool:
    """Say whether a column's type is that of numbers or truth values, be it of NumPy, pandas (with missing values, or
    Arrow's), polars or Arrow.
    """
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    if hasattr(dtype, "is_integer"):
        return dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
    return str(dtype) in ARROW_NUMBERS
