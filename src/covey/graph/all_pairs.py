"""The similarities of all pairs of two sides as one matrix, dense or sparse.

1. Cut the left side into blocks of rows, so that the pairs of a block take little memory.
2. Score all pairs of a block. Every number is one that `Space.score` returns, so that it depends neither on the blocks
   nor on the threads.
3. Write the block into the dense matrix, or keep what is not 0 of it. A sparse result therefore never needs the dense
   matrix.
"""

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Indices, Positions
from covey.graph.exact import TILE
from covey.runtime.executor import share_out
from covey.similarity.space import Space

FEW_NONZERO = 1 / 3
"""A matrix is worth storing as CSR if less than this share of it is not 0. A CSR array takes 12 bytes for such a number
(8 for itself and 4 for its column), and a dense array takes 8 bytes for any number. So CSR then takes less than half of
the memory, which makes up for its slower arithmetic."""
MOST_SAMPLED = 128
"""How many objects at most are compared with each other to estimate the share of zeros. Their 16 256 pairs give the
share to within a few percent, and take some milliseconds in a space that is cheap."""


def sample(positions: Positions) -> Positions:
    """Return at most `MOST_SAMPLED` of the positions, evenly spread, from which `has_few_nonzero` can tell enough."""
    return positions[np.linspace(0, positions.size - 1, min(positions.size, MOST_SAMPLED)).astype(np.intp)]


def has_few_nonzero(space: Space) -> bool:
    """Say whether most of the similarities of different objects are 0, so that they should be stored as CSR.

    Both sides of the space are the same objects. The answer is False without a look if a score is not `cheap`.
    """
    if not space.cheap or space.n_left < 2:
        return False
    every = np.arange(space.n_left, dtype=np.int32)
    i, j = np.repeat(every, every.size), np.tile(every, every.size)
    others = i != j
    return bool(np.mean(space.score(i[others], j[others]) != 0) < FEW_NONZERO)


def all_similarities(space: Space, sparse: bool) -> Floats | sp.csr_array:
    """Return the matrix of s(left[i], right[j]), of shape (n_left, n_right), as an array or a CSR array."""
    space.n_expected = space.n_left * space.n_right
    step = max(1, min(share_out(space.n_left, TILE), TILE * TILE // space.n_right))
    every = np.arange(space.n_right, dtype=np.int32)
    dense = np.empty((0 if sparse else space.n_left, space.n_right))

    def score(start: int) -> sp.csr_array | None:
        rows: Indices = np.arange(start, min(start + step, space.n_left), dtype=np.int32)
        block = space.score(np.repeat(rows, every.size), np.tile(every, rows.size)).reshape(rows.size, every.size)
        if sparse:
            return sp.csr_array(block)
        dense[rows] = block
        return None

    blocks = space.executor.run(score, range(0, space.n_left, step))
    if not sparse:
        return dense
    return sp.vstack(blocks, format="csr") if blocks else sp.csr_array((0, space.n_right))
