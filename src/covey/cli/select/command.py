"""`covey select`: pick representatives of each cluster of a table, and write them, a model and a picture."""

import logging
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import covey
from covey.cli.errors import MisuseError, about
from covey.cli.files.block import STANDARD
from covey.cli.files.formats import has_names
from covey.cli.interrupts import WITH_FORCE, unfinished
from covey.cli.options import Output, Replacing, Running, Source
from covey.cli.select.options import (
    NO_CARE,
    Compared,
    Grouping,
    MoreFiles,
    OnError,
    Parts,
    Precautions,
    Selection,
    check_pairs,
    not_on_a_cluster,
)
from covey.cli.terminal import log_to_terminal, say
from covey.runtime.wording import several

if TYPE_CHECKING:
    from covey.cli.objects.load import Loaded
    from covey.cli.select.output import Selected

logger = logging.getLogger("covey")

PICTURES = (".html", ".png", ".svg", ".pdf")
"""The suffixes of pictures: a page with the map of all clusters, or an image of the coverage of all clusters."""
OFFER = "all rows are one cluster; --label names a column of labels, and --cluster finds clusters."
"""What is said if rows have no labels."""
EVERY_PAIR = "every listed pair counts as similar; --threshold sets the lowest score that does."
"""What is said if pairs of any score count."""


@dataclass(frozen=True)
class Asked:
    """All options of the command."""

    source: Source
    compared: Compared
    parts: Parts
    output: Output
    files: MoreFiles
    grouping: Grouping
    selection: Selection
    care: Precautions
    running: Running


def select(
    source: Source,
    compared: Compared,
    parts: Parts,
    output: Output,
    files: MoreFiles,
    grouping: Grouping,
    selection: Selection,
    care: Precautions,
    replacing: Replacing,
    running: Running,
) -> None:
    """Select the few rows that stand for the many, cluster by cluster.

    OUT gets the selected rows with all their columns, and four more: covey_row (the number of the row in DATA, from 0),
    covey_cluster, covey_rank (1 for the row that was selected first; with --sharpen, for the row that stands for most)
    and covey_covers (how many rows it stands for).

    Example: `covey select flowers.csv --label species -k 5 -o few.csv --model flowers.covey --picture map.html`

    Several files are one table: `covey select part-*.parquet --dask local --label kind -o few.csv`

    What other programs have compared: `covey select hits.m8 --pairs 1,2,3 --threshold 0.5 -o few.csv`
    """
    from covey.cli.files.paths import expanded

    log_to_terminal(running.quiet)
    if parts.more and source.hosts:
        raise MisuseError("--hosts takes one log file.")
    path, *more = [source.path] if source.hosts else expanded([source.path, *(parts.more or ())])
    source, parts = replace(source, path=path), replace(parts, more=more)
    asked = Asked(source, compared, parts, output, files, grouping, selection, care, running)
    _check_options(asked)
    _check_outputs(asked, replacing.force)
    from covey.cli.select.output import summarise, write_selected

    kept = "" if care.checkpoint is None else ", which goes on with what the checkpoint holds"
    with unfinished(f"nothing was written; run the same command again{kept}", WITH_FORCE):
        selected = (_here if parts.dask is None else _on_cluster)(asked)
        selected = write_selected(selected, output, files, _named(path, more), replacing.force, running.verbose)
    if running.verbose:
        summarise(selected)


def _named(path: str, more: Sequence[str]) -> str:
    """Return what a model says about where its data came from."""
    return f"{path} and {len(more)} more" if more else path


def _check_options(asked: Asked) -> None:
    """Refuse options that make no sense together."""
    source, files = asked.source, asked.files
    source.check_labels(used=asked.compared.pairs is not None)
    care = asked.care.parameters(asked.selection.used_method)
    if asked.grouping.asked is not None and any(care[name] != default for name, default in NO_CARE.items() if care):
        raise MisuseError(
            "--checkpoint, --on-error and --timeout are about the selection and not about --cluster; find clusters "
            "first, and pass them as --label."
        )
    if asked.parts.dask is not None:
        if asked.care.on_error is not OnError.raise_ or asked.care.timeout is not None:
            raise MisuseError("--on-error and --timeout need one process; leave them out, or leave out --dask.")
        not_on_a_cluster(source, asked.compared, asked.grouping, asked.selection, files)
    if asked.grouping.asked is not None and (source.label or source.labels):
        raise MisuseError("--cluster finds labels for rows that have none; leave out --label and --labels, or it.")
    if asked.compared.columns:
        check_pairs(asked.selection)
        if files.model is not None:
            raise MisuseError("--model needs objects that can be compared with new ones, and --pairs has only scores.")


def _here(asked: Asked) -> "Selected":
    """Select in this process."""
    from covey.cli.objects.load import ONE_CLUSTER
    from covey.cli.select.constraints import about_rows
    from covey.cli.select.output import Selected
    from covey.cli.select.selector import clustered, selector_of, warn_of_strangers

    selection, running, files = asked.selection, asked.running, asked.files
    with running.threads():
        loaded, remarks = _load(asked), []
    said = about_rows(selection, loaded)
    if asked.grouping.asked is not None:
        options: Any = {"random_state": selection.seed, "n_jobs": running.jobs, "verbose": running.verbose}
        options["min_cluster_size"] = asked.grouping.min_cluster_size
        threshold = selection.least_similarity("none")
        with about(asked.source.path):
            loaded, found = clustered(loaded, asked.grouping.asked, threshold, **options)
        if running.verbose:
            say(found)
    elif set(loaded.labels) == {ONE_CLUSTER}:
        remarks.append(OFFER)
    if asked.compared.columns and selection.least_similarity("none") is None:
        remarks.append(EVERY_PAIR)
    _check_shown(files, loaded)
    care = asked.care.parameters(selection.used_method)
    selector = selector_of(selection, loaded, {"n_jobs": running.jobs, "verbose": running.verbose, **care})
    rejection = _rejection(files.rejection_rate, set(loaded.labels))
    with about(asked.source.path):
        fitted = covey.NearestPrototypeClassifier(selector, **rejection).fit(loaded.objects, loaded.labels, **said)
    if asked.grouping.asked is not None:
        warn_of_strangers(fitted.selector_, loaded)
    if hasattr(fitted.selector_, "checkpoint_"):
        remarks += _of_checkpoint(fitted.selector_.checkpoint_)
    return Selected(fitted, loaded.recipe, loaded.block.take(fitted.selector_.sample_indices_), loaded, remarks)


