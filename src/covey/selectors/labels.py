"""Labels: they are checked, and split the objects into clusters."""

from collections.abc import Hashable
from itertools import pairwise
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d

from covey.arrays import Flags, Positions
from covey.similarity.inputs import first_marked, missing_in, refuse_masked


def check_labels(y: Any, n: int) -> NDArray[Any]:
    """Return one finite label for each of n objects, in an array that holds exactly the labels given."""
    refuse_masked(y, "y")
    given = _as_array(y)
    _check_real(given)
    labels = column_or_1d(given, warn=True)
    if labels.size != n:
        raise ValueError(f"y must hold one label for each of the {n} objects of X, got {labels.size} labels.")
    _check_labelled(labels, missing_in(labels))
    text_in_array = hasattr(y, "__array__") and labels.size > 0 and isinstance(labels[0], str)
    labels = labels if labels.dtype.kind != "O" or text_in_array else exact_array(labels)
    _check_real(labels)
    if labels.dtype.kind == "f":
        _check_labelled(labels, np.isinf(labels))
    if labels.dtype.kind == "O":
        _check_hashable(labels)
    return labels


def _as_array(y: Any) -> NDArray[Any]:
    """Return labels in an array, each as it is.

    NumPy would turn the label 1 among strings into '1', and tuples into the rows of a table. Few libraries know its own
    strings of any length (`StringDType`).
    """
    if hasattr(y, "__array__"):
        given = np.asarray(y)
        return given.astype(object) if given.dtype.kind == "T" else given
    if isinstance(y, list | tuple) and not any(isinstance(label, list | np.ndarray) for label in y):
        return np.fromiter(y, dtype=object, count=len(y))
    return np.asarray(y, dtype=object)  # lists may be the rows of a table with one column


def _check_real(labels: NDArray[Any]) -> None:
    """Refuse complex numbers, which have no order."""
    if labels.dtype.kind == "c":
        raise ValueError("y must hold labels that can be sorted, got complex numbers: Complex data not supported.")


def _check_hashable(labels: NDArray[np.object_]) -> None:
    """Refuse labels that cannot be keys of a dict, and name the first of them."""
    for number, label in enumerate(labels):
        try:
            hash(label)
        except TypeError as error:
            raise TypeError(
                f"y must hold labels that can be keys of a dict, got {label!r} at position {number}; pass tuples or "
                "strings."
            ) from error


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
    """Return whether two labels are equal. NaN counts as equal to NaN."""
    return bool(a == b or (a != a and b != b))


LabelledClusters = list[tuple[Hashable, Positions]]
"""The label and the members of each cluster."""


def clusters(y: Any, n: int) -> LabelledClusters:
    """Return the label and the positions of each cluster, sorted by label.

    Without labels, all objects are cluster 0.
    """
    if y is None:
        return [(0, np.arange(n))]
    labels, group = sorted_labels(check_labels(y, n))
    order = np.argsort(group, kind="stable")
    ends = np.cumsum(np.bincount(group))
    return list(zip(label_values(labels), np.split(order, ends[:-1]), strict=True))


def sorted_labels(labels: NDArray[Any]) -> tuple[NDArray[Any], Positions]:
    """Return the different labels in ascending order, and for each object the number of its label.

    Python objects are told apart as the keys of a dict are, not by sorting them, since equal labels need not come
    together if some labels have no order. Such labels are refused, because their order would be that of the rows.
    """
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)
    values = labels.tolist()
    try:
        different = sorted(dict.fromkeys(values))
    except TypeError as error:
        raise TypeError(
            f"y must hold labels that can be sorted, all of one type: {error}; pass list(map(str, y))."
        ) from error
    for a, b in pairwise(different):
        if not a < b:
            raise TypeError(
                f"y must hold labels that can be sorted, but neither of {a!r} and {b!r} comes before the other; pass "
                "numbers, strings or tuples of them."
            )
    number_of = {label: number for number, label in enumerate(different)}
    group = np.fromiter(map(number_of.__getitem__, values), dtype=np.intp, count=len(values))
    return np.fromiter(different, dtype=object, count=len(different)), group


def label_values(labels: NDArray[Any]) -> list[Any]:
    """Return labels as Python objects. Dates stay as NumPy has them, because `tolist` turns some into integers."""
    return list(labels) if labels.dtype.kind in "mM" else labels.tolist()
