"""The output of `covey select`: the selected rows, a model, a picture, a table of members and a few lines to read."""

from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import covey
from covey.cli.files.block import STANDARD, STANDARD_OUTPUT, Block, bytes_out
from covey.cli.files.writing import write, writer
from covey.cli.objects.load import ONE_CLUSTER, Fields, LabelledObjects, row_names
from covey.cli.objects.recipe import Recipe
from covey.cli.objects.registry import write_recipe
from covey.cli.select.options import SelectOptions
from covey.cli.select.pairs import PairRecipe
from covey.cli.terminal import say
from covey.runtime.file_errors import system_errors_of
from covey.runtime.libraries import require
from covey.runtime.progress import progress
from covey.runtime.wording import several

MANY_ALONE = 0.25
"""From which share of the selected rows on it is said that they stand only for themselves. The share on many sets is in
`benchmarks/DEFAULT_THRESHOLD.md`."""
RUNNING = {"n_jobs": None, "verbose": 0}
"""The parameters of estimators that change nothing but how they run, with their defaults."""


@dataclass(frozen=True, eq=False)
class SelectResult:
    """What was selected.

    Attributes
    ----------
    fitted : NearestPrototypeClassifier
    recipe : Recipe
    rows : Block
        The selected rows, in the order of the selector's `sample_indices_`.
    loaded : LabelledObjects or None
        All rows, if they are in this process.
    remarks : sequence of str
        What there is to say about checkpoints and workers.
    """

    fitted: Any
    recipe: Recipe
    rows: Block
    loaded: LabelledObjects | None = None
    remarks: Sequence[str] = ()


def write_outputs(options: SelectOptions, result: SelectResult) -> list[str]:
    """Write the model, the picture, the members and the selected rows, and return what there is to say about them."""
    remarks = []
    if options.model is not None:
        with system_errors_of(STANDARD_OUTPUT if options.model == STANDARD else options.model):
            covey.save(_without_run_parameters(result.fitted), bytes_out(options.model), _notes(options, result))
    if options.picture is not None:
        with progress("drawing", None, None, shown=options.verbose):
            _draw(options, result)
    if options.members is not None:
        remarks = _write_members(options, result)
    # The rows come last, because whoever reads them from a pipe may leave early.
    columns, numbers = _columns(result), result.recipe.settings.numbers
    write(options.out, result.rows, columns, options.out_form, numbers=numbers, force=options.force)
    return remarks


def _notes(options: SelectOptions, result: SelectResult) -> dict[str, Any]:
    """Return what a model file holds beside the classifier."""
    rows, indices = result.rows, result.fitted.selector_.sample_indices_
    names = row_names(rows, result.recipe)
    if names is not None:
        names = [names[at] for at in indices.argsort()]
    notes: dict[str, Any] = {"recipe": write_recipe(result.recipe), "names": names, "data": _data(options)}
    if not np.array_equal(rows.row_numbers, indices):  # some rows were left out
        notes["rows"] = np.sort(rows.row_numbers)
    return notes


def _data(options: SelectOptions) -> str:
    """Return what a model and a page say about where their data came from."""
    path, *more = options.files
    return f"{path} and {len(more)} more" if more else path


def _without_run_parameters(estimator: Any) -> Any:
    """Return a copy of a fitted estimator that does not say how it was run, so that --jobs changes no model file.

    `covey classify` sets these parameters anew.
    """
    made = copy(estimator)
    for name, value in list(vars(made).items()):
        if name in RUNNING:
            setattr(made, name, RUNNING[name])
        elif hasattr(value, "get_params"):
            setattr(made, name, _without_run_parameters(value))
    return made


def _write_members(options: SelectOptions, result: SelectResult) -> list[str]:
    """Write for each row the representative that `covey classify` would name, and the one that covers it.

    Return what there is to say about it. Of pairs that were scored elsewhere there is no model and nothing to classify:
    the one that covers a row is named.
    """
    loaded: Any = result.loaded
    selector, objects = result.fitted.selector_, loaded.objects
    numbers, names = loaded.block.row_numbers, loaded.names
    remarks: list[str] = []
    if isinstance(loaded.recipe, PairRecipe):
        members = selector.members(objects)
        named, similarities = members["representative"].to_numpy(), members["similarity"].to_numpy()
    else:
        named, similarities = (best[:, 0] for best in result.fitted.nearest_prototypes(objects, n=1))
        remarks = _about_members(loaded.labels, named, selector.sample_indices_.size)
    coverers, ranks = np.empty(named.size, dtype=np.intp), np.empty(named.size, dtype=np.intp)
    for prototype in selector.prototypes_.values():
        coverers[prototype.members] = prototype.covered_by
        ranks[prototype.indices] = np.arange(1, prototype.indices.size + 1)
    columns: dict[str, Any] = {} if names is None else {str(loaded.recipe.settings.id): names}
    columns |= {
        "covey_row": numbers,
        "covey_cluster": loaded.labels,
        "covey_representative": numbers[named],
    }
    if names is not None:
        columns["covey_representative_id"] = [names[row] for row in named]
    pandas, covered = require("pandas", "cli"), coverers >= 0
    known = loaded.recipe.has_similarity(objects, np.arange(named.size), named)
    columns |= {
        "covey_similarity": pandas.Series(similarities).where(known),
        "covey_rank": ranks[named],
        "covey_covered": covered,
        "covey_covered_by": pandas.Series(numbers[coverers], dtype="Int64").where(covered),
    }
    if loaded.strength is not None:
        columns["covey_strength"] = loaded.strength
    with writer(str(options.members), force=options.force) as put:
        put(pandas.DataFrame(columns))
    return remarks


