"""A model file on the command line: the classifier, how rows become objects, and the names of its representatives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey import persistence
from covey.classifier import NearestPrototypeClassifier
from covey.commands._recipe import Recipe, function_of
from covey.similarity import STRINGS


@dataclass(frozen=True, eq=False)
class Model:
    """What `covey select --model` wrote."""

    classifier: NearestPrototypeClassifier
    recipe: Recipe
    names: dict[int, str]
    data: str | None


def load_model(path: str, similarity: str | None = None, *, to_look_at: bool = False) -> Model:
    """Read a model; a similarity of the user's own is named again, as files hold no code, unless it is not used."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")
    noted = persistence.read_notes(path)
    notes = noted if isinstance(noted, dict) and "recipe" in noted else {}  # else it was saved from Python
    recipe = Recipe(**notes["recipe"]) if notes else None
    kind = "numbers" if recipe is None else recipe.kind
    needs_function = persistence.missing_callable(path) is not None
    if needs_function and recipe is not None and recipe.similarity in STRINGS:  # older files hold no name for it
        similarity = similarity or recipe.similarity
    elif similarity is None and needs_function and not to_look_at:
        named = f" {recipe.similarity} again" if recipe is not None else " module:function"
        raise ValueError(
            f"{path} was made with a similarity of your own, and files hold no code; pass --similarity{named}."
        )
    function = None if similarity is None else function_of(similarity, kind)
    if function is None and needs_function:
        function = _never
    fitted = persistence.load(path, function)
    if not isinstance(fitted, NearestPrototypeClassifier):
        raise ValueError(f"{path} holds a {type(fitted).__name__}, which cannot classify; save a classifier.")
    if recipe is None:
        columns = getattr(fitted, "feature_names_in_", np.array([], dtype=object)).tolist()
        recipe = Recipe("numbers", columns, str(fitted.selector_.similarity))
    rows = np.sort(fitted.selector_.sample_indices_).tolist()
    named_rows = notes.get("names")
    return Model(fitted, recipe, dict(zip(rows, named_rows, strict=True)) if named_rows else {}, notes.get("data"))


def _never(a: Any, b: Any) -> float:
    """In the place of a similarity that nobody is going to ask."""
    raise RuntimeError("this model was only loaded to look at it")
