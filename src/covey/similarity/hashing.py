"""Hash tables of pairs: where the key of a pair lies in an array."""

import numpy as np
from numba import njit


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
