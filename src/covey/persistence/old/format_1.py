"""Format 1, which version 0.1.0 wrote. Two of its differences from format 2 need work here;
docs/file-format.md lists all of them.

- Format 1 wrote a label that is a date as an integer. The classes of a classifier tell which date it was.
- Version 0.1.0 had no names for similarities of strings, and wrote rapidfuzz' functions as callables. On loading, the
  name of such a similarity may be passed in place of the function, which cannot be sent to other processes.

Values for which format 1 had no form, such as NumPy's numbers, were written as others; they stay what they became.
"""

import copy
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from covey.persistence.old.estimators import estimators
from covey.persistence.values import write_scalar
from covey.similarity.names import STRINGS
from covey.similarity.similarity import Similarity


def upgrade(parts: dict[str, Any], array: Callable[[Any], NDArray[Any]], similarity: Any) -> tuple[dict[str, Any], Any]:
    """Return the JSON part of a file in format 2, and the similarity that is still to be passed.

    Parameters
    ----------
    parts : dict
        The JSON part in format 1; it is not changed.
    array : callable
        Gives the array that has a number in the file.
    similarity : optional
        What the user passed to `load`.
    """
    parts = copy.deepcopy(parts) | {"format": 2}
    for estimator in estimators(parts["content"]):
        state = estimator["state"]
        if "classes_" in state and "array" in state["classes_"]:
            _restore_dates(state, array(state["classes_"]["array"]))
    name = similarity.function if isinstance(similarity, Similarity) else similarity
    if parts["callable"] is None or not (isinstance(name, str) and name in STRINGS):
        return parts, similarity
    for estimator in estimators(parts["content"]):
        if "similarity" in estimator["parameters"]:
            estimator["parameters"]["similarity"] = name
    return parts | {"callable": None}, None


def _restore_dates(state: dict[str, Any], classes: NDArray[Any]) -> None:
    """Put the dates in place of the integers that the selector of a classifier has as labels."""
    if classes.dtype.kind not in "mM":
        return
    [selector] = state["selector_"].values()
    entries = selector["state"]["prototypes_"]["dict"]
    # This is checked before there is an object for each date, of which a small file may hold millions.
    if classes.shape != (len(entries),):
        raise ValueError("classes_ must be the labels of the prototypes")
    dates = [{"scalar": write_scalar(label)} for label in classes]
    for date, entry in zip(dates, entries, strict=True):
        entry[0] = entry[1]["Prototype"]["label"] = date
    if "stopped_by_" in selector["state"]:
        for date, entry in zip(dates, selector["state"]["stopped_by_"]["dict"], strict=True):
            entry[0] = date
