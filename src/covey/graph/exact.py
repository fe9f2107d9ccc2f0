"""The exact k most similar objects, tile by tile, so that the whole matrix of similarities is never in memory.

For each object, this is a search for the k best of all others, or for the k best of each *group* of others
(`by_group.py`). All searches work like this:

1. Cut the pairs into tiles of rows and columns. In a symmetric space a tile serves both its rows and its columns, so
   that only tiles on and above the diagonal are needed.
2. In a space that can be screened, estimate all similarities of a tile by one matrix product. An estimate is off by at
   most the slack of its row. So only pairs whose estimates come near the k-th best one need to be scored: those that
   clear the *hurdle* of the list.
3. In any other space, score the whole tile.
4. Offer the scores to the neighbor lists. Their total order makes the result independent of tiles and threads.

A search for the k best of all others keeps the best estimates of each object in a shortlist (`shortlists.py`) until it
has seen all tiles, and only then scores the few pairs that are left. A search in groups scores the pairs of each tile
that clear the hurdles so far (`BestLists`).

`all_similarities` returns the similarities of all pairs of two sides as one matrix, dense or sparse. It scores blocks
of rows; a sparse result never needs the dense matrix.
"""

import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers, Positions
from covey.graph.lists import NeighborLists
from covey.graph.shortlists import Shortlists
from covey.runtime.executor import share_out
from covey.similarity.space import Space
from covey.similarity.sums import Total, added, total_of

TILE = 1024
"""The most objects on a side of a tile. Smaller tiles make matrix products slower, larger ones take more memory: a tile
of this size takes 4 MB for estimates in float32."""

Groups = NDArray[np.integer[Any]]
"""The group of each pair of a tile, counted from 0; -1 marks a pair that is not offered."""


class BestLists:
    """The k best of each group that were offered so far, for n objects.

    Attributes
    ----------
    lists : NeighborLists
        The list ``x * n_groups + g`` holds the best of group g for object x.
    hurdles : float array of shape (n, n_groups)
        What an estimate must reach, less its slack, to enter a list. It is on the scale of estimates, which need not be
        that of scores.
    """

    def __init__(self, n: int, k: int, n_groups: int = 1) -> None:
        self.lists = NeighborLists.empty(n * n_groups, k)
        self.hurdles = np.full((n, n_groups), -np.inf)

    def offer_tile(
        self, space: Space, rows: slice, columns: slice, objects: Indices | Positions, others: Indices, groups: Groups
    ) -> None:
        """Offer the columns of a tile to the lists of its rows.

        The rows of the tile belong to these `objects`, and its columns enter lists under the numbers `others`.
        """
        if space.screened:
            estimates = space.estimates(rows, columns)
            space.count(int(np.count_nonzero(groups >= 0)))
            i, j = self.clear(estimates, space.slack(rows), objects, groups)
        else:
            i, j = (positions.astype(np.int32) for positions in np.nonzero(groups >= 0))
        places = objects[i] * self.hurdles.shape[1] + groups[i, j]
        i, j, others = i + np.int32(rows.start), j + np.int32(columns.start), others[j]
        self.lists.offer(places.astype(np.int32), others, space.score(i, j, counted=not space.screened))

    def clear(
        self, estimates: NDArray[Any], slack: Floats, objects: Indices | Positions, groups: Groups
    ) -> tuple[Indices, Indices]:
        """Raise the hurdles of a tile's rows, and return the rows and columns of the pairs that may clear them."""
        i, j = np.empty((2, estimates.size), dtype=np.int32)
        k = self.lists.indices.shape[1]
        n = clear_hurdles(estimates, slack, groups, objects, self.hurdles, k, i, j)
        return i[:n], j[:n]


