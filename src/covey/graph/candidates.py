"""Which pairs a round of NN-Descent considers.

The idea is that two neighbors of one object are likely to be neighbors of each other.

1. Every object gets candidates: a sample of the entries of its own list, and a sample of the objects that have it in
   theirs. A candidate is *old* if an earlier round has joined that entry, else it is *new*.
2. Two objects *meet* if both are candidates of a third and at least one of them is new there. (Two old candidates have
   met in an earlier round.)
3. A pair that met before, in this round or an earlier one, is left out.

Samples are drawn by hashing (seed, object, candidate) and keeping the smallest hashes. Such a draw does not depend on
the thread that makes it or on when it is made.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from covey.arrays import Indices, Integers
from covey.graph.lists import JOINED, NeighborLists
from covey.graph.pair_memory import PairSet
from covey.runtime.executor import Executor
from covey.similarity.hash_table import scrambled
from covey.similarity.kernels import look_ahead

CHUNK_ROWS = 8192
"""How many lists one task samples. A larger number leaves threads idle at the end, a smaller one costs more calls."""

AHEAD = 3
"""How many steps of the loop in `join` ahead of their use candidates are fetched from memory. Too few do not hide the
wait for memory, too many push data out of the cache before it is used."""


@dataclass(frozen=True)
class Holders:
    """For each object u, the holders of u: the objects that have u among their candidates.

    They are objects[starts[u] : starts[u + 1]].
    """

    starts: Integers
    objects: Indices

    @classmethod
    def of(cls, candidates: Indices) -> "Holders":
        """The holders for candidates given as one row per object, padded with -1."""
        starts = np.zeros(len(candidates) + 1, dtype=np.int64)
        objects = np.empty(np.count_nonzero(candidates >= 0), dtype=np.int32)
        invert(candidates, starts, objects)
        return cls(starts, objects)


@dataclass(frozen=True)
class Candidates:
    """The candidates of all objects in one round, and the holders of each object.

    Row x of `new` and of `old` holds the new and the old candidates of x in ascending order; entries of -1 are empty.
    `new_of` and `old_of` hold the same the other way round.
    """

    new: Indices
    old: Indices
    new_of: Holders
    old_of: Holders

    @classmethod
    def sample(cls, lists: NeighborLists, n_own: int, n_reversed: int, seed: int, executor: Executor) -> "Candidates":
        """Draw the candidates of a round from the lists.

        The new candidates of x are at most `n_own` entries of its list that were not joined yet, and at most
        `n_reversed` objects that have drawn x so. The old candidates are all joined entries of the list, and at most
        `n_reversed` objects that have x as such an entry. Entries drawn as new ones become JOINED in the lists.
        """
        n, size = lists.indices.shape
        new = np.full((n, n_own + n_reversed), -1, dtype=np.int32)
        old = np.full((n, size + n_reversed), -1, dtype=np.int32)
        chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, n, CHUNK_ROWS)]

        def draw(chunk: slice) -> None:
            choose(
                lists.indices[chunk],
                lists.states[chunk],
                chunk.start,
                n_own,
                np.uint64(seed),
                new[chunk],
                old[chunk],
            )

        executor.run(draw, chunks)

        def add_reversed(candidates: Indices) -> Holders:
            """Fill the last columns with a sample of the holders; the holders of all candidates, with these."""
            own, reversed_ = np.split(candidates, [candidates.shape[1] - n_reversed], axis=1)
            holders = Holders.of(own)
            reverse(holders.starts, holders.objects, np.uint64(seed), reversed_)
            candidates.sort(axis=1)
            return Holders.of(candidates)

        new_of, old_of = executor.run(add_reversed, [new, old])
        return cls(new, old, new_of, old_of)

    def unmet(self, owners: Indices, pairs: PairSet) -> tuple[Indices, Indices]:
        """The pairs (owner, v) with v > owner that meet in this round and are not in `pairs` yet, each once.

        They are added to `pairs`. Several threads may call this at the same time for different owners, because every
        pair belongs to its smaller index, its owner.
        """
        new_of, old_of = self.new_of, self.old_of
        most = count_meetings(owners, new_of.starts, old_of.starts, self.new, self.old)
        i, j = np.empty((2, most), dtype=np.int32)
        marks = (*pairs.marks(), pairs.marks_last)
        holders = (new_of.starts, new_of.objects, old_of.starts, old_of.objects)
        n = join(owners, *marks, *holders, self.new, self.old, i, j)
        i, j = i[:n], j[:n]
        if pairs.marks_last:
            return i, j
        unseen = pairs.add(i, j)
        return i[unseen], j[unseen]


@njit(cache=True, nogil=True)
def mix(seed, a, b):  # type: ignore[no-untyped-def]
    """A hash of two indices."""
    return scrambled(seed ^ ((np.uint64(a) << np.uint64(32)) | np.uint64(b)))


@njit(cache=True, nogil=True)
def keep_smallest(items, keys, n, item, key):  # type: ignore[no-untyped-def]
    """Offer an item to a short list that keeps the items with the smallest keys; how many items it holds then.

    The first n places of `items` and `keys` are filled, by ascending key.
    """
    place = n
    if n == items.size:
        if key >= keys[n - 1]:
            return n
        place = n - 1
    while place > 0 and keys[place - 1] > key:
        items[place], keys[place] = items[place - 1], keys[place - 1]
        place -= 1
    items[place], keys[place] = item, key
    return min(n + 1, items.size)


@njit(cache=True, nogil=True)
def choose(indices, states, first, n_sampled, seed, new, old):  # type: ignore[no-untyped-def]
    """Copy the joined entries of each list into `old`, and a sample of the others into `new`; these become JOINED.

    Row 0 is the list of object `first`, row 1 that of the next object, and so on.
    """
    size = indices.shape[1]
    keys = np.empty(n_sampled, dtype=np.uint64)
    slots = np.empty(n_sampled, dtype=np.int32)
    for row in range(indices.shape[0]):
        n_new, n_old = 0, 0
        for slot in range(size):
            if indices[row, slot] >= 0:
                if states[row, slot] == JOINED:
                    old[row, n_old] = indices[row, slot]
                    n_old += 1
                else:
                    n_new = keep_smallest(slots, keys, n_new, slot, mix(seed, first + row, indices[row, slot]))
        for t in range(n_new):
            new[row, t] = indices[row, slots[t]]
            states[row, slots[t]] = JOINED


@njit(cache=True, nogil=True)
def invert(candidates, starts, objects):  # type: ignore[no-untyped-def]
    """Fill the arrays of `Holders` by a counting sort; `starts` must hold zeros."""
    n, width = candidates.shape
    for row in range(n):
        for column in range(width):
            if candidates[row, column] >= 0:
                starts[candidates[row, column] + 1] += 1
    for u in range(n):
        starts[u + 1] += starts[u]
    ends = starts[:-1].copy()
    for row in range(n):
        for column in range(width):
            u = candidates[row, column]
            if u >= 0:
                objects[ends[u]] = row
                ends[u] += 1


@njit(cache=True, nogil=True)
def reverse(starts, holders, seed, backward):  # type: ignore[no-untyped-def]
    """Fill backward[u] with a sample of the holders of u."""
    keys = np.empty(backward.shape[1], dtype=np.uint64)
    for u in range(backward.shape[0]):
        filled = 0
        for t in range(starts[u], starts[u + 1]):
            filled = keep_smallest(backward[u], keys, filled, holders[t], mix(seed, u, holders[t]))


@njit(cache=True, nogil=True)
def count_meetings(owners, new_starts, old_starts, new, old):  # type: ignore[no-untyped-def]
    """An upper limit of the number of pairs that `join` can collect for these owners."""
    total = 0
    for owner in owners:
        most = (new_starts[owner + 1] - new_starts[owner]) * (new.shape[1] + old.shape[1])
        most += (old_starts[owner + 1] - old_starts[owner]) * new.shape[1]
        total += min(most, new.shape[0] - owner - 1)
    return total


@njit(cache=True, nogil=True)
def join(owners, marks, starts, lasting, new_starts, new_of, old_starts, old_of, new, old, i, j):  # type: ignore[no-untyped-def]
    """Collect the pairs (owner, v > owner) that meet and are not marked yet; how many they are.

    Pairs are marked as `PairSet.marks` describes. If the marks are not `lasting`, those of an owner are erased after
    it.
    """
    n = 0
    for owner in owners:
        first, row = n, starts[owner]
        for h in range(new_starts[owner], new_starts[owner + 1]):
            look_ahead(new, new_of, h + AHEAD)
            look_ahead(old, new_of, h + AHEAD)
            n = meet(owner, new[new_of[h]], marks, row, i, j, n)
            n = meet(owner, old[new_of[h]], marks, row, i, j, n)
        for h in range(old_starts[owner], old_starts[owner + 1]):
            look_ahead(new, old_of, h + AHEAD)
            n = meet(owner, new[old_of[h]], marks, row, i, j, n)
        if not lasting:
            for t in range(first, n):
                marks[row + (j[t] - owner - 1) // 64] = 0
    return n


@njit(cache=True, nogil=True)
def meet(owner, others, marks, row, i, j, n):  # type: ignore[no-untyped-def]
    """Collect and mark the unmarked pairs of an owner with larger ones among `others`; how many are collected then.

    `others` must ascend: the loop goes from the largest down and ends at the first that is not larger than the owner.
    """
    t = others.size - 1
    while t >= 0 and others[t] > owner:
        place = others[t] - owner - 1
        word, bit = row + (place >> 6), np.uint64(1) << np.uint64(place & 63)
        if marks[word] & bit == 0:
            marks[word] |= bit
            i[n], j[n] = owner, others[t]
            n += 1
        t -= 1
    return n
