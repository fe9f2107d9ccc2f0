"""Similarities that are kept in a checkpoint.

`kept` returns a collection of the same objects whose spaces look pairs up in a checkpoint before they evaluate them,
and that write whatever they evaluate to it. Only functions of the user's own are treated like this. What covey computes
itself takes less time than to read it from a file.

Similarities that are remembered, so that no pair is evaluated twice, whoever asks for it.

A function of the user's own may take milliseconds. A selector that works on the same objects as another one before it
should then not pay again for what is known already. `remembered` returns a collection of the same objects whose spaces
share one table of all pairs that any of them has evaluated.

A similarity that is compiled or can be screened is computed again instead: that takes less time than to look it up.
"""

import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Self

import numpy as np
from numba import njit

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.exceptions import CheckpointMismatchError
from covey.similarity.calls.spot_check import differing
from covey.similarity.checkpoint import Checkpoint, Keys, numbers_in, pair_keys
from covey.similarity.collection import Collection, WrappedCollection
from covey.similarity.hash_table import find_slot
from covey.similarity.space import Part, Space, WrappedSpace

ASKED_AGAIN = 5
"""How many kept pairs are evaluated again before a checkpoint is used. A change that a fingerprint does not show, such
as another table that a function reads, mostly changes all values."""


def kept(collection: Collection, checkpoint: Checkpoint) -> Collection:
    """Return a collection whose spaces use a checkpoint."""
    numbers = checkpoint.admit(collection.identities())
    _check_values(collection, checkpoint, numbers)
    return KeptCollection(collection, numbers, checkpoint)


def _check_values(collection: Collection, checkpoint: Checkpoint, numbers: Integers) -> None:
    """Refuse a checkpoint if the similarity no longer gives the values that it holds."""
    keys, before = checkpoint.sample(ASKED_AGAIN, numbers)
    if not keys.size:
        return
    position = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    position[numbers] = np.arange(numbers.size)
    i, j = (position[number] for number in numbers_in(keys))
    now = collection.against(collection).score_or_nan(i, j)
    checkpoint.n_asked_again += i.size
    now = np.where(np.isnan(now), before, now)  # a failure, in spite of which the work goes on, is no other value
    differ = differing(before, now)
    if differ.size:
        a, b = collection.rows[i[differ[0]]], collection.rows[j[differ[0]]]
        raise CheckpointMismatchError(
            f"checkpoint must be of the same similarity, but that of objects {a} and {b} is {now[differ[0]]:.8g}, and "
            f"{before[differ[0]]:.8g} in {checkpoint.path!r}: it has changed, or its answers differ from time to time; "
            "choose another file."
        )


class KeptCollection(WrappedCollection):
    """Objects whose spaces use a checkpoint. `numbers` are the numbers of the objects in it."""

    def __init__(self, collection: Collection, numbers: Integers, checkpoint: Checkpoint) -> None:
        super().__init__(collection)
        self._numbers, self._checkpoint = numbers, checkpoint

    def cached_in_memory(self) -> Collection:
        return remembered(self)

    def against(self, others: Self, n_jobs: int | None = None) -> "KeptSpace":
        inner = self._collection.against(self._collection if others is self else others._collection, n_jobs)
        return KeptSpace(inner, self._numbers, others._numbers, self._checkpoint, unordered=self.similarity.symmetric)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self._collection.take(positions), self._numbers[positions], self._checkpoint)


