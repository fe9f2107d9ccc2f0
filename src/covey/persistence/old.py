"""Readers of the formats that earlier versions of covey wrote; docs/file-format.md lists how the formats differ.

There is a function for each old format. It turns the JSON part of a file into that of the next format, so that the rest
of `persistence` knows only the present one. Whoever changes the format raises `FORMAT`, adds here the function that
upgrades files of the format so far, and lists it in `UPGRADES`. Files of every old format are kept with the tests
(`tests/files`).
"""

import copy
from collections.abc import Callable, Iterator
from typing import Any

from numpy.typing import NDArray

from covey.persistence.values import write_scalar
from covey.similarity.names import STRINGS
from covey.similarity.similarity import Similarity

DEFAULTS = [0.7, 0.001]
"""The default sample rate and tolerance of format 2."""


def from_format_1(
    parts: dict[str, Any], array: Callable[[Any], NDArray[Any]], similarity: Any
) -> tuple[dict[str, Any], Any]:
    """Return the JSON part of a file in format 2, and the similarity that is still to be passed.

    Two differences need work here:

    - Format 1, which version 0.1.0 wrote, wrote a label that is a date as an integer. The classes of a classifier tell
      which date it was.
    - Version 0.1.0 had no names for similarities of strings, and wrote rapidfuzz' functions as callables. On loading,
      the name of such a similarity may be passed in place of the function, which cannot be sent to other processes.

    Values for which format 1 had no form, such as NumPy's numbers, were written as others; they stay what they became.

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
    for estimator in _estimators(parts["content"]):
        state = estimator["state"]
        if "classes_" in state and "array" in state["classes_"]:
            _restore_dates(state, array(state["classes_"]["array"]))
    name = similarity.function if isinstance(similarity, Similarity) else similarity
    if parts["callable"] is None or not (isinstance(name, str) and name in STRINGS):
        return parts, similarity
    for estimator in _estimators(parts["content"]):
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


def from_format_2(
    parts: dict[str, Any], array: Callable[[Any], NDArray[Any]], similarity: Any
) -> tuple[dict[str, Any], Any]:
    """Return the JSON part of a file in format 3, and the similarity; the parameters are those of `from_format_1`.

    In format 2 the parameters of NN-Descent were parameters of `CRS`. They go with the graph now: if they are not the
    defaults, the graph is one that NN-Descent makes with them.
    """
    parts = copy.deepcopy(parts) | {"format": 3}
    for estimator in _estimators(parts["content"]):
        parameters = estimator["parameters"]
        if "sample_rate" not in parameters or "graph" not in parameters:
            continue
        values = [parameters.pop(name, default) for name, default in zip(("sample_rate", "tol"), DEFAULTS, strict=True)]
        if values != DEFAULTS and parameters["graph"] in ("auto", "nn-descent"):
            parameters["graph"] = {"NNDescent": {"sample_rate": values[0], "tol": values[1]}}
    return parts, similarity


def _estimators(encoded: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the parameters and the state of an estimator, and of those within it."""
    [content] = encoded.values()
    yield content
    for inner in (content["parameters"].get("selector"), content["state"].get("selector_")):
        if inner is not None:
            yield from _estimators(inner)


UPGRADES = {1: from_format_1, 2: from_format_2}
"""How a file of each older format is brought into the next one."""
