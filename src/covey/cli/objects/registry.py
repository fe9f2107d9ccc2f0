"""Which kinds of recipes there are, and how model files name them."""

from dataclasses import Field, asdict, fields
from typing import Any

import numpy as np

from covey.cli.objects.molecules import MoleculeRecipe
from covey.cli.objects.recipe import Recipe, Settings
from covey.cli.objects.rows import (
    DictRecipe,
    DistanceRecipe,
    MatrixRecipe,
    NumberRecipe,
    ProfileRecipe,
    TableRecipe,
    VectorRecipe,
)
from covey.cli.objects.texts import TextRecipe

KINDS: dict[str, type[Recipe]] = {
    "numbers": NumberRecipe,
    "mixed": DictRecipe,
    "gower": TableRecipe,
    "vectors": VectorRecipe,
    "text": TextRecipe,
    "profile": ProfileRecipe,
    "molecules": MoleculeRecipe,
    "matrix": MatrixRecipe,
    "distances": DistanceRecipe,
}
"""The class of each kind of recipe that a model file can name."""


def recipe_of(settings: Settings) -> Recipe:
    return KINDS[settings.kind](settings)


def read_recipe(noted: Any) -> Recipe:
    """Return the recipe that a model file holds; one that covey has not written is refused."""
    settings = Settings(**noted).checked()
    if settings.kind not in KINDS:
        raise ValueError("its recipe is of a kind that this version of covey does not know")
    return recipe_of(settings)


def write_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return what a model file keeps of a recipe."""
    unused = [field.name for field in fields(Settings) if field.metadata.get("later") and _is_unused(recipe, field)]
    return {name: value for name, value in asdict(recipe.settings).items() if name not in unused}


def _is_unused(recipe: Recipe, field: Field[Any]) -> bool:
    """Return whether a field of the settings has its default, which is None or the like."""
    value = getattr(recipe.settings, field.name)
    return not isinstance(value, np.ndarray) and bool(value == field.default)
