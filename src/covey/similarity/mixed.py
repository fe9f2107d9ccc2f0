"""Rows of a table of mixed columns, in the form in which they are compared and stored."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Positions

MISSING, UNSEEN = -1, -2
"""What takes the place of a category's number: the value is missing, or it is a query's and no object of the fit has
it."""


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows of a table, encoded.

    Attributes
    ----------
    numbers : float array of shape (n, n_number_columns)
        NaN where a number is missing.
    codes : int array of shape (n, n_category_columns)
        The position of each category in `categories`; -1 where it is missing.
    lowest, highest : float arrays
        The range of each column of numbers in the whole table; 0 and 0 if the column is empty.
    categories : list of lists
        The categories of each column of categories.
    is_number : bool array
        For each column of the table whether it holds numbers.
    keys : list or None
        The keys of the columns if the rows were dicts; None if columns are told apart by their positions.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    lowest: Floats
    highest: Floats
    categories: list[list[Any]]
    is_number: NDArray[np.bool_]
    keys: list[Any] | None

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def in_words(self) -> str:
        """What the rows are made of, for messages."""
        return f"{self.is_number.size} columns of numbers and categories"

    def take(self, positions: Positions) -> Self:
        """Return some of the rows, under the ranges and categories of the whole table."""
        return replace(self, numbers=self.numbers[positions], codes=self.codes[positions])

    def with_own_categories(self) -> Self:
        """Return the rows without the categories that none of them has.

        To queries, such a category is the same as one that was never seen.
        """
        codes, kept = self.codes.copy(), []
        for column, categories in enumerate(self.categories):
            used = np.unique(codes[:, column])
            used = used[used != MISSING]
            there = codes[:, column] != MISSING
            codes[there, column] = np.searchsorted(used, codes[there, column])
            kept.append([categories[code] for code in used.tolist()])
        return replace(self, codes=codes, categories=kept)

    @property
    def spreads(self) -> Floats:
        """The range that the differences of each column of numbers are divided by.

        It is positive also for a column of equal numbers, and so small there that any other number is out of range.
        """
        return np.maximum(self.highest - self.lowest, np.finfo(np.float64).smallest_subnormal)
