"""A model file on the command line: the classifier, the recipe for new rows, and the names of its representatives."""

from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from covey.classifier import NearestPrototypeClassifier
from covey.cli.objects.recipe import Recipe, Settings
from covey.cli.objects.registry import read_recipe, recipe_of
from covey.cli.similarity_option import OF_TEXTS, function_of, is_same
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import format_errors_of
from covey.similarity.measures import resolve


@dataclass(frozen=True, eq=False)
class Model:
    """What `covey select --model` has written.

    Attributes
    ----------
    classifier : NearestPrototypeClassifier
    recipe : Recipe
        How new rows become objects.
    indices, rows : int array
        Which of the objects the representatives are, in ascending order, and their rows in the data. These differ if
        rows were left out because a value was missing.
    names : dict
        What the representatives are called, by their row in the data; empty if they have no names.
    data : str or None
        The path of the data that the model was made of.
    """

    classifier: NearestPrototypeClassifier
    recipe: Recipe
    indices: NDArray[np.intp]
    rows: NDArray[np.int64]
    names: dict[int, str]
    data: str | None


class OpenedFile(Protocol):
    """The model file, opened: `covey.persistence.loading.ModelFile`."""

    missing_callable: str | None

    def notes(self) -> Any: ...

    def load(self, similarity: Any = None) -> Any: ...


def read_model(path: str, file: OpenedFile, similarity: str | None = None, *, to_look_at: bool = False) -> Model:
    """Return the model in an opened file; messages name it by its path.

    Files hold no code, so a custom similarity must be named again, unless the model is only looked at.
    """
    notes = _notes(path, file)
    recipe: Recipe | None = notes.get("recipe")
    if similarity is not None:
        _check_named(path, file, similarity, recipe)
    function = (
        None if file.missing_callable is None else _function(path, file, similarity, recipe, to_look_at=to_look_at)
    )
    with (
        nullcontext()
        if similarity is not None
        else format_errors_of(path, "names a similarity that it was not made with")
    ):
        fitted = file.load(function)
    if not isinstance(fitted, NearestPrototypeClassifier):
        raise ValueError(f"{path} holds a {type(fitted).__name__}, which cannot classify; save a classifier.")
    if recipe is None:
        columns = getattr(fitted, "feature_names_in_", np.array([], dtype=object)).tolist()
        recipe = recipe_of(Settings("numbers", columns, str(fitted.selector_.similarity)))
    indices, names = np.sort(fitted.selector_.sample_indices_), notes.get("names") or []
    rows = notes.get("rows", indices)  # a model without them left out no rows
    if not isinstance(rows, np.ndarray) or rows.shape != indices.shape or rows.dtype.kind not in "iu":
        raise FileFormatError(f"{path} must number each of {len(indices)} representatives; it is damaged.")
    if type(names) is not list or (names and len(names) != len(indices)):
        raise FileFormatError(f"{path} must name each of {len(indices)} representatives, or none; it is damaged.")
    _check_scales(path, fitted, recipe.settings)
    return Model(fitted, recipe, indices, rows, dict(zip(rows.tolist(), names, strict=False)), notes.get("data"))


def _check_scales(path: str, fitted: NearestPrototypeClassifier, settings: Settings) -> None:
    """Refuse scales of other columns than those of the model. Only models of rows of numbers have scales."""
    shape: tuple[int, ...] = getattr(fitted.representatives_, "shape", ())
    n_columns = shape[-1] if settings.spread is not None and len(shape) == 2 else None
    sizes = {None if scale is None else scale.size for scale in (settings.lowest, settings.spread)}
    if sizes != {n_columns}:
        raise FileFormatError(f"{path} must hold a scale for each of its columns, or none; it is damaged.")


def _notes(path: str, file: OpenedFile) -> dict[str, Any]:
    """Return what `covey select` has written beside the classifier; nothing if it was saved from Python."""
    noted = file.notes()
    if not isinstance(noted, dict) or "recipe" not in noted:
        return {}
    with format_errors_of(path, "holds notes that covey select has not written"):
        return noted | {"recipe": read_recipe(noted["recipe"])}


def _check_named(path: str, file: OpenedFile, similarity: str, recipe: Recipe | None) -> None:
    """Refuse another similarity than the model was made with: answers under it would mean nothing."""
    if recipe is not None and not is_same(similarity, recipe.settings.similarity):
        made_with = recipe.settings.similarity
        remedy = f"pass --similarity {made_with}" if file.missing_callable is not None else "leave it out"
        raise ValueError(f"{path} was made with --similarity {made_with}, got {similarity}; {remedy}.")
    if recipe is None and file.missing_callable is None:
        raise ValueError(f"--similarity must not be passed, got {similarity}: {path} names its own; leave it out.")


def _function(path: str, file: OpenedFile, similarity: str | None, recipe: Recipe | None, *, to_look_at: bool) -> Any:
    """Return the function that the file was made with, but does not hold."""
    if similarity is None and recipe is not None and recipe.settings.similarity in OF_TEXTS:
        similarity = recipe.settings.similarity  # version 0.1.0 took these for custom functions
    if similarity is None:
        if to_look_at:
            return _never
        named = f" {recipe.settings.similarity} again" if recipe is not None else " module:function"
        raise ValueError(f"{path} was made with a custom similarity, and files hold no code; pass --similarity{named}.")
    if recipe is None:
        function = function_of(similarity)
    else:  # the user may have named the same file from another folder
        function = recipe_of(replace(recipe.settings, similarity=similarity)).function()
    if recipe is None and _name(function) != file.missing_callable:
        raise ValueError(
            f"{path} was made with a function called {file.missing_callable}, got --similarity {similarity}; pass "
            "the same one."
        )
    return function


def _name(function: Any) -> str:
    """Return what model files call a custom similarity."""
    bare = resolve(function).function
    return str(getattr(bare, "__name__", type(bare).__name__))


def _never(a: Any, b: Any) -> float:
    """Stand for a similarity that is not going to be evaluated."""
    raise RuntimeError("this model was only loaded to look at it")