class _NearestSearch:
    """A search for the k best objects of the right side of a space, for all objects of the left side.

    With `others`, both sides are the same objects, and no object is its own neighbor. Where the space is screened,
    `settle` has to be called for all blocks once all tiles are searched.
    """

    def __init__(self, space: Space, k: int, *, others: bool, multiplicity: Integers | None = None) -> None:
        self.lists, self._shortlists = NeighborLists.empty(space.n_left, k), Shortlists.empty(space.n_left, k)
        self.space, self.others, self._multiplicity = space, others, multiplicity
        self.step = share_out(space.n_left, TILE)
        self._width = self.step if others else TILE  # of a tile; few queries must not make tiles narrow
        self.starts = range(0, space.n_left, self.step)
        self._locks = [threading.Lock() for _ in self.starts]

    def tile(self, start: tuple[int, int]) -> Total | None:
        """Search the tile that starts at a row and a column; return the sum of its similarities, if all were scored."""
        row, column = start
        rows, columns = self.rows(row), slice(column, min(column + self._width, self.space.n_right))
        both = self.others and self.space.symmetric
        if not self.space.screened:
            i, j, similarities = self.score_all(rows, columns)
            self.offer(rows, i, j, similarities)
            if both:
                self.offer(columns, j, i, similarities)
            return self._total(i, j, similarities)
        estimates = self.space.estimates(rows, columns)
        diagonal = self.others and row == column
        self.space.count(n_pairs_of_tile(self.space, estimates, diagonal=diagonal))
        if diagonal:
            np.fill_diagonal(estimates, -np.inf)
        self.screen(estimates, rows, columns)
        if both and not diagonal:
            self.screen_columns(estimates, rows, columns)
        return None

    def rows(self, start: int) -> slice:
        """Return the block of rows that starts here."""
        return slice(start, min(start + self.step, self.space.n_left))

    def screen(self, estimates: NDArray[Any], rows: slice, columns: slice) -> None:
        """Offer the columns of a tile to the shortlists of its rows."""
        with self._lock(rows):
            i, j = self._shortlists.offer(estimates, self.space.slack(rows), rows, columns, transposed=False)
        self._score(rows, i, j)

    def screen_columns(self, estimates: NDArray[Any], rows: slice, columns: slice) -> None:
        """Offer the rows of a tile to the shortlists of its columns, which are objects of the left side."""
        with self._lock(columns):
            i, j = self._shortlists.offer(estimates, self.space.slack(columns), rows, columns, transposed=True)
        self._score(columns, i, j)

    def settle(self) -> None:
        """Score what the shortlists hold in the end."""
        if self.space.screened:
            self.space.executor.run(self._settle_block, self.starts)

    def _settle_block(self, start: int) -> None:
        rows = self.rows(start)
        self._score(rows, *self._shortlists.left(rows, self.space.slack(rows)))

    def _score(self, block: slice, i: Indices, j: Indices) -> None:
        """Score pairs of a block of objects that were counted before, and offer them to its lists."""
        if i.size:
            self.offer(block, i, j, self.space.score(i, j, counted=False))

    def score_all(self, rows: slice, columns: slice) -> tuple[Indices, Indices, Floats]:
        """Score all pairs of a tile; on the diagonal, only those that are pairs of different objects and come first."""
        i, j = pairs_of_tile(self.space, rows, columns, others=self.others)
        return i, j, self.space.score(i, j)

    def offer(self, block: slice, i: Indices, j: Indices, similarities: Floats) -> None:
        """Offer pairs to the lists of a block of objects; the lock of the block keeps other threads out meanwhile."""
        with self._lock(block):
            self.lists.offer(i, j, similarities)

    def _lock(self, block: slice) -> threading.Lock:
        return self._locks[block.start // self.step]

    def _total(self, i: Indices, j: Indices, similarities: Floats) -> Total:
        if self._multiplicity is None:
            return total_of(similarities)
        return total_of(similarities, self._multiplicity[i] * self._multiplicity[j])


def nearest_others(space: Space, k: int, multiplicity: Integers | None = None) -> tuple[NeighborLists, Total | None]:
    """Return the k most similar others of every object, and the sum of the similarities of all pairs of these.

    The sum is None in a screened space, where most pairs are not scored. If object x stands for multiplicity[x] equal
    objects, a pair (x, y) counts multiplicity[x] * multiplicity[y] times in the sum.
    """
    space.expect(space.n_pairs)
    search = _NearestSearch(space, k, others=True, multiplicity=multiplicity)
    tiles = [(rows, columns) for rows in search.starts for columns in search.starts]
    if space.symmetric:
        tiles = [(rows, columns) for rows, columns in tiles if rows <= columns]
    sums = space.executor.run(search.tile, tiles, products=True)
    search.settle()
    scored = [value for value in sums if value is not None]
    total = added(scored) / (1 if space.symmetric else 2) if scored else None
    return search.lists, total


def nearest(space: Space, k: int) -> NeighborLists:
    """Return the k most similar objects of the right side for every object of the left."""
    space.expect(space.n_left * space.n_right)
    search = _NearestSearch(space, k, others=False)
    # Tiles of different rows follow each other, so that threads seldom wait for the lists of the same rows.
    tiles = [(rows, columns) for columns in range(0, space.n_right, TILE) for rows in search.starts]
    space.executor.run(search.tile, tiles, products=True)
    search.settle()
    return search.lists


def nearest_across(forward: Space, backward: Space, k: int, *, symmetric: bool) -> tuple[NeighborLists, NeighborLists]:
    """Return the k most similar objects of the other side, for every object of the left side and of the right.

    `backward` is the space `forward` with its sides exchanged. If the similarity is `symmetric`, each pair is scored
    once for both sides, and `forward` counts it.
    """
    if not symmetric:
        return nearest(forward, k), nearest(backward, k)
    forward.expect(forward.n_left * forward.n_right)
    left, right = (_NearestSearch(space, min(k, space.n_right), others=False) for space in (forward, backward))

    def search(tile: tuple[int, int]) -> None:
        rows, columns = left.rows(tile[0]), right.rows(tile[1])
        if not forward.screened:
            i, j, similarities = left.score_all(rows, columns)
            left.offer(rows, i, j, similarities)
            right.offer(columns, j, i, similarities)
            return
        estimates = forward.estimates(rows, columns)
        forward.count(estimates.size)
        left.screen(estimates, rows, columns)
        right.screen_columns(estimates, rows, columns)

    tiles = [(row, column) for column in right.starts for row in left.starts]
    forward.executor.run(search, tiles, products=True)
    left.settle()
    right.settle()
    return left.lists, right.lists


def pairs_of_tile(space: Space, rows: slice, columns: slice, *, others: bool) -> tuple[Indices, Indices]:
    """Return all pairs of a tile; if both sides are the same objects, those on the diagonal are pairs of `others`."""
    i = np.arange(rows.start, rows.stop, dtype=np.int32)
    j = np.arange(columns.start, columns.stop, dtype=np.int32)
    i, j = np.repeat(i, j.size), np.tile(j, i.size)
    if others and rows.start == columns.start:
        listed = i < j if space.symmetric else i != j
        i, j = i[listed], j[listed]
    return i, j


def n_pairs_of_tile(space: Space, estimates: NDArray[Any], *, diagonal: bool) -> int:
    """Return how many evaluations the pairs of a tile take; on the diagonal, they are pairs of different objects."""
    if not diagonal:
        return int(estimates.size)
    n = len(estimates)
    return n * (n - 1) // (2 if space.symmetric else 1)


@njit(cache=True, nogil=True)
def clear_hurdles(estimates, slack, groups, objects, hurdles, k, i, j):  # type: ignore[no-untyped-def]
    """Raise the hurdles of each row to what its k best estimates of each group allow, and collect the pairs that may
    clear them; return how many these are.

    An estimate of -inf marks an object with itself, which is not a pair.
    """
    n, n_groups = 0, hurdles.shape[1]
    best, needed = np.empty((n_groups, k)), np.empty(n_groups)
    for row in range(estimates.shape[0]):
        first, margin, of_row, of_columns = n, slack[row], hurdles[objects[row]], groups[row]
        lowest = np.inf
        for group in range(n_groups):
            best[group] = of_row[group]  # estimates below the hurdle cannot raise it, so they are not sorted in
            needed[group] = of_row[group] - margin
            lowest = min(lowest, needed[group])
        for column in range(estimates.shape[1]):
            estimate = estimates[row, column]
            if estimate < lowest or estimate == -np.inf:
                continue
            group = of_columns[column]
            if group < 0 or estimate < needed[group]:
                continue
            i[n], j[n] = row, column
            n += 1
            if estimate > best[group, k - 1]:
                insert_sorted(best[group], estimate)
                # A score lies within the slack of its estimate: k scores reach the k-th best estimate less the slack.
                of_row[group] = max(of_row[group], best[group, k - 1] - margin)
                needed[group] = of_row[group] - margin
                if n_groups == 1:
                    lowest = needed[0]
        collected, n = n, first
        for pair in range(first, collected):  # a hurdle may have risen after a pair was collected
            column = j[pair]
            if estimates[row, column] >= needed[of_columns[column]]:
                j[n] = column
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


def all_similarities(space: Space, *, sparse: bool) -> Floats | sp.csr_array:
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
