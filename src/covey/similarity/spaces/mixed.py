"""The space of rows of mixed columns under Gower's similarity."""

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices
from covey.similarity.mixed import MISSING, MixedRows
from covey.similarity.space import Space


class MixedSpace(Space):
    """Rows of numbers and categories. Scores are computed by compiled code and several threads."""

    threaded = True
    cheap = True

    def __init__(self, left: MixedRows, right: MixedRows, n_jobs: int | None) -> None:
        super().__init__(len(left), len(right), symmetric=left is right, n_jobs=n_jobs)
        self._left, self._right, self._spreads = left, right, right.spreads

    def with_itself(self) -> Floats:
        """Return 1 for each row, and 0 for a row without any value."""
        known = ~np.isnan(self._left.numbers).all(axis=1) | (self._left.codes != MISSING).any(axis=1)
        return known.astype(np.float64)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        out = np.empty(i.size)
        left, right = self._left, self._right
        gower_means(left.numbers, left.codes, right.numbers, right.codes, self._spreads, i, j, out)
        return out


# With the error model of NumPy, numba leaves out the checks for divisions by zero, which would keep the compiler from
# vectorising the loop. No spread is zero.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def gower_means(left_numbers, left_codes, right_numbers, right_codes, spreads, i, j, out):  # type: ignore[no-untyped-def]
    """Fill out[t] with the mean of the terms of the columns that both rows of a pair have; 0 if there are none."""
    for t in range(i.size):
        x, y = left_numbers[i[t]], right_numbers[j[t]]
        total, present = 0.0, 0
        for c in range(x.size):
            difference = abs(x[c] - y[c]) / spreads[c]
            known = difference == difference  # NaN, a missing number, is not equal to itself
            present += known
            total += max(1.0 - difference, 0.0) if known else 0.0
        a, b = left_codes[i[t]], right_codes[j[t]]
        for c in range(a.size):
            known = (a[c] != MISSING) & (b[c] != MISSING)
            present += known
            total += known & (a[c] == b[c])
        out[t] = total / present if present else 0.0
