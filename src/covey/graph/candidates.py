"""Who meets whom in a round of NN-Descent.

Each object's candidates are a sample of its own list's entries and of those that list it, apart by whether they were
joined before (old) or not (new). Two objects meet where both are candidates of a third and at least one is new there.

Every draw is a hash of (seed, object, candidate): the same wherever and whenever it is made.
"""

from dataclasses import dataclass

import numpy as np
from numba import njit

from covey.arrays import Indices, Integers
from covey.graph.lists import JOINED, NeighborLists
from covey.graph.met import PairSet
from covey.runtime.executor import Executor
from covey.runtime.prefetch import look_ahead

CHUNK_ROWS = 8192
AHEAD = 3
"""How many meetings candidates are fetched before they are needed."""


@dataclass(frozen=True)
class Holders:
    """Who holds an object among its candidates: of object u, objects[starts[u] : starts[u + 1]]."""

    starts: Integers
    objects: Indices

    @classmethod
    def of(cls, candidates: Indices) -> "Holders":
        starts = np.zeros(len(candidates) + 1, dtype=np.int64)
        objects = np.empty(np.count_nonzero(candidates >= 0), dtype=np.int32)
        invert(candidates, starts, objects)
        return cls(starts, objects)


@dataclass(frozen=True)
class Candidates:
    """Of each object the new and the old candidates (rows padded with -1), and both turned round."""

    new: Indices
    old: Indices
    new_of: Holders
    old_of: Holders

    @classmethod
    def sample(cls, lists: NeighborLists, n_own: int, n_reversed: int, seed: int, executor: Executor) -> "Candidates":
        """Draw `n_own` of each list's waiting entries, which are JOINED then, and `n_reversed` of both turned round."""
        n, size = lists.indices.shape
        new = np.full((n, n_own + n_reversed), -1, dtype=np.int32)
        old = np.full((n, size + n_reversed), -1, dtype=np.int32)
        chunks = [slice(at, at + CHUNK_ROWS) for at in range(0, n, CHUNK_ROWS)]

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

        def turn(candidates: Indices) -> Holders:
            own, reversed_ = np.split(candidates, [candidates.shape[1] - n_reversed], axis=1)
            holders = Holders.of(own)
            reverse(holders.starts, holders.objects, np.uint64(seed), reversed_)
            candidates.sort(axis=1)
            return Holders.of(candidates)

        new_of, old_of = executor.run(turn, [new, old])
        return cls(new, old, new_of, old_of)

    def unmet(self, owners: Indices, pairs: PairSet) -> tuple[Indices, Indices]:
        """The pairs (owner, v > owner) that meet and are not yet in the set, once each; they are in it then.

        Threads may call this at once for different owners.
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
    """A hash of two indices (splitmix64)."""
    z = seed ^ ((np.uint64(a) << np.uint64(32)) | np.uint64(b))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def keep_smallest(items, keys, n, item, key):  # type: ignore[no-untyped-def]
    """Put an item into a short list of those with the smallest keys; how many it then holds."""
    at = n
    if n == items.size:
        if key >= keys[n - 1]:
            return n
        at = n - 1
    while at > 0 and keys[at - 1] > key:
        items[at], keys[at] = items[at - 1], keys[at - 1]
        at -= 1
    items[at], keys[at] = item, key
    return min(n + 1, items.size)


@njit(cache=True, nogil=True)
def choose(indices, states, first, n_sampled, seed, new, old):  # type: ignore[no-untyped-def]
    """Sample each list's waiting entries into `new` and mark them known; the known ones go into `old`.

    The lists are those of the objects from `first` on.
    """
    size = indices.shape[1]
    keys = np.empty(n_sampled, dtype=np.uint64)
    slots = np.empty(n_sampled, dtype=np.int32)
    for row in range(indices.shape[0]):
        n_new, n_old = 0, 0
        for at in range(size):
            if indices[row, at] >= 0:
                if states[row, at] == JOINED:
                    old[row, n_old] = indices[row, at]
                    n_old += 1
                else:
                    n_new = keep_smallest(slots, keys, n_new, at, mix(seed, first + row, indices[row, at]))
        for t in range(n_new):
            new[row, t] = indices[row, slots[t]]
            states[row, slots[t]] = JOINED


@njit(cache=True, nogil=True)
def invert(candidates, starts, objects):  # type: ignore[no-untyped-def]
    """Fill `starts`, all 0 before, and `objects` with who holds each object; a counting sort."""
    n, width = candidates.shape
    for row in range(n):
        for at in range(width):
            if candidates[row, at] >= 0:
                starts[candidates[row, at] + 1] += 1
    for u in range(n):
        starts[u + 1] += starts[u]
    ends = starts[:-1].copy()
    for row in range(n):
        for at in range(width):
            u = candidates[row, at]
            if u >= 0:
                objects[ends[u]] = row
                ends[u] += 1


@njit(cache=True, nogil=True)
def reverse(starts, holders, seed, backward):  # type: ignore[no-untyped-def]
    """Fill backward[u] with a sample of the objects that hold u."""
    keys = np.empty(backward.shape[1], dtype=np.uint64)
    for u in range(backward.shape[0]):
        filled = 0
        for at in range(starts[u], starts[u + 1]):
            filled = keep_smallest(backward[u], keys, filled, holders[at], mix(seed, u, holders[at]))


@njit(cache=True, nogil=True)
def count_meetings(owners, new_starts, old_starts, new, old):  # type: ignore[no-untyped-def]
    """How many pairs these owners have at most."""
    total = 0
    for owner in owners:
        met = (new_starts[owner + 1] - new_starts[owner]) * (new.shape[1] + old.shape[1])
        met += (old_starts[owner + 1] - old_starts[owner]) * new.shape[1]
        total += min(met, new.shape[0] - owner - 1)
    return total


@njit(cache=True, nogil=True)
def join(owners, marks, starts, lasting, new_starts, new_of, old_starts, old_of, new, old, i, j):  # type: ignore[no-untyped-def]
    """Collect the pairs (owner, v > owner) that meet and are not marked; the marks are undone if they do not last."""
    n = 0
    for owner in owners:
        first, row = n, starts[owner]
        for at in range(new_starts[owner], new_starts[owner + 1]):
            look_ahead(new, new_of, at + AHEAD)
            look_ahead(old, new_of, at + AHEAD)
            n = meet(owner, new[new_of[at]], marks, row, i, j, n)
            n = meet(owner, old[new_of[at]], marks, row, i, j, n)
        for at in range(old_starts[owner], old_starts[owner + 1]):
            look_ahead(new, old_of, at + AHEAD)
            n = meet(owner, new[old_of[at]], marks, row, i, j, n)
        if not lasting:
            for t in range(first, n):
                marks[row + (j[t] - owner - 1) // 64] = 0
    return n


@njit(cache=True, nogil=True)
def meet(owner, others, marks, row, i, j, n):  # type: ignore[no-untyped-def]
    """Of others in ascending order."""
    at = others.size - 1
    while at >= 0 and others[at] > owner:
        place = others[at] - owner - 1
        word, bit = row + (place >> 6), np.uint64(1) << np.uint64(place & 63)
        if marks[word] & bit == 0:
            marks[word] |= bit
            i[n], j[n] = owner, others[at]
            n += 1
        at -= 1
    return n
