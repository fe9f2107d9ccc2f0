"""The pivot forest: a start for NN-Descent that needs nothing but a similarity.

A tree is grown as follows:

1. Draw two members p and q of a node as pivots, and score every member x against both.
2. Split the node at the median of s(x, p) - s(x, q), the *preference* of x for p. Members of equal preference are split
   at random, so that two trees rarely part the same objects.
3. Go on until all nodes are small (leaves). In each leaf, score all pairs.

This takes about two evaluations per object and level, and per object half as many as a leaf has members.
"""

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.graph.evaluator import Evaluator
from covey.graph.tree import grow, places

N_TREES = 2
"""How many trees are grown. On Fashion-MNIST, two trees and the rounds after them need the fewest evaluations for their
recall; four need more."""


def plant_forest(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow the trees, and return the objects leaf by leaf of the last one.

    Objects that lie near each other in this order are similar.
    """
    for _ in range(N_TREES):
        order = plant_tree(evaluator, rng)
    return order


def plant_tree(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow one tree, let the objects of each leaf meet each other, and return the objects leaf by leaf."""

    def prefer(order: Indices, starts: Integers, sizes: Integers) -> Floats:
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        p, q = (np.repeat(order[starts + place], sizes) for place in (first, second))
        return _preferences(evaluator, order, p, q)

    order, sizes = grow(evaluator.space.n_left, prefer, rng)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[places(starts, sizes, size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel())
    return order


def _preferences(evaluator: Evaluator, x: Indices, p: Indices, q: Indices) -> Floats:
    """How much more similar each x[t] is to its pivot p[t] than to q[t]; infinite for the pivots themselves."""
    free = (x != p) & (x != q)
    pivots = np.column_stack([p[free], q[free]])
    similarities = evaluator.meet_and_bound(np.repeat(x[free], 2), pivots.ravel()).reshape(-1, 2)
    preferences = np.where(x == p, np.inf, -np.inf)
    preferences[free] = similarities[:, 0] / 2 - similarities[:, 1] / 2  # the difference itself may have no float
    return preferences
