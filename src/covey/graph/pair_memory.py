"""The memory of pairs that have met, so that none, or only few, are evaluated twice.

What is remembered follows from what a pair costs. There are four kinds of memory:

- Up to `BITMAP_LIMIT` objects, or `NAMED_LIMIT` under a named similarity, a triangular bitmap holds one bit for each
  pair. It takes n^2 / 16 bytes: 2 MB for 6 000 objects, 268 MB at the first limit. A row of the bitmap belongs to the
  smaller index of its pairs and starts at a word of its own. Threads that work on different smaller indices therefore
  never touch the same word.
- Beyond the limit, no pair of a custom function is ever forgotten: a hash table grows with the number of pairs in it,
  16 to 32 bytes each.
- Beyond the limit, the pairs of a named similarity share a table of fixed size, in which some pairs push others out. A
  pair that was pushed out may be scored, and counted, again in a later round.
- Beyond the limit, if scores are cheap, nothing is remembered: looking pairs up would cost more than scoring them.

Where two finished graphs are merged, `CrossPairs` surrounds one of these: pairs within one of the two graphs count as
met from the start.
"""

import threading
from abc import ABC, abstractmethod

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Indices, Integers
from covey.runtime.interruptible import MANY, in_steps
from covey.similarity.hash_table import find_slot, scrambled
from covey.similarity.space import Space

BITMAP_LIMIT = 1 << 16
"""The most objects for which there is a bitmap. It bounds the memory of the bitmap to 268 MB."""

NAMED_LIMIT = 1 << 15
"""The same for named similarities, whose pairs may be scored again. The bitmap then takes at most 2 kB an object."""

REMEMBERED = 448
"""For how many pairs an object there is room in a memory of fixed size. It takes 4 bytes a pair, 1.8 kB an object."""


