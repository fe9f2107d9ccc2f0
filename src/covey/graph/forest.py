"""The pivot forest: a start for NN-Descent that needs nothing but a similarity.

A tree draws two members of a node as pivots, scores every member against both, splits at the median of
s(x, p) - s(x, q), and goes on until leaves are small; a leaf scores all its pairs. That is about two evaluations per
object and level, and half a leaf. Equal differences are split at random, so that two trees rarely part the same
objects.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.graph.evaluator import Evaluator

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Places = NDArray[np.int64]

N_TREES = 2
"""Two trees and the rounds after them cost least for their recall (measured on Fashion-MNIST; four trees cost more)."""
LEAF = 30
"""The most objects in a leaf: a leaf of 30 is about three lists of ten."""


def plant_forest(evaluator: Evaluator, rng: np.random.Generator, n_jobs: int | None) -> Indices:
    """Grow the trees; the objects leaf by leaf of the last: those that are near in this order are similar."""
    for _ in range(N_TREES):
        order = plant(evaluator, rng, n_jobs)
    return order


def plant(evaluator: Evaluator, rng: np.random.Generator, n_jobs: int | None) -> Indices:
    """Grow one tree and let the objects of each leaf meet; the objects leaf by leaf."""

    def lean(order: Indices, starts: Places, sizes: Places) -> Floats:
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        p, q = (np.repeat(order[starts + place], sizes) for place in (first, second))
        return _lean(evaluator, order, p, q, n_jobs)

    order, sizes = grow(evaluator.space.n_left, lean, rng)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[_places(starts, sizes, size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel(), n_jobs)
    return order


def grow(n: int, lean: Callable[[Indices, Places, Places], Floats], rng: np.random.Generator) -> tuple[Indices, Places]:
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


def _places(starts: Places, sizes: Places, size: int) -> Places:
    """Where the members of the nodes of this size are, a row for each node."""
    return starts[sizes == size][:, None] + np.arange(size)


def _medians(leaning: Floats, starts: Places, sizes: Places) -> Floats:
    """Of each node; nodes of one level have one or two sizes, so that this is one or two calls."""
    medians = np.empty(sizes.size)
    for size in np.unique(sizes):
        members = leaning[_places(starts, sizes, size)]
        medians[sizes == size] = np.partition(members, size // 2, axis=1)[:, size // 2]
    return medians


def _lean(evaluator: Evaluator, x: Indices, p: Indices, q: Indices, n_jobs: int | None) -> Floats:
    """How much more each x resembles its pivot p than its pivot q."""
    free = (x != p) & (x != q)
    pivots = np.column_stack([p[free], q[free]])
    told = evaluator.meet_and_tell(np.repeat(x[free], 2), pivots.ravel(), n_jobs).reshape(-1, 2)
    leaning = np.where(x == p, np.inf, -np.inf)
    leaning[free] = told[:, 0] - told[:, 1]
    return leaning


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
