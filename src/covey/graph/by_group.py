"""The nearest object of each of several groups: for a classifier, the nearest representative of each class.

1. Cut the left side (queries) into blocks and the right side (representatives) into tiles. Each block visits all tiles.
2. In a space that can be screened, estimate the similarities of a block and a tile by one matrix product. An estimate
   is off by at most the slack of its row. The best estimate of a group, less the slack, is the *hurdle* of this group:
   the nearest object of the group clears it. If only the best few groups are wanted, the lowest hurdle of these holds
   for all groups.
3. Score the pairs whose estimate plus the slack reaches the hurdle. In any other space, score all pairs.
4. Keep the best object of each group, by the total order of neighbor lists.

The nearest representatives of each object on two sides: in its own class, and in all other classes.

Every object has two lists, both of the same length: the lists of object x are those with the numbers 2 x (its own
class) and 2 x + 1 (all other classes). `Sides.offer` offers objects of the right side of a space to them.

1. Cut the left side into blocks and the right side into tiles. Each block visits all tiles.
2. In a space that can be screened, estimate the similarities of a block and a tile by one matrix product. An estimate
   is off by at most the slack of its row. As many best estimates of a tile as a list has entries, each less the slack,
   are a *hurdle*: whatever enters the list must reach it with its estimate plus the slack. Hurdles only rise.
3. Score these pairs. In any other space, score all pairs.
4. Offer the scores to the lists. Their total order makes the result independent of blocks, tiles and threads.
"""

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Positions
from covey.graph.exact import TILE
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space


