"""`covey inspect`: what a model holds."""

from typing import Any

import numpy as np

from covey.commands._model import load_model
from covey.commands._recipe import described


def inspect(path: str, similarity: str | None = None) -> dict[str, Any]:
    """What a model file holds, in plain values."""
    model = load_model(path, similarity)
    selector = model.classifier.selector_
    parameters = {key: value for key, value in selector.get_params().items() if _plain(value)}
    return {
        "file": path,
        "method": type(selector).__name__,
        "parameters": parameters,
        "similarity": model.recipe.similarity if model.recipe.kind != "matrix" else "precomputed",
        "objects": described(model.recipe),
        "made_from": model.data,
        "evaluations": int(selector.n_evaluations_),
        "scan_rate": float(selector.scan_rate_),
        "clusters": [
            {
                "label": str(label),
                "members": int(found.members.size),
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


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _number(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
