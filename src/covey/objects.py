"""What X may be: arrays, CSR, frames, lists of anything. Checked once, then one of three plain forms.

`check_objects` returns a NumPy array (rows are objects), a CSR array (rows are objects) or a list. `take` picks
objects from any of them, and `clusters` splits positions by label.
"""

from collections.abc import Hashable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_array, column_or_1d
from sklearn.utils.validation import validate_data

from covey._csr import check_csr
from covey.similarity import Similarity

Objects = Any
"""np.ndarray, scipy.sparse.csr_array or list."""


def check_objects(X: Any, similarity: Similarity, estimator: Any = None, reset: bool = True) -> Objects:
    """Check X for this similarity and bring it into one of the plain forms.

    With an `estimator`, the number and names of features are recorded on it (`reset`) or compared with it.
    """
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
        if reset:
            _check_matrix(matrix, similarity)
        return matrix
    if similarity.kind == "rows":
        if _is_profiles(X):
            return list(X)
        _check_features(X)
        return _check_rows(X, estimator, reset)
    if _is_frame(X) and not _is_numeric(X):
        return X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records")
    if _is_frame(X) or sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim == 2 and _is_numeric(X)):
        return _check_rows(X, estimator, reset, finite=False)
    return X if isinstance(X, np.ndarray) else list(X)


def _check_sequence(X: Any) -> None:
    unordered = isinstance(X, AbstractSet | Mapping)
    unordered |= not hasattr(X, "__len__") or getattr(X, "shape", None) == ()
    if isinstance(X, str | bytes) or unordered:
        remedy = "list(X.values())" if isinstance(X, Mapping) else "list(X)"
        raise TypeError(f"X must be a sequence of objects, an array or a frame, got {type(X).__name__}; pass {remedy}.")
    if len(X) == 0:
        raise ValueError("X must hold at least one object, got an empty X.")


def _check_features(X: Any) -> None:
    """Say what a named similarity needs before scikit-learn says that a string is no float."""
    if _first_is(X, str):
        raise ValueError(
            "X must hold rows of numbers, sets or dicts of numbers for a named similarity, got strings; "
            "pass similarity= a callable s(a, b), for example rapidfuzz.fuzz.ratio."
        )
    if _is_frame(X) and not _is_numeric(X):
        for name in X.columns:
            column = np.asarray(X[name])
            if column.dtype.kind not in "biuf" and any(isinstance(value, str) for value in column):
                raise ValueError(
                    f"X must hold columns of numbers for a named similarity, but column {name!r} holds text; drop or "
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
    """One finite label for each of n objects, as an array."""
    y = column_or_1d(y, warn=True)
    if y.size != n:
        raise ValueError(f"y must hold one label for each of the {n} objects of X, got {y.size} labels.")
    if y.dtype.kind == "c":
        raise ValueError("y must hold labels that can be sorted, got complex numbers: Complex data not supported.")
    unlabelled = ~np.isfinite(y) if y.dtype.kind == "f" else np.array([label != label for label in y.tolist()])
    if unlabelled.any():
        raise ValueError(f"y must hold finite labels, got {y[unlabelled][0]}; drop or label such objects first.")
    return y


def clusters(y: Any, n: int) -> list[tuple[Hashable, NDArray[np.intp]]]:
    """(label, positions) of each cluster, labels sorted. Without labels all objects are cluster 0."""
    if y is None:
        return [(0, np.arange(n))]
    try:
        labels, group = np.unique(check_labels(y, n), return_inverse=True)
    except TypeError as error:
        raise TypeError(f"y must hold labels that can be sorted, all of one type: {error}.") from error
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
    if sp.issparse(X):
        X = check_csr(X, "X")
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": "numeric", "ensure_all_finite": False}
    X = check_array(X, **options) if estimator is None else validate_data(estimator, X, reset=reset, **options)
    if finite:
        _check_finite(X)
    return sp.csr_array(X) if sp.issparse(X) else X


def _check_finite(X: Any) -> None:
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind != "f":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(values.sum(dtype=np.float64)):
            return  # a sum is finite only if every term is
    bad = ~np.isfinite(values)
    if not bad.any():
        return
    if sp.issparse(X):
        position = int(np.flatnonzero(bad)[0])
        row = int(np.searchsorted(X.indptr, position, side="right")) - 1
        column, value = int(X.indices[position]), values[position]
    else:
        row, column = (int(at) for at in np.argwhere(bad)[0])
        value = values[row, column]
    shown = "NaN" if np.isnan(value) else value
    raise ValueError(f"X must be finite, got {shown} at row {row}, column {column}; drop or impute such rows first.")


def _check_matrix(matrix: Objects, similarity: Similarity) -> None:
    """Refuse what cannot be the matrix of a set of objects: not square, or not what it is said to be."""
    if similarity.conversion is not None:
        if sp.issparse(matrix):
            raise TypeError(
                "X must be a dense matrix for precomputed distances, since 0 is a distance, too; "
                "pass a sparse one as graph=covey.NeighborGraph.from_csr(X, from_distance='inverse')."
            )
        if matrix.min() < 0:
            raise ValueError(f"X must not hold negative numbers as precomputed distances, got {matrix.min()}.")
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
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, np.ndarray) and not sp.issparse(X)


def _is_numeric(X: Any) -> bool:
    return np.asarray(X).dtype.kind in "biuf"


def _first_is(X: Any, kind: Any) -> bool:
    return isinstance(X, Sequence | np.ndarray) and len(X) > 0 and not isinstance(X, str) and isinstance(X[0], kind)


def _is_profiles(X: Any) -> bool:
    return _first_is(X, dict | AbstractSet)