class PairSet(ABC):
    """A set of unordered pairs of n objects.

    `marks_last` says whether marks that are set in the array of `marks` add pairs to the set for good. `remembers_all`
    says whether there is a bit for every pair, so that even all pairs can be remembered. `forgetful` says that no pair
    is remembered.
    """

    marks_last = False
    remembers_all = False
    forgetful = False

    def __init__(self, n: int) -> None:
        self._starts = np.zeros(n, dtype=np.int64)

    @abstractmethod
    def add(self, i: Indices, j: Indices) -> Flags:
        """Add the pairs, and return which of them are new; of a pair that is given several times, only the first is."""

    def remove(self, i: Indices, j: Indices) -> None:
        """Take pairs out of the set, so that they are new again."""
        raise RuntimeError("Only a bitmap can forget pairs that it has remembered.")

    def renumbered(self, order: Indices) -> "PairSet":
        """Return the same set if its objects get other numbers: object t is then the one that was order[t].

        Only a set that remembers nothing can do this, because remembered pairs would keep their old numbers.
        """
        raise RuntimeError("Objects can be renumbered only while no pairs are remembered under their old numbers.")

    def marks(self) -> tuple[NDArray[np.uint64], Integers]:
        """Return an array of 64-bit words for marks, and the word at which the marks of each object start.

        The pair (i, j) with j > i has bit j - i - 1, counted from word starts[i] on. If `marks_last`, the words are the
        set itself. If not, the marks of all objects share the same words, so that they must be erased after each
        object.
        """
        return np.zeros(self._starts.size // 64 + 1, dtype=np.uint64), self._starts


def pair_set(space: Space) -> PairSet:
    """Return the kind of memory that suits the objects of a space, and what it costs to score them."""
    n = space.n_left
    if n <= (BITMAP_LIMIT if space.asked_once else min(BITMAP_LIMIT, NAMED_LIMIT)):
        return BitmapPairs(n)
    if space.cheap:
        return ForgottenPairs(n)
    return HashedPairs(n) if space.asked_once else BoundedPairs(n)


class BitmapPairs(PairSet):
    """One bit for each pair."""

    marks_last = True
    remembers_all = True

    def __init__(self, n: int) -> None:
        super().__init__(n)
        words = (np.arange(n - 1, -1, -1, dtype=np.int64) + 63) // 64
        self._starts = np.concatenate([[0], np.cumsum(words)[:-1]])
        # np.full writes all of the memory at once. After np.zeros, each page would be made at its first use: slower.
        self._words = np.full(int(words.sum()), 0, dtype=np.uint64)

    def marks(self) -> tuple[NDArray[np.uint64], Integers]:
        return self._words, self._starts

    def add(self, i: Indices, j: Indices) -> Flags:
        first = np.empty(i.size, dtype=np.bool_)
        in_steps(i.size, lambda part: set_bits(self._words, self._starts, i[part], j[part], first[part]), MANY)
        return first

    def remove(self, i: Indices, j: Indices) -> None:
        in_steps(i.size, lambda part: erase_bits(self._words, self._starts, i[part], j[part]), MANY)


class ForgottenPairs(PairSet):
    """No memory: every pair counts as new. Within a round of NN-Descent no pair comes twice anyway."""

    forgetful = True

    def add(self, i: Indices, j: Indices) -> Flags:
        return np.ones(i.size, dtype=np.bool_)

    def renumbered(self, order: Indices) -> "PairSet":
        return self


class HashedPairs(PairSet):
    """A hash table with open addressing, whose keys are the pairs packed into 64 bits; 0 marks an empty slot."""

    def __init__(self, n: int) -> None:
        super().__init__(n)
        self._table = np.zeros(1 << 16, dtype=np.uint64)
        self._used = 0
        self._lock = threading.Lock()

    def add(self, i: Indices, j: Indices) -> Flags:
        low, high = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
        keys = (low << np.uint64(32)) | high  # never 0, because high > low
        first = np.empty(keys.size, dtype=np.bool_)
        with self._lock:
            self._reserve(self._used + keys.size)
            self._used += self._put(keys, first)
        return first

    def _reserve(self, n_keys: int) -> None:
        """Make the table large enough that this many keys fill at most half of it."""
        size = self._table.size
        while 2 * n_keys > size:
            size *= 2
        if size > self._table.size:
            keys = self._table[self._table != 0]
            self._table = np.zeros(size, dtype=np.uint64)
            self._put(keys, np.empty(keys.size, dtype=np.bool_))

    def _put(self, keys: NDArray[np.uint64], first: Flags) -> int:
        """Put keys into the table, write into first[t] whether keys[t] is new, and return how many are."""
        in_steps(keys.size, lambda part: put_keys(self._table, keys[part], first[part]), MANY)
        return int(np.count_nonzero(first))


class BoundedPairs(PairSet):
    """A table of fixed size. Of the pairs that share a slot of it, one is remembered.

    Each object has slots for its pairs with larger indices, as many as there are such indices in proportion. Threads
    that work on different smaller indices therefore never touch the same slot. A hash of the two indices decides about
    the slot of a pair, and which of two pairs is forgotten there, so that it does not matter which one came first.

    Parameters
    ----------
    n : int
        The number of objects.
    remembered : int
        For how many pairs an object there are slots.
    """

    def __init__(self, n: int, remembered: int = REMEMBERED) -> None:
        super().__init__(n)
        larger = np.arange(n - 1, -1, -1, dtype=np.int64)
        slots = np.minimum(-(-2 * remembered * larger // n), larger)
        self._firsts = np.concatenate([[0], np.cumsum(slots)])
        self._table = np.zeros(int(self._firsts[-1]), dtype=np.int32)  # 0 is no larger index, and marks an empty slot

    def add(self, i: Indices, j: Indices) -> Flags:
        first = np.empty(i.size, dtype=np.bool_)
        in_steps(i.size, lambda part: put_bounded(self._table, self._firsts, i[part], j[part], first[part]), MANY)
        return first


class CrossPairs(PairSet):
    """The pairs of objects of two sides. Pairs within a side are never new; the others are in another set."""

    def __init__(self, on_right: Flags, pairs: PairSet) -> None:
        super().__init__(on_right.size)
        self._on_right, self._pairs = on_right, pairs
        self.remembers_all, self.forgetful = pairs.remembers_all, pairs.forgetful

    def add(self, i: Indices, j: Indices) -> Flags:
        new = self._on_right[i] != self._on_right[j]
        new[new] = self._pairs.add(i[new], j[new])
        return new

    def renumbered(self, order: Indices) -> "PairSet":
        return CrossPairs(self._on_right[order], self._pairs.renumbered(order))


@njit(cache=True, nogil=True)
def set_bits(words, starts, i, j, first):  # type: ignore[no-untyped-def]
    """Set the bit of each pair, and write into first[t] whether it was not set before."""
    for t in range(i.size):
        low, high = min(i[t], j[t]), max(i[t], j[t])
        position = high - low - 1
        word = starts[low] + position // 64
        bit = np.uint64(1) << np.uint64(position % 64)
        first[t] = (words[word] & bit) == 0
        words[word] |= bit


@njit(cache=True, nogil=True)
def erase_bits(words, starts, i, j):  # type: ignore[no-untyped-def]
    """Erase the bit of each pair."""
    for t in range(i.size):
        low, high = min(i[t], j[t]), max(i[t], j[t])
        position = high - low - 1
        words[starts[low] + position // 64] &= ~(np.uint64(1) << np.uint64(position % 64))


@njit(cache=True, nogil=True)
def put_keys(table, keys, first):  # type: ignore[no-untyped-def]
    """Put keys into a table, and write into first[t] whether keys[t] is new."""
    for t in range(keys.size):
        slot = find_slot(table, keys[t])
        first[t] = table[slot] == 0
        table[slot] = keys[t]


@njit(cache=True, nogil=True)
def put_bounded(table, firsts, i, j, first):  # type: ignore[no-untyped-def]
    """Put pairs into a table of fixed size, and write into first[t] whether the pair t is not in it.

    Of two pairs that share a slot, the one with the lower bits of the smaller hash stays.
    """
    low_half = np.uint64(0xFFFFFFFF)
    for t in range(i.size):
        low, high = min(i[t], j[t]), max(i[t], j[t])
        owner = np.uint64(low) << np.uint64(32)
        mixed = scrambled(owner | np.uint64(high))
        size = np.uint64(firsts[low + 1] - firsts[low])
        slot = firsts[low] + np.int64(((mixed >> np.uint64(32)) * size) >> np.uint64(32))
        held = table[slot]
        first[t] = held != high
        if held == 0 or (scrambled(owner | np.uint64(held)) & low_half) > (mixed & low_half):
            table[slot] = high
