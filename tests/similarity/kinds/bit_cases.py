"""Arguments for the kernels that count bits, and for those that make of the counts what graphs are searched in."""

import numpy as np

from covey.graph import exact
from covey.similarity import kernels, packed_bits
from covey.similarity.kinds import bits as bit_kernels

rng = np.random.default_rng(0)


def words(n, width, density=0.3):
    """Rows of random bits, with one row that has none and one that has all."""
    bits = rng.random((n, 64 * width)) < density
    bits[0], bits[1 % n] = False, True
    return np.packbits(bits, axis=1).view(np.uint64)


def pairs(n, size=50):
    return rng.integers(0, n, (2, size)).astype(np.int32)


def planes(n, width):
    laid = np.zeros((64 * width + 1, -(-n // 64)), np.uint64)
    bit_kernels.lay_planes.py_func(words(n, width), laid)
    return laid


def add_planes_case():
    counts = rng.integers(0, 1 << 62, (3, 2)).astype(np.uint64)
    return planes(70, 1), rng.integers(0, 65, 8), counts, np.zeros(2, np.uint64)


BIT_CASES = {
    packed_bits.n_set_bits: lambda: (np.uint64(rng.integers(1 << 63)) << np.uint64(rng.integers(64)),),
    bit_kernels.count_common: lambda: (words(9, 3), words(9, 3), *pairs(9), np.zeros(50)),
    bit_kernels.count_different: lambda: (words(9, 3), words(9, 3), *pairs(9), np.zeros(50)),
    bit_kernels.list_bits: lambda: (words(2, 3)[1], np.zeros(192, np.int64)),
    bit_kernels.lay_planes: lambda: (words(70, 2), np.zeros((129, 2), np.uint64)),
    bit_kernels.add_planes: add_planes_case,
    bit_kernels.carry: lambda: (
        rng.integers(0, 1 << 62, (3, 2)).astype(np.uint64),
        rng.integers(0, 1 << 62, 2).astype(np.uint64),
    ),
    bit_kernels.add_counts: lambda: (
        rng.integers(0, 1 << 62, (int(rng.integers(3, 11)), 2)).astype(np.uint64),
        bit_kernels.SPREAD,
        np.zeros(16, np.uint64),
        np.ones(int(rng.integers(65, 129)), rng.choice([np.float32, np.float64])),
    ),
    bit_kernels.add_common: lambda: (words(4, 5), planes(70, 5), bit_kernels.SPREAD, np.zeros((4, 70), np.float32)),
    kernels.shares_of_unions: lambda: (
        rng.integers(0, 3, (4, 5)).astype(np.float32),
        rng.integers(2, 5, 4) / 1.0,
        rng.integers(0, 5, 5) / 1.0,
        np.zeros((4, 5)),
    ),
    exact.insert_sorted: lambda: (-np.sort(-rng.integers(0, 9, 5) / 1.0), float(rng.integers(9))),
}
"""Arguments for each kernel, which `tests/test_kernels.py` runs in Python and compiled."""
