"""Compiled parts of hashing: how bits are mixed, and where the key of a pair lies in a hash table."""

import numpy as np
from numba import njit


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
