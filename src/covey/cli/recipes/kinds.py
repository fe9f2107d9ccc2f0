"""Which kinds of recipes there are, and how model files name them."""

from dataclasses import asdict
from typing import Any

from covey.cli.recipes.matrices import DistanceMatrix, SquareMatrix
from covey.cli.recipes.profiles import Profiles
from covey.cli.recipes.recipe import Recipe
from covey.cli.recipes.rows import MixedRows, NumberRows
from covey.cli.recipes.settings import Settings
from covey.cli.recipes.texts import Texts

KINDS: dict[str, type[Recipe]] = {
    "numbers": NumberRows,
    "mixed": MixedRows,
    "text": Texts,
    "profile": Profiles,
    "matrix": SquareMatrix,
    "distances": DistanceMatrix,
}
"""The class of each kind of recipe that a model file can name."""


def recipe_of(settings: Settings) -> Recipe:
    """Return the recipe with these settings."""
    return KINDS[settings.kind](settings)


def read_recipe(noted: Any) -> Recipe:
    """Return the recipe that a model file holds; one that covey has not written is refused."""
    settings = Settings(**noted).checked()
    if settings.kind not in KINDS:
        raise ValueError("its recipe is of a kind that this version of covey does not know")
    return recipe_of(settings)


def write_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return what a model file keeps of a recipe."""
    return asdict(recipe.settings)
