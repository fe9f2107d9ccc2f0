"""`covey select`: representatives of each cluster of a table, a model and a picture."""

from pathlib import Path
from typing import Any

import numpy as np

from covey import persistence
from covey._extras import require
from covey._whole import whole
from covey.classifier import NearestPrototypeClassifier
from covey.commands._source import Loaded, Source
from covey.evaluation import Picture
from covey.files import Block, may_write, write
from covey.objects import pick
from covey.selectors.crs import CRS

PICTURES = (".html", ".png", ".svg", ".pdf")


def select(
    source: Source,
    out: str,
    *,
    model: str | None = None,
    picture: str | None = None,
    cluster: str | None = None,
    force: bool = False,
    form: str | None = None,
    **options: Any,
) -> NearestPrototypeClassifier:
    """Select, and write what was asked for; `options` are CRS's."""
    for path in (out, model, picture):
        if path is not None:
            may_write(path, force)
    if picture is not None and Path(picture).suffix not in PICTURES:
        raise ValueError(f"--picture must end in one of {', '.join(PICTURES)}, got {picture!r}.")
    loaded = source.load(options.get("verbose", 0))
    selector = CRS(similarity=loaded.similarity, **options)
    fitted = NearestPrototypeClassifier(selector).fit(loaded.objects, loaded.labels)
    rows = fitted.selector_.sample_indices_
    write(out, _rows(loaded.block, rows), _added(fitted), form, force=force)
    if model is not None:
        names = None if loaded.names is None else [loaded.names[row] for row in np.sort(rows)]
        notes = {"recipe": loaded.recipe.plain(), "names": names, "data": source.path}
        persistence.save(fitted, model, notes)
    if picture is not None:
        draw(fitted, loaded, picture, cluster)
    return fitted


def _rows(block: Block, rows: Any) -> Block:
    labels = None if block.labels is None else block.labels[rows]
    if block.frame is not None:
        return Block(0, block.frame.iloc[rows], labels=labels)
    return Block(0, matrix=pick(block.matrix, rows), labels=labels)


def _added(fitted: NearestPrototypeClassifier) -> dict[str, Any]:
    """For each representative: its row, its cluster, when it was picked and how many it covers."""
    prototypes = list(fitted.selector_.prototypes_.values())
    return {
        "covey_row": fitted.selector_.sample_indices_,
        "covey_cluster": np.repeat([str(p.label) for p in prototypes], [p.indices.size for p in prototypes]),
        "covey_rank": np.concatenate([np.arange(1, p.indices.size + 1) for p in prototypes]),
        "covey_covers": np.concatenate([p.stands_for for p in prototypes]),
    }


def draw(fitted: NearestPrototypeClassifier, loaded: Loaded, path: str, cluster: str | None) -> None:
    """A page with the map of a cluster, the largest if none is named; or the coverage of all as an image."""
    from covey.displays import CoverageDisplay, PrototypeMapDisplay

    prototypes = fitted.selector_.prototypes_
    if path.endswith(".html"):
        if cluster is not None and cluster not in prototypes:
            raise ValueError(f"--cluster must be one of {', '.join(map(str, prototypes))}, got {cluster!r}.")
        label = cluster or max(prototypes, key=lambda name: prototypes[name].members.size)
        shown = PrototypeMapDisplay.from_estimator(fitted, loaded.objects, label=label, names=loaded.names)
        shown.write_html(path)
        return
    figure = require("matplotlib.figure", "plot").Figure(layout="constrained")
    CoverageDisplay.from_estimator(fitted, ax=figure.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, figure, "").drawn(Path(path).suffix[1:]))