def _of_checkpoint(report: "covey.results.CheckpointReport") -> list[str]:
    """Say what a checkpoint has done. The numbers add up to the evaluations that were told before."""
    if not report.n_kept:  # a named similarity, of which finished clusters are kept
        return [f"{report.n_saved:,} of these evaluations were taken from the checkpoint."] if report.n_saved else []
    again = f"; {report.n_asked_again} of them were asked again before" if report.n_asked_again else ""
    return [
        f"Of these evaluations, {report.n_saved:,} were taken from the checkpoint, {report.n_new:,} are new in it, and "
        f"{report.n_repeated:,} were of pairs that it held already.",
        f"{several(report.n_kept, 'pair')} {'is' if report.n_kept == 1 else 'are'} kept in the checkpoint now{again}.",
    ]


def _on_cluster(asked: Asked) -> "Selected":
    """Select on a Dask cluster."""
    from covey.cli.files.parquet import parts_of
    from covey.cli.select.output import Selected
    from covey.runtime.libraries import require

    require("distributed", "dask")
    from covey.cli.objects.infer import similarity_of
    from covey.cli.select.on_dask import Spread, check_refinable, connected
    from covey.cli.similarity_option import function_of

    source, parts, selection, files = asked.source, asked.parts, asked.selection, asked.files
    function_of(similarity_of(source))  # refuses a function that there is not, and lets local workers find its module
    parameters = selection.parameters() | parts.parameters() | {"verbose": asked.running.verbose}
    parameters["checkpoint"] = asked.care.checkpoint
    found = parts_of([source.path, *(parts.more or ())], source.form)
    with connected(str(parts.dask), asked.running.jobs) as client:
        spread = Spread(client, found, asked.running.verbose)
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


def _check_outputs(asked: Asked, force: bool) -> None:
    """Refuse what cannot be written before the work, not after it."""
    from covey.cli.files.paths import check_output, check_standard_model, may_write

    source, output, files = asked.source, asked.output, asked.files
    is_table = source.hosts or bool(asked.compared.columns) or has_names(source.path, source.form)
    check_output(output.out, output.out_form, as_table=is_table, force=force)
    if files.model == STANDARD:
        check_standard_model(output.out)
    named = [path for path in (output.out, files.model, files.picture, files.members) if path not in (None, STANDARD)]
    if len({Path(str(path)).resolve() for path in named}) < len(named):
        raise MisuseError("--out, --model, --picture and --members must be different files.")
    if files.picture is not None and Path(files.picture).suffix not in PICTURES:
        raise MisuseError(f"--picture must end in one of {', '.join(PICTURES)}, got {files.picture!r}.")
    if files.show is not None and (files.picture is None or not files.picture.endswith(".html")):
        raise MisuseError("--show says what an .html picture shows; pass --picture with such a name, too.")
    if files.rejection_rate is not None and files.model is None:
        raise MisuseError("--rejection-rate is kept in the model; pass --model, too.")
    if files.rejection_rate is not None and not 0 < files.rejection_rate < 1:
        raise MisuseError(f"--rejection-rate must be between 0 and 1, got {files.rejection_rate}.")
    for path in (files.model, files.picture):
        if path is not None:
            may_write(path, force=force)
    if files.members is not None:
        check_output(files.members, None, as_table=True, force=force)
        if STANDARD == files.members == output.out:
            raise MisuseError("--out and --members cannot both go to standard output; pass a file for one of them.")


def _load(asked: Asked) -> "Loaded":
    """Read the labelled objects; say what of them cannot be written before the work begins."""
    import scipy.sparse as sp

    from covey.cli.objects.load import load
    from covey.cli.select.constraints import columns_aside
    from covey.cli.select.pairs import load_pairs

    output, verbose = asked.output, asked.running.verbose
    if asked.compared.columns:
        return load_pairs(asked.source, asked.compared, asked.parts.more or (), verbose)
    loaded = load(asked.source, verbose=verbose, more=asked.parts.more or (), aside=columns_aside(asked.selection))
    if sp.issparse(loaded.block.matrix) and has_names(output.out, output.out_form):
        logger.warning("a table has no room for the columns of a sparse matrix; write .npz or .svmlight to keep them.")
    return loaded


def _check_shown(files: MoreFiles, loaded: "Loaded") -> None:
    """Refuse to draw a cluster that there is not."""
    from covey.runtime.wording import some_of

    if files.show is not None and files.show not in loaded.labels:
        raise ValueError(f"--show must be one of {some_of(sorted(set(loaded.labels)))}, got {files.show!r}.")


def _rejection(rate: float | None, labels: Set[str]) -> dict[str, Any]:
    """Return the parameters of rejection, if a rate is asked for."""
    if rate is None:
        return {}
    # No label comes after the last one in the order of texts, so that this one is free.
    unknown = f"{max(labels)}?" if "unknown" in labels else "unknown"
    return {"reject": "calibrated", "rejection_rate": rate, "unknown_label": unknown}
