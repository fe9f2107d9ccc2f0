"""`covey select`: pick representatives of each cluster of a table, and write them, a model and a picture."""

import logging
import math
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import covey
from covey.cli.declaration import argument, option
from covey.cli.files.formats import STANDARD, has_names
from covey.cli.misuse import MisuseError
from covey.cli.options import RUN, Output, Replacing, Running, Source, at_least_one, finite
from covey.cli.terminal import log_to_terminal, say, unfinished

if TYPE_CHECKING:
    from covey.cli.files.block import Block
    from covey.cli.recipe import Recipe
    from covey.cli.source import Loaded

logger = logging.getLogger("covey")

CLUSTER = "On a cluster of machines"
"""The panel of the help for options about Dask."""
PICTURES = (".html", ".png", ".svg", ".pdf")
"""The suffixes of pictures: a page with the map of a cluster, or an image of the coverage of all clusters."""


class Graph(StrEnum):
    auto = "auto"
    exact = "exact"
    nn_descent = "nn-descent"


@dataclass(frozen=True)
class Selection:
    """How representatives are selected."""

    k: Annotated[
        str,
        option(
            "-k",
            what="How many neighbors of each object are looked at. More neighbors give fewer representatives; auto "
            "lets the number grow with the cluster.",
        ),
    ] = "10"
    coverage: Annotated[
        float,
        option(
            "--coverage",
            what="The share of each cluster that its representatives must cover; less than 1 leaves out outliers.",
            min=0.0,
            max=1.0,
        ),
    ] = 0.95
    threshold: Annotated[
        str,
        option(
            "--threshold",
            what="How similar an object must be to a representative that covers it: homogeneity (the mean similarity "
            "of its cluster), a number, or none.",
        ),
    ] = "homogeneity"
    sharpen: Annotated[
        bool,
        option(
            "--sharpen",
            what="Exchange representatives for rows that tell the clusters apart, so that covey classify errs less. "
            "This evaluates more similarities.",
        ),
    ] = False
    size: Annotated[
        str | None,
        option(
            "--size",
            what="With --sharpen: how many rows are selected in all, as a number or as a share such as 0.02. By "
            "default as many as without --sharpen.",
        ),
    ] = None
    refine: Annotated[bool, option("--refine", what="Look for a smaller selection with the same coverage.")] = False
    graph: Annotated[
        Graph,
        option("--graph", what="How neighbors are found: exact compares all pairs, nn-descent only a few of them."),
    ] = Graph.auto
    seed: Annotated[
        int, option("--seed", what="The seed of all random choices. The same seed gives the same answer.", panel=RUN)
    ] = 0

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of `covey.CRS`."""
        words: dict[str, Any] = {"homogeneity": "homogeneity", "none": None}
        threshold = self.threshold
        number = None if threshold in words else finite(threshold, "--threshold", "homogeneity, none")
        return {
            "n_neighbors": self.k if self.k == "auto" else at_least_one(self.k),
            "coverage": self.coverage,
            "threshold": words.get(threshold, number),
            "refine": self.refine,
            "graph": str(self.graph),
            "random_state": self.seed,
        }

    def total(self) -> float | None:
        """Return how many rows are selected in all, a number or a share; None leaves it to CRS."""
        if self.size is None:
            return None
        if not self.sharpen:
            raise MisuseError("--size is for --sharpen; without it, -k and --coverage decide how many rows there are.")
        try:
            size = float(self.size)
        except ValueError:
            size = math.nan
        if self.size.isdecimal() and size >= 1:
            return int(size)
        if not 0 < size < 1:  # nor is a nan
            raise MisuseError(f"--size must be a whole number of rows or a share between 0 and 1, got {self.size!r}.")
        return size


@dataclass(frozen=True)
class MoreFiles:
    """What is written beside the selected rows."""

    model: Annotated[str | None, option("--model", "-m", what="Write a model for covey classify to this file.")] = None
    rejection_rate: Annotated[
        float | None,
        option(
            "--rejection-rate",
            what="Let covey classify --reject calibrated answer unknown for about this share of rows of known "
            "clusters, such as 0.05. A higher share catches more rows of unknown ones.",
        ),
    ] = None
    picture: Annotated[
        str | None,
        option(
            "--picture",
            what="Draw to this file: a name in .html gives a map of one cluster to explore, .png, .svg or .pdf the "
            "coverage of all clusters.",
        ),
    ] = None
    cluster: Annotated[
        str | None,
        option("--cluster", what="The cluster that an .html picture shows; by default the largest."),
    ] = None


@dataclass(frozen=True)
class Parts:
    """More files of the same table, and the cluster that works on them."""

    more: Annotated[
        list[str] | None,
        argument(
            "MORE",
            "More Parquet files of the same table. Rows are counted through all files, in the order given. A folder "
            "stands for its Parquet files, in the order of their names.",
        ),
    ] = None
    dask: Annotated[
        str | None,
        option(
            "--dask",
            what="Let the workers of a Dask cluster read the Parquet files and do the work: the address of its "
            "scheduler, such as tcp://host:8786, or local, which starts a worker for each core of this machine.",
            panel=CLUSTER,
        ),
    ] = None
    shard_size: Annotated[
        int | None,
        option(
            "--shard-size",
            what="With --dask: the most rows of a cluster that one task works on, 250000 by default. Larger "
            "clusters are cut into shards. Fewer and larger shards need fewer evaluations, but more memory.",
            panel=CLUSTER,
            min=1,
        ),
    ] = None
    checkpoint: Annotated[
        str | None,
        option(
            "--checkpoint",
            what="With --dask: a folder in which finished work is kept, so that the same command goes on where it was "
            "stopped. All workers must see it.",
            panel=CLUSTER,
        ),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Return the parameters that `covey.dask.CRS` has beside those of `covey.CRS`."""
        if self.dask is None and (self.shard_size is not None or self.checkpoint is not None):
            raise MisuseError("--shard-size and --checkpoint are for --dask; pass it, too, or leave them out.")
        shard_size = {} if self.shard_size is None else {"shard_size": self.shard_size}
        return {"checkpoint": self.checkpoint, **shard_size}


