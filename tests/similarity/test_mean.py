"""Homogeneity: exact where it is cheap, else unbiased with an honest standard error."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

import covey
from tests import reference
from tests.forms import COSINES, Counted, similarity_matrix


@pytest.mark.parametrize("form", COSINES)
@given(seed=st.integers(0, 20), n=st.integers(2, 25), high=st.sampled_from([1, 2, 4]))
def test_it_is_the_mean_over_pairs_without_the_diagonal(form, seed, n, high):
    X = np.random.default_rng(seed).integers(0, high, (n, 5)).astype(float)
    objects, similarity = COSINES[form](X)
    found = covey.homogeneity(objects, similarity)
    expected = reference.homogeneity(lambda i, j: reference.cosine(X[i].tolist(), X[j].tolist()), n)
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert found.standard_error == 0


@pytest.mark.parametrize(("name", "n_evaluations"), [("cosine", 0), ("dot", 0), ("euclidean", 2000)])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array])
def test_dot_products_need_no_evaluation(name, n_evaluations, form):
    X = np.random.default_rng(0).random((250, 6)).astype(np.float32)
    rows = X.tolist()
    found = covey.homogeneity(form(X), name, random_state=0)
    expected = reference.homogeneity(lambda i, j: reference.SIMILARITIES[name](rows[i], rows[j]), len(X))
    assert abs(found.value - expected) <= max(1e-7, 4 * found.standard_error)
    assert found.n_evaluations == n_evaluations
    assert (found.standard_error == 0) == (n_evaluations == 0)


@pytest.mark.parametrize("symmetric", [True, False])
def test_few_pairs_are_all_scored_many_are_sampled(symmetric):
    for n, n_pairs in [(200, 19_900), (201, 2000)]:
        counted = Counted(similarity_matrix(n, np.random.default_rng(0), symmetric), symmetric)
        found = covey.homogeneity(range(n), counted, random_state=0)
        assert found.n_evaluations == len(counted.calls) == len(set(counted.pairs)) == n_pairs * (2 - symmetric)
        assert (found.standard_error > 0) == (n == 201)


def test_the_sampled_mean_is_unbiased_and_its_error_is_true():
    """Over many seeds the mean of estimates meets the truth, and their spread meets the error they report.

    300 estimates have a standard error of sd / sqrt(300), so 4 of these bound the bias but once in 10 000 data sets;
    the sd of 300 normal values is known to 4 %, so the ratio lies within 15 %.
    """
    X = np.random.default_rng(0).gamma(1.0, size=(300, 3))
    values = 1 / (1 + np.sqrt(((X[:, None] - X) ** 2).sum(axis=2)))
    truth = (values.sum() - 300) / (300 * 299)
    found = [covey.homogeneity(X, "euclidean", n_pairs=500, random_state=seed) for seed in range(300)]
    estimates, errors = np.array([f.value for f in found]), np.array([f.standard_error for f in found])
    assert abs(estimates.mean() - truth) < 4 * estimates.std() / np.sqrt(300)
    assert 0.85 < errors.mean() / estimates.std() < 1.15


def test_a_single_object_has_no_pairs():
    found = covey.homogeneity([[1.0, 2.0]])
    assert np.isnan(found.value)
    assert found.n_evaluations == 0


def test_fashion_mnist_has_the_homogeneity_of_the_paper(fashion):
    X, y, *_ = fashion
    found = [covey.homogeneity(X[y == label]).value for label in range(10)]
    assert np.mean(found) == pytest.approx(0.7557, abs=5e-5)
    assert found[5] == pytest.approx(0.435, abs=5e-4)


def test_wrong_number_of_pairs():
    with pytest.raises(ValueError, match="n_pairs must be an int of at least 2, got 1"):
        covey.homogeneity(np.eye(3), n_pairs=1)


@pytest.mark.parametrize("name", ["cosine", "dot"])
@pytest.mark.parametrize("width", [20, 30_000])
def test_it_does_not_depend_on_the_threads_of_the_blas(name, width):
    """A BLAS shares out wide products, and adds up the parts in another order."""
    X = np.random.default_rng(0).random((300, width))
    values = []
    for n_threads in (1, 2):
        with threadpool_limits(n_threads, "blas"):
            values.append(covey.homogeneity(X, name).value)
    assert values[0] == values[1]
