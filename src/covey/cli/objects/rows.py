"""Recipes for rows of a table: numbers, vectors, dicts, mixed columns, matrices of all pairs, and profiles."""

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.columns import (
    Gaps,
    categories_of,
    check_filled,
    column_of,
    gaps_of,
    is_nested,
    means_of,
    numbers_of,
    numbers_with_gaps,
    profile_of,
    vectors_of,
)
from covey.cli.objects.lint import warn_of_columns, warn_of_names
from covey.cli.objects.recipe import MOST_NAMED, NO_SCALE, Recipe
from covey.displays.cards import Card, largest_first
from covey.displays.images import Images, describe_shape
from covey.runtime.libraries import require
from covey.runtime.wording import agreeing, some_of
from covey.similarity.measures import from_distance
from covey.similarity.packed_bits import are_packed

logger = logging.getLogger("covey")


class RowRecipe(Recipe):
    """Objects that are made of several columns."""

    def with_means(self, sums: NDArray[np.float64]) -> Recipe:
        return type(self)(replace(self.settings, means=means_of(sums, self.settings.numbers)))

    def described(self) -> str:
        return self.subject()

    def subject(self) -> str:
        """Return in words what an object is made of."""
        if not self.columns:
            return "rows of numbers"
        columns = agreeing(len(self.columns), "column", "columns")
        return f"the {columns} {some_of(self.columns, MOST_NAMED)}"


class NumberRecipe(RowRecipe):
    """Rows of numbers, scaled or as they are.

    Scaling is done here rather than by scikit-learn's MinMaxScaler, which multiplies by 1 / spread instead of dividing
    by spread. The results differ in the last digit, so models that were saved before would give other answers.
    """

    def from_table(self, block: Block) -> Any:
        return self.from_matrix(numbers_of(block, self.columns, self.settings.means))

    def from_matrix(self, matrix: Any) -> Any:
        self._check_image(matrix)
        return (matrix - self.settings.lowest) / self.settings.spread if self.is_scaled else matrix

    def must_learn(self, *, scale: bool) -> bool:
        return scale

    def facts(self, objects: Any) -> Any:
        """Return the smallest and the largest value of each column."""
        if sp.issparse(objects):
            raise ValueError(NO_SCALE)
        return np.stack([np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)])

    def learn_from(self, facts: Sequence[Any]) -> Recipe:
        """Return the recipe that brings each column to 0 .. 1; a column of equal values becomes 0."""
        extremes = np.concatenate(facts)
        lowest, highest = extremes.min(axis=0), extremes.max(axis=0)
        spread = np.where(highest > lowest, highest - lowest, 1.0)
        return type(self)(replace(self.settings, lowest=lowest, spread=spread))

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:
        similarity = self.settings.similarity
        if similarity == "hamming" or sp.issparse(objects):  # under hamming, numbers may well be codes
            return
        if similarity == "jaccard" and are_packed(objects, "binary"):
            logger.warning("the numbers are read as packed bits, %d in a row.", 8 * objects[0].nbytes)
            return
        values = np.asarray(objects, dtype=np.float64)
        warn_of_columns(values, self.columns, similarity, asked_for=asked_for, scaled=scaled)

    def described(self) -> str:
        pictured = f", {describe_shape(self.settings.image)}" if self.settings.image else ""
        return self.subject() + pictured + (", each column scaled to 0 .. 1" if self.is_scaled else "")

    def unreadable(self) -> Sequence[str]:
        return () if self.settings.image is None else self.columns

    def images(self, block: Block, objects: Any) -> Images | None:
        """Return the rows as images, before they were scaled."""
        if self.settings.image is None:
            return None
        plain = type(self)(replace(self.settings, lowest=None, spread=None))
        return Images.of(plain.objects(block) if self.is_scaled else objects, self.settings.image)

    def _check_image(self, matrix: Any) -> None:
        """Refuse rows that have more or fewer numbers than the images that the user says they are."""
        shape = self.settings.image
        if shape is not None and math.prod(shape) != matrix.shape[1]:
            raise ValueError(
                f"--image {'x'.join(map(str, shape))} is {math.prod(shape)} numbers, but a row has {matrix.shape[1]}."
            )

    @property
    def is_scaled(self) -> bool:
        return self.settings.spread is not None


