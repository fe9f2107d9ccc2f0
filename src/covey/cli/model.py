"""A model file on the command line: the classifier, how rows become objects, and the names of its representatives."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from covey import persistence
from covey.classifier import NearestPrototypeClassifier
from covey.cli.recipe import Recipe, function_of
from covey.similarity.similarity import STRINGS, resolve
from covey.storage.errors import naming
from covey.storage.errors import FileFormatError


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
    notes = _notes(path)
    recipe = notes.get("recipe")
    made_with = persistence.missing_callable(path)
    if similarity is not None:
        _check_named(path, similarity, recipe, made_with)
    function = None if made_with is None else _function(path, similarity, recipe, made_with, to_look_at)
    fitted = persistence.load(path, function)
    if not isinstance(fitted, NearestPrototypeClassifier):
        raise ValueError(f"{path} holds a {type(fitted).__name__}, which cannot classify; save a classifier.")
    if recipe is None:
        columns = getattr(fitted, "feature_names_in_", np.array([], dtype=object)).tolist()
        recipe = Recipe("numbers", columns, str(fitted.selector_.similarity))
    rows, names = np.sort(fitted.selector_.sample_indices_).tolist(), notes.get("names") or []
    if names and len(names) != len(rows):
        raise FileFormatError(f"{path} has {len(names)} names for {len(rows)} representatives; it is damaged.")
    return Model(fitted, recipe, dict(zip(rows, names, strict=False)), notes.get("data"))


def _notes(path: str) -> dict[str, Any]:
    """What `covey select` has written beside the classifier, with the recipe; nothing if it was saved from Python."""
    noted = persistence.read_notes(path)
    if not isinstance(noted, dict) or "recipe" not in noted:
        return {}
    with naming(path, "holds notes that covey select has not written"):
        return noted | {"recipe": Recipe(**noted["recipe"]).checked()}


def _check_named(path: str, similarity: str, recipe: Recipe | None, made_with: str | None) -> None:
    """Refuse another similarity than the model was made with: answers under it would mean nothing."""
    if recipe is not None and similarity != recipe.similarity:
        remedy = f"pass --similarity {recipe.similarity}" if made_with is not None else "leave it out"
        raise ValueError(f"{path} was made with --similarity {recipe.similarity}, got {similarity}; {remedy}.")
    if recipe is None and made_with is None:
        raise ValueError(f"--similarity must not be passed, got {similarity}: {path} names its own; leave it out.")


def _function(path: str, similarity: str | None, recipe: Recipe | None, made_with: str, to_look_at: bool) -> Any:
    """The function that the file was made with, but does not hold."""
    if similarity is None and recipe is not None and recipe.similarity in STRINGS:
        similarity = recipe.similarity
    if similarity is None:
        if to_look_at:
            return _never
        named = f" {recipe.similarity} again" if recipe is not None else " module:function"
        raise ValueError(
            f"{path} was made with a similarity of your own, and files hold no code; pass --similarity{named}."
        )
    function = function_of(similarity, "numbers" if recipe is None else recipe.kind)
    if recipe is None and _name(function) != made_with:
        raise ValueError(
            f"{path} was made with a function called {made_with}, got --similarity {similarity}; pass the same one."
        )
    return function


def _name(function: Any) -> str:
    """What model files call a similarity of the user's own."""
    bare = resolve(function).function
    return str(getattr(bare, "__name__", type(bare).__name__))


def _never(a: Any, b: Any) -> float:
    """In the place of a similarity that nobody is going to ask."""
    raise RuntimeError("this model was only loaded to look at it")
