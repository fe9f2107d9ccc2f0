"""Frames of pandas or polars, told by what they offer, without importing either library."""

from typing import Any

import numpy as np


def is_frame(X: Any) -> bool:
    return all(hasattr(X, name) for name in ("columns", "dtypes", "shape"))


def columns(X: Any) -> list[Any]:
    """The columns of a frame, pandas' by position, since names may repeat."""
    return [X.iloc[:, place] for place in range(X.shape[1])] if hasattr(X, "iloc") else [X[name] for name in X.columns]


def is_numeric(X: Any) -> bool:
    """Whether X holds rows of numbers, told by its types alone: the same for any rows of one table."""
    if is_frame(X):
        return all(map(_is_number_type, X.dtypes))
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def has_one_numpy_type(X: Any) -> bool:
    return len(set(X.dtypes)) == 1 and all(isinstance(dtype, np.dtype) for dtype in X.dtypes)


def _is_number_type(dtype: Any) -> bool:
    """Numbers and truth values, of NumPy, pandas (nullable and Arrow's, too) or polars."""
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    return dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
