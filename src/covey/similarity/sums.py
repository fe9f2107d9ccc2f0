"""Sums, means and spreads of similarities, which may be as large as 1e308 in magnitude.

Sums are exact fractions (`exact_sum.py`), so that neither the order nor the grouping of additions can change them, and
so that they may be larger than any float. A mean is rounded once.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from covey.arrays import Floats
from covey.similarity.exact_sum import UNITS, exact_sum

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
