"""What `covey select` has selected, and how it is written: rows, a model, a picture and a few lines to read."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import covey
from covey.cli.files.block import Block
from covey.cli.files.writing import write
from covey.cli.options import Output
from covey.cli.recipes.kinds import write_recipe
from covey.cli.recipes.recipe import Recipe
from covey.cli.selection import MoreFiles
from covey.cli.source import Loaded, row_names
from covey.cli.terminal import say
from covey.runtime.progress import progress


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
        covey.save(fitted, files.model, {"recipe": write_recipe(recipe), "names": names, "data": data})
    if files.picture is not None:
        with progress("drawing", None, "pictures", shown=verbose):
            _draw(fitted, selected.loaded, files.picture, files.cluster)
    # The rows come last, because whoever reads them from a pipe may leave early.
    numbers = recipe.settings.numbers
    write(output.out, rows, _added(fitted), output.out_form, numbers=numbers, force=force)


def summarise(selected: Selected) -> None:
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
    prototypes = list(fitted.selector_.prototypes_.values())
    return {
        "covey_row": fitted.selector_.sample_indices_,
        "covey_cluster": np.repeat([str(p.label) for p in prototypes], [p.indices.size for p in prototypes]),
        "covey_rank": np.concatenate([np.arange(1, p.indices.size + 1) for p in prototypes]),
        "covey_covers": np.concatenate([p.stands_for for p in prototypes]),
    }


def _draw(fitted: Any, loaded: Loaded | None, path: str, cluster: str | None) -> None:
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
