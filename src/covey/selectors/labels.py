"""Labels are checked and split the objects into clusters."""

from collections.abc import Hashable
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from covey.arrays import Flags, Positions
from covey.similarity.missing import first_marked, missing_in, refuse_masked


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Return one finite label for each of n objects, in an array that holds exactly the labels given."""
    refuse_masked(y, "y")
    given = (
        np.asarray(y) if hasattr(y, "__array__") else np.asarray(y, dtype=object)
    )  # NumPy would turn the label 1 among texts into '1'
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


def _check_labelled(labels: NDArray[Any], unlabelled: Flags) -> None:
    """Refuse labels that are missing or infinite, and name the first of them."""
    if unlabelled.any():
        label, where = first_marked(labels, unlabelled)
        raise ValueError(f"y must hold finite labels, got {label} at {where}; drop or label such objects first.")


def exact_array(labels: NDArray[np.object_]) -> NDArray[Any]:
    """Return the labels in NumPy's own type for them if it holds each of them exactly, and as they are otherwise.

    NumPy's type is not exact for integers that NumPy would turn into floats, such as -1 and 2^63 together, nor for
    numbers among strings.
    """
    values = labels.tolist()
    try:
        tight = np.array(values)
    except ValueError:  # the labels are sequences of different lengths
        return labels
    whole = tight.dtype.kind != "f" or not all(isinstance(value, Integral) for value in values)
    exact = tight.shape == labels.shape and whole and all(map(_same, label_values(tight), values))
    return tight if exact else labels


def _same(a: Any, b: Any) -> bool:
    """Say whether two labels are equal. NaN counts as equal to NaN."""
    return bool(a == b or (a != a and b != b))


def clusters(y: Any, n: int) -> list[tuple[Hashable, Positions]]:
    """Return the label and the positions of each cluster, sorted by label.

    Without labels, all objects are cluster 0.
    """
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
    return list(zip(label_values(labels), np.split(order, ends[:-1]), strict=True))


def label_values(labels: NDArray[Any]) -> list[Any]:
    """Return labels as Python objects. Dates stay as NumPy has them, because `tolist` turns some into integers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()
