"""What `covey select` has selected, and how it is written: rows, a model, a picture and a few lines to read."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import covey
from covey.cli.files.block import STANDARD, STANDARD_OUTPUT, Block, bytes_out
from covey.cli.files.writing import write, writer
from covey.cli.objects.load import Fields, Loaded, row_names
from covey.cli.objects.recipe import Recipe
from covey.cli.objects.registry import write_recipe
from covey.cli.objects.scored_pairs import PairRecipe
from covey.cli.options import Output
from covey.cli.select.options import MoreFiles
from covey.cli.terminal import say
from covey.runtime.file_errors import of_file
from covey.runtime.libraries import require
from covey.runtime.progress import progress
from covey.runtime.wording import several

MANY_ALONE = 0.25
"""From which share of the selected rows on it is said that they stand only for themselves. benchmarks/
DEFAULT_THRESHOLD.md shows the share on many sets. The value is a matter of taste."""
RUNNING = {"n_jobs": None, "verbose": 0}
"""The parameters of estimators that change nothing but how they run, with their defaults."""


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
    recipe: Recipe
    rows: Block
    loaded: Loaded | None = None
    remarks: Sequence[str] = ()


def write_selected(
    selected: Selected, output: Output, files: MoreFiles, data: str, force: bool, verbose: bool
) -> Selected:
    """Write the model, the picture and the selected rows; what there is to say about that is among the remarks."""
    fitted, recipe, rows = selected.fitted, selected.recipe, selected.rows
    if files.model is not None:
        names = row_names(rows, recipe)
        if names is not None:
            names = [names[at] for at in fitted.selector_.sample_indices_.argsort()]
        notes: dict[str, Any] = {"recipe": write_recipe(recipe), "names": names, "data": data}
        if not np.array_equal(rows.row_numbers, fitted.selector_.sample_indices_):  # some rows were left out
            notes["rows"] = np.sort(rows.row_numbers)
        with of_file(STANDARD_OUTPUT if files.model == STANDARD else files.model):
            covey.save(_at_rest(fitted), bytes_out(files.model), notes)
    if files.picture is not None:
        with progress("drawing", None, None, shown=verbose):
            _draw(fitted, selected.loaded, files.picture, files.show, Path(data).name)
    if files.members is not None:
        remarks = _write_members(selected, files.members, force)
        selected = replace(selected, remarks=[*selected.remarks, *remarks])
    # The rows come last, because whoever reads them from a pipe may leave early.
    numbers = recipe.settings.numbers
    write(output.out, rows, _added(fitted, rows), output.out_form, numbers=numbers, force=force)
    return selected


def _at_rest(estimator: Any) -> Any:
    """Return a copy of a fitted estimator that does not say how it was run, so that --jobs changes no model file.

    `covey classify` sets these parameters anew.
    """
    made = copy(estimator)
    for name, value in list(vars(made).items()):
        if name in RUNNING:
            setattr(made, name, RUNNING[name])
        elif hasattr(value, "get_params"):
            setattr(made, name, _at_rest(value))
    return made


def _write_members(selected: Selected, path: str, force: bool) -> list[str]:
    """Write for each row the representative that `covey classify` would name, and the one that covers it.

    Return what there is to say about it. Of pairs that were scored elsewhere there is no model and nothing to classify:
    the one that covers a row is named.
    """
    loaded: Any = selected.loaded
    selector, objects, numbers, names = (
        selected.fitted.selector_,
        loaded.objects,
        loaded.block.row_numbers,
        loaded.names,
    )
    remarks: list[str] = []
    if isinstance(loaded.recipe, PairRecipe):
        found = selector.members(objects)
        named, similarities = found["representative"].to_numpy(), found["similarity"].to_numpy()
    else:
        named, similarities = (best[:, 0] for best in selected.fitted.nearest_prototypes(objects, n=1))
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
    known = loaded.recipe.known(objects, np.arange(named.size), named)
    columns |= {
        "covey_similarity": pandas.Series(similarities).where(known),
        "covey_rank": ranks[named],
        "covey_covered": covered,
        "covey_covered_by": pandas.Series(numbers[coverers], dtype="Int64").where(covered),
    }
    if loaded.strength is not None:
        columns["covey_strength"] = loaded.strength
    with writer(path, force=force) as put:
        put(pandas.DataFrame(columns))
    return remarks


def _about_members(labels: NDArray[Any], named: NDArray[np.intp], n_representatives: int) -> list[str]:
    """Say how many rows a representative of another cluster is most similar to, and what it took to know that."""
    n_foreign = int(np.count_nonzero(labels[named] != labels))
    told = f"--members took {named.size * n_representatives:,} more evaluations"
    if not n_foreign:
        return [f"{told}."]
    return [
        f"{told}; the most similar representative of {several(n_foreign, 'row')} is one of another cluster, which "
        "covey classify would answer."
    ]


def summarise(selected: Selected) -> None:
    """Say what was compared, selected and evaluated."""
    selector = selected.fitted.selector_
    found = selector.prototypes_.values()
    say(f"compared: {selected.recipe.summary()}")
    n_rows = sum(p.members.size for p in found)
    covers = ""
    if isinstance(selector, covey.CRS | covey.DeltaMedoids):  # elsewhere, no threshold says what is covered
        n_covered = sum(np.count_nonzero(p.covered_by >= 0) for p in found)
        covers = f"; they cover {n_covered / n_rows:.1%} of the rows"
    rows, clusters = several(n_rows, "row"), several(len(found), "cluster")
    say(
        f"{selector.sample_indices_.size} of {rows} selected from {clusters}{covers}; {selector.n_evaluations_:,} "
        "similarities evaluated."
    )
    for remark in selected.remarks:
        say(remark)
    if covers:
        _say_alone(selector)
    if not getattr(selector, "sharpened_", True):
        say("no exchange of rows was found to help; these are the rows that are selected without --sharpen.")


def _say_alone(selector: Any) -> None:
    """Say how many rows stand for nothing but themselves, if they are many of those that were selected."""
    n_alone = sum(np.count_nonzero(p.stands_for == 1) for p in selector.prototypes_.values())
    if n_alone < MANY_ALONE * selector.sample_indices_.size:
        return
    by_threshold = isinstance(selector, covey.CRS) and selector.threshold is not None and selector.size is None
    remedy = "; with a lower --threshold, or none, others stand for most such rows" if by_threshold else ""
    stand = "stands only for itself" if n_alone == 1 else "stand only for themselves"
    say(f"{n_alone:,} of the selected rows {stand}{remedy}.")


def _added(fitted: Any, rows: Block) -> dict[str, Any]:
    """Return the columns that are added to the representatives."""
    prototypes = list(fitted.selector_.prototypes_.values())
    return {
        "covey_row": rows.row_numbers,
        "covey_cluster": np.repeat([str(p.label) for p in prototypes], [p.indices.size for p in prototypes]),
        "covey_rank": np.concatenate([np.arange(1, p.indices.size + 1) for p in prototypes]),
        "covey_covers": np.concatenate([p.stands_for for p in prototypes]),
    }


def _draw(fitted: Any, loaded: Loaded | None, path: str, cluster: str | None, title: str) -> None:
    """Draw a page with the map of all clusters, which opens with one of them, or their coverage as an image."""
    from covey.displays.drawing import figure
    from covey.displays.picture import Picture
    from covey.storage.atomic import whole

    if path.endswith(".html") and loaded is not None:
        told: dict[str, Any] = {"names": [loaded.title(row) for row in range(len(loaded.block))]}
        if loaded.block.frame is not None:
            told["values"] = Fields(loaded)
        display = covey.displays.PrototypeMapDisplay.from_estimator(fitted, loaded.objects, **told)
        if loaded.images is not None:
            display.show_images(loaded.images.rows, loaded.images.shape)
        display.write_html(path, cluster, title)
        return
    drawn = figure(7, 5)
    covey.displays.CoverageDisplay.from_estimator(fitted, ax=drawn.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, drawn, "").drawn(Path(path).suffix[1:]))
