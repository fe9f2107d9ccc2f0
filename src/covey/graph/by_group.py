"""The nearest objects of each group of objects, for a classifier and for its training.

- `nearest_of_groups` finds the nearest representative of each class for every query.
- `Sides` holds the nearest representatives of each object on two sides: in its own class, and in all other classes.

Both are searches for the k best of each group (`exact.py`). The left side is cut into blocks and the right side into
tiles, and each block visits all tiles, so that its lists need no lock.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Positions
from covey.graph.exact import TILE, BestLists, Groups, insert_sorted
from covey.runtime.executor import share_out
from covey.similarity.space import Space


def nearest_of_groups(space: Space, groups: Positions, n_best: int | None = None) -> tuple[Indices, Floats]:
    """Return the nearest object of each group, and its similarity, for every object of the left side.

    Parameters
    ----------
    space : Space
        The queries on the left side, the objects to be found on the right.
    groups : int array of shape (n_right,)
        The group of each object of the right side, counted from 0.
    n_best : int, optional
        How many groups are wanted; the groups with the most similar objects count as best. By default, all are.

    Returns
    -------
    indices : int array of shape (n_left, n_groups)
        The nearest object of each group. Groups that are not among the best may be left out; their index is -1.
    similarities : float array of shape (n_left, n_groups)
        The similarity of each nearest object; -inf for groups that are left out.
    """
    n_groups = int(groups.max()) + 1
    space.expect(space.n_left * space.n_right)
    step = share_out(space.n_left, TILE)
    indices = np.empty((space.n_left, n_groups), dtype=np.int32)
    similarities = np.empty((space.n_left, n_groups))
    numbers = np.arange(space.n_right, dtype=np.int32)

    def search(start: int) -> None:
        rows = slice(start, min(start + step, space.n_left))
        objects = np.arange(rows.stop - rows.start)
        nearest = _NearestOfGroups(objects.size, n_groups, n_groups if n_best is None else n_best)
        for columns in _tiles(space.n_right):
            of_pairs = np.broadcast_to(groups[columns], (objects.size, columns.stop - columns.start))
            nearest.offer_tile(space, rows, columns, objects, numbers[columns], of_pairs)
        indices[rows] = nearest.lists.indices.reshape(-1, n_groups)
        similarities[rows] = nearest.lists.similarities.reshape(-1, n_groups)

    space.executor.run(search, range(0, space.n_left, step), products=True)
    return indices, similarities


class _NearestOfGroups(BestLists):
    """The nearest object of each group, for n objects, where the best `n_best` groups are wanted."""

    def __init__(self, n: int, n_groups: int, n_best: int) -> None:
        super().__init__(n, 1, n_groups)
        self._n_best = n_best

    def clear(
        self, estimates: NDArray[Any], slack: Floats, objects: Indices | Positions, groups: Groups
    ) -> tuple[Indices, Indices]:
        i, j = np.empty((2, estimates.size), dtype=np.int32)
        n = clear_group_hurdles(estimates, slack, groups[0], self.hurdles, self._n_best, i, j)
        return i[:n], j[:n]


class Sides:
    """The lists of n objects, which are numbered from 0, on both sides.

    Parameters
    ----------
    classes : int array
        The class of each object.
    length : int
        How many others each list holds.

    Attributes
    ----------
    lists : NeighborLists
        The lists: those of object x have the numbers 2 x (its own class) and 2 x + 1 (all other classes).
    """

    def __init__(self, classes: Positions, length: int) -> None:
        self._classes = classes
        self._best = BestLists(classes.size, length, n_groups=2)
        self.lists = self._best.lists

    def clear(self, objects: Indices) -> None:
        """Empty the lists of these objects."""
        self._best.hurdles[objects] = -np.inf
        for rows in (2 * objects, 2 * objects + 1):
            self.lists.indices[rows], self.lists.similarities[rows] = -1, -np.inf

    def offer(self, space: Space, left: Indices, right: Indices) -> None:
        """Offer all objects of the right side of a space to the lists of all objects of its left side.

        The objects of the two sides have the given numbers. No object is offered to its own lists.
        """
        step = share_out(space.n_left, TILE)

        def offer(start: int) -> None:
            rows = slice(start, min(start + step, space.n_left))
            objects = left[rows]
            for columns in _tiles(space.n_right):
                others = right[columns]
                sides = (self._classes[objects][:, np.newaxis] != self._classes[others]).astype(np.int8)
                sides[objects[:, np.newaxis] == others] = -1
                self._best.offer_tile(space, rows, columns, objects, others, sides)

        space.executor.run(offer, range(0, space.n_left, step), products=True)


def _tiles(n: int) -> list[slice]:
    """Return the columns of each tile of n objects."""
    return [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]


@njit(cache=True, nogil=True)
def clear_group_hurdles(estimates, slack, groups, hurdles, n_best, i, j):  # type: ignore[no-untyped-def]
    """Raise the hurdles by the best estimate of each group, and collect the pairs that may clear them.

    Return how many these are. If only the best few groups are wanted, the lowest hurdle of these holds for all groups.
    """
    n, best = 0, np.empty(n_best)
    for row in range(estimates.shape[0]):
        of_groups, margin = hurdles[row], slack[row]
        for column in range(groups.size):
            of_groups[groups[column]] = max(of_groups[groups[column]], estimates[row, column] - margin)
        lowest = (kth_largest(of_groups, best) if n_best < of_groups.size else of_groups.min()) - margin
        for column in range(groups.size):
            # Most pairs fail the first test, which reads nothing but the estimate.
            if estimates[row, column] >= lowest and estimates[row, column] + margin >= of_groups[groups[column]]:
                i[n], j[n] = row, column
                n += 1
    return n


@njit(cache=True, nogil=True)
def kth_largest(values, best):  # type: ignore[no-untyped-def]
    """Return the k-th largest of the values; `best` has room for k and is overwritten."""
    best[:] = -np.inf
    for value in values:
        if value > best[best.size - 1]:
            insert_sorted(best, value)
    return best[best.size - 1]
