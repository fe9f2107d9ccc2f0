"""What `covey select` has selected, and how it is written: rows, a model, a picture and a few lines to read."""

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.cli.files.block import Block
from covey.cli.files.standard import bytes_out
from covey.cli.files.writing import write, writer
from covey.cli.options import Output
from covey.cli.recipes.kinds import write_recipe
from covey.cli.recipes.recipe import Recipe
from covey.cli.selection import MoreFiles
from covey.cli.source import Fields, Loaded, row_names
from covey.cli.terminal import say
from covey.runtime.extras import require
from covey.runtime.progress import progress
from covey.runtime.wording import several

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


def write_selected(selected: Selected, output: Output, files: MoreFiles, data: str, force: bool, verbose: bool) -> None:
    """Write the model, the picture and the selected rows."""
    fitted, recipe, rows = selected.fitted, selected.recipe, selected.rows
    if files.model is not None:
        names = row_names(rows, recipe)
        if names is not None:
            names = [names[at] for at in fitted.selector_.sample_indices_.argsort()]
        notes: dict[str, Any] = {"recipe": write_recipe(recipe), "names": names, "data": data}
        if not np.array_equal(rows.row_numbers, fitted.selector_.sample_indices_):  # some rows were left out
            notes["rows"] = np.sort(rows.row_numbers)
        covey.save(_at_rest(fitted), bytes_out(files.model), notes)
    if files.picture is not None:
        with progress("drawing", None, "pictures", shown=verbose):
            _draw(fitted, selected.loaded, files.picture, files.show, Path(data).name)
    if files.members is not None:
        _write_members(selected, files.members, force)
    # The rows come last, because whoever reads them from a pipe may leave early.
    numbers = recipe.settings.numbers
    write(output.out, rows, _added(fitted, rows), output.out_form, numbers=numbers, force=force)


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


def _write_members(selected: Selected, path: str, force: bool) -> None:
    """Write which representative stands for each row."""
    loaded: Any = selected.loaded
    found = selected.fitted.selector_.members(loaded.objects)
    names, numbers = loaded.names, loaded.block.row_numbers
    columns: dict[str, Any] = {} if names is None else {str(loaded.recipe.settings.id): names}
    columns |= {
        "covey_row": numbers[found["row"]],
        "covey_cluster": found["label"].astype(str),
        "covey_representative": numbers[found["representative"]],
    }
    if names is not None:
        columns["covey_representative_id"] = [names[row] for row in found["representative"]]
    known = loaded.recipe.known(loaded.objects, *(found[name].to_numpy() for name in ("row", "representative")))
    columns |= {f"covey_{name}": found[name] for name in ("similarity", "rank", "covered")}
    columns["covey_similarity"] = found["similarity"].where(known)
    with writer(path, force=force) as put:
        put(require("pandas", "cli").DataFrame(columns))


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
    say(
        f"{selector.sample_indices_.size} of {n_rows} rows selected from {several(len(found), 'cluster')}{covers}; "
        f"{selector.n_evaluations_:,} similarities evaluated."
    )
    for remark in selected.remarks:
        say(remark)
    if not getattr(selector, "sharpened_", True):
        say("no exchange of rows was found to help; these are the rows that are selected without --sharpen.")


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
    from covey.evaluation import Picture
    from covey.storage.whole import whole

    if path.endswith(".html") and loaded is not None:
        told: dict[str, Any] = {"names": [loaded.title(row) for row in range(len(loaded.block))]}
        if loaded.block.frame is not None:
            told["values"] = Fields(loaded)
        display = covey.PrototypeMapDisplay.from_estimator(fitted, loaded.objects, **told)
        if loaded.images is not None:
            display.show_images(loaded.images.rows, loaded.images.shape)
        display.write_html(path, cluster, title)
        return
    drawn = figure(7, 5)
    covey.CoverageDisplay.from_estimator(fitted, ax=drawn.subplots())
    with whole(path) as temporary:
        temporary.write_bytes(Picture(Path(path).stem, drawn, "").drawn(Path(path).suffix[1:]))
