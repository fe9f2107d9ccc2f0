"""Neighbor lists while they are being filled: for each object, the best others that were offered so far.

Every list obeys one total order: the more similar object comes first, and of equally similar ones the one with the
lower index. What a list holds after a set of offers therefore does not depend on the order of the offers, and threads
may work through pairs in any sequence.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from covey.arrays import Floats, Indices
from covey.runtime.interruptible import MANY, in_steps

JOINED, WAITING, FRESH = 0, 1, 2
"""The states of an entry in NN-Descent: it was joined, it waits to be joined, or it came in during this round."""

SEARCHED_FROM, MOVED_FROM = 32, 8
"""In a list of more entries than the first number, a place is found by halving. If more entries than the second have to
make room, they are moved as blocks of memory. Short lists gain from neither: benchmarks/LONG_LISTS.md."""


@dataclass(frozen=True)
class NeighborLists:
    """Three arrays of shape (n, size), with a row for each object.

    `indices` holds the entries of the lists, or -1 where a list has none; `similarities` holds their similarities, or
    -inf; `states` holds what NN-Descent has done with them.
    """

    indices: Indices
    similarities: Floats
    states: NDArray[np.uint8]

    @classmethod
    def empty(cls, n: int, size: int) -> "NeighborLists":
        """Return lists of n objects that hold nothing yet."""
        return cls(
            np.full((n, size), -1, dtype=np.int32),
            np.full((n, size), -np.inf),
            np.zeros((n, size), dtype=np.uint8),
        )

    def offer(self, i: Indices, j: Indices, similarities: Floats) -> None:
        """Offer j[t] to the list of i[t]. It enters if it is among the best and not in the list already."""
        lists = (self.indices, self.similarities, self.states)
        in_steps(i.size, lambda part: insert(*lists, i[part], j[part], similarities[part]), MANY)

    def renumbered(self, order: NDArray[np.integer[Any]]) -> "NeighborLists":
        """Return the lists of the same objects under other numbers: object t is then the one that was order[t]."""
        numbers = np.full(order.size + 1, -1, dtype=np.int32)  # its last entry keeps empty places, -1, as they are
        numbers[order] = np.arange(order.size)
        lists = NeighborLists(numbers[self.indices[order]], self.similarities[order], self.states[order])
        sort_ties(lists.indices, lists.similarities, lists.states)
        return lists

    def lengthened(self, size: int) -> "NeighborLists":
        """Return lists of length `size` with the same entries, all FRESH, so that NN-Descent joins them once more."""
        n, short = self.indices.shape
        lists = NeighborLists.empty(n, size)
        lists.indices[:, :short], lists.similarities[:, :short] = self.indices, self.similarities
        lists.states[:, :short] = FRESH
        return lists

    def drop_hopeless(self, i: Indices, j: Indices, bounds: Floats) -> int:
        """Drop the pairs whose upper bound shows that they enter neither list; return how many are left.

        Those that are left are moved to the front of the three arrays. Lists only get better, so a pair that cannot
        enter now never will, even if other threads go on.
        """
        return int(drop_hopeless_pairs(self.similarities, i, j, bounds))

    def look_up(self, i: Indices, j: Indices) -> Floats:
        """Return s(i[t], j[t]) if the list of i[t] still holds j[t], else the least similarity that this list holds."""
        out = np.empty(i.size)
        find_similarities(self.indices, self.similarities, i, j, out)
        return out


@intrinsic
def make_room(typing_context, array, row, place, count):  # type: ignore[no-untyped-def]
    """Move `count` entries of a row of a C-ordered array one place on, from this place on, by one `memmove`."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        row, place, count = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        before = builder.mul(builder.extract_value(made.strides, 0), row)
        start = builder.gep(
            builder.bitcast(made.data, cgutils.voidptr_t), [builder.add(before, builder.mul(place, made.itemsize))]
        )
        cgutils.raw_memmove(builder, builder.gep(start, [made.itemsize]), start, count, made.itemsize)
        return context.get_dummy_value()

    return types.void(array, row, place, count), generate


@njit(cache=True, nogil=True)
def insert(indices, similarities, states, i, j, offered):  # type: ignore[no-untyped-def]
    """Insert each j[t] at its place in the list of i[t], unless it ranks below the whole list or is there already."""
    size = indices.shape[1]
    for t in range(i.size):
        row, other, score = i[t], j[t], offered[t]
        low, slot = 0, size
        if size > SEARCHED_FROM:
            if score < similarities[row, size - 1]:
                continue
            while slot - low > SEARCHED_FROM:  # what comes before `low` ranks higher, and `slot` and the rest lower
                middle = (low + slot) // 2
                if score > similarities[row, middle] or (
                    score == similarities[row, middle] and other < indices[row, middle]
                ):
                    slot = middle
                else:
                    low = middle + 1
        while slot > low and (
            score > similarities[row, slot - 1]
            or (score == similarities[row, slot - 1] and other < indices[row, slot - 1])
        ):
            slot -= 1
        # A pair that is offered again has the same score, so its slot is right behind that of the first offer.
        if slot == size or (slot > 0 and indices[row, slot - 1] == other):
            continue
        n_later = size - 1 - slot
        if n_later > MOVED_FROM:
            make_room(indices, row, slot, n_later)
            make_room(similarities, row, slot, n_later)
            make_room(states, row, slot, n_later)
        else:
            for later in range(size - 1, slot, -1):
                indices[row, later] = indices[row, later - 1]
                similarities[row, later] = similarities[row, later - 1]
                states[row, later] = states[row, later - 1]
        indices[row, slot], similarities[row, slot], states[row, slot] = other, score, FRESH


@njit(cache=True, nogil=True)
def sort_ties(indices, similarities, states):  # type: ignore[no-untyped-def]
    """Sort entries of equal similarity by index, as the total order asks for; empty entries stay where they are."""
    for row in range(indices.shape[0]):
        for start in range(1, indices.shape[1]):
            slot = start
            while (
                slot > 0
                and similarities[row, slot] == similarities[row, slot - 1]
                and 0 <= indices[row, slot] < indices[row, slot - 1]
            ):
                indices[row, slot - 1], indices[row, slot] = indices[row, slot], indices[row, slot - 1]
                states[row, slot - 1], states[row, slot] = states[row, slot], states[row, slot - 1]
                slot -= 1


@njit(cache=True, nogil=True)
def drop_hopeless_pairs(similarities, i, j, bounds):  # type: ignore[no-untyped-def]
    """Move the pairs to the front whose bound reaches the last similarity of a list; return how many these are."""
    n, last = 0, similarities.shape[1] - 1
    for t in range(i.size):
        if bounds[t] >= similarities[i[t], last] or bounds[t] >= similarities[j[t], last]:
            i[n], j[n], bounds[n] = i[t], j[t], bounds[t]
            n += 1
    return n


@njit(cache=True, nogil=True)
def find_similarities(indices, similarities, i, j, out):  # type: ignore[no-untyped-def]
    """Write into out[t] the similarity of j[t] in the list of i[t], or the last one if the list does not hold it."""
    size = indices.shape[1]
    for t in range(i.size):
        row, slot = i[t], 0
        while slot < size - 1 and indices[row, slot] != j[t] and indices[row, slot + 1] >= 0:
            slot += 1
        out[t] = similarities[row, slot]