class KeptSpace(WrappedSpace):
    """A space that evaluates only pairs that the checkpoint does not hold, and writes these to it.

    What was looked up counts as evaluated, so that a run that goes on counts as many evaluations as one that nothing
    has disturbed. The checkpoint counts how many of them were saved.
    """

    def __init__(
        self, space: Space, left: Integers, right: Integers, checkpoint: Checkpoint, *, unordered: bool
    ) -> None:
        super().__init__(space, space.n_left, space.n_right, symmetric=space.symmetric)
        self._checkpoint, self._unordered = checkpoint, unordered
        self._left, self._right = left, right

    def with_itself(self) -> Floats:
        return self._space.with_itself()

    def parts(self, i: Indices, j: Indices) -> Iterator[Part]:
        return self._parts(i, j, self._keys(i, j))

    def score_again(self, i: Indices, j: Indices) -> Floats:
        scores = self._space.score_or_nan(i, j, counted=False)
        self._checkpoint.n_evaluated += i.size
        self.count(i.size)
        return scores

    def score_backward(self, i: Indices, j: Indices) -> Floats:
        # A pair of a symmetric similarity is kept from the lower to the higher number, so that the key of the other
        # direction is free for the value of the other direction.
        keys = self._keys(i, j)
        keys = (keys << np.uint64(32)) | (keys >> np.uint64(32)) if self._unordered else self._keys(j, i)
        return self.joined(self._parts(j, i, keys), i.size, counted=True)

    def _parts(self, i: Indices, j: Indices, keys: Keys) -> Iterator[Part]:
        """Yield the similarities of pairs whose keys are given, each part as soon as it is in the checkpoint."""
        values, known = self._checkpoint.look_up(keys)
        failed = known & np.isnan(values)
        if self.run.failures is None:
            known &= ~failed  # these failed in a run that went on in spite of it; perhaps they do not any more
        elif failed.any():
            self.run.failures.note_kept(int(failed.sum()))
        self._checkpoint.n_saved += int(known.sum())
        if known.any():
            yield np.flatnonzero(known), values[known]
        missing = np.flatnonzero(~known)
        for where, part in self._space.parts(i[missing], j[missing]):
            self._checkpoint.keep(keys[missing[where]], part)
            yield missing[where], part

    def _keys(self, i: Indices, j: Indices) -> Keys:
        a, b = self._left[i], self._right[j]
        return pair_keys(np.minimum(a, b), np.maximum(a, b)) if self._unordered else pair_keys(a, b)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self.joined(self.parts(i, j), i.size, counted=False)


def remembered(collection: Collection) -> Collection:
    """Return a collection whose spaces remember the similarities of pairs."""
    return RememberedCollection(collection, np.arange(len(collection)), Memory(collection))


class PairTable:
    """The similarities of pairs: a hash table with open addressing, 32 to 64 bytes a pair.

    A pair (a, b) has the key a * 2^32 + b + 1, which is never 0. A key of 0 marks an empty slot.
    """

    def __init__(self) -> None:
        self._keys: Keys = np.zeros(1 << 12, dtype=np.uint64)
        self._values = np.empty(1 << 12)
        self._n = 0
        self._lock = threading.Lock()

    def look_up(self, keys: Keys) -> tuple[Floats, Flags]:
        """Return the similarities of the pairs with these keys, and which of them are known at all."""
        values, known = np.empty(keys.size), np.empty(keys.size, dtype=np.bool_)
        with self._lock:
            find_keys(self._keys, self._values, keys, values, known)
        return values, known

    def store(self, keys: Keys, values: Floats) -> None:
        """Store the similarities of pairs."""
        with self._lock:
            size = self._keys.size
            while 2 * (self._n + keys.size) > size:
                size *= 2
            if size > self._keys.size:
                kept = self._keys != 0
                old_keys, old_values = self._keys[kept], self._values[kept]
                self._keys, self._values = np.zeros(size, dtype=np.uint64), np.empty(size)
                put_values(self._keys, self._values, old_keys, old_values)
            self._n += put_values(self._keys, self._values, keys, values)

    def pairs(self) -> tuple[Indices, Indices, Floats]:
        """Return all pairs and their similarities, in the order of the pairs."""
        with self._lock:
            kept = self._keys != 0
            keys, values = self._keys[kept] - np.uint64(1), self._values[kept]
        order = np.argsort(keys)
        keys = keys[order]
        first, second = keys >> np.uint64(32), keys & np.uint64(0xFFFFFFFF)
        return first.astype(np.int32), second.astype(np.int32), values[order]


class Memory:
    """All objects of a collection, and the similarities that were evaluated among them."""

    def __init__(self, collection: Collection) -> None:
        self.collection, self.table = collection, PairTable()
        self._spaces: dict[int | None, Space] = {}

    def space(self, n_jobs: int | None) -> Space:
        """Return the space that evaluates pairs of all objects with this many threads or processes."""
        if n_jobs not in self._spaces:
            # The spaces that use this one check whether the similarity is symmetric.
            self._spaces[n_jobs] = self.collection.against(self.collection, n_jobs)
        return self._spaces[n_jobs]


