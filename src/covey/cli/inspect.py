"""`covey inspect`: show what a model holds."""

import json
import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from covey.cli.errors import MisuseError
from covey.cli.files.block import STANDARD, bytes_in, name_of
from covey.cli.files.formats import Format
from covey.cli.files.paths import check_model, check_output
from covey.cli.options import OUT_FORMATS, RUN, Replacing
from covey.cli.terminal import cell, show, show_some, visible
from covey.cli.typer_dataclasses import argument, option

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


@dataclass(frozen=True)
class Inspection:
    """Which model is shown, and how."""

    model: Annotated[str, argument("MODEL", "A model that covey select has written; - is standard input.")]
    as_json: Annotated[bool, option("--json", what="Print JSON instead of a table.")] = False
    representatives: Annotated[
        bool,
        option(
            "--representatives",
            what="Show the representatives instead of the clusters: how many rows each stands for, and the values "
            "that the model keeps of it.",
        ),
    ] = False
    out: Annotated[
        str | None,
        option("--out", "-o", what="With --representatives: the file to write them to; - is standard output."),
    ] = None
    out_form: Annotated[Format | None, option("--out-format", what=OUT_FORMATS, panel=RUN, metavar="<name>")] = None

    def check(self) -> None:
        """Refuse options that would be ignored, and a model that is not there."""
        if not self.representatives and (self.out is not None or self.out_form is not None):
            raise MisuseError("--out and --out-format are for --representatives; pass it, too, or leave them out.")
        if self.as_json and self.out is not None:
            raise MisuseError("--json prints to standard output; leave it out, or leave out --out.")
        check_model(self.model)


def inspect(inspection: Inspection, replacing: Replacing) -> None:
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
    out = inspection.out or STANDARD
    check_output(out, inspection.out_form, as_table=True, force=replacing.force)
    from covey.cli.model_file import read_model
    from covey.persistence.loading import ModelFile
    from covey.rejection import missing_bars

    model = read_model(name_of(inspection.model), ModelFile(bytes_in(inspection.model)), to_look_at=True)
    if inspection.representatives:
        _list(model, inspection, replacing.force)
        return
    found = contents(name_of(inspection.model), model)
    if inspection.as_json:
        print(json.dumps(found, indent=2))
        return
    unchanged = " (no exchange of representatives was found to help)" if found["sharpened"] is False else ""
    print(visible(f"{found['method']}{unchanged} on {found['objects']}, by {found['similarity']}"))
    print(visible(f"made from {found['made_from']}; {found['evaluations']:,} evaluations"), end=", ")
    print(f"scan rate {found['scan_rate']:.3f}")
    titles = {key: title for key, title in TITLES.items() if key in found["clusters"][0]}
    show(list(titles.values()), [[cell(cluster[key]) for key in titles] for cluster in found["clusters"]])
    if found["rejection_rate"] is not None:
        print(f"bars are for a rejection rate of {found['rejection_rate']:g}")
    without = missing_bars(model.classifier)
    if without is not None:
        print(visible(without))


def _list(model: "Model", inspection: Inspection, force: bool) -> None:
    """Show the representatives on a terminal, or write all of them."""
    from covey.cli.files.writing import writer
    from covey.cli.model_file import representatives_of

    frame = representatives_of(model)
    if inspection.as_json:
        print(frame.to_json(orient="records", indent=2, force_ascii=sys.stdout.isatty()))
    elif inspection.out is None and inspection.out_form is None and sys.stdout.isatty():
        show_some(frame)
    else:
        with writer(inspection.out or STANDARD, inspection.out_form, force=force) as put:
            put(frame)


def contents(path: str, model: "Model") -> dict[str, Any]:
    """Return what a model holds, in plain values."""
    selector = model.classifier.selector_
    parameters = {key: value for key, value in selector.get_params().items() if _is_plain(value)}
    inner: Any = getattr(selector, "selector_", selector)  # of a sharpened selection, k is that of what was sharpened
    n_neighbors = inner.get_params().get("n_neighbors")
    clusters = [_cluster(label, found, n_neighbors) for label, found in selector.prototypes_.items()]
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
