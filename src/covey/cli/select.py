"""`covey select`: pick representatives of each cluster of a table, and write them, a model and a picture."""

import logging
from collections.abc import Sequence, Set
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import covey
from covey.cli.files.formats import has_names
from covey.cli.files.standard import STANDARD
from covey.cli.misuse import MisuseError
from covey.cli.options import Output, Replacing, Running, Source
from covey.cli.selection import MoreFiles, Parts, Selection
from covey.cli.terminal import log_to_terminal, unfinished

if TYPE_CHECKING:
    from covey.cli.selected import Selected
    from covey.cli.source import Loaded

logger = logging.getLogger("covey")

PICTURES = (".html", ".png", ".svg", ".pdf")
"""The suffixes of pictures: a page with the map of a cluster, or an image of the coverage of all clusters."""


def select(
    source: Source,
    parts: Parts,
    output: Output,
    files: MoreFiles,
    selection: Selection,
    replacing: Replacing,
    running: Running,
) -> None:
    """Select the few rows that stand for the many, cluster by cluster.

    OUT gets the selected rows with all their columns, and four more: covey_row (the number of the row in DATA, from 0),
    covey_cluster, covey_rank (1 for the row that was selected first; with --sharpen, for the row that stands for most)
    and covey_covers (how many rows it stands for).

    Example: `covey select flowers.csv --label species -k 5 -o few.csv --model flowers.covey --picture map.html`

    Several Parquet files are one table: `covey select part-*.parquet --dask local --label kind -o few.csv`
    """
    from covey.cli.files.parts import expanded
    from covey.cli.selected import summarise, write_selected

    log_to_terminal(running.quiet)
    if parts.more and source.hosts:
        raise MisuseError("--hosts takes one log file.")
    path, *more = [source.path] if source.hosts else expanded([source.path, *(parts.more or ())])
    source, parts = replace(source, path=path), replace(parts, more=more)
    _check_outputs(source, output, files, replacing.force)
    with unfinished("nothing was written; run the same command again."):
        selected = (_here if parts.dask is None else _on_cluster)(source, parts, output, files, selection, running)
        write_selected(selected, output, files, _named(path, more), replacing.force, running.verbose)
    if running.verbose:
        summarise(selected)


def _named(path: str, more: Sequence[str]) -> str:
    """Return what a model says about where its data came from."""
    return f"{path} and {len(more)} more" if more else path


def _here(
    source: Source, parts: Parts, output: Output, files: MoreFiles, selection: Selection, running: Running
) -> "Selected":
    """Select in this process."""
    from covey.cli.selected import Selected

    parts.parameters()
    parameters = selection.parameters() | {"n_jobs": running.jobs, "verbose": running.verbose}
    size = selection.total()
    loaded = _load(source, parts, output, files, running.verbose)
    selector: Any = covey.CRS(similarity=loaded.similarity, **parameters)
    if selection.sharpen and _can_be_sharpened(loaded.labels, size):
        selector = covey.Sharpened(
            selector, size=size, random_state=selection.seed, n_jobs=running.jobs, verbose=running.verbose
        )
    rejection = _rejection(files.rejection_rate, set(loaded.labels))
    fitted = covey.NearestPrototypeClassifier(selector, **rejection).fit(loaded.objects, loaded.labels)
    return Selected(fitted, loaded.recipe, loaded.block.take(fitted.selector_.sample_indices_), loaded)