@dataclass(frozen=True, eq=False)
class Selected:
    """What was selected.

    Attributes
    ----------
    fitted : NearestPrototypeClassifier
    recipe : Recipe
    rows : Block
        The selected rows, in the order of the selector's `sample_indices_`.
    loaded : Loaded or None
        All rows, if they are in this process.
    remarks : sequence of str
        What else there is to say about how the selection went.
    """

    fitted: Any
    recipe: "Recipe"
    rows: "Block"
    loaded: "Loaded | None" = None
    remarks: Sequence[str] = ()


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

    log_to_terminal(running.quiet)
    if parts.more and source.hosts:
        raise MisuseError("--hosts takes one log file.")
    path, *more = [source.path] if source.hosts else expanded([source.path, *(parts.more or ())])
    source, parts = replace(source, path=path), replace(parts, more=more)
    _check_outputs(source, output, files, replacing.force)
    with unfinished("nothing was written; run the same command again."):
        selected = (_here if parts.dask is None else _on_cluster)(source, parts, output, files, selection, running)
        _write(selected, output, files, _named(path, more), replacing.force, running.verbose)
    if running.verbose:
        _summarise(selected)


def _named(path: str, more: Sequence[str]) -> str:
    """Return what a model says about where its data came from."""
    return f"{path} and {len(more)} more" if more else path


def _here(
    source: Source, parts: Parts, output: Output, files: MoreFiles, selection: Selection, running: Running
) -> Selected:
    """Select in this process."""
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
) -> Selected:
    """Select on a Dask cluster."""
    from covey.cli.files.parts import parts_of
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


def _write(selected: Selected, output: Output, files: MoreFiles, data: str, force: bool, verbose: bool) -> None:
    """Write the model, the picture and the selected rows."""
    from covey.cli.files.writing import write
    from covey.cli.recipe import write_recipe
    from covey.cli.source import row_names
    from covey.runtime.progress import progress

    fitted, recipe, rows = selected.fitted, selected.recipe, selected.rows
    if files.model is not None:
        names = row_names(rows, recipe)
        if names is not None:
            names = [names[at] for at in fitted.selector_.sample_indices_.argsort()]
        covey.save(fitted, files.model, {"recipe": write_recipe(recipe), "names": names, "data": data})
    if files.picture is not None:
        with progress("drawing", None, "pictures", shown=verbose):
            _draw(fitted, selected.loaded, files.picture, files.cluster)
    # The rows come last, because whoever reads them from a pipe may leave early.
    numbers = recipe.settings.numbers
    write(output.out, rows, _added(fitted), output.out_form, numbers=numbers, force=force)


def _summarise(selected: Selected) -> None:
    """Say what was compared, selected and evaluated."""
    selector = selected.fitted.selector_
    found = selector.prototypes_.values()
    say(f"compared: {selected.recipe.summary()}")
    say(
        f"{selector.sample_indices_.size} of {sum(p.members.size for p in found)} rows selected from "
        f"{len(found)} cluster(s); {selector.n_evaluations_:,} similarities evaluated."
    )
    for remark in selected.remarks:
        say(remark)
    if not getattr(selector, "sharpened_", True):
        say("no exchange of rows was found to help; these are the rows that are selected without --sharpen.")


def _added(fitted: Any) -> dict[str, Any]:
    """Return the columns that are added to the representatives."""
    import numpy as np

    prototypes = list(fitted.selector_.prototypes_.values())
    return {
        "covey_row": fitted.selector_.sample_indices_,
        "covey_cluster": np.repeat([str(p.label) for p in prototypes], [p.indices.size for p in prototypes]),
        "covey_rank": np.concatenate([np.arange(1, p.indices.size + 1) for p in prototypes]),
        "covey_covers": np.concatenate([p.stands_for for p in prototypes]),
    }


def _draw(fitted: Any, loaded: "Loaded | None", path: str, cluster: str | None) -> None:
    """Draw a page with the map of a cluster, by default the largest, or the coverage of all clusters as an image."""
    from covey.displays.drawing import figure
    from covey.evaluation import Picture
    from covey.storage.whole import whole

    prototypes = fitted.selector_.prototypes_
    if path.endswith(".html") and loaded is not None:
        label = cluster or max(prototypes, key=lambda name: prototypes[name].members.size)
        cards = (loaded.card(row) for row in range(len(loaded.block)))
        names = ["; ".join((card.title, *card.lines)) for card in cards]
        covey.PrototypeMapDisplay.from_estimator(fitted, loaded.objects, label=label, names=names).write_html(path)
        return
    drawn = figure(7, 5)
    covey.CoverageDisplay.from_estimator(fitted, ax=drawn.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, drawn, "").drawn(Path(path).suffix[1:]))
