"""The nearest object of each of several groups: for a classifier, the nearest representative of each class.

1. Cut the left side (queries) into blocks and the right side (representatives) into tiles. Each block visits all tiles.
2. In a space that can be screened, estimate the similarities of a block and a tile by one matrix product. An estimate
   is off by at most the slack of its row. The best estimate of a group, less the slack, is the *hurdle* of this group:
   the nearest object of the group clears it. If only the best few groups are wanted, the lowest hurdle of these holds
   for all groups.
3. Score the pairs whose estimate plus the slack reaches the hurdle. In any other space, score all pairs.
4. Keep the best object of each group, by the total order of neighbor lists.
"""

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Positions
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space

TILE = 1024
"""The most objects on a side of a tile. Smaller tiles make matrix products slower, larger ones take more memory: a tile
of this size takes 4 MB for estimates in float32; no comparison with other values is on record."""


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
    space.n_expected = space.n_left * space.n_right
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
    n, n_groups = 0, hurdles.shape[1]
    for row in range(estimates.shape[0]):
        for column in range(groups.size):
            hurdle = estimates[row, column] - slack[row]
            if hurdle > hurdles[row, groups[column]]:
                hurdles[row, groups[column]] = hurdle
        lowest = np.sort(hurdles[row])[n_groups - n_best]
        for column in range(groups.size):
            reach = estimates[row, column] + slack[row]
            if reach >= lowest and reach >= hurdles[row, groups[column]]:
                i[n], j[n] = row, column
                n += 1
    return n
