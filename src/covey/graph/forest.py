"""The pivot forest: a start for NN-Descent that needs nothing but a similarity.

A tree draws two members of a node as pivots, scores every member against both, splits at the median of
s(x, p) - s(x, q), and goes on until leaves are small; a leaf scores all its pairs. That is about two evaluations per
object and level, and half a leaf. Equal differences are split at random, so that two trees rarely part the same
objects.
"""

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.graph.evaluator import Evaluator
from covey.graph.tree import grow, places

N_TREES = 2
"""Two trees and the rounds after them cost least for their recall (measured on Fashion-MNIST; four trees cost more)."""


def plant_forest(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow the trees; the objects leaf by leaf of the last: those that are near in this order are similar."""
    for _ in range(N_TREES):
        order = plant(evaluator, rng)
    return order


def plant(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow one tree and let the objects of each leaf meet; the objects leaf by leaf."""

    def lean(order: Indices, starts: Integers, sizes: Integers) -> Floats:
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        p, q = (np.repeat(order[starts + place], sizes) for place in (first, second))
        return _lean(evaluator, order, p, q)

    order, sizes = grow(evaluator.space.n_left, lean, rng)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[places(starts, sizes, size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel())
    return order


def _lean(evaluator: Evaluator, x: Indices, p: Indices, q: Indices) -> Floats:
    """How much more each x resembles its pivot p than its pivot q."""
    free = (x != p) & (x != q)
    pivots = np.column_stack([p[free], q[free]])
    told = evaluator.meet_and_tell(np.repeat(x[free], 2), pivots.ravel()).reshape(-1, 2)
    leaning = np.where(x == p, np.inf, -np.inf)
    leaning[free] = told[:, 0] - told[:, 1]
    return leaning
