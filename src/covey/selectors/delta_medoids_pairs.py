"""Similarities kept once they are known, so that an algorithm may ask for the same pair again at no cost."""

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.runtime.memory import check_fits
from covey.similarity.space import ScoredPairs, Space

BLOCK = 1 << 20
"""About how many similarities are looked up at a time."""


class KnownSimilarities:
    """The similarities of a space, each evaluated when it is first asked for.

    They take 8 bytes a pair: 4 n^2 bytes if the space is symmetric, else 8 n^2.
    """

    def __init__(self, space: Space, remedy: str) -> None:
        self.space = space
        size = space.n_pairs if space.symmetric else space.n_left**2
        check_fits(8 * size, f"Keeping the similarities of {space.n_left} objects", remedy)
        self._values = np.full(size, np.nan)

    def admit(self, pairs: ScoredPairs) -> None:
        """Take in pairs that were scored elsewhere."""
        self._values[self._places(pairs.i, pairs.j)] = pairs.forward
        self._values[self._places(pairs.j, pairs.i)] = pairs.backward

    def of(self, i: Indices, j: Indices) -> Floats:
        """The similarities s(i[t], j[t]) of different objects."""
        places = self._places(i, j)
        missing = np.flatnonzero(np.isnan(self._values[places]))
        if missing.size:
            missing = missing[np.unique(places[missing], return_index=True)[1]]
            a, b = i[missing], j[missing]
            if self.space.symmetric:  # always asked from the lower to the higher
                a, b = np.minimum(a, b), np.maximum(a, b)
            self._values[places[missing]] = self.space.score(a, b)
        return self._values[places]

    def block(self, i: Indices, j: Indices, itself: float) -> Floats:
        """The matrix of s(i[a], j[b]), with `itself` where both are the same object."""
        values = np.full((i.size, j.size), itself)
        different = i[:, None] != j
        a, b = np.nonzero(different)
        values[different] = self.of(i[a], j[b])
        return values

    def _places(self, i: Indices, j: Indices) -> Integers:
        n = self.space.n_left
        if not self.space.symmetric:
            return i.astype(np.int64) * n + j
        low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j)
        return low * (2 * n - low - 1) // 2 + high - low - 1
