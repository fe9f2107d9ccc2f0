"""Exact nearest neighbors, computed tile by tile, so that the whole matrix of similarities is never in memory.

1. Cut the pairs into square tiles. A symmetric space needs only those on and above the diagonal, because each of them
   serves both its rows and its columns.
2. In a space that can be screened, estimate all similarities of a tile by one matrix product. An estimate is off by at
   most the slack of its row. At least k similarities of a row therefore reach its k-th best estimate less the slack:
   this is the *hurdle* of the row, and all of its k nearest neighbors clear it. So only pairs whose estimate plus the
   slack reaches the hurdle need to be scored.
3. In any other space, score the whole tile.
4. Offer the scores to the neighbor lists. Their total order makes the result independent of tiles and threads.

The similarities of all pairs of two sides as one matrix, dense or sparse.

1. Cut the left side into blocks of rows, so that the pairs of a block take little memory.
2. Score all pairs of a block. Every number is one that `Space.score` returns, so that it depends neither on the blocks
   nor on the threads.
3. Write the block into the dense matrix, or keep what is not 0 of it. A sparse result therefore never needs the dense
   matrix.
"""

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers, Positions
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space
from covey.similarity.sums import Total, added, total_of

TILE = 1024
"""The most objects on a side of a tile. Smaller tiles make matrix products slower, larger ones take more memory: a tile
of this size takes 4 MB for estimates in float32; no comparison with other values is on record."""


def nearest_others(space: Space, k: int, multiplicity: Integers | None = None) -> tuple[NeighborLists, Total | None]:
    """The k most similar others of every object, and the sum of the similarities of all pairs of different objects.

    The sum is None in a screened space, where most pairs are not scored. If object x stands for multiplicity[x] equal
    objects, a pair (x, y) counts multiplicity[x] * multiplicity[y] times in the sum.
    """
    space.expect(space.n_pairs)
    search = _Search(space, k, others=True, multiplicity=multiplicity)
    tiles = [(rows, columns) for rows in search.starts for columns in search.starts]
    if space.symmetric:
        tiles = [(rows, columns) for rows, columns in tiles if rows <= columns]
    sums = space.executor.run(lambda tile: search.tile(*tile), tiles, products=True)
    scored = [value for value in sums if value is not None]
    total = added(scored) / (1 if space.symmetric else 2) if scored else None
    return search.lists, total


def nearest(space: Space, k: int) -> NeighborLists:
    """The k most similar objects of the right side for every object of the left."""
    space.expect(space.n_left * space.n_right)
    search = _Search(space, k, others=False)
    # Tiles of different rows follow each other, so that threads seldom wait for the lists of the same rows.
    tiles = [(rows, columns) for columns in range(0, space.n_right, TILE) for rows in search.starts]
    space.executor.run(lambda tile: search.tile(*tile), tiles, products=True)
    return search.lists


def nearest_across(forward: Space, backward: Space, k: int, symmetric: bool) -> tuple[NeighborLists, NeighborLists]:
    """The k most similar objects of the other side, for every object of the left side and of the right.

    `backward` is the space `forward` with its sides exchanged. If the similarity is `symmetric`, each pair is scored
    once for both sides, and `forward` counts it.
    """
    if not symmetric:
        return nearest(forward, k), nearest(backward, k)
    forward.expect(forward.n_left * forward.n_right)
    left, right = (_Search(space, min(k, space.n_right), others=False) for space in (forward, backward))
    tiles = [(row, column) for column in right.starts for row in left.starts]

    def search(tile: tuple[int, int]) -> None:
        rows, columns = slice(tile[0], tile[0] + left.step), slice(tile[1], tile[1] + right.step)
        if not forward.screened:
            i, j, similarities = left.score_all(rows, columns)
            left.offer(rows, i, j, similarities)
            right.offer(columns, j, i, similarities)
            return
        estimates = forward.estimates(rows, columns)
        forward.count(estimates.size)
        left.screen(estimates, rows, columns)
        right.screen(estimates, columns, rows, by_columns=True)

    forward.executor.run(search, tiles, products=True)
    return left.lists, right.lists


