"""Sums, means and spreads of similarities, which may be as large as 1e308 in magnitude.

Such numbers have sums, and squares, that are too large for a float, while their mean is not. A sum that is too large is
made of numbers that are scaled down by a power of 2, which loses nothing, and is kept as an exact fraction. All other
sums are plain floats.
"""

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from covey.arrays import Floats

SHRUNK = 64
"""By how many powers of 2 numbers are scaled down if their sum is too large. No cluster has 2^64 pairs."""
PLAIN = 2.0**500
"""Numbers between this and its inverse are squared and added up as they are. So are their sums of up to 2^24 squares,
which is far more than are ever drawn for a spread."""

Total = float | Fraction
"""A sum of similarities."""


def total_of(values: Floats, counts: Any = 1) -> Total:
    """Return the sum of finite numbers, each times its count."""
    with np.errstate(over="ignore", invalid="ignore"):
        total = float((values * counts).sum())
    if math.isfinite(total):
        return total
    return Fraction(float((np.ldexp(values, -SHRUNK) * counts).sum())) * 2**SHRUNK


def added(totals: Iterable[Total]) -> Total:
    """Return the sum of sums."""
    parts = list(totals)
    if all(isinstance(part, float) for part in parts):
        try:
            return math.fsum(parts)
        except OverflowError:
            pass  # the sum has no float
    return sum((Fraction(part) for part in parts), Fraction(0))


def mean_of(total: Total, n: int) -> float:
    """Return the mean of n numbers that have this sum. It lies between them, so that it has a float."""
    return total / n if isinstance(total, float) else float(total / n)


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
