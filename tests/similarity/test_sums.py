"""Exact sums are the same in any order and any grouping."""

import math

import numpy as np
import pytest

import covey
from covey.similarity.kinds import matrix
from covey.similarity.sums import UNITS, exact_sum


@pytest.mark.parametrize("seed", range(20))
def test_an_exact_sum_is_the_float_nearest_to_the_true_sum(seed):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=500) * 10.0 ** rng.integers(-320, 150, size=500)
    assert exact_sum(values) / UNITS == math.fsum(values)
    assert (exact_sum(values[:123]) + exact_sum(values[123:][::-1])) / UNITS == math.fsum(values)


def test_the_smallest_floats_and_zeros_of_both_signs_are_added():
    values = np.array([5e-324, -0.0, 0.0, 2.5e-310, -5e-324, 2.2250738585072014e-308])
    assert exact_sum(values) / UNITS == math.fsum(values)
    assert exact_sum(np.empty(0)) / UNITS == 0.0


def test_the_mean_of_a_matrix_depends_neither_on_blocks_nor_on_its_layout(monkeypatch):
    values = np.random.default_rng(0).random((70, 70))
    mean = covey.homogeneity(values, "precomputed").value
    assert covey.homogeneity(np.asfortranarray(values), "precomputed").value == mean
    monkeypatch.setattr(matrix, "CHUNK", 100)
    assert covey.homogeneity(values, "precomputed").value == mean
