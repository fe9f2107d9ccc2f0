"""What X may be: arrays, CSR, frames, lists of anything. Checked once, then one of three plain forms.

`check_objects` returns a NumPy array (rows are objects), a CSR array (rows are objects) or a list. `take` picks
objects from any of them, and `clusters` splits positions by label.
"""

import math
from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import date, timedelta
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_array, column_or_1d
from sklearn.utils.validation import validate_data

from covey.similarity.csr import check_csr
from covey.similarity.missing import is_missing, missing_in, place, refuse_masked
from covey.similarity.similarity import LARGEST, STRINGS, Similarity

Objects = Any
"""np.ndarray, scipy.sparse.csr_array or list."""

NO_NUMBERS: dict[str, Any] = {"text": str, "dates": (date, timedelta, np.datetime64, np.timedelta64)}
"""What a column of objects may hold that a similarity of rows cannot compare."""


def check_objects(X: Any, similarity: Similarity, estimator: Any = None, reset: bool = True) -> Objects:
    """Check X for this similarity and bring it into one of the plain forms.

    With an `estimator`, the number and names of features are recorded on it (`reset`) or compared with it.
    """
    refuse_masked(X, "X")
    if hasattr(X, "to_list") and not _is_frame(X):
        X = X.to_list()  # a pandas or polars Series
    array_like = _is_frame(X) or sp.issparse(X) or hasattr(X, "__array__")
    if not array_like or (isinstance(X, np.ndarray) and X.ndim < 2):
        _check_sequence(X)
    if estimator is not None and reset:  # of an earlier fit on rows
        for name in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(name, None)
    if similarity.kind == "matrix":
        matrix = _check_rows(X, estimator, reset)
        _check_entries(matrix, similarity)
        if reset:
            _check_matrix(matrix, similarity)
        return matrix
    if similarity.kind == "strings":
        return _check_strings(X, similarity)
    if similarity.kind == "rows":
        if _is_profiles(X):
            return _check_profiles(list(X))
        _check_features(X)
        return _check_rows(X, estimator, reset)
    known = None if estimator is None or reset else hasattr(estimator, "n_features_in_")
    if sp.issparse(X) or (_is_numeric(X) if known is None else known):  # what were rows to fit are rows ever after
        return _check_rows(X, estimator, reset, finite=False)
    if _is_frame(X):
        return X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records")
    return np.asarray(X) if isinstance(X, np.ndarray) else list(X)


def _check_sequence(X: Any) -> None:
    unordered = isinstance(X, AbstractSet | Mapping)
    unordered |= not hasattr(X, "__len__") or getattr(X, "shape", None) == ()
    if isinstance(X, str | bytes) or unordered:
        remedy = "list(X.values())" if isinstance(X, Mapping) else "list(X)"
        raise TypeError(f"X must be a sequence of objects, an array or a frame, got {type(X).__name__}; pass {remedy}.")
    if len(X) == 0:
        raise ValueError("X must hold at least one object, got an empty X.")


def _check_strings(X: Any, similarity: Similarity) -> list[str]:
    if _is_frame(X) or sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim != 1):
        raise TypeError(
            f"X must be a sequence of strings for similarity={similarity.function!r}, got {type(X).__name__} of shape "
            f"{X.shape}; pass one column of it, or use a similarity of rows."
        )
    strings = X.tolist() if isinstance(X, np.ndarray) else list(X)
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            shown = value if is_missing(value) else type(value).__name__
            raise TypeError(
                f"X must hold only strings for similarity={similarity.function!r}, got {shown} at position {position}; "
                "drop such objects or turn them into strings."
            )
    return strings


def _check_features(X: Any) -> None:
    """Say what a similarity of rows needs before scikit-learn says that a string is no float."""
    if _first_is(X, str):
        raise ValueError(
            "X must hold rows of numbers, sets or dicts of numbers for this similarity, got strings; "
            f"pass similarity= one of {sorted(STRINGS)} or a callable s(a, b)."
        )
    if not _is_frame(X) or _is_numeric(X) or np.asarray(X).dtype.kind != "O":
        return
    for name, column in zip(X.columns, _columns(X), strict=True):
        values = column.to_list()
        for found, types in NO_NUMBERS.items():
            if any(isinstance(value, types) for value in values):
                raise ValueError(
                    f"X must hold columns of numbers for this similarity, but column {name!r} holds {found}; drop or "
                    "encode it, or pass similarity= a callable: rows then come to it as dicts."
                )


def count(objects: Objects) -> int:
    return int(objects.shape[0]) if hasattr(objects, "shape") else len(objects)


