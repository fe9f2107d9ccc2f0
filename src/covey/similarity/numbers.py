"""Rows of numbers: arrays, CSR matrices and frames become one array of numbers, which is checked."""

import sys
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array
from sklearn.utils.validation import validate_data

from covey.similarity.frames import columns, has_one_numpy_type, is_frame, is_numeric
from covey.similarity.matrices import check_csr
from covey.similarity.missing import first_marked, is_missing, missing_in
from covey.similarity.similarity import Measure

LARGEST_FLOAT = int(sys.float_info.max)
"""The largest number that a float holds. An int of Python may be larger."""


def check_rows(X: Any, estimator: Any = None, *, compared: bool = False, finite: bool = True) -> Any:
    """Return X as an array, or a CSR array, of numbers.

    The numbers must be finite. Pass ``finite=False`` if they go to a function of the user's own, which may allow other
    numbers. Pass ``compared=True`` for queries: their columns are then compared with those that were recorded on the
    estimator.
    """
    rows = check_array(
        check_csr(X, "X") if sp.issparse(X) else _array_of(X),
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )
    if compared and estimator is not None:  # X is passed as it was given, because an array has no names of columns
        validate_data(estimator, X, reset=False, skip_check_array=True)
    if finite:
        _check_finite(rows)
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def _array_of(X: Any) -> NDArray[Any]:
    """Return an X that is not sparse as one array. A missing value in an array of objects is refused by its place."""
    if is_frame(X) and is_numeric(X) and not has_one_numpy_type(X):
        return np.column_stack([_numbers(column) for column in columns(X)])
    values = np.asarray(X)
    if values.dtype.kind == "O" and (missing := missing_in(values)).any():
        value, where = first_marked(values, missing)
        raise ValueError(f"X must not hold missing values, got {value} at {where}; drop or impute such rows first.")
    if values.dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except OverflowError as error:
            too_large = np.frompyfunc(_exceeds_floats, 1, 1)(values).astype(bool)
            _, where = first_marked(values, too_large)
            raise ValueError(
                f"X must be finite, got an int beyond {LARGEST_FLOAT:.1e}, the largest float, at {where}; scale such "
                "columns, or drop such rows first."
            ) from error
        except (TypeError, ValueError) as error:
            raise type(error)(f"X must hold rows of numbers for this similarity: {error}.") from error
    return values


def _exceeds_floats(value: Any) -> bool:
    """Say whether a value is an int that no float holds."""
    return isinstance(value, Integral) and abs(int(value)) > LARGEST_FLOAT


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column of a numeric type as an array.

    Only a column of truth values with missing ones arrives here as objects.
    """
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return values
    return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)


def _check_finite(X: Any) -> None:
    """Refuse NaN, infinite numbers and NaT, and name the first of them."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind not in "fmM":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind == "f" and np.isfinite(values.sum(dtype=np.float64)):
            return  # a finite sum proves that every number is finite
    bad = ~np.isfinite(values)  # NaT counts as not finite, too
    if not bad.any():
        return
    value, where = first_marked(X, bad)
    shown = "NaN" if value.dtype.kind == "f" and np.isnan(value) else value
    raise ValueError(f"X must be finite, got {shown} at {where}; drop or impute such rows first.")


def like(objects: Any, others: Any) -> Any:
    """Return rows in the storage that other rows have, dense or CSR."""
    if sp.issparse(objects) == sp.issparse(others):
        return objects
    return sp.csr_array(objects) if sp.issparse(others) else objects.toarray()


def check_domain(rows: Any, domain: str, similarity: str) -> None:
    """Refuse numbers for which a named similarity is not defined."""
    values = rows.data if sp.issparse(rows) else rows
    if values.dtype.kind == "M":
        values = values.astype(np.int64)  # dates count from 1970 on, and cannot be compared with a number
    if domain == "nonnegative" and values.size and values.min() < 0:
        raise ValueError(
            f"X must not hold negative numbers for similarity={similarity!r}, got {values.min()}; "
            "use 'cosine' or 'euclidean' for signed features."
        )
    if domain == "binary":
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(
                f"X must hold sets or rows of 0 and 1 for similarity={similarity!r}, got {other.flat[0]}; "
                "pass X != 0 or sets, or use 'ruzicka' for weights; packed bits must be of type uint8 or uint64."
            )


def nothing_in_common(rows: Any, measure: Measure) -> float | None:
    """Return the similarity of rows that have nothing in common, or None if there is no such value for these rows.

    Where products or minima are summed, negative numbers may cancel out what rows have in common.
    """
    values = rows.data if sp.issparse(rows) else rows
    signed = measure.statistic in ("dot", "minimum") and values.min(initial=0) < 0
    return None if signed else measure.nothing_in_common
