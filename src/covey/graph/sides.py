"""The nearest representatives of each object on two sides: in its own class, and in all other classes.

Every object has two lists, both of the same length: the lists of object x are those with the numbers 2 x (its own
class) and 2 x + 1 (all other classes). `offer_to_sides` offers objects of the right side of a space to them.

1. Cut the left side into blocks and the right side into tiles. Each block visits all tiles.
2. In a space that can be screened, estimate the similarities of a block and a tile by one matrix product. An estimate
   is off by at most the slack of its row. An object can enter a list only if its estimate plus the slack reaches the
   *hurdle* of that list: the least similarity in the list, or, if that is higher, the worst of as many best estimates
   of the tile as the list has entries, less the slack.
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


def offer_to_sides(space: Space, lists: NeighborLists, left: Indices, right: Indices, classes: Positions) -> None:
    """Offer all objects of the right side to the lists of all objects of the left side.

    Parameters
    ----------
    space : Space
        Scores the pairs.
    lists : NeighborLists
        The lists of all objects, two for each. They are changed in place.
    left, right : int arrays
        The number of each object of the two sides. No object is offered to its own lists.
    classes : int array
        The class of each object, by its number.
    """
    step = share_out(space.n_left, TILE)

    def offer(start: int) -> None:
        for column in range(0, space.n_right, TILE):
            _offer_tile(space, lists, left, right, classes, slice(start, start + step), slice(column, column + TILE))

    space.executor.run(offer, range(0, space.n_left, step), products=True)


def _offer_tile(
    space: Space, lists: NeighborLists, left: Indices, right: Indices, classes: Positions, rows: slice, columns: slice
) -> None:
    """Offer the objects of a tile's columns to the lists of its rows."""
    numbers, others = left[rows], right[columns]
    same = classes[numbers][:, np.newaxis] == classes[others]
    pairs = numbers[:, np.newaxis] != others
    if space.screened:
        estimates = space.estimates(rows, columns)
        space.count(int(np.count_nonzero(pairs)))
        i, j = np.empty((2, estimates.size), dtype=np.int32)
        n = clear_side_hurdles(estimates, space.slack(rows), same, pairs, lists.similarities, numbers, i, j)
        i, j = i[:n], j[:n]
    else:
        i, j = (positions.astype(np.int32) for positions in np.nonzero(pairs))
    first_row, first_column = np.int32(rows.start), np.int32(columns.start)
    scores = space.score(i + first_row, j + first_column, counted=not space.screened)
    lists.offer((2 * numbers[i] + ~same[i, j]).astype(np.int32), others[j], scores)


@njit(cache=True, nogil=True)
def clear_side_hurdles(estimates, slack, same, pairs, similarities, numbers, i, j):  # type: ignore[no-untyped-def]
    """Collect the pairs that may enter the lists of their rows, and return how many there are."""
    n, length = 0, similarities.shape[1]
    best, hurdles = np.empty((2, length)), np.empty(2)
    for row in range(estimates.shape[0]):
        best[:] = -np.inf
        for column in range(estimates.shape[1]):
            of_side = best[0 if same[row, column] else 1]
            if pairs[row, column] and estimates[row, column] > of_side[length - 1]:
                place = length - 1
                while place > 0 and of_side[place - 1] < estimates[row, column]:
                    of_side[place] = of_side[place - 1]
                    place -= 1
                of_side[place] = estimates[row, column]
        for side in range(2):
            in_list = similarities[2 * numbers[row] + side, length - 1]
            hurdles[side] = max(in_list, best[side, length - 1] - slack[row]) - slack[row]
        for column in range(estimates.shape[1]):
            if pairs[row, column] and estimates[row, column] >= hurdles[0 if same[row, column] else 1]:
                i[n], j[n] = row, column
                n += 1
    return n
