"""A model file on the command line: the classifier, the recipe for new rows, and the names of its representatives.

The representatives in a model as a table: a row for each, with the values that the model keeps of it.
"""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.classifier import NearestPrototypeClassifier
from covey.cli.objects.recipe import Recipe, Settings
from covey.cli.objects.registry import read_recipe, recipe_of
from covey.cli.similarity_option import OF_TEXTS, function_of, is_same
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.similarity.kinds.mixed import MixedRows
from covey.similarity.measures import resolve
from covey.similarity.packed_bits import PackedBits
from covey.storage.errors import naming


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

    Files hold no code, so a similarity of the user's own must be named again, unless the model is only looked at.
    """
    notes = _notes(path, file)
    recipe: Recipe | None = notes.get("recipe")
    if similarity is not None:
        _check_named(path, file, similarity, recipe)
    function = None if file.missing_callable is None else _function(path, file, similarity, recipe, to_look_at)
    with nullcontext() if similarity is not None else naming(path, "names a similarity that it was not made with"):
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
    with naming(path, "holds notes that covey select has not written"):
        return noted | {"recipe": read_recipe(noted["recipe"])}


def _check_named(path: str, file: OpenedFile, similarity: str, recipe: Recipe | None) -> None:
    """Refuse another similarity than the model was made with: answers under it would mean nothing."""
    if recipe is not None and not is_same(similarity, recipe.settings.similarity):
        made_with = recipe.settings.similarity
        remedy = f"pass --similarity {made_with}" if file.missing_callable is not None else "leave it out"
        raise ValueError(f"{path} was made with --similarity {made_with}, got {similarity}; {remedy}.")
    if recipe is None and file.missing_callable is None:
        raise ValueError(f"--similarity must not be passed, got {similarity}: {path} names its own; leave it out.")


def _function(path: str, file: OpenedFile, similarity: str | None, recipe: Recipe | None, to_look_at: bool) -> Any:
    """Return the function that the file was made with, but does not hold."""
    if similarity is None and recipe is not None and recipe.settings.similarity in OF_TEXTS:
        similarity = recipe.settings.similarity  # version 0.1.0 took these for functions of the user's own
    if similarity is None:
        if to_look_at:
            return _never
        named = f" {recipe.settings.similarity} again" if recipe is not None else " module:function"
        raise ValueError(
            f"{path} was made with a similarity of your own, and files hold no code; pass --similarity{named}."
        )
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
    """Return what model files call a similarity of the user's own."""
    bare = resolve(function).function
    return str(getattr(bare, "__name__", type(bare).__name__))


def _never(a: Any, b: Any) -> float:
    """Stand for a similarity that nobody is going to ask."""
    raise RuntimeError("this model was only loaded to look at it")


VALUES = "covey_values"
"""The column for objects that are not made of columns with names."""
DIGITS = 12
"""How many digits of a value that was scaled back are kept. Double precision has between 15 and 17, and scaling there
and back takes four operations, each of which may be off in the last one."""


def representatives_of(model: Model) -> Any:
    """Return a frame of all representatives, cluster by cluster in the order in which they were picked.

    The first columns are those that `covey select` adds to the rows that it writes. Then come the names of the rows, if
    they have any, and the values that the model keeps. Of a matrix of similarities it keeps none.
    """
    selector = model.classifier.selector_
    prototypes = list(selector.prototypes_.values())
    sizes = [found.indices.size for found in prototypes]
    order = np.searchsorted(model.indices, np.concatenate([found.indices for found in prototypes]))
    rows = model.rows[order]
    columns: dict[str, Any] = {
        "covey_row": rows,
        "covey_cluster": np.repeat([str(found.label) for found in prototypes], sizes),
        "covey_rank": np.concatenate([np.arange(1, size + 1) for size in sizes]),
        "covey_covers": np.concatenate([found.stands_for for found in prototypes]),
    }
    if model.names:
        columns[model.recipe.settings.id or "covey_id"] = [model.names[row] for row in rows.tolist()]
    kept = {name: [values[at] for at in order] for name, values in _values(model).items() if name not in columns}
    return require("pandas", "cli").DataFrame(columns | kept)


def _values(model: Model) -> Mapping[str, Any]:
    """Return the columns of values that the model keeps of its representatives, in the order of their rows."""
    objects, settings = model.classifier.representatives_, model.recipe.settings
    if isinstance(objects, MixedRows):
        return _mixed(objects, settings.columns)
    if isinstance(objects, PackedBits):
        return {VALUES: [row.tobytes().hex() for row in np.asarray(objects)]}
    if sp.issparse(objects):
        return {VALUES: _nonzero(sp.csr_array(objects), settings.vocabulary)}
    if isinstance(objects, np.ndarray):
        return _numbers(objects, settings)
    if settings.columns and all(isinstance(one, dict) and list(one) == settings.columns for one in objects):
        return {name: [one[name] for one in objects] for name in settings.columns}
    name = settings.columns[0] if len(settings.columns) == 1 else VALUES
    return {name: [one if isinstance(one, str) else _in_json(one) for one in objects]}


def _numbers(objects: Any, settings: Any) -> dict[str, Any]:
    """Return the columns of rows of numbers, as they were before they were scaled."""
    if objects.ndim == 1:  # the numbers of rows of a matrix of similarities
        return {}
    values = objects.reshape(len(objects), -1)
    if settings.spread is not None:
        scaled_back = values * settings.spread + settings.lowest
        values = np.array([[float(f"{value:.{DIGITS}g}") for value in row] for row in scaled_back.tolist()])
    return dict(zip(_names(settings.columns, values.shape[1]), values.T, strict=True))


def _mixed(rows: MixedRows, names: list[str]) -> dict[str, Any]:
    """Return the columns of numbers and of categories as they were; what is missing is None."""
    numbers = iter([[None if np.isnan(value) else value for value in column] for column in rows.numbers.T.tolist()])
    known = zip(rows.categories, rows.codes.T.tolist(), strict=True)
    categories = iter([[None if code < 0 else kinds[code] for code in codes] for kinds, codes in known])
    columns = [next(numbers if is_number else categories) for is_number in rows.is_number.tolist()]
    keys = names if rows.keys is None else [str(key) for key in rows.keys]
    return dict(zip(_names(keys, len(columns)), columns, strict=True))


def _names(names: list[str], n_columns: int) -> list[str]:
    """Return the names of columns, or numbered names if there are not as many names."""
    return names if len(names) == n_columns else [f"x{at}" for at in range(n_columns)]


def _nonzero(rows: Any, vocabulary: list[str] | None) -> list[str]:
    """Return what is not 0 in sparse rows, as JSON; columns are called by their words or by their numbers."""
    found = []
    for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        names = (vocabulary[at] if vocabulary else str(at) for at in rows.indices[start:end].tolist())
        found.append(_in_json(dict(zip(names, rows.data[start:end].tolist(), strict=True))))
    return found


def _in_json(value: Any) -> str:
    """Return a value as JSON, and what JSON has no form for in Python's notation."""
    try:
        return json.dumps(value, ensure_ascii=False, default=lambda part: part.item())
    except (TypeError, ValueError, AttributeError):
        return repr(value)
