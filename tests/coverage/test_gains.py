"""Gains are sums of integers: what is equal on paper ties, and no number is too large or too small."""

import math
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import covey
from covey.coverage.gains import required
from tests import reference


def as_lists(graph):
    return [
        [(int(j), float(s)) for j, s in zip(*row, strict=True)]
        for row in zip(graph.indices, graph.similarities, strict=True)
    ]


@pytest.mark.parametrize(("coverage", "n", "least"), [(0.95, 20, 19), (0.95, 21, 20), (1.0, 7, 7), (0.07, 100, 7)])
def test_the_number_to_cover_is_safe_from_rounding(coverage, n, least):
    assert required(coverage, n) == least
    assert math.ceil(0.07 * 100) == 8  # what rounding alone would say


def test_large_similarities_do_not_overflow():
    X = np.random.default_rng(0).random((50, 3)) * 1e9
    found = covey.cover(covey.neighbor_graph(X, 5, "dot"), 0.9)
    assert (np.diff(found.gains) <= 1e-6 * found.gains[:-1]).all()
    assert found.coverage >= 0.9


def test_the_scale_of_similarities_does_not_matter():
    X = np.random.default_rng(0).random((80, 3))
    picks = [covey.CRS(6, similarity="dot").fit(X * scale).sample_indices_.tolist() for scale in (1, 1e-4, 1e-7, 1e4)]
    assert all(indices == picks[0] for indices in picks)


@pytest.mark.parametrize(
    "parts", [(1 / 3, 1 / 3), (1 / 7, 2 / 7, 3 / 7), (1 / 3, 1 / 3, 1 / 3), (0.1, 0.2, 0.3), (0.7, 0.1)]
)
def test_sums_that_are_equal_on_paper_tie(parts):
    """Object 0 covers the parts and object 1 their sum: of equal gains the lowest index wins."""
    n = len(parts)
    rows, columns = range(2, n + 3), [0] * n + [1]
    whole = float(sum(Fraction(part).limit_denominator(100) for part in parts))
    graph = sp.csr_array(([*parts, whole], (rows, columns)), shape=(n + 3, n + 3))
    assert covey.cover(graph, 1.0).indices.tolist()[:2] == [0, 1]
    swapped = sp.csr_array(([*parts, whole], (rows, [1] * n + [0])), shape=(n + 3, n + 3))
    assert covey.cover(swapped, 1.0).indices.tolist()[:2] == [0, 1]


def test_small_differences_are_no_ties():
    graph = sp.csr_array(([0.5, 0.5 + 1e-9], ([2, 3], [0, 1])), shape=(4, 4))
    assert covey.cover(graph, 1.0).indices.tolist()[:2] == [1, 0]


@given(n=st.integers(2, 40), width=st.sampled_from([3, 6, 7]), k=st.integers(1, 8), seed=st.integers(0, 999))
def test_gains_of_fractions_are_compared_on_paper(n, width, k, seed):
    """Similarities under hamming are thirds, sixths or sevenths, which no float holds."""
    X = np.unique(np.random.default_rng(seed).integers(0, 2, (n, width)), axis=0)
    graph = covey.neighbor_graph(X, k, "hamming", "exact")
    picked, *_ = reference.greedy(as_lists(graph), 0.95, None)
    assert covey.cover(graph, 0.95).indices.tolist() == picked
