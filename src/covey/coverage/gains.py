"""How gains are computed and compared.

Gains are sums of integers, so that subtracting is exact. They count similarities in units so fine that the largest sum
just fits into 61 bits. Two gains are compared without their last 24 bits, which hold nothing but the rounding of the
similarities. So sums that are equal on paper, such as 1/3 + 1/3 and 2/3, tie. Sums of weights are compared by as many
leading bits, which are all bits of a number of objects.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.runtime.parameters import is_number

BITS = 61
"""How many bits the largest gain may take. An int64 has 63; two are left for the rounding of the single weights."""

ROUNDED_BITS = 24
"""How many of the last bits of a gain are not compared. A similarity in float64 has 53 bits, so a sum of them may be
off by a few hundred units. Two sums that are equal on paper fail to tie only if a border of 2^24 units lies between
them, which happens less than once in 10 000 times."""

COVERAGE_ROUNDING = 1e-12
"""By which share coverage * n may exceed a whole number and still count as that number. It is some thousand times what
the rounding of a product of floats amounts to, and relative, so that weights that are all a tenth require as many
objects as weights of 1."""


def required(coverage: float, n: int) -> int:
    """The least number of objects, at least 1, that is a share `coverage` of n; 0.07 * 100 is 7, not 8 by rounding."""
    return n if coverage == 1 else max(1, math.ceil(coverage * n * (1 - COVERAGE_ROUNDING)))


def check_coverage(coverage: Any) -> None:
    """Raise ValueError unless this is a number in (0, 1]."""
    if not (is_number(coverage) and 0 < float(coverage) <= 1):
        raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")


def kept_edges(neighbors: Indices, similarities: Floats, threshold: float | None) -> Flags:
    """Which places in lists of neighbors hold an edge that the threshold does not cut."""
    if threshold is not None and not is_number(threshold):
        raise ValueError(f"threshold must be a number or None, got {threshold!r}.")
    listed: Flags = neighbors >= 0
    return listed if threshold is None else listed & (similarities >= threshold)


def similarity_weights(
    similarities: Floats, copies_covered: Integers, itself: Floats, copies: Integers
) -> tuple[Floats, Floats]:
    """Return what each edge and each object itself adds to a sum of similarities, where a merged object counts often.

    What an object that counts adds for itself is above 0.
    """
    own = copies.astype(np.float64) * np.where(itself > 0, itself, 1.0)
    return copies_covered.astype(np.float64) * np.maximum(similarities, 0), own


def largest_gain(coverers: Indices | Positions, weights: Floats, own: Floats) -> float:
    """The largest gain of all objects before anything is covered, or 0 if there are no objects.

    The weights of one coverer are added in the order in which they are given, so the order decides about the last bits.
    """
    return float((own + np.bincount(coverers, weights, minlength=own.size)).max(initial=0))


def unit_for(largest: float) -> float:
    """How many units a weight of 1 has: a power of 2, as large as the largest gain allows."""
    return float(2.0 ** min(BITS - math.ceil(math.log2(largest)), 1020))


def exponent_of(unit: float) -> int:
    """Which power of 2 a unit is."""
    return math.frexp(unit)[1] - 1


def as_similarities(gains: Integers | Floats, exponent: int) -> Floats:
    """Return gains in units as sums of similarities, if a similarity of 1 has 2^exponent units.

    A sum that sample weights make larger than the largest float is given as that one.
    """
    with np.errstate(over="ignore"):
        return np.minimum(np.ldexp(gains.astype(np.float64), -exponent), np.finfo(np.float64).max)


def in_units(weights: Floats, unit: float) -> Integers:
    """Weights as whole numbers of units."""
    return np.rint(weights * unit).astype(np.int64)


def own_in_units(own: Floats, unit: float) -> Integers:
    """What objects count for themselves, at least 1 unit, so that picking one that counts always has a gain.

    An object that counts 0, by its weight or as an outlier, stays at 0.
    """
    return np.maximum(in_units(own, unit), own > 0)


def rounded_bits(largest: int) -> int:
    """How many of the last bits of gains are not compared if these are whole numbers up to the largest one.

    Numbers of objects are compared exactly, while sums of weights have the rounding of the weights in their last bits.
    """
    return max(0, largest.bit_length() - (BITS - ROUNDED_BITS))


def keys_of(gains: Floats) -> Integers:
    """What is compared of gains that come from several graphs: the same as if they came from one of all objects."""
    largest = float(gains.max(initial=0))
    units = in_units(gains, unit_for(largest)) if largest > 0 else np.zeros(gains.size, dtype=np.int64)
    return np.where(units > 0, 1 + ((units + (1 << (ROUNDED_BITS - 1))) >> ROUNDED_BITS), 0)


@njit(cache=True, nogil=True)
def comparison_key(gain, rounded):  # type: ignore[no-untyped-def]
    """The part of a gain that is compared: the gain itself, or, if bits are rounded, the gain without them.

    In the second case 1 is added, so that a gain above 0 never has the key 0.
    """
    if gain == 0 or rounded == 0:
        return gain
    return 1 + ((gain + (np.int64(1) << (rounded - 1))) >> rounded)
