"""Exact nearest neighbors, tile by tile, never the whole matrix.

1. Cut the pairs into square tiles; a symmetric space needs only those on and above the diagonal, which serve both
   their rows and their columns.
2. In a space that can be screened, estimate a tile (a matrix product). The k-th best estimate of a row, less twice
   the slack, is a bar that each of its true neighbors clears; only pairs above the bar are scored.
3. In any other space, score the whole tile.
4. Offer what was scored to the neighbor lists. Their total order makes the result independent of tiles and threads.
"""

import math
import threading
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space

TILE = 1024
"""The most objects on a tile's side."""


def nearest_others(space: Space, k: int, multiplicity: Integers | None = None) -> tuple[NeighborLists, float | None]:
    """The k most similar others of every object, and the sum of similarities if every pair was scored for it.

    A pair of objects that are there several times counts as often in the sum as there are pairs of their copies.
    """
    space.n_expected = space.n_pairs
    search = _Search(space, k, others=True, multiplicity=multiplicity)
    tiles = [(rows, columns) for rows in search.starts for columns in search.starts]
    if space.symmetric:
        tiles = [(rows, columns) for rows, columns in tiles if rows <= columns]
    sums = space.executor.run(lambda tile: search.tile(*tile), tiles, products=True)
    scored = [value for value in sums if value is not None]
    total = math.fsum(scored) / (1 if space.symmetric else 2) if scored else None
    return search.lists, total


def nearest(space: Space, k: int) -> NeighborLists:
    """The k most similar objects of the right side for every object of the left."""
    space.n_expected = space.n_left * space.n_right
    search = _Search(space, k, others=False)
    tiles = [(rows, columns) for rows in search.starts for columns in range(0, space.n_right, search.step)]
    space.executor.run(lambda tile: search.tile(*tile), tiles, products=True)
    return search.lists


class _Search:
    def __init__(self, space: Space, k: int, others: bool, multiplicity: Integers | None = None) -> None:
        self.space, self.k, self.others, self._multiplicity = space, k, others, multiplicity
        self.lists = NeighborLists.empty(space.n_left, k)
        self.bars = np.full(space.n_left, -np.inf)
        self.step = share_out(space.n_left, TILE)
        self.starts = range(0, space.n_left, self.step)
        self._locks = [threading.Lock() for _ in self.starts]

    def tile(self, row: int, column: int) -> float | None:
        """Offer the pairs of one tile; the sum of its similarities if all were scored."""
        rows, columns = slice(row, row + self.step), slice(column, column + self.step)
        if not self.space.screened:
            return self._score_tile(rows, columns)
        estimates = self.space.estimates(rows, columns)
        n_pairs = estimates.size
        if self.others and row == column:
            np.fill_diagonal(estimates, -np.inf)
            n_pairs -= len(estimates)
            n_pairs //= 2 if self.space.symmetric else 1
        self.space.count(n_pairs)
        self._screen(estimates, rows, columns)
        if self.others and self.space.symmetric and row != column:
            self._screen(np.ascontiguousarray(estimates.T), columns, rows)
        return None

    def _screen(self, estimates: NDArray[Any], rows: slice, columns: slice) -> None:
        bars, slack = self.bars[rows], self.space.slack(rows)
        i, j = np.empty(estimates.size, dtype=np.int32), np.empty(estimates.size, dtype=np.int32)
        n = clear_bar(estimates, slack, bars, self.k, i, j)
        i, j = i[:n] + np.int32(rows.start), j[:n] + np.int32(columns.start)
        self._offer(rows, i, j, self.space.score(i, j, counted=False))

    def _score_tile(self, rows: slice, columns: slice) -> float:
        i = np.arange(rows.start, min(rows.stop, self.space.n_left), dtype=np.int32)
        j = np.arange(columns.start, min(columns.stop, self.space.n_right), dtype=np.int32)
        i, j = np.repeat(i, j.size), np.tile(j, i.size)
        if self.others and rows.start == columns.start:
            keep = i < j if self.space.symmetric else i != j
            i, j = i[keep], j[keep]
        similarities = self.space.score(i, j)
        self._offer(rows, i, j, similarities)
        if self.others and self.space.symmetric:
            self._offer(columns, j, i, similarities)
        if self._multiplicity is not None:
            similarities = similarities * self._multiplicity[i] * self._multiplicity[j]
        return float(similarities.sum())

    def _offer(self, block: slice, i: Indices, j: Indices, similarities: Floats) -> None:
        with self._locks[block.start // self.step]:
            self.lists.offer(i, j, similarities)


@njit(cache=True, nogil=True)
def clear_bar(estimates, slack, bars, k, i, j):  # type: ignore[no-untyped-def]
    """Raise each row's bar by its k-th best estimate and collect the pairs that clear it."""
    best = np.empty(k)
    n = 0
    for row in range(estimates.shape[0]):
        best[:] = bars[row]  # what does not reach the bar cannot raise it
        for column in range(estimates.shape[1]):
            if estimates[row, column] > best[k - 1]:
                at = k - 1
                while at > 0 and best[at - 1] < estimates[row, column]:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = estimates[row, column]
        # A score lies within the slack of its estimate: k scores of this row reach the k-th estimate less the slack.
        bars[row] = max(bars[row], best[k - 1] - slack[row])
        lowest = bars[row] - slack[row]
        for column in range(estimates.shape[1]):
            if estimates[row, column] >= lowest and estimates[row, column] > -np.inf:
                i[n], j[n] = row, column
                n += 1
    return n
