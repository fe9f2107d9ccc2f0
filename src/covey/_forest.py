"""The pivot forest: a start for NN-Descent that needs nothing but a similarity.

A tree draws two members of a node as pivots, scores every member against both, splits at the median of
s(x, p) - s(x, q), and goes on until leaves are small; a leaf scores all its pairs. That is about two evaluations per
object and level, and half a leaf.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey._evaluator import Evaluator

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Places = NDArray[np.int64]

N_TREES = 2
LEAF = 30


def plant_forest(evaluator: Evaluator, rng: np.random.Generator, n_jobs: int | None) -> Indices:
    """Grow the trees; the objects leaf by leaf of the last: those that are near in this order are similar."""
    for _ in range(N_TREES):
        order = plant(evaluator, rng, n_jobs)
    return order


def plant(evaluator: Evaluator, rng: np.random.Generator, n_jobs: int | None) -> Indices:
    """Grow one tree, all nodes of a level at once; the objects leaf by leaf."""
    order = np.arange(evaluator.space.n_left, dtype=np.int32)
    sizes = np.array([order.size])
    while sizes.max() > LEAF:
        starts = np.cumsum(sizes) - sizes
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        node = np.repeat(np.arange(sizes.size), sizes)
        leaning = _lean(evaluator, order, order[starts + first][node], order[starts + second][node], n_jobs)
        order = halve(order, leaning, sizes, _medians(leaning, starts, sizes))
        sizes = np.column_stack([sizes - sizes // 2, sizes // 2]).ravel()
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[_places(starts, sizes, size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel(), n_jobs)
    return order


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
def halve(order, leaning, sizes, bars):  # type: ignore[no-untyped-def]
    """Within each node put the half that leans more in front; in both halves and among equals by index."""
    halved = np.empty_like(order)
    start = 0
    for node in range(sizes.size):
        size, bar = sizes[node], bars[node]
        members, leans = order[start : start + size], leaning[start : start + size]
        n_front = size - size // 2
        room = n_front  # for those at the bar
        for lean in leans:
            room -= lean > bar
        front, back = start, start + n_front
        for at in range(size):
            if leans[at] > bar or (leans[at] == bar and room > 0):
                room -= leans[at] == bar
                halved[front] = members[at]
                front += 1
            else:
                halved[back] = members[at]
                back += 1
        start += size
    return halved