class _Search:
    """The lists and hurdles of one search. If `others`, both sides are the same, and no object is its own neighbor."""

    def __init__(self, space: Space, k: int, others: bool, multiplicity: Integers | None = None) -> None:
        self.space, self.k, self.others, self._multiplicity = space, k, others, multiplicity
        self.lists = NeighborLists.empty(space.n_left, k)
        self.hurdles = np.full(space.n_left, -np.inf)
        self.step = share_out(space.n_left, TILE)
        self._width = self.step if others else TILE  # of a tile; few queries must not make tiles narrow
        self.starts = range(0, space.n_left, self.step)
        self._locks = [threading.Lock() for _ in self.starts]

    def tile(self, row: int, column: int) -> Total | None:
        """Search the tile that starts at this row and column; the sum of its similarities, if all were scored."""
        rows, columns = slice(row, row + self.step), slice(column, column + self._width)
        if not self.space.screened:
            return self._score_tile(rows, columns)
        estimates = self.space.estimates(rows, columns)
        n_pairs = estimates.size
        if self.others and row == column:
            np.fill_diagonal(estimates, -np.inf)
            n_pairs -= len(estimates)
            n_pairs //= 2 if self.space.symmetric else 1
        self.space.count(n_pairs)
        self.screen(estimates, rows, columns)
        if self.others and self.space.symmetric and row != column:
            self.screen(estimates, columns, rows, by_columns=True)
        return None

    def screen(self, estimates: NDArray[Any], block: slice, others: slice, by_columns: bool = False) -> None:
        """Score the pairs of a tile that clear the hurdles of a block of objects, and offer them to their lists.

        The objects of the block are the rows of the estimates, or their columns.
        """
        hurdles, slack = self.hurdles[block], self.space.slack(block)
        i, j = np.empty(estimates.size, dtype=np.int32), np.empty(estimates.size, dtype=np.int32)
        n = (clear_column_hurdles if by_columns else clear_hurdles)(estimates, slack, hurdles, self.k, i, j)
        i, j = i[:n] + np.int32(block.start), j[:n] + np.int32(others.start)
        if by_columns:  # pairs of the same object are scored faster one after the other
            order = np.argsort(i, kind="stable")
            i, j = i[order], j[order]
        self.offer(block, i, j, self.space.score(i, j, counted=False))

    def _score_tile(self, rows: slice, columns: slice) -> Total:
        """Score all pairs of a tile and offer them to the lists; the sum of their similarities."""
        i, j, similarities = self.score_all(rows, columns)
        self.offer(rows, i, j, similarities)
        if self.others and self.space.symmetric:
            self.offer(columns, j, i, similarities)
        if self._multiplicity is None:
            return total_of(similarities)
        return total_of(similarities, self._multiplicity[i] * self._multiplicity[j])

    def score_all(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Floats]:
        """Score all pairs of a tile; on the diagonal, only those that are pairs of different objects and come first."""
        i, j = pairs_of_tile(self.space, rows, columns, self.others)
        return i, j, self.space.score(i, j)

    def offer(self, block: slice, i: Indices, j: Indices, similarities: Floats) -> None:
        """Offer pairs to the lists of a block of objects; the lock of the block keeps other threads out meanwhile."""
        with self._locks[block.start // self.step]:
            self.lists.offer(i, j, similarities)


def pairs_of_tile(space: Space, rows: slice, columns: slice, others: bool) -> tuple[Indices, Indices]:
    """Return all pairs of a tile; if both sides are the same objects, those on the diagonal are pairs of `others`."""
    i = np.arange(rows.start, min(rows.stop, space.n_left), dtype=np.int32)
    j = np.arange(columns.start, min(columns.stop, space.n_right), dtype=np.int32)
    i, j = np.repeat(i, j.size), np.tile(j, i.size)
    if others and rows.start == columns.start:
        keep = i < j if space.symmetric else i != j
        i, j = i[keep], j[keep]
    return i, j


@njit(cache=True, nogil=True)
def clear_hurdles(estimates, slack, hurdles, k, i, j):  # type: ignore[no-untyped-def]
    """Raise the hurdle of each row as far as its k best estimates allow, and collect the pairs that may clear it.

    An estimate of -inf marks an object with itself, which is no pair.
    """
    best = np.empty(k)
    n = 0
    for row in range(estimates.shape[0]):
        first, hurdle = n, hurdles[row]
        best[:] = hurdle  # estimates below the hurdle cannot raise it, so they are not sorted in
        lowest = hurdle - slack[row]
        for column in range(estimates.shape[1]):
            estimate = estimates[row, column]
            if estimate < lowest or estimate == -np.inf:
                continue
            i[n], j[n] = row, column
            n += 1
            if estimate > best[k - 1]:
                insert_sorted(best, estimate)
                # A score lies within the slack of its estimate: k scores reach the k-th best estimate less the slack.
                hurdle = max(hurdle, best[k - 1] - slack[row])
                lowest = hurdle - slack[row]
        hurdles[row] = hurdle
        collected, n = n, first
        for pair in range(first, collected):  # the hurdle may have risen after a pair was collected
            if estimates[row, j[pair]] >= lowest:
                j[n] = j[pair]
                n += 1
    return n


@njit(cache=True, nogil=True)
def clear_column_hurdles(estimates, slack, hurdles, k, i, j):  # type: ignore[no-untyped-def]
    """Do what `clear_hurdles` does for the transpose of the estimates, which is never made.

    The estimates are read row by row, as they lie in memory. So the pairs come in the order of the rows.
    """
    best = np.empty((estimates.shape[1], k))
    best[:] = hurdles.reshape(-1, 1)
    lowest = hurdles - slack
    n = 0
    for row in range(estimates.shape[0]):
        for column in range(estimates.shape[1]):
            estimate = estimates[row, column]
            if estimate < lowest[column] or estimate == -np.inf:
                continue
            i[n], j[n] = column, row
            n += 1
            own = best[column]
            if estimate > own[k - 1]:
                insert_sorted(own, estimate)
                hurdles[column] = max(hurdles[column], own[k - 1] - slack[column])
                lowest[column] = hurdles[column] - slack[column]
    collected, n = n, 0
    for pair in range(collected):
        if estimates[j[pair], i[pair]] >= lowest[i[pair]]:
            i[n], j[n] = i[pair], j[pair]
            n += 1
    return n


@njit(cache=True, nogil=True)
def insert_sorted(best, estimate):  # type: ignore[no-untyped-def]
    """Put an estimate in its place among the best ones, and drop the last of them."""
    place = best.size - 1
    while place > 0 and best[place - 1] < estimate:
        best[place] = best[place - 1]
        place -= 1
    best[place] = estimate


FEW_NONZERO = 1 / 3
"""A matrix is worth storing as CSR if less than this share of it is not 0. A CSR array takes 12 bytes for such a number
(8 for itself and 4 for its column), and a dense array takes 8 bytes for any number. So CSR then takes less than half of
the memory, which makes up for its slower arithmetic."""
MOST_SAMPLED = 128
"""How many objects at most are compared with each other to estimate the share of zeros. Their 16 256 pairs give the
share to within a few percent, and take some milliseconds in a space that is cheap."""


def sample(positions: Positions) -> Positions:
    """Return at most `MOST_SAMPLED` of the positions, evenly spread, from which `has_few_nonzero` can tell enough."""
    return positions[np.linspace(0, positions.size - 1, min(positions.size, MOST_SAMPLED)).astype(np.intp)]


def has_few_nonzero(space: Space) -> bool:
    """Say whether most of the similarities of different objects are 0, so that they should be stored as CSR.

    Both sides of the space are the same objects. The answer is False without a look if a score is not `cheap`.
    """
    if not space.cheap or space.n_left < 2:
        return False
    every = np.arange(space.n_left, dtype=np.int32)
    i, j = np.repeat(every, every.size), np.tile(every, every.size)
    others = i != j
    return bool(np.mean(space.score(i[others], j[others]) != 0) < FEW_NONZERO)


def all_similarities(space: Space, sparse: bool) -> Floats | sp.csr_array:
    """Return the matrix of s(left[i], right[j]), of shape (n_left, n_right), as an array or a CSR array."""
    space.expect(space.n_left * space.n_right)
    step = max(1, min(share_out(space.n_left, TILE), TILE * TILE // space.n_right))
    every = np.arange(space.n_right, dtype=np.int32)
    dense = np.empty((0 if sparse else space.n_left, space.n_right))

    def score(start: int) -> sp.csr_array | None:
        rows: Indices = np.arange(start, min(start + step, space.n_left), dtype=np.int32)
        block = space.score(np.repeat(rows, every.size), np.tile(every, rows.size)).reshape(rows.size, every.size)
        if sparse:
            return sp.csr_array(block)
        dense[rows] = block
        return None

    blocks = space.executor.run(score, range(0, space.n_left, step))
    if not sparse:
        return dense
    return sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, space.n_right))
