"""Pairs of objects, drawn at random."""

import numpy as np

from covey.arrays import Indices


def draw_pairs(n: int, size: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Different unordered pairs of n objects, uniformly; all of them in order if `size` is their number."""
    n_pairs = n * (n - 1) // 2
    codes = np.arange(n_pairs) if size == n_pairs else rng.choice(n_pairs, size, replace=False, shuffle=False)
    # Pair (i, j), i < j, has the code j (j - 1) / 2 + i; the root may be off by one in floating point.
    j = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > codes
    j += j * (j + 1) // 2 <= codes
    return (codes - j * (j - 1) // 2).astype(np.int32), j.astype(np.int32)
