"""The program for p = inf: the optimum of the whole program, with rows left out and let in."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.selectors import ds3
from covey.selectors.ds3 import facility
from covey.selectors.ds3.facility import Openings, Solution
from covey.similarity.measures import resolve
from tests import reference
from tests.forms import space_of
from tests.selectors.ds3.cases import ALPHAS, BUDGETS, largest_lambda, nobody, once, random_costs


@settings(max_examples=40)
@given(n=st.integers(2, 25), seed=st.integers(0, 10_000), symmetric=st.booleans(), alpha=st.sampled_from(ALPHAS))
def test_a_price_gives_the_optimum_of_the_whole_program(n, seed, symmetric, alpha):
    costs = random_costs(n, seed, symmetric)
    price = alpha * largest_lambda(costs, np.inf)
    solution = facility.solve(costs, Openings(price=price), nobody(n))
    optimum = reference.sparse_selection(costs, price=price)
    assert solution.cost == pytest.approx(optimum, rel=1e-6, abs=1e-9)
    assert solution.lower_bound <= optimum + 1e-9
    assert solution.gap < 1e-6


@settings(max_examples=40)
@given(n=st.integers(2, 25), seed=st.integers(0, 10_000), symmetric=st.booleans(), budget=st.sampled_from(BUDGETS))
def test_a_budget_gives_the_optimum_of_the_whole_program(n, seed, symmetric, budget):
    costs = random_costs(n, seed, symmetric)
    solution = facility.solve(costs, Openings(budget=budget), nobody(n))
    optimum = reference.sparse_selection(costs, budget=budget)
    assert solution.cost == pytest.approx(optimum, rel=1e-6, abs=1e-7)
    assert solution.lower_bound <= optimum + 1e-9
    assert solution.answer.sum() <= budget + 1e-9
    assert solution.cost - solution.lower_bound <= 1e-6 * max(solution.cost, 0.01)


@settings(max_examples=20)
@given(n=st.integers(2, 15), seed=st.integers(0, 10_000), budget=st.sampled_from([1, 2, 2.5]))
def test_outliers_are_one_more_row_without_a_price(n, seed, budget):
    costs = random_costs(n, seed)
    spared = np.random.default_rng(seed).random(n) * 0.5
    for openings in (Openings(budget=budget), Openings(price=budget / 4)):
        solution = facility.solve(costs, openings, spared)
        optimum = reference.sparse_selection(costs, openings.price or 0, openings.budget, spared)
        assert solution.cost == pytest.approx(optimum, rel=1e-6, abs=1e-7)
        assert solution.lower_bound <= optimum + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_relaxation_whole_rows_and_enumeration_are_in_this_order(seed):
    costs = random_costs(12, seed)
    solution = facility.solve(costs, Openings(budget=3), nobody(12))
    chosen = facility.local_search(costs, Openings(budget=3), nobody(12))
    best = min(costs[list(rows)].min(axis=0).sum(dtype=float) for rows in itertools.combinations(range(12), 3))
    found = costs[chosen].min(axis=0).sum(dtype=float)
    assert solution.lower_bound <= solution.cost <= best + 1e-9 <= found + 2e-9
    swapped = min(
        costs[[*(chosen[chosen != out]), into]].min(axis=0).sum(dtype=float) for out in chosen for into in range(12)
    )
    assert found <= swapped + 1e-6


def test_outliers_are_less_than_half_represented():
    X = np.random.default_rng(3).random((150, 4))
    selector = covey.DS3(3, outliers=True, beta=0.7, similarity="euclidean").fit(X)
    space = space_of(X, resolve("euclidean"))
    costs, _ = ds3.dissimilarities(space, once(space.n_left), 4)
    spared = selector._spared(costs)
    solution = facility.solve(costs, Openings(budget=3), spared)
    _, shares = facility.serve(costs, solution.answer, spared)
    np.testing.assert_array_equal(np.flatnonzero(shares.sum(axis=0) < 0.5), selector.outliers_)


def test_openings_that_serve_nobody_cost_infinitely_much():
    costs = random_costs(6, 0)
    assert facility._cost(costs, Openings(budget=3), nobody(6), np.full(6, 0.1)) == np.inf


def test_the_gap_is_honest_where_the_program_is_too_large(monkeypatch):
    costs = random_costs(25, 3)
    price = 0.2 * largest_lambda(costs, np.inf)
    optimum = reference.sparse_selection(costs, price=price)
    monkeypatch.setattr(facility, "MOST_ENTRIES", 0)
    with pytest.warns(ConvergenceWarning, match="above tol=0.001; the linear program is too large"):
        covey.DS3(5, similarity="euclidean").fit(np.random.default_rng(0).random((60, 4)))
    solution = facility.solve(costs, Openings(price=price), nobody(25))
    assert solution.lower_bound <= optimum + 1e-9 <= solution.cost + 2e-9
    assert solution.gap == pytest.approx((solution.cost - solution.lower_bound) / solution.cost)
    assert set(solution.answer) == {0, 1}


def test_rows_left_out_too_soon_are_let_in(monkeypatch):
    """Whatever the first rows are, prices that are tested against all rows lead to the optimum."""
    costs = random_costs(25, 5)
    monkeypatch.setattr(facility, "LET_IN", 1)
    monkeypatch.setattr(facility, "SUBGRADIENTS", 1)
    for openings, optimum in (
        (Openings(budget=3), reference.sparse_selection(costs, budget=3)),
        (Openings(price=1.0), reference.sparse_selection(costs, price=1.0)),
    ):
        assert facility.solve(costs, openings, nobody(25)).cost == pytest.approx(optimum, rel=1e-6)


def test_the_gap_is_0_up_to_rounding_and_1_at_most():
    """An optimum of 0 has no scale of its own; costs are not negative, so any other bound below 0 is as good as 0."""
    nothing = np.zeros(0)
    assert Solution(nothing, 3e-17, -1e-18, 1, scale=1.0).gap == 0
    assert Solution(nothing, 1.0, 1.0 + 1e-15, 1, scale=2.0).gap == 0
    assert Solution(nothing, 0.5, -np.inf, 1, scale=2.0).gap == 1
    assert Solution(nothing, 0.5, 0.4, 1, scale=2.0).gap == pytest.approx(0.2)
