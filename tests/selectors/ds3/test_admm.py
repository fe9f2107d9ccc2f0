"""The program for p = 2: certified, feasible in the dual, and as good as a solver for anything."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import covey
from covey.selectors.ds3 import admm
from tests.forms import similarity_matrix
from tests.selectors.ds3.cases import ALPHAS, largest_lambda, random_costs, two_norm


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_two_norm_is_certified(alpha, symmetric):
    """The cost is computed again, and the bound lies below that of every other feasible point."""
    costs = random_costs(200, 1, symmetric)
    price = alpha * largest_lambda(costs, 2)
    solved = two_norm(costs, price)
    assert solved.gap < 1e-3
    Z = solved.answer.T.astype(float)
    assert Z.min() >= 0
    np.testing.assert_allclose(Z.sum(axis=0), 1, atol=1e-5)
    cost = price * np.linalg.norm(Z, axis=1).sum() + (costs.astype(float) * Z).sum()
    assert cost == pytest.approx(solved.cost, rel=1e-5)
    closer = two_norm(costs, price, 1e-4, 6000)
    assert solved.lower_bound <= closer.cost
    assert closer.lower_bound <= solved.cost


@given(n=st.integers(1, 12), seed=st.integers(0, 1000), price=st.sampled_from([0.1, 1.0, 10.0]))
def test_any_multipliers_give_a_feasible_dual(n, seed, price):
    """Whatever the multipliers: no Z, however good, costs less than the bound."""
    rng = np.random.default_rng(seed)
    costs = random_costs(n, seed) if n > 1 else np.zeros((1, 1), np.float32)
    bound = admm.dual_bound(np.ascontiguousarray(costs.T), np.full(n, price), np.ones(n), -rng.random((n, n)))
    best = two_norm(costs, price, 1e-3, 500)
    assert bound <= best.cost + 1e-6


@given(n=st.integers(2, 7), seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_two_norm_against_a_solver_for_anything(n, seed):
    from scipy.optimize import minimize

    costs = random_costs(n, seed).astype(float)
    price = 0.3 * largest_lambda(costs.astype(np.float32), 2)
    solved = two_norm(costs, price, 1e-5, 20_000)

    def cost(z):
        Z = z.reshape(n, n)
        return price * np.sqrt((Z**2).sum(axis=1) + 1e-12).sum() + (costs * Z).sum()

    whole = {"type": "eq", "fun": lambda z: z.reshape(n, n).sum(axis=0) - 1}
    best = minimize(cost, np.full(n * n, 1 / n), bounds=[(0, 1)] * (n * n), constraints=[whole], method="SLSQP")
    assert solved.lower_bound <= best.fun + 1e-6
    assert solved.cost <= best.fun * (1 + 1e-3) + 1e-6


@given(st.integers(1, 30), st.integers(0, 1000), st.sampled_from([0.3, 1.0, 3.0]), st.sampled_from([1.0, 1.7]))
def test_projection_is_the_nearest_point_of_the_simplex(n, seed, spread, radius):
    row = np.random.default_rng(seed).standard_normal(n) * spread
    p = row.copy()
    admm.project(p, radius)
    assert p.min() >= 0
    assert p.sum() == pytest.approx(radius)
    corners = radius * np.eye(n)
    assert np.all((row - p) @ (corners - p).T <= 1e-9)  # the angle to every corner is obtuse


@pytest.mark.parametrize("alpha", [1, 0.05, 0.01, 0.001])
def test_two_norm_takes_few_iterations_whatever_the_price(alpha):
    """Residuals are balanced in units of the price; without units, a small price takes thousands of iterations."""
    most = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        values = similarity_matrix(int(rng.integers(3, 12)), rng, symmetric=bool(rng.integers(2)))
        options = {"outliers": True, "sigma": 0.1} if rng.random() < 0.3 else {}
        most = max(most, covey.DS3(alpha=alpha, p=2, similarity="precomputed", **options).fit(values).n_iter_)
    assert most <= 300
