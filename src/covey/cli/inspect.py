"""`covey inspect`: what a model holds."""

from typing import Any

import numpy as np

from covey.cli.model import load_model
from covey.cli.recipe import described
from covey.selectors.crs import auto_neighbors


def inspect(path: str) -> dict[str, Any]:
    """What a model file holds, in plain values."""
    model = load_model(path, to_look_at=True)
    selector = model.classifier.selector_
    parameters = {key: value for key, value in selector.get_params().items() if _plain(value)}
    return {
        "file": path,
        "method": type(selector).__name__,
        "parameters": parameters,
        "similarity": model.recipe.similarity if model.recipe.kind not in ("matrix", "distances") else "precomputed",
        "objects": described(model.recipe),
        "made_from": model.data,
        "evaluations": int(selector.n_evaluations_),
        "scan_rate": float(selector.scan_rate_),
        "clusters": [
            {
                "label": str(label),
                "members": int(found.members.size),
                "neighbors": _neighbors(parameters.get("n_neighbors"), found.members.size),
                "representatives": int(found.indices.size),
                "coverage": float(found.coverage),
                "homogeneity": _number(found.homogeneity),
                "threshold": _number(found.threshold),
                "orphans": int(found.n_orphans),
                "evaluations": int(found.n_evaluations),
            }
            for label, found in selector.prototypes_.items()
        ],
    }


def _neighbors(asked: Any, size: int) -> int | None:
    """How many neighbors an object of the cluster has had."""
    if asked is None:
        return None
    return min(auto_neighbors(size) if asked == "auto" else int(asked), size - 1)


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
