"""What each object and each edge adds to a gain, and how gains are compared.

A gain is what an object would newly cover: the sum over the covered objects of their similarity to it, or of 1. Each
covered object counts as often as its multiplicity says, or by its sample weight.

Gains are sums of integers, so that subtracting is exact. They count similarities in units so fine that the largest sum
just fits into 61 bits. Two gains are compared without their last 24 bits, which hold nothing but the rounding of the
similarities. So sums that are equal on paper, such as 1/3 + 1/3 and 2/3, tie. Sums of weights are compared by as many
leading bits, which are all bits of a number of objects.
"""

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Integers, Positions
from covey.coverage.edges import Edges
from covey.runtime.interruptible import in_steps
from covey.runtime.parameters import is_number
from covey.similarity.similarity import LARGEST

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
    """Return the least number of objects, at least 1, that is this share of n.

    Rounding does not count: 0.07 * 100 is 7, not 8.
    """
    return n if coverage == 1 else max(1, math.ceil(coverage * n * (1 - COVERAGE_ROUNDING)))


def check_coverage(coverage: Any) -> None:
    """Raise ValueError unless this is a number in (0, 1]."""
    if not (is_number(coverage) and 0 < float(coverage) <= 1):
        raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")


WEIGHT_BITS = 52
"""How many bits the sum of all sample weights may take as a whole number. A float64 holds such numbers exactly."""


class EdgeScale(NamedTuple):
    """What an edge adds to a gain.

    If edges are `counted`, it is the factor of the covered object; or else this factor times their similarity, which
    has `unit` units if it is 1. An object with a factor above 0 adds at least `least` units.
    """

    counted: bool
    unit: float
    least: int = 0


@dataclass(frozen=True)
class Weights:
    """What each edge and each object itself adds to a gain, as whole numbers of units, and to the coverage.

    An object adds its `multiplicity` to the coverage: how many equal objects it stands for, or its sample weight as a
    whole number. What the edges of an object add is what `scale` makes of its factor and of their similarities, which
    the loops compute as they go: all edges together would take as much memory as the graph. A similarity of 1 has
    2^exponent units. Gains are compared without their last `rounded` bits.
    """

    own: Integers
    multiplicity: Integers
    factors: Integers
    scale: EdgeScale
    exponent: int
    rounded: int


def weights_of(edges: Edges, gain: str, with_itself: Any, multiplicity: Integers, sample_weight: Any) -> Weights:
    """Return the weights for a gain, in units that are a power of 2, as fine as the largest possible gain allows."""
    exponent_of_one = 0
    if sample_weight is not None:
        multiplicity, exponent_of_one = _whole_weights(sample_weight, multiplicity.size)
    if gain == "count":
        scale = EdgeScale(counted=True, unit=1.0)
        largest = _largest_gain(edges, multiplicity, scale, multiplicity.astype(np.float64))
        rounded = rounded_bits(int(largest))
        return Weights(multiplicity.copy(), multiplicity, multiplicity, scale, exponent_of_one, rounded)
    own = own_weights(_check_with_itself(with_itself, multiplicity.size), multiplicity)
    unit = unit_for(_largest_gain(edges, multiplicity, EdgeScale(counted=False, unit=1.0), own))
    exponent = exponent_of(unit) + exponent_of_one
    scale = EdgeScale(counted=False, unit=unit)
    return Weights(own_in_units(own, unit), multiplicity, multiplicity, scale, exponent, ROUNDED_BITS)


def _largest_gain(edges: Edges, factors: Integers, scale: EdgeScale, own: Floats) -> float:
    """Return the largest gain of all objects before anything is covered, as `largest_gain` does."""
    sums = np.zeros(own.size)
    in_steps(own.size, lambda part: add_similarities(edges, factors, scale.counted, part.start, part.stop, sums))
    return float((own + sums).max(initial=0))


def check_multiplicity(multiplicity: Any, n: int) -> Integers:
    """Return the multiplicity of each of n objects as int64, 1 by default; ValueError if it is anything but that."""
    if multiplicity is None:
        return np.ones(n, dtype=np.int64)
    given = np.asarray(multiplicity)
    if given.shape != (n,) or given.dtype.kind not in "iu" or (given < 1).any():
        raise ValueError(f"multiplicity must hold a whole number of at least 1 for each of the {n} objects.")
    return given.astype(np.int64)


def _check_with_itself(with_itself: Any, n: int) -> Floats:
    """Return the similarity of each of n objects with itself, 1 by default; ValueError unless all are finite."""
    if with_itself is None:
        return np.ones(n)
    given = np.asarray(with_itself)
    if given.shape != (n,) or given.dtype.kind not in "fiub" or not (np.abs(given) < LARGEST).all():
        raise ValueError(
            f"with_itself must hold a finite number, below {LARGEST:g} in magnitude, for each of the {n} objects."
        )
    return given.astype(np.float64)


