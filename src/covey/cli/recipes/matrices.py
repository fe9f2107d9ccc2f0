"""Objects of which only their similarities or distances to all objects are known."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.misuse import MisuseError
from covey.cli.recipes.recipe import Recipe
from covey.cli.values import Gaps, numbers_of
from covey.similarity.named import from_distance


class SquareMatrix(Recipe):
    """Rows of similarities to all objects."""

    noun: ClassVar[str] = "similarities"

    def from_table(self, block: Block) -> Any:
        return numbers_of(block, self.columns)

    def learn(self, objects: Any, verbose: bool) -> tuple[Recipe, Any]:
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

    def lacking(self, block: Block) -> Gaps:
        raise MisuseError(f"--missing is not for {self.noun} of all objects to all objects; leave it out.")

    def filling(self, sums: NDArray[np.float64]) -> Recipe:
        raise MisuseError(f"--missing is not for {self.noun} of all objects to all objects; leave it out.")

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


class DistanceMatrix(SquareMatrix):
    """Rows of distances to all objects."""

    noun = "distances"

    def summary(self) -> str:
        return f"{self.described()}, where a distance d counts as the similarity 1 / (1 + d)"

    def function(self) -> Any:
        return from_distance("precomputed")
