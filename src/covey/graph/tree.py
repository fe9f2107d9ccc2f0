"""Splitting objects into a balanced binary tree, by whatever says how far each leans to one side."""

from collections.abc import Callable

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Integers

LEAF = 30
"""The most objects in a leaf: a leaf of 30 is about three lists of ten."""


def grow(
    n: int, lean: Callable[[Indices, Integers, Integers], Floats], rng: np.random.Generator
) -> tuple[Indices, Integers]:
    """The objects leaf by leaf, and the sizes of the leaves; all nodes of a level are split at once.

    `lean(order, starts, sizes)` says how far each object of `order` leans to the first half of its node; node t holds
    the objects order[starts[t] : starts[t] + sizes[t]].
    """
    order = rng.permutation(n).astype(np.int32)
    sizes = np.array([n])
    while sizes.max() > LEAF:
        starts = np.cumsum(sizes) - sizes
        leaning = lean(order, starts, sizes)
        order = halve(order, leaning, sizes, _medians(leaning, starts, sizes))
        sizes = np.column_stack([sizes - sizes // 2, sizes // 2]).ravel()
    return order, sizes


def places(starts: Integers, sizes: Integers, size: int) -> Integers:
    """Where the members of the nodes of this size are, a row for each node."""
    return starts[sizes == size][:, None] + np.arange(size)


def _medians(leaning: Floats, starts: Integers, sizes: Integers) -> Floats:
    """Of each node; nodes of one level have one or two sizes, so that this is one or two calls."""
    medians = np.empty(sizes.size)
    for size in np.unique(sizes):
        members = leaning[places(starts, sizes, size)]
        medians[sizes == size] = np.partition(members, size // 2, axis=1)[:, size // 2]
    return medians


@njit(cache=True, nogil=True)
def halve(order, leaning, sizes, medians):  # type: ignore[no-untyped-def]
    """Within each node put the half that leans more in front; within both halves and among equals the order stays."""
    halved = np.empty_like(order)
    start = 0
    for node in range(sizes.size):
        size, median = sizes[node], medians[node]
        members, leans = order[start : start + size], leaning[start : start + size]
        n_front = size - size // 2
        room = n_front  # for those at the median
        for lean in leans:
            room -= lean > median
        front, back = start, start + n_front
        for at in range(size):
            if leans[at] > median or (leans[at] == median and room > 0):
                room -= leans[at] == median
                halved[front] = members[at]
                front += 1
            else:
                halved[back] = members[at]
                back += 1
        start += size
    return halved
