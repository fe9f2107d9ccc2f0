"""A CSR array of edges that grows by blocks of rows, so that it is never in memory twice.

A search of all pairs above a threshold (`threshold.py`) finds pairs tile by tile. Of a symmetric space, a pair is found
once and stored twice: with the row of the one object, and with that of the other. So the rows of a block are complete
when all tiles of these rows have been searched, and all tiles above them. `GrowingEdges` then writes them where they
belong in the final arrays, and the tiles that no later block needs are forgotten. On Linux an array grows in place, by
pages that are moved and not copied.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers

Places = NDArray[np.uint16]
"""Places within a side of a tile, of which there are at most 65 536."""


class TilePairs(NamedTuple):
    """Pairs of a tile, ordered by their rows and then by their columns: their places on both sides of the tile, and
    their similarities. They take 12 bytes a pair."""

    rows: Places
    columns: Places
    similarities: Floats


class Part(NamedTuple):
    """Edges from the rows of a block: the place of each row in the block, and the number of the object that the edge
    leads to, counted from `first`. Those of one row stand in ascending order."""

    rows: Places
    objects: Places | Indices
    similarities: Floats
    first: int


class GrowingEdges:
    """Edges between n objects as the arrays of a CSR array, to which the rows are added from the first to the last."""

    def __init__(self, n: int) -> None:
        self._starts = np.zeros(n + 1, dtype=np.int64)
        self._n_rows = 0
        self._objects: Indices = np.empty(0, dtype=np.int32)
        self._similarities: Floats = np.empty(0)

    def add(self, n_rows: int, parts: Sequence[Part], *, in_order: bool) -> None:
        """Add the next rows. If the parts stand `in_order`, the objects of each part come after those before."""
        first, last = self._n_rows, self._n_rows + n_rows
        starts = self._starts[first : last + 1]
        counts = sum((np.bincount(part.rows, minlength=n_rows) for part in parts), np.zeros(n_rows, dtype=np.int64))
        starts[1:] = starts[0] + np.cumsum(counts)
        size = int(starts[-1])
        for array in (self._objects, self._similarities):
            array.resize(size, refcheck=False)  # nobody else has seen them yet
        cursors = starts[:-1].copy()
        for part in parts:
            place_edges(*part, cursors, self._objects, self._similarities)
        if not in_order:
            new = slice(int(starts[0]), size)
            own_starts = narrow(starts - starts[0])
            shape = (n_rows, self._starts.size - 1)
            rows = sp.csr_array((self._similarities[new], self._objects[new], own_starts), shape=shape)
            rows.sort_indices()
            self._objects[new], self._similarities[new] = rows.indices, rows.data  # SciPy has copied what was a view
        self._n_rows = last

    def finished(self) -> sp.csr_array:
        """Return the CSR array of all rows."""
        n = self._starts.size - 1
        edges = sp.csr_array((self._similarities, self._objects, narrow(self._starts)), shape=(n, n))
        edges.has_canonical_format = True
        return edges


def narrow(starts: Integers) -> NDArray[Any]:
    """Return starts of rows as int32 where they fit. SciPy would copy all indices if the starts were wider."""
    return starts.astype(np.int32) if starts[-1] <= np.iinfo(np.int32).max else starts


@njit(cache=True, nogil=True)
def place_edges(rows, objects, similarities, first, cursors, placed, placed_similarities):  # type: ignore[no-untyped-def]
    """Write edges where the cursors of their rows stand, and move these on."""
    for t in range(rows.size):
        cursor = cursors[rows[t]]
        placed[cursor] = first + objects[t]
        placed_similarities[cursor] = similarities[t]
        cursors[rows[t]] = cursor + 1


def part_of(i: Indices, j: Indices, similarities: Floats, block: slice) -> Part:
    """Return the edges from the rows of a block, given edges ordered by their rows."""
    own = slice(*np.searchsorted(i, [block.start, block.stop]))
    return Part((i[own] - block.start).astype(np.uint16), j[own], similarities[own], 0)


def turned(pairs: TilePairs, first: int) -> Part:
    """Return the edges from the columns of a tile to its rows, whose numbers begin with `first`."""
    return Part(pairs.columns, pairs.rows, pairs.similarities, first)


def straight(pairs: TilePairs, first: int) -> Part:
    """Return the edges from the rows of a tile to its columns, whose numbers begin with `first`."""
    return Part(pairs.rows, pairs.columns, pairs.similarities, first)
