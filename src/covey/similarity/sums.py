"""Exact sums of similarities: neither the order nor the grouping of the additions can change them.

So a mean is the same for any number of threads, and for any number of shards of a cluster of machines. A float is a
whole number of at most 53 bits times a power of two. The sum of many floats is therefore a whole number of the smallest
positive float, which Python can hold however large it is:

1. For each of the 2 047 exponents, compiled code adds up the whole numbers of the floats with this exponent. Their
   lower and higher halves are added apart, so that 2^31 floats can be added before an integer of 64 bits overflows.
2. Python adds the sums of all exponents, each times its power of two, and makes a fraction of them.
3. Fractions are added in turn. A mean is rounded once, at the end.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats

Total = Fraction
"""A sum of similarities."""

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


def total_of(values: Floats, counts: Any = 1) -> Total:
    """Return the sum of finite numbers, each times its count."""
    return Fraction(exact_sum(np.ascontiguousarray(values * counts, dtype=np.float64)), UNITS)


def added(totals: Iterable[Total]) -> Total:
    """Return the sum of sums."""
    return sum(totals, Fraction(0))


def mean_of(total: Total, n: int) -> float:
    """Return the mean of n numbers that have this sum."""
    return float(total / n)
