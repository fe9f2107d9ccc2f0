"""Format 2, in which the parameters of NN-Descent were parameters of `CRS`.

They go with the graph now: if they are not the defaults, the graph is one that NN-Descent makes with them.
"""

import copy
from collections.abc import Callable
from typing import Any

from numpy.typing import NDArray

from covey.persistence.old.estimators import estimators

DEFAULTS = [0.7, 0.001]
"""The default sample rate and tolerance of format 2."""


def upgrade(parts: dict[str, Any], array: Callable[[Any], NDArray[Any]], similarity: Any) -> tuple[dict[str, Any], Any]:
    """Return the JSON part of a file in format 3. The parameters are those of `format_1.upgrade`."""
    parts = copy.deepcopy(parts) | {"format": 3}
    for estimator in estimators(parts["content"]):
        parameters = estimator["parameters"]
        if "sample_rate" not in parameters or "graph" not in parameters:
            continue
        values = [parameters.pop(name, default) for name, default in zip(("sample_rate", "tol"), DEFAULTS, strict=True)]
        if values != DEFAULTS and parameters["graph"] in ("auto", "nn-descent"):
            parameters["graph"] = {"NNDescent": {"sample_rate": values[0], "tol": values[1]}}
    return parts, similarity
