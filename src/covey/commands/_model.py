"""A model file on the command line: the classifier, how rows become objects, and the names of its representatives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey import persistence
from covey.classifier import NearestPrototypeClassifier
from covey.commands._recipe import STRINGS, Recipe, function_of


@dataclass(frozen=True, eq=False)
class Model:
    """What `covey select --model` wrote."""

    classifier: NearestPrototypeClassifier
    recipe: Recipe
    names: dict[int, str]
    data: str | None


def load_model(path: str, similarity: str | None = None) -> Model:
    """Read a model; a similarity of the user's own is named again, as files hold no code."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")
    notes = persistence.read_notes(path)
    recipe = None if notes is None else Recipe(**notes["recipe"])
    function: Any = None
    if recipe is not None and ":" in recipe.similarity and recipe.kind != "matrix":
        if similarity is None:
            raise ValueError(
                f"{path} was made with a similarity of your own, and files hold no code; pass --similarity "
                f"{recipe.similarity} again."
            )
        function = function_of(similarity, recipe.kind)
    elif recipe is not None and recipe.similarity in STRINGS:
        function = function_of(recipe.similarity, recipe.kind)
    fitted = persistence.load(path, function)
    if not isinstance(fitted, NearestPrototypeClassifier):
        raise ValueError(f"{path} holds a {type(fitted).__name__}, which cannot classify; save a classifier.")
    if recipe is None:  # saved from Python
        columns = getattr(fitted, "feature_names_in_", np.array([], dtype=object)).tolist()
        recipe = Recipe("columns", columns, "cosine")
    rows = np.sort(fitted.selector_.sample_indices_).tolist()
    named = (notes or {}).get("names")
    names = {} if named is None else dict(zip(rows, named, strict=True))
    return Model(fitted, recipe, names, (notes or {}).get("data"))