def nearest_of_groups(space: Space, groups: Positions, n_best: int | None = None) -> tuple[Indices, Floats]:
    """The nearest object of each group, and its similarity, for every object of the left side.

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

    def search(start: int) -> None:
        rows = slice(start, min(start + step, space.n_left))
        lists = _search_block(space, rows, groups, n_groups, n_groups if n_best is None else n_best)
        indices[rows] = lists.indices.reshape(-1, n_groups)
        similarities[rows] = lists.similarities.reshape(-1, n_groups)

    space.executor.run(search, range(0, space.n_left, step), products=True)
    return indices, similarities


def _search_block(space: Space, rows: slice, groups: Positions, n_groups: int, n_best: int) -> NeighborLists:
    """The nearest objects of one block: a list of one entry for each group of each row, row by row."""
    n_rows = rows.stop - rows.start
    lists = NeighborLists.empty(n_rows * n_groups, 1)
    hurdles = np.full((n_rows, n_groups), -np.inf)
    for start in range(0, space.n_right, TILE):
        columns = slice(start, min(start + TILE, space.n_right))
        of_columns = groups[columns]
        if space.screened:
            estimates = space.estimates(rows, columns)
            space.count(estimates.size)
            i, j = np.empty((2, estimates.size), dtype=np.int32)
            n = clear_group_hurdles(estimates, space.slack(rows), of_columns, hurdles, n_best, i, j)
            i, j = i[:n], j[:n]
        else:
            i = np.repeat(np.arange(n_rows, dtype=np.int32), of_columns.size)
            j = np.tile(np.arange(of_columns.size, dtype=np.int32), n_rows)
        places = (i * n_groups + of_columns[j]).astype(np.int32)
        j = j + np.int32(start)
        lists.offer(places, j, space.score(i + np.int32(rows.start), j, counted=not space.screened))
    return lists


@njit(cache=True, nogil=True)
def clear_group_hurdles(estimates, slack, groups, hurdles, n_best, i, j):  # type: ignore[no-untyped-def]
    """Raise the hurdles by the best estimates of each group, and collect the pairs that may clear them."""
    n, best = 0, np.empty(n_best)
    for row in range(estimates.shape[0]):
        of_groups, margin = hurdles[row], slack[row]
        for column in range(groups.size):
            of_groups[groups[column]] = max(of_groups[groups[column]], estimates[row, column] - margin)
        lowest = kth_largest(of_groups, best) - margin
        for column in range(groups.size):
            # Most pairs fail the first test, which reads nothing but the estimate.
            if estimates[row, column] >= lowest and estimates[row, column] + margin >= of_groups[groups[column]]:
                i[n], j[n] = row, column
                n += 1
    return n


@njit(cache=True, nogil=True)
def kth_largest(values, best):  # type: ignore[no-untyped-def]
    """The k-th largest of the values; `best` has room for k and is overwritten."""
    best[:] = -np.inf
    for value in values:
        place = best.size
        while place > 0 and value > best[place - 1]:
            place -= 1
        if place < best.size:
            for later in range(best.size - 1, place, -1):
                best[later] = best[later - 1]
            best[place] = value
    return best[best.size - 1]


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
        The lists, two for each object.
    """

    def __init__(self, classes: Positions, length: int) -> None:
        self._classes = classes
        self.lists = NeighborLists.empty(2 * classes.size, length)
        self._hurdles = np.full(2 * classes.size, -np.inf)

    def clear(self, numbers: Indices) -> None:
        """Empty the lists of these objects."""
        for rows in (2 * numbers, 2 * numbers + 1):
            self.lists.indices[rows], self.lists.similarities[rows], self._hurdles[rows] = -1, -np.inf, -np.inf

    def offer(self, space: Space, left: Indices, right: Indices) -> None:
        """Offer all objects of the right side of a space to the lists of all objects of its left side.

        The objects of the two sides have the given numbers. No object is offered to its own lists.
        """
        step = share_out(space.n_left, TILE)

        def offer(start: int) -> None:
            for column in range(0, space.n_right, TILE):
                self._offer_tile(space, left, right, slice(start, start + step), slice(column, column + TILE))

        space.executor.run(offer, range(0, space.n_left, step), products=True)

    def _offer_tile(self, space: Space, left: Indices, right: Indices, rows: slice, columns: slice) -> None:
        """Offer the objects of a tile's columns to the lists of its rows."""
        numbers, others = left[rows], right[columns]
        same = self._classes[numbers][:, np.newaxis] == self._classes[others]
        pairs = numbers[:, np.newaxis] != others
        if space.screened:
            estimates = space.estimates(rows, columns)
            space.count(int(np.count_nonzero(pairs)))
            i, j = np.empty((2, estimates.size), dtype=np.int32)
            length = self.lists.indices.shape[1]
            n = clear_side_hurdles(estimates, space.slack(rows), same, pairs, self._hurdles, numbers, length, i, j)
            i, j = i[:n], j[:n]
        else:
            i, j = (positions.astype(np.int32) for positions in np.nonzero(pairs))
        first_row, first_column = np.int32(rows.start), np.int32(columns.start)
        scores = space.score(i + first_row, j + first_column, counted=not space.screened)
        self.lists.offer((2 * numbers[i] + ~same[i, j]).astype(np.int32), others[j], scores)


@njit(cache=True, nogil=True)
def clear_side_hurdles(estimates, slack, same, pairs, hurdles, numbers, length, i, j):  # type: ignore[no-untyped-def]
    """Raise the hurdles of the rows as far as the estimates allow, and collect the pairs that may clear them.

    Return how many pairs there are. Hurdles are on the scale of estimates, which need not be that of scores.
    """
    n, best = 0, np.empty((2, length))
    for row in range(estimates.shape[0]):
        of_row = hurdles[2 * numbers[row] : 2 * numbers[row] + 2]
        for side in range(2):
            best[side] = of_row[side]  # estimates below the hurdle cannot raise it, so they are not sorted in
        for column in range(estimates.shape[1]):
            of_side = best[0 if same[row, column] else 1]
            if pairs[row, column] and estimates[row, column] > of_side[length - 1]:
                place = length - 1
                while place > 0 and of_side[place - 1] < estimates[row, column]:
                    of_side[place] = of_side[place - 1]
                    place -= 1
                of_side[place] = estimates[row, column]
        for side in range(2):
            of_row[side] = max(of_row[side], best[side, length - 1] - slack[row])
        for column in range(estimates.shape[1]):
            hurdle = of_row[0 if same[row, column] else 1]
            if pairs[row, column] and estimates[row, column] + slack[row] >= hurdle:
                i[n], j[n] = row, column
                n += 1
    return n
