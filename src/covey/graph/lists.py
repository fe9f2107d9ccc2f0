"""The neighbor lists under construction: for each object the best others offered so far.

Every list obeys one total order (similarity descending, then index ascending), so what a list holds after a set of
offers does not depend on the order of the offers: threads, blocks and machines may work in any sequence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices

JOINED, WAITING, FRESH = 0, 1, 2
"""What NN-Descent has done with an entry: joined it, not yet, or inserted it in the present round."""


@dataclass(frozen=True)
class NeighborLists:
    """Arrays of shape (n, size): `indices` (-1 where empty), `similarities` (-inf there) and `states`."""

    indices: Indices
    similarities: Floats
    states: NDArray[np.uint8]

    @classmethod
    def empty(cls, n: int, size: int) -> "NeighborLists":
        return cls(
            np.full((n, size), -1, dtype=np.int32),
            np.full((n, size), -np.inf),
            np.zeros((n, size), dtype=np.uint8),
        )

    def offer(self, i: Indices, j: Indices, similarities: Floats) -> None:
        """Offer j[t] to the list of i[t]; it enters if it is among the best and not there already."""
        insert(self.indices, self.similarities, self.states, i, j, similarities)

    def renumbered(self, order: NDArray[np.integer[Any]]) -> "NeighborLists":
        """The lists of the same objects under other numbers: t for order[t]."""
        numbers = np.full(order.size + 1, -1, dtype=np.int32)  # the last is for empty entries, -1
        numbers[order] = np.arange(order.size)
        lists = NeighborLists(numbers[self.indices[order]], self.similarities[order], self.states[order])
        sort_ties(lists.indices, lists.similarities, lists.states)
        return lists

    def lengthened(self, size: int) -> "NeighborLists":
        """The same entries in lists of `size`, all fresh, so that they are joined once more."""
        n, short = self.indices.shape
        lists = NeighborLists.empty(n, size)
        lists.indices[:, :short], lists.similarities[:, :short] = self.indices, self.similarities
        lists.states[:, :short] = FRESH
        return lists

    def sift(self, i: Indices, j: Indices, bounds: Floats) -> int:
        """Move the pairs to the front whose similarity, at most its bound, may enter the list of one end; how many.

        Lists only get better, so what may not enter now never will, whatever other threads do meanwhile.
        """
        return int(keep_hopeful(self.similarities, i, j, bounds))

    def look_up(self, i: Indices, j: Indices) -> Floats:
        """s(i[t], j[t]) where list i[t] still holds j[t], else the least similarity that the list holds."""
        out = np.empty(i.size)
        find_similarities(self.indices, self.similarities, i, j, out)
        return out


@njit(cache=True, nogil=True)
def insert(indices, similarities, states, i, j, offered):  # type: ignore[no-untyped-def]
    size = indices.shape[1]
    for t in range(i.size):
        row, other, score = i[t], j[t], offered[t]
        at = size
        while at > 0 and (
            score > similarities[row, at - 1] or (score == similarities[row, at - 1] and other < indices[row, at - 1])
        ):
            at -= 1
        # A repeated offer scores the same, so it would stand exactly behind its first copy.
        if at == size or (at > 0 and indices[row, at - 1] == other):
            continue
        for later in range(size - 1, at, -1):
            indices[row, later] = indices[row, later - 1]
            similarities[row, later] = similarities[row, later - 1]
            states[row, later] = states[row, later - 1]
        indices[row, at], similarities[row, at], states[row, at] = other, score, FRESH


@njit(cache=True, nogil=True)
def sort_ties(indices, similarities, states):  # type: ignore[no-untyped-def]
    """Let entries of equal similarity stand by index again."""
    for row in range(indices.shape[0]):
        for start in range(1, indices.shape[1]):
            at = start
            while (
                at > 0
                and similarities[row, at] == similarities[row, at - 1]
                and 0 <= indices[row, at] < indices[row, at - 1]
            ):
                indices[row, at - 1], indices[row, at] = indices[row, at], indices[row, at - 1]
                states[row, at - 1], states[row, at] = states[row, at], states[row, at - 1]
                at -= 1


@njit(cache=True, nogil=True)
def keep_hopeful(similarities, i, j, bounds):  # type: ignore[no-untyped-def]
    n, last = 0, similarities.shape[1] - 1
    for t in range(i.size):
        if bounds[t] >= similarities[i[t], last] or bounds[t] >= similarities[j[t], last]:
            i[n], j[n], bounds[n] = i[t], j[t], bounds[t]
            n += 1
    return n


@njit(cache=True, nogil=True)
def find_similarities(indices, similarities, i, j, out):  # type: ignore[no-untyped-def]
    size = indices.shape[1]
    for t in range(i.size):
        row, at = i[t], 0
        while at < size - 1 and indices[row, at] != j[t] and indices[row, at + 1] >= 0:
            at += 1
        out[t] = similarities[row, at]