def _on_cluster(
    source: Source, parts: Parts, output: Output, files: MoreFiles, selection: Selection, running: Running
) -> "Selected":
    """Select on a Dask cluster."""
    from covey.cli.files.parts import parts_of
    from covey.cli.selected import Selected
    from covey.runtime.extras import require

    require("distributed", "dask")
    from covey.cli.cluster import Spread, check_refinable, connected, not_on_a_cluster
    from covey.cli.similarities import function_of
    from covey.cli.source import check_options

    check_options(source)
    selection.total()  # refuses --size without --sharpen
    not_on_a_cluster(source, selection.sharpen, files.picture)
    function_of(source.similarity)  # refuses a function that there is not, and lets local workers find its module
    parameters = selection.parameters() | parts.parameters() | {"verbose": running.verbose}
    found = parts_of([source.path, *(parts.more or ())], source.form)
    with connected(str(parts.dask), running.jobs) as client:
        spread = Spread(client, found, running.verbose)
        recipe = spread.recipe(source)
        rejection = {}
        if selection.refine or files.rejection_rate is not None:
            sizes = spread.labels(recipe)
            rejection = _rejection(files.rejection_rate, sizes.keys())
            if selection.refine:
                check_refinable(sizes, parts.shard_size)
        fitted = spread.fit(recipe, parameters, rejection)
        rows = spread.take(fitted.selector_.sample_indices_)
        counts = {
            "of them were taken from the checkpoint": fitted.selector_.n_restored_evaluations_,
            "more were repeated, because workers were lost": fitted.selector_.n_repeated_evaluations_,
        }
        remarks = [f"{count:,} {what}." for what, count in counts.items() if count]
        return Selected(fitted.to_local(), recipe, rows, remarks=remarks)


def _check_outputs(source: Source, output: Output, files: MoreFiles, force: bool) -> None:
    """Refuse what cannot be written before the work, not after it."""
    from covey.cli.files.writing import check_output, may_write

    is_table = source.hosts or has_names(source.path, source.form)
    check_output(output.out, output.out_form, as_table=is_table, force=force)
    named = [path for path in (output.out, files.model, files.picture) if path is not None and path != STANDARD]
    if len({Path(path).resolve() for path in named}) < len(named):
        raise MisuseError("--out, --model and --picture must be different files.")
    if files.picture is not None and Path(files.picture).suffix not in PICTURES:
        raise MisuseError(f"--picture must end in one of {', '.join(PICTURES)}, got {files.picture!r}.")
    if files.cluster is not None and (files.picture is None or not files.picture.endswith(".html")):
        raise MisuseError("--cluster says what an .html picture shows; pass --picture with such a name, too.")
    if files.rejection_rate is not None and files.model is None:
        raise MisuseError("--rejection-rate is kept in the model; pass --model, too.")
    if files.rejection_rate is not None and not 0 < files.rejection_rate < 1:
        raise MisuseError(f"--rejection-rate must be between 0 and 1, got {files.rejection_rate}.")
    for path in (files.model, files.picture):
        if path is not None:
            may_write(path, force)


def _load(source: Source, parts: Parts, output: Output, files: MoreFiles, verbose: bool) -> "Loaded":
    """Read the labelled objects; say what of them cannot be drawn or written before the work begins."""
    import numpy as np
    import scipy.sparse as sp

    from covey.cli.source import load

    loaded = load(source, verbose, parts.more or ())
    if files.cluster is not None and files.cluster not in loaded.labels:
        raise ValueError(f"--cluster must be one of {', '.join(np.unique(loaded.labels))}, got {files.cluster!r}.")
    if sp.issparse(loaded.block.matrix) and has_names(output.out, output.out_form):
        logger.warning("a table has no room for the columns of a sparse matrix; write .npz or .svmlight to keep them.")
    return loaded


def _can_be_sharpened(labels: Any, size: float | None) -> bool:
    """Return whether there are clusters to tell apart; refuse a size that is too small for them before the work."""
    clusters = sorted(set(labels))
    if len(clusters) < 2:
        only = f"but all labels are {str(clusters[0])!r}; is --label right?"
        if size is not None:
            raise ValueError(f"--size needs at least two clusters to tell apart, {only}")
        logger.warning("--sharpen needs at least two clusters to tell apart, %s Rows are selected without it.", only)
        return False
    rows = size if size is None or size >= 1 else round(size * len(labels))
    if rows is not None and rows < len(clusters):
        share = "" if rows == size else f", which is {rows} of {len(labels)} rows"
        raise ValueError(f"--size must allow for one row of each of the {len(clusters)} clusters, got {size}{share}.")
    return True


def _rejection(rate: float | None, labels: Set[str]) -> dict[str, Any]:
    """Return the parameters of rejection, if a rate is asked for."""
    if rate is None:
        return {}
    # No label comes after the last one in the order of texts, so that this one is free.
    unknown = f"{max(labels)}?" if "unknown" in labels else "unknown"
    return {"reject": "calibrated", "rejection_rate": rate, "unknown_label": unknown}
