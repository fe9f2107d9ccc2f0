"""The nearest representatives of each object on two sides: in its own class, and in all other classes.

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

from covey.arrays import Indices, Positions
from covey.graph.exact import TILE
from covey.graph.lists import NeighborLists
from covey.runtime.executor import share_out
from covey.similarity.space import Space


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