def _whole_weights(sample_weight: Any, n: int) -> tuple[Integers, int]:
    """Return sample weights as whole numbers, of which a weight of 1 has 2^exponent, and this exponent.

    Sums of whole numbers are exact and do not depend on the order of adding. There are two steps:

    1. Round to units so fine that the sum just fits into 52 bits. The largest weight decides about the unit by its
       power of 2 alone, so that no weight is too large or too small. A weight above 0 stays above 0.
    2. Divide by the largest power of 2 that all have in common. So weights of 1, 2 and 3 are taken as they are, and
       all weights times a power of 2 give the same numbers.
    """
    given = np.asarray(sample_weight)
    if given.shape != (n,) or given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold a number for each of the {n} objects.")
    weights = given.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers of at least 0.")
    largest = float(weights.max(initial=0))
    if not largest > 0:
        raise ValueError("sample_weight must be above 0 for at least one object.")
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(weights, -exponent)  # all are below 1
    bits = WEIGHT_BITS - math.frexp(math.fsum(scaled))[1]
    whole = np.maximum(np.rint(np.ldexp(scaled, bits)).astype(np.int64), weights > 0)
    common = int(np.bitwise_or.reduce(whole))
    zeros = (common & -common).bit_length() - 1
    return whole >> zeros, bits - exponent - zeros


def similarity_weights(
    similarities: Floats, multiplicity_covered: Integers, with_itself: Floats, multiplicity: Integers
) -> tuple[Floats, Floats]:
    """Return what each edge and what each object itself adds to a sum of similarities."""
    weights = multiplicity_covered.astype(np.float64) * np.maximum(similarities, 0)
    return weights, own_weights(with_itself, multiplicity)


def own_weights(with_itself: Floats, multiplicity: Integers) -> Floats:
    """Return what each object itself adds to a sum of similarities, which is above 0 if the object counts."""
    return multiplicity.astype(np.float64) * np.where(with_itself > 0, with_itself, 1.0)


def largest_gain(coverers: Indices | Positions, weights: Floats, own: Floats) -> float:
    """Return the largest gain of all objects before anything is covered, or 0 if there are no objects.

    The weights of one coverer are added in the order in which they are given, so the order decides about the last bits.
    """
    return float((own + np.bincount(coverers, weights, minlength=own.size)).max(initial=0))


def unit_for(largest: float) -> float:
    """Return how many units a weight of 1 has: a power of 2, as large as the largest gain allows."""
    return float(2.0 ** min(BITS - math.ceil(math.log2(largest)), 1020))


def exponent_of(unit: float) -> int:
    """Return which power of 2 a unit is."""
    return math.frexp(unit)[1] - 1


def as_similarities(gains: Integers | Floats, exponent: int) -> Floats:
    """Return gains in units as sums of similarities, if a similarity of 1 has 2^exponent units.

    A sum that sample weights make larger than the largest float is given as that one.
    """
    with np.errstate(over="ignore"):
        return np.minimum(np.ldexp(gains.astype(np.float64), -exponent), np.finfo(np.float64).max)


def in_units(weights: Floats, unit: float) -> Integers:
    """Return weights as whole numbers of units."""
    return np.rint(weights * unit).astype(np.int64)


def own_in_units(own: Floats, unit: float) -> Integers:
    """Return what objects count for themselves, at least 1 unit, so that picking one that counts always has a gain.

    An object that counts 0, by its weight or as an outlier, stays at 0.
    """
    return np.maximum(in_units(own, unit), own > 0)


def rounded_bits(largest: int) -> int:
    """Return how many of the last bits of gains are not compared if these are whole numbers up to the largest one.

    Numbers of objects are compared exactly, while sums of weights have the rounding of the weights in their last bits.
    """
    return max(0, largest.bit_length() - (BITS - ROUNDED_BITS))


def keys_of(gains: Floats) -> Integers:
    """Return what is compared of gains from several graphs: the same as if they came from one graph of all objects."""
    largest = float(gains.max(initial=0))
    units = in_units(gains, unit_for(largest)) if largest > 0 else np.zeros(gains.size, dtype=np.int64)
    return np.where(units > 0, 1 + ((units + (1 << (ROUNDED_BITS - 1))) >> ROUNDED_BITS), 0)


@njit(cache=True, nogil=True)
def comparison_key(gain, rounded):  # type: ignore[no-untyped-def]
    """Return the part of a gain that is compared: the gain itself, or, if bits are rounded, the gain without them.

    In the second case 1 is added, so that a gain above 0 never has the key 0.
    """
    if gain == 0 or rounded == 0:
        return gain
    return 1 + ((gain + (np.int64(1) << (rounded - 1))) >> rounded)


@njit(cache=True, nogil=True)
def edge_weight(similarity, factor, scale):  # type: ignore[no-untyped-def]
    """Return how many units an edge adds to the gain of its coverer.

    The unit is a power of 2, so that multiplying by it rounds nothing.
    """
    counted, unit, least = scale
    if counted:
        return factor
    weight = np.int64(np.rint(np.float64(factor) * max(similarity, 0.0) * unit))
    return least if weight < least and factor > 0 else weight


@njit(cache=True, nogil=True)
def add_similarities(edges, factors, counted, first, end, sums):  # type: ignore[no-untyped-def]
    """Add what the edges of the objects from `first` to before `end` add to the gains of their coverers, not in units.

    The edges of one coverer are added in the order of the objects, which decides about the last bits.
    """
    starts, ends, coverers, similarities = edges
    for x in range(first, end):
        factor = np.float64(factors[x])
        for edge in range(starts[x], ends[x]):
            sums[coverers[edge]] += factor if counted else factor * max(similarities[edge], 0.0)


@njit(cache=True, nogil=True)
def add_weights(edges, factors, scale, first, end, gains):  # type: ignore[no-untyped-def]
    """Add the weights of the edges of the objects from `first` to before `end` to the gains of their coverers."""
    starts, ends, coverers, similarities = edges
    for x in range(first, end):
        for edge in range(starts[x], ends[x]):
            gains[coverers[edge]] += edge_weight(similarities[edge], factors[x], scale)
