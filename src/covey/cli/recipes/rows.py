"""Objects that are made of several columns: rows of numbers, and dicts of any values."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.cli.files.block import Block
from covey.cli.recipes.recipe import MOST_NAMED, Recipe
from covey.cli.values import check_filled, numbers_of
from covey.cli.warnings import warn_of_columns


class Rows(Recipe):
    """Objects that are made of several columns."""

    def described(self) -> str:
        if not self.columns:
            return "rows of numbers"
        more = f" and {len(self.columns) - MOST_NAMED} more" if len(self.columns) > MOST_NAMED else ""
        return f"the columns {', '.join(self.columns[:MOST_NAMED])}{more}"


class NumberRows(Rows):
    """Rows of numbers, scaled or as they are.

    Scaling is done here rather than by scikit-learn's MinMaxScaler, which multiplies by 1 / spread instead of dividing
    by spread. The results differ in the last digit, so models that were saved before would give other answers.
    """

    def from_table(self, block: Block) -> Any:
        return self.from_matrix(numbers_of(block, self.columns))

    def from_matrix(self, matrix: Any) -> Any:
        return (matrix - self.settings.lowest) / self.settings.spread if self.is_scaled else matrix

    def scaled(self, objects: Any) -> Recipe:
        """Return the recipe that brings each column of these objects to 0 .. 1; a column of equal values becomes 0."""
        if sp.issparse(objects):
            return super().scaled(objects)
        lowest, highest = np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)
        spread = np.where(highest > lowest, highest - lowest, 1.0)
        return NumberRows(replace(self.settings, lowest=lowest, spread=spread))

    def must_learn(self, scale: bool) -> bool:
        return scale

    def facts(self, objects: Any) -> Any:
        """Return the smallest and the largest value of each column."""
        return np.stack([np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)])

    def learn_from(self, facts: Sequence[Any]) -> Recipe:
        return self.scaled(np.concatenate(facts))

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:
        similarity = self.settings.similarity
        if similarity == "hamming" or sp.issparse(objects):  # under hamming, numbers may well be codes
            return
        values = np.asarray(objects, dtype=np.float64)
        warn_of_columns(values, self.columns, similarity, asked_for=asked_for, scaled=scaled)

    def described(self) -> str:
        return super().described() + (", each scaled to 0 .. 1" if self.columns and self.is_scaled else "")

    @property
    def is_scaled(self) -> bool:
        return self.settings.spread is not None


class MixedRows(Rows):
    """Dicts of numbers and other values, for a similarity of the user's own."""

    def from_table(self, block: Block) -> Any:
        numbers = numbers_of(block, self.settings.numbers) if self.settings.numbers else {}
        for name in self.columns:
            check_filled(block, name, empty=True)
        values = [(numbers if name in numbers else block.frame)[name].tolist() for name in self.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True)]
