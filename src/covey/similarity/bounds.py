"""Upper bounds of similarities from rows that are kept in one byte a number. They rule out most pairs without reading
the rows themselves.

A row x is rounded to whole multiples of a step of its own. So x = q + e, where q lies within -127 .. 127 steps and e is
the rounding error. The lengths of both parts are kept. For two rows x = q + e and y = r + f, the inequality of Cauchy
and Schwarz gives

    x.y      <=  q.r + |q| |f| + |e| |y|
    |x - y|  >=  |q - r| - |e| - |f|

Here q.r is a sum of small integers. It is exact, and is read from a quarter of the memory that float32 rows take. A
pair that such a bound rules out could not have entered a neighbor list. So leaving it out changes the time and nothing
else.
"""

from collections.abc import Callable
from copy import copy
from typing import Any, Self

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices
from covey.runtime.executor import Executor
from covey.similarity.kernels import look_ahead

MARGIN = 1e-9
"""Room for the rounding of float64 sums, here and in the score itself, relative to the squared lengths of the rows. A
sum of `WIDEST` terms is off by at most about 4e-12 of them."""
WIDEST = 1 << 15
"""The most columns. In wider rows a sum of products of two bytes could exceed 32 bits, and its rounding could exceed
the margin."""
SHORTEST = 1e-70
"""The least length of a row. The squares of the rounding errors of shorter rows could become 0 in float64."""
CHUNK_ROWS = 4096
"""How many rows a task rounds. It gives each thread several tasks from some ten thousand rows on; the exact number
hardly matters."""
AHEAD = 4
"""How many pairs ahead a row is fetched from memory. A smaller number hides less of the time that memory takes, and a
larger one needs more room in the cache."""


class Bounds:
    """Upper bounds of the similarities of dense rows.

    `exact` says that nothing was lost in rounding. Rows of small integers, such as pixels, counts and fingerprints,
    have bounds that equal their scores to the last bit.

    Parameters
    ----------
    values : array of shape (n, width)
        The rows.
    terms : float array of shape (n,)
        Their squared lengths.
    finish : callable
        ``finish(sums, a, b)`` turns sums and the squared lengths of both rows into similarities.
    executor : Executor
        Its threads round the rows and compute the bounds.
    is_dot : bool
        Whether the sums are dot products. If not, they are squared distances.
    """

    def __init__(
        self,
        values: NDArray[Any],
        terms: Floats,
        finish: Callable[[Floats, Floats, Floats], Floats],
        executor: Executor,
        *,
        is_dot: bool,
    ) -> None:
        self._bound, self._finish, self._executor = largest_dot if is_dot else smallest_squared, finish, executor
        signed = len(values) > 0 and values.min() < 0
        self._codes = np.empty(values.shape, dtype=np.int8 if signed else np.uint8)
        self._parts = np.empty((len(values), 4))  # for each row: its step, |q|, |e| and its own term
        self._parts[:, 3] = terms
        chunks = [slice(start, start + CHUNK_ROWS) for start in range(0, len(values), CHUNK_ROWS)]
        executor.run(lambda chunk: round_rows(values[chunk], self._codes[chunk], self._parts[chunk]), chunks)
        self.exact = is_dot and not self._parts[:, 2].any()

    def renumbered(self, order: Indices) -> Self:
        """Return the bounds of the same objects under new numbers: object order[t] gets the number t."""
        other = copy(self)
        other._codes, other._parts = self._codes[order], self._parts[order]
        return other

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return numbers that s(i[t], j[t]) does not exceed."""
        return self._executor.in_batches(self._of, i, j)

    def _of(self, i: Indices, j: Indices) -> Floats:
        """Compute the bounds of one batch of pairs."""
        sums, a, b = np.empty((3, i.size))
        self._bound(self._codes, self._parts, i, j, sums, a, b)
        return self._finish(sums, a, b)


@njit(cache=True, nogil=True)
def round_rows(rows, codes, parts):  # type: ignore[no-untyped-def]
    """Round each row to bytes. Write the bytes to `codes`, and the step, |q| and |e| to `parts`."""
    most = np.iinfo(codes.dtype).max
    for row in range(rows.shape[0]):
        x, largest, whole_numbers = rows[row], 0.0, True
        for c in range(x.size):
            largest = max(largest, abs(np.float64(x[c])))
            whole_numbers &= x[c] == np.rint(x[c])
        lossless = whole_numbers and largest <= most
        step = 1.0 if lossless else largest / most
        kept, lost = 0.0, 0.0
        for c in range(x.size):
            value = np.float64(x[c])
            codes[row, c] = np.rint(value / step)
            rounded = step * codes[row, c]
            kept += rounded * rounded
            lost += (value - rounded) * (value - rounded)
        error = 0.0 if lossless else np.sqrt(lost) + MARGIN * np.sqrt(parts[row, 3])
        parts[row, 0], parts[row, 1], parts[row, 2] = step, np.sqrt(kept), error


@njit(cache=True, nogil=True)
def byte_dot(x, y):  # type: ignore[no-untyped-def]
    """Multiply two rows of bytes.

    All numbers are kept in 32 bits, because the compiler would otherwise widen every product to 64.
    """
    total = np.int32(0)
    for c in range(x.size):
        total = np.int32(total + np.int32(np.int32(x[c]) * np.int32(y[c])))
    return total


@njit(cache=True, nogil=True)
def largest_dot(codes, parts, i, j, out, a, b):  # type: ignore[no-untyped-def]
    """Compute the largest dot product that each pair may have. Also write the own terms of its rows to a and b."""
    for t in range(i.size):
        look_ahead(codes, j, t + AHEAD)
        look_ahead(parts, j, t + AHEAD)
        step_x, q, e, a[t] = parts[i[t]]
        step_y, _, f, b[t] = parts[j[t]]
        out[t] = step_x * step_y * byte_dot(codes[i[t]], codes[j[t]]) + q * f + e * np.sqrt(b[t])


@njit(cache=True, nogil=True)
def smallest_squared(codes, parts, i, j, out, a, b):  # type: ignore[no-untyped-def]
    """Compute the smallest squared distance that each pair may have.

    Also write the own terms of its rows to a and b.
    """
    for t in range(i.size):
        look_ahead(codes, j, t + AHEAD)
        look_ahead(parts, j, t + AHEAD)
        step_x, q, e, a[t] = parts[i[t]]
        step_y, r, f, b[t] = parts[j[t]]
        product = step_x * step_y * byte_dot(codes[i[t]], codes[j[t]])
        apart = max(np.sqrt(max((1 - MARGIN) * (q * q + r * r) - 2 * product, 0.0)) - e - f, 0.0)
        out[t] = (1 - MARGIN) * apart * apart
