"""Sums, means and spreads of similarities, which may be as large as 1e308 in magnitude.

Sums are exact fractions (`exact_sum.py`), so that neither the order nor the grouping of additions can change them, and
so that they may be larger than any float. A mean is rounded once.

Sums of floats that are exact, so that neither the order nor the grouping of the additions can change them.

A float is a whole number of at most 53 bits times a power of two. So the sum of many floats is a whole number of the
smallest positive float, which Python can hold however large it is. It is found in two steps:

1. For each of the 2 047 exponents, compiled code adds up the whole numbers of the floats with this exponent. Their
   lower and higher halves are added apart, so that 2^31 floats can be added before an integer of 64 bits overflows.
2. Python adds the sums of all exponents, each times its power of two.

Such sums can be added in turn. `sums.py` makes fractions of them, which are rounded only when all is added.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats

UNITS = 2**1074
"""How many times the smallest positive float goes into 1."""


def exact_sum(values: NDArray[np.float64]) -> int:
    """Return the sum of finite floats, in units of the smallest positive float."""
    sums = np.zeros((2048, 2), dtype=np.int64)
    add_by_exponent(values.reshape(-1).view(np.uint64), sums)
    used = np.flatnonzero(sums.any(axis=1)).tolist()
    # The exponents 0 and 1 have the same power of two.
    return sum((int(sums[at, 0]) + (int(sums[at, 1]) << 32)) << max(at - 1, 0) for at in used)


@njit(cache=True, nogil=True)
def add_by_exponent(values: NDArray[np.uint64], sums: Any) -> None:
    """Add the lower 32 and the higher 21 bits of each float, given as its bits, to the sums of its exponent."""
    for value in values:
        exponent = np.int64(value >> np.uint64(52)) & 2047
        whole = np.int64(value & np.uint64((1 << 52) - 1))
        if exponent > 0:  # all but the smallest floats have one more bit, which is not stored
            whole += 1 << 52
        low, high = whole & 0xFFFFFFFF, whole >> 32
        if value >> np.uint64(63):
            low, high = -low, -high
        sums[exponent, 0] += low
        sums[exponent, 1] += high


SHRUNK = 64
"""By how many powers of 2 numbers are scaled down if they, times their counts, are too large for a float. No cluster
has 2^64 pairs."""
PLAIN = 2.0**500
"""Numbers between this and its inverse are squared and added up as they are. So are their sums of up to 2^24 squares,
which is far more than are ever drawn for a spread."""

Total = Fraction
"""A sum of similarities."""


def total_of(values: Floats, counts: Any = 1) -> Total:
    """Return the sum of finite numbers, each times its count."""
    with np.errstate(over="ignore"):
        products = np.asarray(values * counts, dtype=np.float64)
    if np.isfinite(products).all():
        return Fraction(exact_sum(np.ascontiguousarray(products)), UNITS)
    shrunk = np.ascontiguousarray(np.ldexp(values, -SHRUNK) * counts)
    return Fraction(exact_sum(shrunk), UNITS) * 2**SHRUNK


def added(totals: Iterable[Total]) -> Total:
    """Return the sum of sums."""
    return sum(totals, Fraction(0))


def mean_of(total: Total, n: int) -> float:
    """Return the mean of n numbers that have this sum. It lies between them, so that it has a float."""
    return float(total / n)


def unit_of(values: Floats, plain: float = PLAIN) -> float:
    """Return a power of 2 by which numbers are divided so that their squares can be added up.

    It is 1 if the largest number lies between `plain` and its inverse.
    """
    largest = float(np.abs(values).max(initial=0.0))
    if largest == 0 or 1 / plain < largest < plain:
        return 1.0
    return math.ldexp(1.0, min(max(math.frexp(largest)[1], -1020), 1020))  # so that a few units have a float, too


def mean_and_deviation(values: Floats) -> tuple[float, float]:
    """Return the mean of numbers and their standard deviation, as it is estimated from a sample."""
    unit = unit_of(values)
    scaled = values / unit
    return float(scaled.mean()) * unit, float(scaled.std(ddof=1)) * unit