def _about_members(labels: NDArray[Any], named: NDArray[np.intp], n_representatives: int) -> list[str]:
    """Return in words how many rows a representative of another cluster is most similar to, and what that has cost."""
    n_foreign = int(np.count_nonzero(labels[named] != labels))
    cost = f"--members took {named.size * n_representatives:,} more evaluations"
    if not n_foreign:
        return [f"{cost}."]
    return [
        f"{cost}; the most similar representative of {several(n_foreign, 'row')} is one of another cluster, which "
        "covey classify would answer."
    ]


def summarise(options: SelectOptions, result: SelectResult, remarks: Sequence[str]) -> None:
    """Say what was compared, selected and evaluated, and the remarks about what was written."""
    selector = result.fitted.selector_
    prototypes = selector.prototypes_.values()
    say(f"compared: {result.recipe.summary()}")
    n_rows = sum(p.members.size for p in prototypes)
    covers = ""
    if isinstance(selector, covey.CRS | covey.DeltaMedoids):  # elsewhere, no threshold says what is covered
        n_covered = sum(np.count_nonzero(p.covered_by >= 0) for p in prototypes)
        covers = f"; they cover {n_covered / n_rows:.1%} of the rows"
    rows, clusters = several(n_rows, "row"), several(len(prototypes), "cluster")
    say(
        f"{selector.sample_indices_.size} of {rows} selected from {clusters}{covers}; {selector.n_evaluations_:,} "
        "similarities evaluated."
    )
    for remark in (*_offers(options, result), *result.remarks, *remarks):
        say(remark)
    if covers:
        _say_alone(selector)
    if not getattr(selector, "sharpened_", True):
        say("no exchange of rows was found to help; these are the rows that are selected without --sharpen.")


def _offers(options: SelectOptions, result: SelectResult) -> Iterator[str]:
    """Yield which options would change what counts as a cluster, or as similar."""
    loaded = result.loaded
    if loaded is not None and options.n_clusters is None and set(loaded.labels) == {ONE_CLUSTER}:
        yield "all rows are one cluster; --label names a column of labels, and --cluster finds clusters."
    if options.pairs and options.threshold_or("none") is None:
        yield "every listed pair counts as similar; --threshold sets the lowest score that does."


def _say_alone(selector: Any) -> None:
    """Say how many rows stand for nothing but themselves, if they are many of those that were selected."""
    n_alone = sum(np.count_nonzero(p.stands_for == 1) for p in selector.prototypes_.values())
    if n_alone < MANY_ALONE * selector.sample_indices_.size:
        return
    by_threshold = isinstance(selector, covey.CRS) and selector.threshold is not None and selector.size is None
    remedy = "; with a lower --threshold, or none, others stand for most such rows" if by_threshold else ""
    stand = "stands only for itself" if n_alone == 1 else "stand only for themselves"
    say(f"{n_alone:,} of the selected rows {stand}{remedy}.")


def _columns(result: SelectResult) -> dict[str, Any]:
    """Return the columns that are added to the representatives."""
    prototypes = list(result.fitted.selector_.prototypes_.values())
    return {
        "covey_row": result.rows.row_numbers,
        "covey_cluster": np.repeat([str(p.label) for p in prototypes], [p.indices.size for p in prototypes]),
        "covey_rank": np.concatenate([np.arange(1, p.indices.size + 1) for p in prototypes]),
        "covey_covers": np.concatenate([p.stands_for for p in prototypes]),
    }


def _draw(options: SelectOptions, result: SelectResult) -> None:
    """Draw a page with the map of all clusters, which opens with one of them, or their coverage as an image."""
    from covey.displays.drawing import figure
    from covey.displays.picture import Picture
    from covey.storage.atomic import whole

    path, loaded = str(options.picture), result.loaded
    if options.draws_page and loaded is not None:
        shown: dict[str, Any] = {"names": [loaded.title(row) for row in range(len(loaded.block))]}
        if loaded.block.frame is not None:
            shown["values"] = Fields(loaded)
        display = covey.displays.PrototypeMapDisplay.from_estimator(result.fitted, loaded.objects, **shown)
        if loaded.images is not None:
            display.show_images(loaded.images.rows, loaded.images.shape)
        display.write_html(path, options.show, Path(_data(options)).name)
        return
    drawn = figure(7, 5)
    covey.displays.CoverageDisplay.from_estimator(result.fitted, ax=drawn.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, drawn, "").drawn(Path(path).suffix[1:]))
