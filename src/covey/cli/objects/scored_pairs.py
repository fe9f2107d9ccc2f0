"""Objects of which only the scores of some pairs are known."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.objects.recipe import Recipe
from covey.displays.cards import Card
from covey.runtime.wording import several


@dataclass(frozen=True)
class PairRecipe(Recipe):
    """Pairs that another program has scored. Nothing but their names is known of the objects.

    Attributes
    ----------
    n_pairs, n_objects : int
        How many pairs were scored, and how many objects they are made of.
    """

    n_pairs: int
    n_objects: int

    def from_table(self, block: Block) -> Any:
        raise TypeError(
            "A row that holds a scored pair is not an object by itself; `covey.cli.select.pairs` reads all pairs "
            "at once."
        )

    def function(self) -> Any:
        return "precomputed"

    def described(self) -> str:
        objects, pairs = several(self.n_objects, "object"), several(self.n_pairs, "pair")
        return f"{objects} by {pairs} scored in column {self.columns[2]}"

    def summary(self) -> str:
        return self.described()

    def has_similarity(self, objects: Any, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the pair of each row and its other row is listed; an object's score with itself is not."""
        listed = sp.csr_array((np.ones(objects.nnz), objects.indices, objects.indptr), shape=objects.shape)
        return np.asarray(listed[rows, others] > 0)

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card(title)
