"""`covey inspect`: show what a model holds."""

import json
import math
import sys
from typing import TYPE_CHECKING, Any

from covey.cli.files.block import STANDARD, bytes_in, name_of
from covey.cli.inspect.options import InspectOptions
from covey.cli.terminal import cell, show, show_some
from covey.runtime.wording import visible

if TYPE_CHECKING:
    from covey.cli.model_file import Model

TITLES = {
    "label": "label",
    "members": "members",
    "representatives": "few",
    "neighbors": "k",
    "coverage": "coverage",
    "homogeneity": "homogeneity",
    "threshold": "threshold",
    "orphans": "alone",
    "rejection_bar": "bar",
}
"""The titles of the table's columns, by the name that the value has in JSON."""


def inspect(options: InspectOptions) -> None:
    """Show what a model holds, cluster by cluster.

    The columns of the table are: how many members a cluster has, how many represent it (few), how many neighbors each
    member has (k), the coverage reached, the homogeneity (the mean similarity of two members), the threshold (no member
    covers another that is less similar, unless the selection was sharpened: then the most similar representative covers
    every member), how many members no other member can cover (alone), and, if the model was made with a rejection rate,
    the similarity below which covey classify --reject calibrated answers unknown for rows that the cluster wins (bar).
    The scan rate is the share of all pairs whose similarity was evaluated.

    The representatives are listed cluster by cluster, in the order in which they were picked: on a terminal the first
    of them, and else all, as CSV.

    Example: `covey inspect flowers.covey`

    Example: `covey inspect flowers.covey --representatives -o representatives.csv`
    """
    options.check_files()
    from covey.cli.model_file import read_model
    from covey.persistence.loading import ModelFile
    from covey.rejection import missing_bars

    model = read_model(name_of(options.model), ModelFile(bytes_in(options.model)), to_look_at=True)
    if options.representatives:
        _list_representatives(options, model)
    elif options.as_json:
        print(json.dumps(contents(name_of(options.model), model), indent=2))
    else:
        _show_clusters(contents(name_of(options.model), model))
        without = missing_bars(model.classifier)
        if without is not None:
            print(visible(without))


def _show_clusters(content: dict[str, Any]) -> None:
    """Print what a model holds, a line for each cluster."""
    unchanged = " (no exchange of representatives was found to help)" if content["sharpened"] is False else ""
    print(visible(f"{content['method']}{unchanged} on {content['objects']}, by {content['similarity']}"))
    print(visible(f"made from {content['made_from']}; {content['evaluations']:,} evaluations"), end=", ")
    print(f"scan rate {content['scan_rate']:.3f}")
    titles = {key: title for key, title in TITLES.items() if key in content["clusters"][0]}
    show(list(titles.values()), [[cell(cluster[key]) for key in titles] for cluster in content["clusters"]])
    if content["rejection_rate"] is not None:
        print(f"bars are for a rejection rate of {content['rejection_rate']:g}")


def _list_representatives(options: InspectOptions, model: "Model") -> None:
    """Show the representatives on a terminal, or write all of them."""
    from covey.cli.files.writing import writer
    from covey.cli.inspect.representatives import representatives_of

    frame = representatives_of(model)
    if options.as_json:
        print(frame.to_json(orient="records", indent=2, force_ascii=sys.stdout.isatty()))
    elif options.out is None and options.out_form is None and sys.stdout.isatty():
        show_some(frame)
    else:
        with writer(options.out or STANDARD, options.out_form, force=options.force) as put:
            put(frame)


def contents(path: str, model: "Model") -> dict[str, Any]:
    """Return what a model holds, in plain values."""
    selector = model.classifier.selector_
    parameters = {key: value for key, value in selector.get_params().items() if _is_plain(value)}
    inner: Any = getattr(selector, "selector_", selector)  # of a sharpened selection, k is that of what was sharpened
    n_neighbors = inner.get_params().get("n_neighbors")
    clusters = [_cluster(label, prototype, n_neighbors) for label, prototype in selector.prototypes_.items()]
    for cluster, bar in zip(clusters, getattr(model.classifier, "rejection_bars_", ()), strict=False):
        cluster["rejection_bar"] = _number(bar)
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
        "rejection_rate": getattr(model.classifier, "rejection_rate_", None),
        "clusters": clusters,
    }


def _cluster(label: Any, prototype: Any, n_neighbors: Any) -> dict[str, Any]:
    """Return what a model holds about one cluster."""
    return {
        "label": str(label),
        "members": int(prototype.members.size),
        "neighbors": _neighbors(n_neighbors, prototype.members.size),
        "representatives": int(prototype.indices.size),
        "coverage": float(prototype.coverage),
        "homogeneity": _number(prototype.homogeneity),
        "threshold": _number(prototype.threshold),
        "orphans": int(prototype.n_orphans),
        "evaluations": int(prototype.n_evaluations),
    }


def _neighbors(n_neighbors: Any, size: int) -> int | None:
    """Return how many neighbors each member of the cluster has; None if the method has no such number."""
    from covey.graph.build import auto_neighbors

    if n_neighbors is None:
        return None
    return min(auto_neighbors(size) if n_neighbors == "auto" else int(n_neighbors), size - 1)


def _is_plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float | str)


def _number(value: float) -> float | None:
    """Return a number, or None for what JSON has no number for."""
    return float(value) if math.isfinite(value) else None