def take(objects: Objects, positions: NDArray[np.intp]) -> Objects:
    """The objects at these positions, in the same form; all of them, in order, without a copy."""
    if positions.size == count(objects) and np.array_equal(positions, np.arange(positions.size)):
        return objects
    return [objects[p] for p in positions] if isinstance(objects, list) else objects[positions]


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """One finite label for each of n objects, as an array that holds exactly the labels given."""
    refuse_masked(y, "y")
    given = np.asarray(y) if hasattr(y, "__array__") else np.asarray(y, dtype=object)  # no label becomes another
    labels = column_or_1d(given, warn=True)
    if labels.size != n:
        raise ValueError(f"y must hold one label for each of the {n} objects of X, got {labels.size} labels.")
    _check_labelled(labels, missing_in(labels))
    text_in_array = hasattr(y, "__array__") and labels.size > 0 and isinstance(labels[0], str)
    labels = labels if labels.dtype.kind != "O" or text_in_array else exact_array(labels)
    if labels.dtype.kind == "c":
        raise ValueError("y must hold labels that can be sorted, got complex numbers: Complex data not supported.")
    if labels.dtype.kind == "f":
        _check_labelled(labels, np.isinf(labels))
    return labels


def _check_labelled(labels: NDArray[Any], unlabelled: NDArray[np.bool_]) -> None:
    if unlabelled.any():
        label, where = _first(labels, unlabelled)
        raise ValueError(f"y must hold finite labels, got {label} at {where}; drop or label such objects first.")


def exact_array(labels: NDArray[np.object_]) -> NDArray[Any]:
    """The labels in NumPy's type for them, if that type holds each of them exactly; else as they are.

    It does not for whole numbers that NumPy would make floats, such as -1 and 2^63, nor for numbers among strings.
    """
    values = labels.tolist()
    try:
        tight = np.array(values)
    except ValueError:  # labels of different lengths
        return labels
    whole = tight.dtype.kind != "f" or not all(isinstance(value, Integral) for value in values)
    exact = tight.shape == labels.shape and whole and all(map(_same, tight.tolist(), values))
    return tight if exact else labels


def _same(a: Any, b: Any) -> bool:
    return bool(a == b or (a != a and b != b))


def clusters(y: Any, n: int) -> list[tuple[Hashable, NDArray[np.intp]]]:
    """(label, positions) of each cluster, labels sorted. Without labels all objects are cluster 0."""
    if y is None:
        return [(0, np.arange(n))]
    try:
        labels, group = np.unique(check_labels(y, n), return_inverse=True)
    except TypeError as error:
        raise TypeError(f"y must hold labels that can be sorted, all of one type: {error}.") from error
    if labels.dtype.kind == "O" and not all(isinstance(label, Hashable) for label in labels):
        raise TypeError(f"y must hold labels that can be keys of a dict, got {labels[0]!r}; pass tuples or strings.")
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    keys = list(labels) if labels.dtype.kind in "mM" else labels.tolist()  # dates stay dates
    return list(zip(keys, np.split(order, ends[:-1]), strict=True))


def pick(X: Any, rows: NDArray[np.intp]) -> Any:
    """Some rows of what a user passed, in the same type where it can be indexed; other sparse formats become CSR."""
    if sp.issparse(X) and X.format not in ("csr", "csc", "lil"):
        X = X.tocsr()
    return type(X)(X[row] for row in rows) if type(X) in (list, tuple) else _safe_indexing(X, rows)


def _check_rows(X: Any, estimator: Any, reset: bool, finite: bool = True) -> Objects:
    rows = check_array(
        check_csr(X, "X") if sp.issparse(X) else _array_of(X),
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )
    if estimator is not None:  # names and number of the columns are the frame's
        validate_data(estimator, X, reset=reset, skip_check_array=True)
    if finite:
        _check_finite(rows)
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def _array_of(X: Any) -> NDArray[Any]:
    """What is not sparse as one array; a missing value among objects is refused with its place."""
    if _is_frame(X) and _is_numeric(X) and not _has_one_numpy_type(X):
        return np.column_stack([_numbers(column) for column in _columns(X)])
    values = np.asarray(X)
    if values.dtype.kind == "O" and (missing := missing_in(values)).any():
        value, where = _first(values, missing)
        raise ValueError(f"X must not hold missing values, got {value} at {where}; drop or impute such rows first.")
    if values.dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except (TypeError, ValueError) as error:
            raise type(error)(f"X must hold rows of numbers for this similarity: {error}.") from error
    return values


def _numbers(column: Any) -> NDArray[Any]:
    """A column of a numeric type; only truth values with gaps come as objects."""
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return values
    return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)


def _check_finite(X: Any) -> None:
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind not in "fmM":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind == "f" and np.isfinite(values.sum(dtype=np.float64)):
            return  # a sum is finite only if every term is
    bad = ~np.isfinite(values)  # which NaT is not, either
    if not bad.any():
        return
    value, where = _first(X, bad)
    shown = "NaN" if value.dtype.kind == "f" and np.isnan(value) else value
    raise ValueError(f"X must be finite, got {shown} at {where}; drop or impute such rows first.")


