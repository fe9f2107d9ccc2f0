"""The nearest object of each of several groups: for a classifier, the nearest representative of each class.

1. Take the left side in blocks, and for each block the right side in tiles.
2. In a space that can be screened, estimate a tile (a matrix product). The best estimate of a group, less the slack, is
   a bar that the group's nearest object clears. If only the best few groups are wanted, their least bar holds for all.
3. Score the pairs above the bars; in any other space, score them all.
4. Keep the best of each group, by the total order of neighbor lists.
"""

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Positions
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space

TILE = 1024
"""The most objects on a side of a tile: a tile of estimates then fits into the cache of a processor core."""


def nearest_of_groups(space: Space, groups: Positions, n_best: int | None = None) -> tuple[Indices, Floats]:
    """The nearest object of each group, and its similarity, for every object of the left side.

    Parameters
    ----------
    space : Space
    groups : int array of shape (n_right,)
        The group of each object of the right side, counted from 0.
    n_best : int, optional
        How many groups are wanted, those with the most similar objects; by default all.

    Returns
    -------
    indices : int array of shape (n_left, n_groups)
    similarities : float array of shape (n_left, n_groups)
        Groups that are not among the best may be empty: their index is -1 and their similarity -inf.
    """
    n_groups = int(groups.max()) + 1
    space.n_expected = space.n_left * space.n_right
    step = share_out(space.n_left, TILE)

    def search(start: int) -> NeighborLists:
        rows = slice(start, min(start + step, space.n_left))
        return _search_block(space, rows, groups, n_groups, n_groups if n_best is None else n_best)

    found = space.executor.run(search, range(0, space.n_left, step), products=True)
    indices = np.concatenate([lists.indices for lists in found]).reshape(-1, n_groups)
    return indices, np.concatenate([lists.similarities for lists in found]).reshape(-1, n_groups)


def _search_block(space: Space, rows: slice, groups: Positions, n_groups: int, n_best: int) -> NeighborLists:
    """A list of one entry for each group of each row, row by row."""
    n_rows = rows.stop - rows.start
    lists = NeighborLists.empty(n_rows * n_groups, 1)
    bars = np.full((n_rows, n_groups), -np.inf)
    for start in range(0, space.n_right, TILE):
        columns = slice(start, min(start + TILE, space.n_right))
        of_columns = groups[columns]
        if space.screened:
            estimates = space.estimates(rows, columns)
            space.count(estimates.size)
            i, j = np.empty((2, estimates.size), dtype=np.int32)
            n = clear_group_bars(estimates, space.slack(rows), of_columns, bars, n_best, i, j)
            i, j = i[:n], j[:n]
        else:
            i = np.repeat(np.arange(n_rows, dtype=np.int32), of_columns.size)
            j = np.tile(np.arange(of_columns.size, dtype=np.int32), n_rows)
        places = (i * n_groups + of_columns[j]).astype(np.int32)
        j = j + np.int32(start)
        lists.offer(places, j, space.score(i + np.int32(rows.start), j, counted=not space.screened))
    return lists


@njit(cache=True, nogil=True)
def clear_group_bars(estimates, slack, groups, bars, n_best, i, j):  # type: ignore[no-untyped-def]
    """Raise the bars by the best estimates of each group, and collect the pairs that clear them."""
    n, n_groups = 0, bars.shape[1]
    for row in range(estimates.shape[0]):
        for column in range(groups.size):
            bar = estimates[row, column] - slack[row]
            if bar > bars[row, groups[column]]:
                bars[row, groups[column]] = bar
        lowest = np.sort(bars[row])[n_groups - n_best]
        for column in range(groups.size):
            reach = estimates[row, column] + slack[row]
            if reach >= lowest and reach >= bars[row, groups[column]]:
                i[n], j[n] = row, column
                n += 1
    return n
