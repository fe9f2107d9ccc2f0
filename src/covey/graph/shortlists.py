"""Shortlists: what may belong to the k best others of each object, judged by estimates before anything is scored.

An estimate differs from its score by at most the *slack* of the object, on the scale of estimates. So k scores of an
object reach its k-th best estimate less the slack, and a pair whose estimate lies more than twice the slack below that
estimate is not among the k best. This least useful estimate is the *hurdle* of the object.

1. Whatever clears the hurdle of an object joins its shortlist.
2. A full shortlist is cut: the k-th best estimate raises the hurdle, and what no longer clears it leaves. A hurdle
   never falls. A shortlist has places for twice k estimates, so that it is cut only after k more have joined.
3. If very many estimates lie within twice the slack of the k-th best one, cutting does not help. The whole shortlist
   *spills* then: its pairs are scored at once, and it begins anew behind the same hurdle.
4. In the end, all shortlists are cut once more, and only what is left has to be scored: the k best of an object, and
   the few others that estimates cannot tell from the last of these.

No pair that belongs to the k best is ever left out, whatever the order in which tiles arrive.
"""

from typing import Any, NamedTuple, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers

LEAST_ROOM = 32
"""How many estimates a shortlist holds beyond k, at least. Short lists would be cut too often otherwise."""


class Shortlists(NamedTuple):
    """The shortlists of n objects.

    Row x of `estimates` and of `others` holds the shortlist of object x: its first `sizes[x]` places are filled, in no
    particular order. `hurdles[x]` is the least estimate that still joins.
    """

    estimates: Floats
    others: Indices
    sizes: Integers
    hurdles: Floats
    k: int

    @classmethod
    def empty(cls, n: int, k: int) -> Self:
        """Return shortlists for the k best others of n objects."""
        places = k + max(k, LEAST_ROOM)
        return cls(
            np.empty((n, places)),
            np.empty((n, places), dtype=np.int32),
            np.zeros(n, dtype=np.int64),
            np.full(n, -np.inf),
            k,
        )

    def offer(
        self, estimates: NDArray[Any], slack: Floats, rows: slice, columns: slice, *, transposed: bool
    ) -> tuple[Indices, Indices]:
        """Offer the columns of a tile of estimates to the shortlists of its rows; return the pairs that spill.

        If the tile is `transposed`, its rows are offered to the shortlists of its columns. An estimate of -inf marks an
        object with itself, which is not a pair.
        """
        own, others = (columns, rows) if transposed else (rows, columns)
        i, j = np.empty((2, estimates.size + int(self.sizes[own].sum())), dtype=np.int32)
        add = add_columns if transposed else add_rows
        n = add(self, estimates, slack, own.start, others.start, i, j)
        return i[:n], j[:n]

    def left(self, objects: slice, slack: Floats) -> tuple[Indices, Indices]:
        """Cut the shortlists of some objects, empty them, and return the pairs that they held."""
        i, j = np.empty((2, int(self.sizes[objects].sum())), dtype=np.int32)
        n = spill_all(self, slack, objects.start, i, j)
        return i[:n], j[:n]


@njit(cache=True, nogil=True)
def add_rows(lists, tile, slack, first, first_other, i, j):  # type: ignore[no-untyped-def]
    """Offer the columns of a tile to its rows, the first of which is object `first`; the columns are numbered, too.

    Write the pairs that spill into i and j, and return how many these are.
    """
    n, places = 0, lists.others.shape[1]
    values = np.empty((2, places))
    for row in range(tile.shape[0]):
        x = first + row
        estimates, others = lists.estimates[x], lists.others[x]
        hurdle, size = lists.hurdles[x], lists.sizes[x]
        for column in range(tile.shape[1]):
            estimate = tile[row, column]
            if estimate >= hurdle and estimate > -np.inf:
                estimates[size], others[size] = estimate, first_other + column
                size += 1
                if size == places:
                    lists.sizes[x] = size
                    n = make_room(lists, x, slack[row], values, i, j, n)
                    hurdle, size = lists.hurdles[x], lists.sizes[x]
        lists.sizes[x] = size
    return n


