"""What can be done with X before it is known what kind of objects X holds: first checks, and taking rows of it."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing

from covey.arrays import Positions
from covey.similarity.frames import is_frame
from covey.similarity.missing import refuse_masked


def check_input(X: Any) -> Any:
    """Refuse an X that is neither a sequence of objects, nor an array, nor a frame.

    A single column of a frame becomes a list.
    """
    refuse_masked(X, "X")
    if not is_frame(X):
        X = _listed(X)
    array_like = is_frame(X) or sp.issparse(X) or hasattr(X, "__array__")
    if not array_like or (isinstance(X, np.ndarray) and X.ndim < 2):
        _check_sequence(X)
    return X


def _listed(X: Any) -> Any:
    """Return a series of pandas or polars, or an array of Arrow, as a list, and anything else as it is."""
    listing = next((name for name in ("to_list", "to_pylist") if hasattr(X, name)), None)
    return X if listing is None else getattr(X, listing)()


def are_profiles(X: Any) -> bool:
    """Say whether X holds sets or dicts. The first object decides."""
    return first_is(X, dict | AbstractSet)


def _check_sequence(X: Any) -> None:
    """Refuse what has no order or no length, a single string, and an X without objects."""
    unordered = isinstance(X, AbstractSet | Mapping)
    unordered |= not hasattr(X, "__len__") or getattr(X, "shape", None) == ()
    if isinstance(X, str | bytes) or unordered:
        remedy = "list(X.values())" if isinstance(X, Mapping) else "list(X)"
        raise TypeError(f"X must be a sequence of objects, an array or a frame, got {type(X).__name__}; pass {remedy}.")
    if len(X) == 0:
        raise ValueError("X must hold at least one object, got an empty X.")


def check_same_kind(X: Any, profiles: bool) -> None:
    """Refuse rows of numbers where profiles were passed to fit, and the other way round."""
    if are_profiles(X) != profiles:
        raise TypeError("X must be of the kind passed to fit: either rows of numbers, or sets and dicts.")


def first_is(X: Any, kind: Any) -> bool:
    """Say whether X is a sequence whose first object is of a given type."""
    return isinstance(X, Sequence | np.ndarray) and len(X) > 0 and not isinstance(X, str) and isinstance(X[0], kind)


def take_rows(X: Any, rows: Positions) -> Any:
    """Return some rows of what a user has passed, in the same type.

    Only a sparse matrix of a format that cannot be indexed becomes CSR.
    """
    if hasattr(X, "to_pylist"):
        return X.take(rows)  # Arrow's tables and arrays
    if sp.issparse(X) and X.format not in ("csr", "csc", "lil"):
        X = X.tocsr()
    return type(X)(X[row] for row in rows) if type(X) in (list, tuple) else _safe_indexing(X, rows)
