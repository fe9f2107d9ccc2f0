"""`covey select`: representatives of each cluster of a table, a model and a picture."""

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.classifier import NearestPrototypeClassifier
from covey.cli.files import STANDARD, Block, check_output, has_names, may_write, write
from covey.cli.misuse import MisuseError
from covey.cli.source import Loaded, Source
from covey.displays.drawing import figure
from covey.evaluation import Picture
from covey.persistence.saving import save
from covey.runtime.progress import progress
from covey.selectors.crs import CRS
from covey.similarity.inputs import pick
from covey.storage.whole import whole

logger = logging.getLogger("covey")

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
    verbose: int = 0,
    **options: Any,
) -> tuple[NearestPrototypeClassifier, Loaded]:
    """Select, and write what was asked for; `options` are CRS's."""
    _check_outputs(source, [out, model, picture], cluster, form, force)
    loaded = source.load(verbose)
    if cluster is not None and cluster not in loaded.labels:
        raise ValueError(f"--cluster must be one of {', '.join(np.unique(loaded.labels))}, got {cluster!r}.")
    if sp.issparse(loaded.block.matrix) and has_names(out, form):
        logger.warning("a table has no room for the columns of a sparse matrix; write .npz or .svmlight to keep them.")
    selector = CRS(similarity=loaded.similarity, verbose=verbose, **options)
    fitted = NearestPrototypeClassifier(selector).fit(loaded.objects, loaded.labels)
    rows = fitted.selector_.sample_indices_
    if model is not None:
        names = None if loaded.names is None else [loaded.names[row] for row in np.sort(rows)]
        save(fitted, model, {"recipe": loaded.recipe.plain(), "names": names, "data": source.path})
    if picture is not None:
        with progress("drawing", None, "pictures", shown=verbose > 0):
            draw(fitted, loaded, picture, cluster)
    # last, as whoever reads them from a pipe may leave early
    write(out, _rows(loaded.block, rows), _added(fitted), form, numbers=loaded.recipe.numbers, force=force)
    return fitted, loaded


def _check_outputs(
    source: Source, paths: Sequence[str | None], cluster: str | None, form: str | None, force: bool
) -> None:
    """What cannot be written is said before the work, not after it."""
    out, model, picture = paths
    check_output(str(out), form, streamed=source.is_table(), force=force)
    files = [path for path in paths if path is not None and path != STANDARD]
    if len({Path(path).resolve() for path in files}) < len(files):
        raise MisuseError("--out, --model and --picture must be different files.")
    if picture is not None and Path(picture).suffix not in PICTURES:
        raise MisuseError(f"--picture must end in one of {', '.join(PICTURES)}, got {picture!r}.")
    if cluster is not None and (picture is None or not picture.endswith(".html")):
        raise MisuseError("--cluster says what an .html picture shows; pass --picture with such a name, too.")
    for path in (model, picture):
        if path is not None:
            may_write(path, force)


def _rows(block: Block, rows: Any) -> Block:
    labels = None if block.labels is None else block.labels[rows]
    if block.frame is not None:
        return Block(block.path, frame=block.frame.iloc[rows])
    return Block(block.path, matrix=pick(block.matrix, rows), labels=labels, base=block.base)


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
        label = cluster or max(prototypes, key=lambda name: prototypes[name].members.size)
        cards = (loaded.card(row) for row in range(len(loaded.block)))
        names = ["; ".join((card.title, *card.lines)) for card in cards]
        PrototypeMapDisplay.from_estimator(fitted, loaded.objects, label=label, names=names).write_html(path)
        return
    drawn = figure(7, 5)
    CoverageDisplay.from_estimator(fitted, ax=drawn.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, drawn, "").drawn(Path(path).suffix[1:]))