def _first(X: Any, marked: NDArray[np.bool_]) -> tuple[Any, str]:
    """The first entry that is marked, and its place; of a sparse X only stored entries are."""
    if not sp.issparse(X):
        at = tuple(np.argwhere(marked)[0])
        return X[at], place(at)
    position = int(np.flatnonzero(marked)[0])
    row = int(np.searchsorted(X.indptr, position, side="right")) - 1
    return X.data[position], place((row, X.indices[position]))


def _check_entries(matrix: Objects, similarity: Similarity) -> None:
    """Refuse what no entry of a matrix may be, whatever its rows stand for."""
    if similarity.conversion is not None:
        if sp.issparse(matrix):
            raise TypeError(
                "X must be a dense matrix for precomputed distances, since 0 is a distance, too; "
                "pass a sparse one as graph=covey.NeighborGraph.from_csr(X, from_distance='inverse')."
            )
        if matrix.min() < 0:
            raise ValueError(f"X must not hold negative numbers as precomputed distances, got {matrix.min()}.")
    if matrix.max() >= LARGEST or matrix.min() <= -LARGEST:
        value, where = _first(matrix, np.abs(matrix.data if sp.issparse(matrix) else matrix) >= LARGEST)
        raise ValueError(
            f"X must hold numbers below {LARGEST:g} in magnitude when it is precomputed, so that their sums stay "
            f"finite, got {value} at {where}; scale X down."
        )


def _check_matrix(matrix: Objects, similarity: Similarity) -> None:
    """Refuse what cannot be the matrix of a set of objects: not square, or not what it is said to be."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "X must be a square matrix for similarity='precomputed', one row and one column for each object, "
            f"got shape {matrix.shape}."
        )
    if similarity.conversion is None and looks_like_distances(matrix):
        raise ValueError(
            "X looks like distances: its diagonal is smaller than the rest, but similarity='precomputed' means larger "
            "is closer; pass covey.from_distance('precomputed'), or fill the diagonal if these are similarities."
        )


def looks_like_distances(matrix: Objects) -> bool:
    """Whether no object is more similar to itself than to any other, and some are less."""
    diagonal = matrix.diagonal()
    if not sp.issparse(matrix):
        return bool((diagonal <= matrix.min(axis=1)).all() and matrix.max() > diagonal.max())
    # A graph need not store its diagonal; only a stored one says what an object is to itself.
    itself = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr)) == matrix.indices
    others = matrix.data[~itself]
    if np.count_nonzero(itself) < matrix.shape[0] or not others.size:
        return False
    return bool(diagonal.max() <= others.min() and diagonal.max() < others.max())


def _is_frame(X: Any) -> bool:
    return all(hasattr(X, name) for name in ("columns", "dtypes", "shape"))


def _columns(X: Any) -> list[Any]:
    """The columns of a frame, pandas' by position, since names may repeat."""
    return [X.iloc[:, at] for at in range(X.shape[1])] if hasattr(X, "iloc") else [X[name] for name in X.columns]


def _is_numeric(X: Any) -> bool:
    """Whether X holds rows of numbers, told by its types alone: the same for any rows of one table."""
    if _is_frame(X):
        return all(map(_is_number_type, X.dtypes))
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def _has_one_numpy_type(X: Any) -> bool:
    return len(set(X.dtypes)) == 1 and all(isinstance(dtype, np.dtype) for dtype in X.dtypes)


def _is_number_type(dtype: Any) -> bool:
    """Numbers and truth values, of NumPy, pandas (nullable and Arrow's, too) or polars."""
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    return dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"


def _first_is(X: Any, kind: Any) -> bool:
    return isinstance(X, Sequence | np.ndarray) and len(X) > 0 and not isinstance(X, str) and isinstance(X[0], kind)


def _check_profiles(profiles: list[Any]) -> list[Any]:
    """Sets, and dicts of finite numbers."""
    for position, profile in enumerate(profiles):
        if not isinstance(profile, dict | AbstractSet):
            raise TypeError(
                f"X must hold only sets or dicts of numbers once its first object is one, "
                f"got {type(profile).__name__} at position {position}."
            )
        if isinstance(profile, dict) and not all(map(_is_finite_number, profile.values())):
            wrong = next(value for value in profile.values() if not _is_finite_number(value))
            raise (ValueError if isinstance(wrong, Real) else TypeError)(
                f"X must hold dicts of numbers, all finite, for a named similarity, but object {position} holds "
                f"{wrong!r}; leave such values out or turn them into numbers."
            )
    return profiles


def _is_finite_number(value: Any) -> bool:
    if type(value) is float or type(value) is int:  # nearly always
        return -LARGEST < value < LARGEST
    return isinstance(value, Real | Decimal | np.bool_) and math.isfinite(value)


def _is_profiles(X: Any) -> bool:
    return _first_is(X, dict | AbstractSet)
