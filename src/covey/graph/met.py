"""The set of pairs that have met, so that none is evaluated twice.

Up to `BITMAP_LIMIT` objects a triangular bitmap holds one bit a pair (n^2 / 16 bytes: 2 MB for 6 000 objects, 268 MB
at the limit). A row of the bitmap belongs to the smaller index of its pairs and starts at a word of its own, so
threads that work on different smaller indices never touch the same word. Beyond the limit an open-addressing hash
table grows with the number of pairs (16 to 32 bytes each); or, if scores are cheap, nothing is remembered, and a pair
may be scored, and counted, again in a later round.
"""

import threading
from abc import ABC, abstractmethod

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Indices, Integers

BITMAP_LIMIT = 1 << 16
"""The most objects for which a bitmap is kept: it takes 268 MB then."""


class PairSet(ABC):
    """Unordered pairs of n objects."""

    marks_last = False

    def __init__(self, n: int) -> None:
        self._starts = np.zeros(n, dtype=np.int64)

    @abstractmethod
    def add(self, i: Indices, j: Indices) -> Flags:
        """Put the pairs in and tell which of them were not in before (of repeated ones, the first)."""

    def marks(self) -> tuple[NDArray[np.uint64], Integers]:
        """Words with a bit for each pair (i, j > i) at position j - i - 1 from word starts[i] on.

        They are the set itself if `marks_last`; if not, a place for one object's marks at a time.
        """
        return np.zeros(self._starts.size // 64 + 1, dtype=np.uint64), self._starts


def pair_set(n: int, cheap: bool) -> PairSet:
    if n <= BITMAP_LIMIT:
        return BitmapPairs(n)
    return ForgottenPairs(n) if cheap else HashedPairs(n)


class BitmapPairs(PairSet):
    marks_last = True

    def __init__(self, n: int) -> None:
        super().__init__(n)
        words = (np.arange(n - 1, -1, -1, dtype=np.int64) + 63) // 64
        self._starts = np.concatenate([[0], np.cumsum(words)[:-1]])
        # Filled, not np.zeros: its pages would be made one by one, at the first touch of each.
        self._words = np.full(int(words.sum()), 0, dtype=np.uint64)

    def marks(self) -> tuple[NDArray[np.uint64], Integers]:
        return self._words, self._starts

    def add(self, i: Indices, j: Indices) -> Flags:
        first = np.empty(i.size, dtype=np.bool_)
        set_bits(self._words, self._starts, i, j, first)
        return first


class ForgottenPairs(PairSet):
    """Takes every pair for a new one; within a round of NN-Descent none is repeated anyway."""

    def add(self, i: Indices, j: Indices) -> Flags:
        return np.ones(i.size, dtype=np.bool_)


class HashedPairs(PairSet):
    def __init__(self, n: int) -> None:
        super().__init__(n)
        self._table = np.zeros(1 << 16, dtype=np.uint64)
        self._used = 0
        self._lock = threading.Lock()

    def add(self, i: Indices, j: Indices) -> Flags:
        low, high = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
        keys = (low << np.uint64(32)) | high  # never 0, the mark of an empty slot, since high > low
        first = np.empty(keys.size, dtype=np.bool_)
        with self._lock:
            self._reserve(self._used + keys.size)
            self._used += int(put_keys(self._table, keys, first))
        return first

    def _reserve(self, n_keys: int) -> None:
        size = self._table.size
        while 2 * n_keys > size:
            size *= 2
        if size > self._table.size:
            keys = self._table[self._table != 0]
            self._table = np.zeros(size, dtype=np.uint64)
            put_keys(self._table, keys, np.empty(keys.size, dtype=np.bool_))


@njit(cache=True, nogil=True)
def set_bits(words, starts, i, j, first):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        low, high = min(i[t], j[t]), max(i[t], j[t])
        position = high - low - 1
        word = starts[low] + position // 64
        bit = np.uint64(1) << np.uint64(position % 64)
        first[t] = (words[word] & bit) == 0
        words[word] |= bit


@njit(cache=True, nogil=True)
def put_keys(table, keys, first):  # type: ignore[no-untyped-def]
    """Linear probing; the table's size is a power of two and at most half of it is used."""
    mask = np.uint64(table.size - 1)
    added = 0
    for t in range(keys.size):
        slot = ((keys[t] * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
        while table[slot] != 0 and table[slot] != keys[t]:
            slot = (slot + np.uint64(1)) & mask
        first[t] = table[slot] == 0
        table[slot] = keys[t]
        added += first[t]
    return added