class RememberedCollection(WrappedCollection):
    """Objects whose spaces look pairs up in a table before they evaluate them.

    `numbers` are the numbers of the objects in the memory.
    """

    def __init__(self, collection: Collection, numbers: Positions, memory: Memory) -> None:
        super().__init__(collection)
        self.run = replace(collection.run, checkpoint=None)  # it belongs to the outer selector, which reports on it
        self._numbers, self._memory = numbers, memory

    def against(self, others: Self, n_jobs: int | None = None) -> "RememberedSpace":
        return RememberedSpace(self._memory, self._numbers, others._numbers, square=others is self, n_jobs=n_jobs)

    def known_pairs(self) -> tuple[Indices, Indices, Floats]:
        i, j, similarities = self._memory.table.pairs()
        position = np.full(int(max(i.max(initial=0), j.max(initial=0), self._numbers.max())) + 1, -1, dtype=np.int32)
        position[self._numbers] = np.arange(self._numbers.size)
        i, j = position[i], position[j]
        pairs = (i >= 0) & (j >= 0) & (i != j) & ~np.isnan(similarities)  # NaN marks those that have failed
        i, j, similarities = i[pairs], j[pairs], similarities[pairs]
        if self.similarity.symmetric:
            return np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([similarities, similarities])
        return i, j, similarities

    def _take(self, positions: Positions) -> Self:
        return type(self)(self._collection.take(positions), self._numbers[positions], self._memory)


class RememberedSpace(WrappedSpace):
    """A space that evaluates only the pairs that its memory does not hold, and adds these to the memory.

    The two sides have numbers in the memory. Only evaluations are counted, not what was looked up. If the similarity is
    symmetric, a pair is evaluated once for both directions, from the lower to the higher number.
    """

    def __init__(self, memory: Memory, left: Positions, right: Positions, *, square: bool, n_jobs: int | None) -> None:
        self._unordered = memory.collection.similarity.symmetric
        super().__init__(memory.space(n_jobs), left.size, right.size, symmetric=square and self._unordered)
        self._table = memory.table
        self._left, self._right = left.astype(np.uint64), right.astype(np.uint64)

    def score_or_nan(self, i: Indices, j: Indices, *, counted: bool = True) -> Floats:
        a, b = self._left[i], self._right[j]
        if self._unordered:
            a, b = np.minimum(a, b), np.maximum(a, b)
        keys = (a << np.uint64(32)) + b + np.uint64(1)
        values, known = self._table.look_up(keys)
        if known.all():
            return values
        missing = np.flatnonzero(~known)
        new, first, again = np.unique(keys[missing], return_index=True, return_inverse=True)
        asked = missing[np.sort(first)]  # the function is called in the order of the pairs that were asked for
        scores = np.empty(new.size)
        parts = self._space.parts(a[asked].astype(np.int32), b[asked].astype(np.int32))
        scores[np.argsort(first)] = self.joined(parts, asked.size, counted=counted)
        self._table.store(new, scores)
        values[missing] = scores[again]
        return values

    def score_again(self, i: Indices, j: Indices) -> Floats:
        scores = self._space.score_again(self._left[i].astype(np.int32), self._right[j].astype(np.int32))
        self.count(i.size)
        return scores

    def score_backward(self, i: Indices, j: Indices) -> Floats:
        scores = self._space.score_backward(self._left[i].astype(np.int32), self._right[j].astype(np.int32))
        self.count(i.size)
        return scores

    def with_itself(self) -> Floats:
        return self._space.with_itself()[self._left.astype(np.intp)]

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self.score_or_nan(i, j, counted=False)


@njit(cache=True, nogil=True)
def find_keys(table, stored, keys, values, known):  # type: ignore[no-untyped-def]
    """Write into values[t] what is stored for keys[t], and into known[t] whether anything is."""
    for t in range(keys.size):
        slot = find_slot(table, keys[t])
        known[t] = table[slot] != 0
        values[t] = stored[slot]


@njit(cache=True, nogil=True)
def put_values(table, stored, keys, values):  # type: ignore[no-untyped-def]
    """Store a value for each key, and return how many of the keys are new."""
    added = 0
    for t in range(keys.size):
        slot = find_slot(table, keys[t])
        added += table[slot] == 0
        table[slot], stored[slot] = keys[t], values[t]
    return added
