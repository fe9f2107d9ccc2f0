"""`covey inspect`: show what a model holds."""

import json
import math
from dataclasses import dataclass
from typing import Annotated, Any

from covey.cli.declaration import argument, option
from covey.cli.terminal import cell, show, visible

TITLES = {
    "label": "label",
    "members": "members",
    "representatives": "few",
    "neighbors": "k",
    "coverage": "coverage",
    "homogeneity": "homogeneity",
    "threshold": "threshold",
    "orphans": "alone",
}
"""The titles of the table's columns, by the name that the value has in JSON."""


@dataclass(frozen=True)
class Inspection:
    """Which model is shown, and how."""

    model: Annotated[str, argument("MODEL", "A model that covey select has written.")]
    as_json: Annotated[bool, option("--json", what="Print JSON instead of a table.")] = False


def inspect(inspection: Inspection) -> None:
    """Show what a model holds, cluster by cluster.

    The columns of the table are: how many members a cluster has, how many represent it (few), how many neighbors each
    member has (k), the coverage reached, the homogeneity (the mean similarity of two members), the threshold (no member
    covers another that is less similar, unless the selection was sharpened: then the most similar representative covers
    every member), and how many members no other member can cover (alone). The scan rate is the
    share of all pairs whose similarity was evaluated.

    Example: `covey inspect flowers.covey`
    """
    found = contents(inspection.model)
    if inspection.as_json:
        print(json.dumps(found, indent=2))
        return
    unchanged = " (no exchange of representatives was found to help)" if found["sharpened"] is False else ""
    print(visible(f"{found['method']}{unchanged} on {found['objects']}, by {found['similarity']}"))
    print(visible(f"made from {found['made_from']}; {found['evaluations']:,} evaluations"), end=", ")
    print(f"scan rate {found['scan_rate']:.3f}")
    show(list(TITLES.values()), [[cell(cluster[key]) for key in TITLES] for cluster in found["clusters"]])


def contents(path: str) -> dict[str, Any]:
    """Return what a model file holds, in plain values."""
    from covey.cli.files.opening import check_exists
    from covey.cli.model import read_model
    from covey.persistence.loading import ModelFile

    check_exists(path)
    model = read_model(path, ModelFile(path), to_look_at=True)
    selector = model.classifier.selector_
    parameters = {key: value for key, value in selector.get_params().items() if _is_plain(value)}
    inner: Any = getattr(selector, "selector_", selector)  # of a sharpened selection, k is that of what was sharpened
    n_neighbors = inner.get_params().get("n_neighbors")
    return {
        "file": path,
        "method": " ".join(type(used).__name__ for used in dict.fromkeys((selector, inner))),
        "sharpened": getattr(selector, "sharpened_", None),
        "parameters": parameters,
        "similarity": model.recipe.similarity_name,
        "objects": model.recipe.described(),
        "made_from": model.data,
        "evaluations": int(selector.n_evaluations_),
        "scan_rate": float(selector.scan_rate_),
        "clusters": [_cluster(label, found, n_neighbors) for label, found in selector.prototypes_.items()],
    }


def _cluster(label: Any, found: Any, n_neighbors: Any) -> dict[str, Any]:
    """Return what a model holds about one cluster."""
    return {
        "label": str(label),
        "members": int(found.members.size),
        "neighbors": _neighbors(n_neighbors, found.members.size),
        "representatives": int(found.indices.size),
        "coverage": float(found.coverage),
        "homogeneity": _number(found.homogeneity),
        "threshold": _number(found.threshold),
        "orphans": int(found.n_orphans),
        "evaluations": int(found.n_evaluations),
    }


def _neighbors(asked: Any, size: int) -> int | None:
    """Return how many neighbors each member of the cluster has; None if the method has no such number."""
    from covey.graph.build import auto_neighbors

    if asked is None:
        return None
    return min(auto_neighbors(size) if asked == "auto" else int(asked), size - 1)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _number(value: float) -> float | None:
    """Return a number, or None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None
