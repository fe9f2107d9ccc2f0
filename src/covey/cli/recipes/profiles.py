"""Profiles {key: number} in one column."""

from collections.abc import Mapping
from typing import Any

from covey.cli.files.block import Block
from covey.cli.files.nested import column_of
from covey.cli.recipes.recipe import Recipe
from covey.cli.values import check_filled, profile_of
from covey.displays.fields import largest_first
from covey.displays.report import Card


class Profiles(Recipe):
    """A profile {key: number} in one column."""

    has_long_rows = True

    def from_table(self, block: Block) -> Any:
        (name,) = self.columns
        check_filled(block, name)
        return [profile_of(value, block, at) for at, value in enumerate(column_of(block.frame, name).tolist())]

    def described(self) -> str:
        return f"the profile in {self.columns[0]}"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card.of_profile(title, objects[row])

    def fields(self, block: Block, objects: Any, row: int) -> Mapping[Any, float]:
        return largest_first(objects[row])
