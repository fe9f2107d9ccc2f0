"""Splitting objects into a balanced binary tree.

Each node is halved at the median of its members' *preferences*: numbers that say how much a member prefers the first
half. Whoever grows a tree supplies them; for a pivot tree, they are differences of similarities to two pivots.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Integers

LEAF = 30
"""The most objects in a leaf. All pairs of a leaf are scored, so larger leaves find more neighbors and cost more. A
leaf of 30 shows an object about three times as many others as a list of ten can hold; the forest was measured with this
size on Fashion-MNIST, and no comparison with others is on record."""


def grow(
    n: int, prefer: Callable[[Indices, Integers, Integers], Floats], rng: np.random.Generator
) -> tuple[Indices, Integers]:
    """Grow a tree of n objects; return the objects leaf by leaf, and the sizes of the leaves.

    All nodes of a level are split at once. `prefer(order, starts, sizes)` returns the preference of each object of
    `order` for the first half of its node; node t holds the objects order[starts[t] : starts[t] + sizes[t]].
    """
    order = rng.permutation(n).astype(np.int32)
    sizes = np.array([n])
    while sizes.max() > LEAF:
        starts = np.cumsum(sizes) - sizes
        preferences = prefer(order, starts, sizes)
        order = halve(order, preferences, sizes, _medians(preferences, starts, sizes))
        sizes = np.column_stack([sizes - sizes // 2, sizes // 2]).ravel()
    return order, sizes


def places(starts: Integers, sizes: Integers, size: int) -> Integers:
    """The places of the members of all nodes that have this size, with a row for each node."""
    return starts[sizes == size][:, None] + np.arange(size)


def _medians(preferences: Floats, starts: Integers, sizes: Integers) -> Floats:
    """The upper median of the preferences in each node.

    The nodes of a level have at most two different sizes, so the loop makes at most two steps.
    """
    medians = np.empty(sizes.size)
    for size in np.unique(sizes):
        members = preferences[places(starts, sizes, size)]
        medians[sizes == size] = np.partition(members, size // 2, axis=1)[:, size // 2]
    return medians


@njit(cache=True, nogil=True)
def halve(order, preferences, sizes, medians):  # type: ignore[no-untyped-def]
    """Within each node, put the half with the larger preferences in front.

    The order within both halves stays as it was. Members with the median preference fill up the front half, first come,
    first served.
    """
    halved = np.empty_like(order)
    start = 0
    for node in range(sizes.size):
        size, median = sizes[node], medians[node]
        members, values = order[start : start + size], preferences[start : start + size]
        n_front = size - size // 2
        room = n_front  # how many members with the median preference the front half can hold
        for value in values:
            room -= value > median
        front, back = start, start + n_front
        for t in range(size):
            if values[t] > median or (values[t] == median and room > 0):
                room -= values[t] == median
                halved[front] = members[t]
                front += 1
            else:
                halved[back] = members[t]
                back += 1
        start += size
    return halved
