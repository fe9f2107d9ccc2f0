"""The loop that picks the object with the largest gain, again and again.

Objects wait on a heap, ordered by gains that may be out of date. Gains only shrink; so if the gain at the top of the
heap is up to date, it is the largest of all. Each edge is subtracted once, which takes O(edges log n) in all.
"""

import numpy as np
from numba import njit

from covey.arrays import Integers
from covey.coverage.gains import comparison_key
from covey.runtime.steps import in_steps, stop_if_abandoned

NO_GAIN = (0, 0)
"""The key and the index of the first object with a gain of 0. Picking stops there if all objects are at hand."""

NOTHING_FIRST = np.empty(0, dtype=np.int64)
"""No object has to be picked before the greedy choice begins."""


WORK = 1 << 24
"""About how many edges are gone through before Python can look for an interrupt. At some 10 ns each, this takes a sixth
of a second."""


def pick(
    starts: Integers,
    coverers: Integers,
    weights: Integers,
    reverse_starts: Integers,
    reverse: Integers,
    own: Integers,
    copies: Integers,
    rounded: int,
    n_required: int,
    floor: tuple[int, int],
    n_least: int,
    first: Integers,
    n_most: int,
) -> tuple[Integers, Integers, Integers]:
    """Pick the objects `first`, then greedily until `n_required` objects are covered, `n_most` are picked, or the best
    object does not come before the floor.

    The floor is a key and an index. An object comes before it if its gain has a larger key, or an equal one and the
    object a lower index. The floor (0, 0) stops picking where no gain is left. At least `n_least` objects are picked
    whatever their gains are.

    `coverers` and `weights` from starts[x] on belong to the edges of object x; `reverse` from reverse_starts[r] on
    holds the objects that r covers. The picked objects, their gains and for each object the first that covers it are
    returned. An object may be covered by another one first and be picked later.
    """
    gains, keys, counts = own.copy(), np.empty(own.size, dtype=np.int64), np.array([0, 0, own.size])
    in_steps(coverers.size, lambda part: add_weights(coverers[part], weights[part], gains))
    fill_keys(gains, rounded, keys)
    heap = np.argsort(-keys, kind="stable")  # what is sorted is a heap
    covered_by = np.full(own.size, -1, dtype=np.int64)
    picked, gains_picked = np.empty(own.size, dtype=np.int64), np.empty(own.size, dtype=np.int64)
    graph = (starts, coverers, weights, reverse_starts, reverse, own, copies)
    wanted = (n_required, floor, n_least, first, n_most)
    state = (gains, keys, heap, covered_by, picked, gains_picked, counts)
    while not pick_some(graph, rounded, wanted, *state, WORK):
        stop_if_abandoned()
    return picked[: counts[0]], gains_picked[: counts[0]], covered_by


@njit(cache=True, nogil=True)
def add_weights(coverers, weights, gains):  # type: ignore[no-untyped-def]
    """Add the weight of each edge to the gain of its coverer."""
    for t in range(coverers.size):
        gains[coverers[t]] += weights[t]


@njit(cache=True, nogil=True)
def fill_keys(gains, rounded, keys):  # type: ignore[no-untyped-def]
    """Fill `keys` with what is compared of each gain."""
    for u in range(gains.size):
        keys[u] = comparison_key(gains[u], rounded)


@njit(cache=True, nogil=True)
def pick_some(graph, rounded, wanted, gains, keys, heap, covered_by, picked, gains_picked, counts, work):  # type: ignore[no-untyped-def]
    """Go on picking until so much work is done; return whether there is nothing left to do.

    `counts` holds how many objects are picked, how many are covered, and how many are on the heap.
    """
    starts, coverers, weights, reverse_starts, reverse, own, copies = graph
    n_required, floor, n_least, first, n_most = wanted
    n_picked, n_covered, size = counts
    done = False
    while work > 0:
        if n_picked >= first.size and (n_covered >= n_required or n_picked >= n_most):
            done = True
            break
        work -= 1
        if n_picked < first.size:
            best = first[n_picked]  # it stays on the heap, where it will have no gain left
        else:
            best = heap[0]
            key = comparison_key(gains[best], rounded)
            if keys[best] != key:
                keys[best] = key
                sink(heap, size, keys)
                continue
            if n_picked >= n_least and (key < floor[0] or (key == floor[0] and best >= floor[1])):
                done = True
                break
            size -= 1
            heap[0] = heap[size]
            sink(heap, size, keys)
        picked[n_picked], gains_picked[n_picked] = best, gains[best]
        n_picked += 1
        for t in range(reverse_starts[best] - 1, reverse_starts[best + 1]):
            x = best if t < reverse_starts[best] else reverse[t]  # the first is the object itself
            if covered_by[x] < 0:
                n_covered += copies[x]
                gains[x] -= own[x]
                for edge in range(starts[x], starts[x + 1]):
                    gains[coverers[edge]] -= weights[edge]
                work -= starts[x + 1] - starts[x]
                covered_by[x] = best
    counts[0], counts[1], counts[2] = n_picked, n_covered, size
    return done


@njit(cache=True, nogil=True)
def sink(heap, size, keys):  # type: ignore[no-untyped-def]
    """Move the root of a heap down to its place; the heap is ordered by (key descending, index ascending)."""
    parent, child = 0, 1
    while child < size:
        if child + 1 < size and before(heap[child + 1], heap[child], keys):
            child += 1
        if not before(heap[child], heap[parent], keys):
            child = size  # the root has found its place, which ends the loop
        else:
            heap[parent], heap[child] = heap[child], heap[parent]
            parent, child = child, 2 * child + 1


@njit(cache=True, nogil=True)
def before(a, b, keys):  # type: ignore[no-untyped-def]
    """Whether a is to be picked before b."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)
