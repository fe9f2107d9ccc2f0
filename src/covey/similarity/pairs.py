"""Pairs of objects, drawn at random."""

import numpy as np

from covey.arrays import Indices


def draw_pairs(n: int, size: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw `size` different unordered pairs of n objects uniformly.

    If `size` is the number of all pairs, return all of them in order.
    """
    n_pairs = n * (n - 1) // 2
    codes = np.arange(n_pairs) if size == n_pairs else rng.choice(n_pairs, size, replace=False, shuffle=False)
    # The pair (i, j) with i < j has the code j (j - 1) / 2 + i. The root may be off by one, because it is rounded.
    j = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > codes
    j += j * (j + 1) // 2 <= codes
    return (codes - j * (j - 1) // 2).astype(np.int32), j.astype(np.int32)