@njit(cache=True, nogil=True)
def add_columns(lists, tile, slack, first, first_other, i, j):  # type: ignore[no-untyped-def]
    """Do what `add_rows` does for the transpose of the tile, which is never made.

    The tile is read row by row, as it lies in memory.
    """
    n, places = 0, lists.others.shape[1]
    values = np.empty((2, places))
    estimates, others = lists.estimates[first:], lists.others[first:]
    hurdles, sizes = lists.hurdles[first:], lists.sizes[first:]
    for row in range(tile.shape[0]):
        for column in range(tile.shape[1]):
            estimate = tile[row, column]
            if estimate >= hurdles[column] and estimate > -np.inf:
                size = sizes[column]
                estimates[column, size], others[column, size] = estimate, first_other + row
                sizes[column] = size + 1
                if size + 1 == places:
                    n = make_room(lists, first + column, slack[column], values, i, j, n)
    return n


@njit(cache=True, nogil=True)
def make_room(lists, x, slack, values, i, j, n):  # type: ignore[no-untyped-def]
    """Cut the shortlist of x, which is full, and let it spill if that does not help; n pairs have spilled so far.

    `values` has room for two shortlists and is overwritten. Return how many pairs have spilled then.
    """
    cut(lists, x, slack, values)
    if 2 * lists.sizes[x] > lists.k + lists.others.shape[1]:  # less than half of the room beyond k is free
        return spill(lists, x, i, j, n)
    return n


@njit(cache=True, nogil=True)
def cut(lists, x, slack, values):  # type: ignore[no-untyped-def]
    """Raise the hurdle of x to what its k-th best estimate allows, and drop what does not clear it any more."""
    size, k = lists.sizes[x], lists.k
    if size < k:
        return
    values[0, :size] = lists.estimates[x, :size]
    hurdle = max(lists.hurdles[x], select_largest(values[0, :size], values[1], k) - 2 * slack)
    estimates, others, kept = lists.estimates[x], lists.others[x], 0
    for place in range(size):  # every entry is copied, and the next one overwrites what must go
        estimate = estimates[place]
        estimates[kept], others[kept] = estimate, others[place]
        kept += estimate >= hurdle
    lists.hurdles[x], lists.sizes[x] = hurdle, kept


@njit(cache=True, nogil=True)
def spill(lists, x, i, j, n):  # type: ignore[no-untyped-def]
    """Move the shortlist of x behind the n pairs in i and j, and return how many these are then."""
    for place in range(lists.sizes[x]):
        i[n], j[n] = x, lists.others[x, place]
        n += 1
    lists.sizes[x] = 0
    return n


@njit(cache=True, nogil=True)
def spill_all(lists, slack, first, i, j):  # type: ignore[no-untyped-def]
    """Cut the shortlists of as many objects as there is slack for, from the first one on, and move them to i and j.

    Return how many pairs these are.
    """
    n, values = 0, np.empty((2, lists.others.shape[1]))
    for row in range(slack.size):
        cut(lists, first + row, slack[row], values)
        n = spill(lists, first + row, i, j, n)
    return n


@njit(cache=True, nogil=True)
def select_largest(values, smaller, k):  # type: ignore[no-untyped-def]
    """Return the k-th largest of the values; `smaller` has room for as many, and both are overwritten.

    Those above a pivot stay, those below it go to the other array, and the search goes on in one of the two. The loop
    has no branch that the processor would have to guess.
    """
    n = values.size
    while n > 1:
        first, middle, last = values[0], values[n // 2], values[n - 1]
        pivot = max(min(first, middle), min(max(first, middle), last))
        above, below = 0, 0
        for t in range(n):
            value = values[t]
            values[above], smaller[below] = value, value
            above += value > pivot
            below += value < pivot
        if k <= above:
            n = above
        elif k <= n - below:
            return pivot
        else:
            k -= n - below
            n = below
            values, smaller = smaller, values
    return values[0]
