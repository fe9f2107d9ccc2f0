"""A queue of objects, the one with the largest gain first, for gains that only shrink.

Objects wait in *buckets* by the keys of their gains. A bucket holds the keys that have the same leading bits, so that
large keys share a bucket with those that differ by less than a thousandth, and small ones have a bucket each. Only the
first bucket is *open*: its objects lie on a heap, which is small and stays in the cache. The others are linked lists.

Keys may be out of date. They are brought up to date when their bucket is opened, and when they reach the top of the
heap; an object that no longer belongs into the open bucket goes to a later one. So the top of the heap is the largest
of all if its key is up to date. One heap of all objects would take twenty steps for each key that has changed, most of
them to places that are not in the cache. (`benchmarks/coverage.py` measures how long a cover takes.)
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from covey.arrays import Indices, Integers
from covey.coverage.gains import comparison_key

LEADING = 1 << 10
"""How many buckets the keys from one power of 2 to the next share."""

N_BUCKETS = 64 * LEADING
"""How many buckets there are, for keys of up to 63 bits."""


class Queue(NamedTuple):
    """Objects by the keys of their gains.

    `keys` holds for each object the key by which it waits, and `heap` those of the open bucket. Of each other bucket,
    `heads` holds the first object, and `following` for each object the next one; -1 ends the list.
    """

    keys: Integers
    heads: Indices
    following: Indices
    heap: Indices


def queue_of(gains: Integers, rounded: int) -> Queue:
    """Return a queue of all objects, of which no bucket is open yet."""
    n = gains.size
    heads, (following, heap) = np.full(N_BUCKETS, -1, dtype=np.int32), np.empty((2, n), dtype=np.int32)
    queue = Queue(np.empty(n, dtype=np.int64), heads, following, heap)
    enter_all(queue, gains, rounded)
    return queue


@njit(cache=True, nogil=True)
def bucket_of(key):  # type: ignore[no-untyped-def]
    """Return the bucket of a key; a larger key has the same or a later one."""
    if key < LEADING:
        return key
    mantissa, exponent = math.frexp(np.float64(key))
    return (exponent - 11) * LEADING + np.int64(mantissa * 2 * LEADING)  # the mantissa is in [0.5, 1)


@njit(cache=True, nogil=True)
def enter_all(queue, gains, rounded):  # type: ignore[no-untyped-def]
    """Enter all objects by their gains, so that those of a bucket are in ascending order."""
    for x in range(gains.size - 1, -1, -1):
        queue.keys[x] = comparison_key(gains[x], rounded)
        enter(queue, x)


@njit(cache=True, nogil=True)
def enter(queue, x):  # type: ignore[no-untyped-def]
    """Enter an object into the list of its bucket."""
    bucket = bucket_of(queue.keys[x])
    queue.following[x] = queue.heads[bucket]
    queue.heads[bucket] = x


@njit(cache=True, nogil=True)
def open_bucket(queue, bucket, gains, rounded):  # type: ignore[no-untyped-def]
    """Put the objects that belong into a bucket on the heap, and the others of its list into later ones.

    Return how many are on the heap.
    """
    keys, heads, following, heap = queue
    x, size = heads[bucket], 0
    heads[bucket] = -1
    while x >= 0:
        coming = following[x]
        keys[x] = comparison_key(gains[x], rounded)
        if bucket_of(keys[x]) == bucket:
            heap[size] = x
            size += 1
        else:
            enter(queue, x)
        x = coming
    for place in range(size // 2 - 1, -1, -1):
        sink(heap, place, size, keys)
    return size


@njit(cache=True, nogil=True)
def without_top(queue, size):  # type: ignore[no-untyped-def]
    """Take the top off the heap; return how many objects are left on it."""
    queue.heap[0] = queue.heap[size - 1]
    sink(queue.heap, 0, size - 1, queue.keys)
    return size - 1


@njit(cache=True, nogil=True)
def sink(heap, place, size, keys):  # type: ignore[no-untyped-def]
    """Move an object on a heap down to its place; the heap is ordered by (key descending, index ascending)."""
    parent, child = place, 2 * place + 1
    while child < size:
        if child + 1 < size and before(heap[child + 1], heap[child], keys):
            child += 1
        if not before(heap[child], heap[parent], keys):
            child = size  # the object has found its place, which ends the loop
        else:
            heap[parent], heap[child] = heap[child], heap[parent]
            parent, child = child, 2 * child + 1


@njit(cache=True, nogil=True)
def before(a, b, keys):  # type: ignore[no-untyped-def]
    """Return whether a is to be picked before b."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)
