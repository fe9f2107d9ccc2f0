"""Frames of pandas or polars. They are recognised by their attributes, so that neither library has to be imported."""

from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:
    """Say whether X is a frame of pandas or polars."""
    return all(hasattr(X, name) for name in ("columns", "dtypes", "shape"))


def columns(X: Any) -> list[Any]:
    """Return the columns of a frame. Those of pandas are taken by position, because names may occur twice."""
    if hasattr(X, "iloc"):
        return [X.iloc[:, number] for number in range(X.shape[1])]
    return [X[name] for name in X.columns]


def is_numeric(X: Any) -> bool:
    """Say whether X holds rows of numbers.

    Only types are looked at, so that any rows of one table give the same answer.
    """
    if is_frame(X):
        return all(map(is_number_type, X.dtypes))
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def has_one_numpy_type(X: Any) -> bool:
    """Say whether all columns of a frame have the same type, and this is a type of NumPy."""
    return len(set(X.dtypes)) == 1 and all(isinstance(dtype, np.dtype) for dtype in X.dtypes)


def is_number_type(dtype: Any) -> bool:
    """Say whether a column's type is that of numbers or truth values, be it of NumPy, pandas (with missing values, or
    Arrow's) or polars.
    """
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    return dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
