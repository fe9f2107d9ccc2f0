"""How much each object counts: in the coverage, and in the gains of what would cover it."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Integers
from covey.coverage.gains import (
    ROUNDED_BITS,
    SHRUNK,
    exponent_of,
    in_units,
    largest_gain,
    own_in_units,
    rounded_bits,
    similarity_weights,
    unit_for,
)

WEIGHT_BITS = 52
"""How many bits the sum of all sample weights may take as a whole number. A float64 holds such numbers exactly."""


@dataclass(frozen=True)
class Weights:
    """What each edge and each object itself adds to a gain, as whole numbers of units.

    A similarity of 1 has 2^exponent units. Gains are compared without their last `rounded` bits.
    """

    edges: Integers
    own: Integers
    exponent: int
    rounded: int


@dataclass(frozen=True)
class Counts:
    """How much each object counts in coverage, in whole `amounts`, of which a weight of 1 has 2^exponent."""

    amounts: Integers
    exponent: int


def counts_of(copies: Integers, sample_weight: Any) -> Counts:
    """Return how much objects count that stand for this many copies and have these weights.

    Weights become whole numbers in two steps, so that sums are exact and do not depend on the order of adding.

    1. Round to units so fine that the sum just fits into 52 bits. The largest weight decides about the unit by its
       power of 2 alone, so that no weight is too large or too small. A weight above 0 stays above 0.
    2. Divide by the largest power of 2 that all have in common. So weights of 1, 2 and 3 are taken as they are, and
       all weights times a power of 2 give the same numbers.
    """
    if sample_weight is None:
        return Counts(copies, 0)
    given = np.asarray(sample_weight)
    if given.shape != copies.shape or given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold a number for each of the {copies.size} objects.")
    weights = given.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers of at least 0.")
    largest = float(weights.max(initial=0))
    if not largest > 0:
        raise ValueError("sample_weight must be above 0 for at least one object.")
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(weights, -exponent)  # all are below 1
    bits = WEIGHT_BITS - math.frexp(math.fsum(scaled))[1]
    amounts = np.maximum(np.rint(np.ldexp(scaled, bits)).astype(np.int64), weights > 0)
    common = int(np.bitwise_or.reduce(amounts))
    zeros = (common & -common).bit_length() - 1
    return Counts(amounts >> zeros, bits - exponent - zeros)


def weights_of(edges: sp.csr_array, gain: str, with_itself: Floats | None, counts: Counts) -> Weights:
    """Return the weights for a gain, in units that are a power of 2, as fine as the largest possible gain allows."""
    amounts_covered = np.repeat(counts.amounts, np.diff(edges.indptr))
    if gain == "count":
        added = amounts_covered.astype(np.float64)
        largest = largest_gain(edges.indices, added, counts.amounts.astype(np.float64))
        return Weights(amounts_covered, counts.amounts.copy(), counts.exponent, rounded_bits(int(largest)))
    itself = _check_with_itself(with_itself, counts.amounts.size)
    weights, own = similarity_weights(edges.data, amounts_covered, itself, counts.amounts)
    unit = unit_for(largest_gain(edges.indices, weights, own))
    exponent = exponent_of(unit) - SHRUNK + counts.exponent
    return Weights(in_units(weights, unit), own_in_units(own, unit), exponent, ROUNDED_BITS)


def check_multiplicity(multiplicity: Any, n: int) -> Integers:
    """Return the multiplicity of each of n objects as int64, 1 by default; ValueError if it is anything but that."""
    if multiplicity is None:
        return np.ones(n, dtype=np.int64)
    copies = np.asarray(multiplicity)
    if copies.shape != (n,) or copies.dtype.kind not in "iu" or (copies < 1).any():
        raise ValueError(f"multiplicity must hold a whole number of at least 1 for each of the {n} objects.")
    return copies.astype(np.int64)


def _check_with_itself(with_itself: Any, n: int) -> Floats:
    """Return the similarity of each of n objects with itself, 1 by default; ValueError unless all are finite."""
    if with_itself is None:
        return np.ones(n)
    itself = np.asarray(with_itself)
    if itself.shape != (n,) or itself.dtype.kind not in "fiub" or not np.isfinite(itself).all():
        raise ValueError(f"with_itself must hold a finite number for each of the {n} objects.")
    return itself.astype(np.float64)
