"""A hash table of pairs in memory, and the compiled parts of hashing.

A pair of objects, which are given by their numbers, has one key: the number of the first times 2^32, plus that of the
second. The table and the checkpoint file (`checkpoint.py`) know pairs by it.
"""

import threading

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Integers, Positions

Keys = NDArray[np.uint64]
"""Pairs of objects as numbers."""


def pair_keys(first: Integers, second: Integers) -> Keys:
    """Return the keys of pairs of numbers."""
    return (first.astype(np.uint64) << np.uint64(32)) | second.astype(np.uint64)


def numbers_in(keys: Keys) -> tuple[Positions, Positions]:
    """Return the numbers of the two objects of each pair."""
    return (keys >> np.uint64(32)).astype(np.intp), (keys & np.uint64(0xFFFFFFFF)).astype(np.intp)


def swapped(keys: Keys) -> Keys:
    """Return the keys of the same pairs in the other direction."""
    return (keys << np.uint64(32)) | (keys >> np.uint64(32))


class PairTable:
    """The similarities of pairs: a hash table with open addressing, 32 to 64 bytes a pair. Threads may share it."""

    def __init__(self) -> None:
        self._slots: Keys = np.zeros(1 << 12, dtype=np.uint64)  # keys plus 1, because 0 marks an empty slot
        self._values = np.empty(1 << 12)
        self._n = 0
        self._lock = threading.Lock()

    def look_up(self, keys: Keys) -> tuple[Floats, Flags]:
        """Return the similarities of the pairs with these keys, and which of them are known at all."""
        values, known = np.empty(keys.size), np.empty(keys.size, dtype=np.bool_)
        with self._lock:
            find_keys(self._slots, self._values, keys + np.uint64(1), values, known)
        return values, known

    def store(self, keys: Keys, values: Floats) -> None:
        """Store the similarities of pairs."""
        with self._lock:
            size = self._slots.size
            while 2 * (self._n + keys.size) > size:
                size *= 2
            if size > self._slots.size:
                used = self._slots != 0
                old_slots, old_values = self._slots[used], self._values[used]
                self._slots, self._values = np.zeros(size, dtype=np.uint64), np.empty(size)
                put_values(self._slots, self._values, old_slots, old_values)
            self._n += put_values(self._slots, self._values, keys + np.uint64(1), values)

    def pairs(self) -> tuple[Indices, Indices, Floats]:
        """Return all pairs and their similarities, in the order of the pairs."""
        with self._lock:
            used = self._slots != 0
            keys, values = self._slots[used] - np.uint64(1), self._values[used]
        order = np.argsort(keys)
        first, second = numbers_in(keys[order])
        return first.astype(np.int32), second.astype(np.int32), values[order]


@njit(cache=True, nogil=True)
def scrambled(z):  # type: ignore[no-untyped-def]
    """Mix the bits of a number, or of each number of an array, so that every bit of the result depends on all of them.

    This is the finalizer of splitmix64, with that generator's published constants. Different numbers stay different.
    """
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def find_slot(table, key):  # type: ignore[no-untyped-def]
    """Return the slot that holds a key, or the empty slot in which it belongs, by linear probing.

    The size of the table is a power of two, at most half of it is used, and 0 marks an empty slot. The factor, 2^64
    divided by the golden ratio, spreads neighboring keys over the table (Knuth's multiplicative hashing).
    """
    mask = np.uint64(table.size - 1)
    slot = ((key * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & mask
    while table[slot] != 0 and table[slot] != key:
        slot = (slot + np.uint64(1)) & mask
    return slot


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