class VectorRecipe(NumberRecipe):
    """A list of numbers in one column."""

    has_long_rows = True

    def from_table(self, block: Block) -> Any:
        return self.from_matrix(vectors_of(block, self.columns[0]))

    def gaps(self, block: Block) -> Gaps:
        column = column_of(block.frame, self.columns[0])
        if not is_nested(column.dtype):
            return super().gaps(block)
        # A million lists must not become objects of Python, as strings do.
        return gaps_of(block, []).with_column(self.columns[0], np.asarray(column.isna().to_numpy(dtype=bool)))

    def unreadable(self) -> Sequence[str]:
        return self.columns

    def with_means(self, sums: NDArray[np.float64]) -> Recipe:
        raise ValueError("--missing mean is for columns of numbers, not for lists; pass --missing drop instead.")

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:
        """Say nothing: the numbers of a list have no names, by which one could be an identifier."""

    def subject(self) -> str:
        return f"the lists of numbers in {self.columns[0]}"


class DictRecipe(RowRecipe):
    """Dicts of numbers and other values, for a custom similarity."""

    takes_empty = True

    def must_learn(self, *, scale: bool) -> bool:
        if scale:
            raise ValueError(NO_SCALE)
        return False

    def from_table(self, block: Block) -> Any:
        numbers = numbers_of(block, self.settings.numbers, self.settings.means) if self.settings.numbers else {}
        for name in self.columns:
            if name not in numbers:
                check_filled(block, name, empty=self.takes_empty)
        values = [column_of(numbers if name in numbers else block.frame, name).tolist() for name in self.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True)]


class TableRecipe(RowRecipe):
    """Rows of columns of all kinds, for a similarity that tells numbers from categories and skips missing values."""

    takes_gaps = True

    def from_table(self, block: Block) -> Any:
        numbers = set(self.settings.numbers)
        columns = {
            name: numbers_with_gaps(block, name) if name in numbers else categories_of(block, name)
            for name in self.columns
        }
        return require("pandas", "cli").DataFrame(columns)

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:
        if isinstance(objects, np.ndarray):
            return
        for name in self.columns:
            if name not in asked_for:
                warn_of_names(name, objects[name], is_number=name in self.settings.numbers)

    def subject(self) -> str:
        if not self.columns:
            return super().subject()
        n_numbers = len(self.settings.numbers)
        return f"{super().subject()} ({n_numbers} of numbers, {len(self.columns) - n_numbers} of categories)"


class MatrixRecipe(Recipe):
    """Rows of similarities to all objects."""

    noun: ClassVar[str] = "similarities"

    def from_table(self, block: Block) -> Any:
        return numbers_of(block, self.columns)

    def learn(self, objects: Any, *, verbose: bool) -> tuple[Recipe, Any]:
        n_rows, n_columns = objects.shape
        if n_rows != n_columns:
            header = n_rows == n_columns - 1
            raise ValueError(
                f"a matrix of {self.noun} has as many rows as columns, got {n_rows} and {n_columns}."
                + (
                    " The first line was read as names of columns; if it holds numbers, save the matrix as .npy."
                    * header
                )
            )
        return self, objects

    def function(self) -> Any:
        return "precomputed"

    @property
    def similarity_name(self) -> str:
        return "precomputed"

    def described(self) -> str:
        return f"rows of {self.noun} to all objects"

    def summary(self) -> str:
        return self.described()

    def split(self, objects: Any, kept: NDArray[np.intp], asked: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return rows to represent and rows to classify, both with the columns of what is represented."""
        X, queries = (np.asarray(part)[:, kept] for part in super().split(objects, kept, asked))
        return X, queries


class DistanceRecipe(MatrixRecipe):
    """Rows of distances to all objects."""

    noun = "distances"

    def summary(self) -> str:
        return f"{self.described()}, where a distance d counts as the similarity 1 / (1 + d)"

    def function(self) -> Any:
        return from_distance("precomputed")


class ProfileRecipe(Recipe):
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
