"""The similarities that an algorithm has evaluated before, so that asking for a pair again costs nothing."""

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.runtime.memory import check_fits
from covey.similarity.space import ScoredPairs, Space

BLOCK = 1 << 20
"""About how many similarities are looked up at a time. They take 8 MB; a smaller number would cost more calls."""


class EvaluatedSimilarities:
    """The similarities of a space. Each is evaluated when it is first asked for, and kept.

    They take 8 bytes a pair: 4 n^2 bytes if the space is symmetric, and 8 n^2 otherwise. If they cannot fit into
    memory, the error ends with the `remedy`.
    """

    def __init__(self, space: Space, remedy: str) -> None:
        self.space = space
        size = space.n_pairs if space.symmetric else space.n_left**2
        check_fits(8 * size, f"Keeping the similarities of {space.n_left} objects", remedy)
        self._values = np.full(size, np.nan)

    def admit(self, pairs: ScoredPairs) -> None:
        """Add pairs that were scored elsewhere."""
        self._values[self._places(pairs.i, pairs.j)] = pairs.forward
        self._values[self._places(pairs.j, pairs.i)] = pairs.backward

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return the similarities s(i[t], j[t]) of different objects."""
        places = self._places(i, j)
        missing = np.flatnonzero(np.isnan(self._values[places]))
        if missing.size:
            missing = missing[np.unique(places[missing], return_index=True)[1]]
            a, b = i[missing], j[missing]
            if self.space.symmetric:  # always scored from the lower to the higher number
                a, b = np.minimum(a, b), np.maximum(a, b)
            self._values[places[missing]] = self.space.score(a, b)
        return self._values[places]

    def block(self, i: Indices, j: Indices, itself: float) -> Floats:
        """Return the matrix of s(i[a], j[b]), with `itself` where both are the same object."""
        values = np.full((i.size, j.size), itself)
        different = i[:, None] != j
        a, b = np.nonzero(different)
        values[different] = self.of(i[a], j[b])
        return values

    def _places(self, i: Indices, j: Indices) -> Integers:
        """Return where the similarity of each pair is kept.

        If the space is symmetric, both directions have one place.
        """
        n = self.space.n_left
        if not self.space.symmetric:
            return i.astype(np.int64) * n + j
        low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j)
        return low * (2 * n - low - 1) // 2 + high - low - 1
