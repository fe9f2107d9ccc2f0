"""Problems of DS3, and arguments of its compiled loops, for the tests of all compiled loops."""

import numpy as np

from covey.selectors import ds3
from covey.selectors.ds3 import admm, facility
from tests.forms import similarity_matrix

rng = np.random.default_rng(0)
ALPHAS, BUDGETS = (1, 0.5, 0.2, 0.05), (1, 3, 5)


def cost_case():
    costs = rng.integers(0, 9, (12, 15)).astype(np.float32)
    return costs, np.array([2, 5, 7]), np.where(rng.random(15) < 0.5, np.inf, 4.0)


def nearest_case():
    costs, chosen, spared = cost_case()
    return costs, chosen, spared, np.zeros(15, np.int64), np.zeros(15), np.zeros(15)


def closing_case():
    costs, chosen, spared, *out = nearest_case()
    facility.nearest_two.py_func(costs, chosen, spared, *out)
    return chosen, 5, *out, float(rng.integers(0, 20))


def visits_case():
    costs, chosen, spared, *out = nearest_case()
    facility.nearest_two.py_func(costs, chosen, spared, *out)
    return costs, chosen, float(rng.integers(0, 9)), bool(rng.integers(2)), spared, *out, 3, 0, int(rng.integers(60))


def fill_case():
    costs = rng.integers(0, 9, (4, 15)).astype(float)
    order = np.argsort(costs, axis=0, kind="stable")
    return costs, order, rng.integers(0, 5, 4) / 4, cost_case()[2], np.zeros((4, 15))


def admm_case():
    return cost_case()[0], rng.integers(0, 9, 15).astype(float)


def lift_case():
    """Prices that are feasible already, and the squares that go with them."""
    costs, weights = admm_case()
    v = rng.integers(0, 9, 12).astype(float)
    squares = admm.lower(costs, weights, v)
    return costs, weights, v, squares


def random_costs(n, seed, symmetric=False):
    costs = 1 - similarity_matrix(n, np.random.default_rng(seed), symmetric)
    return (costs / max(costs.max(), 1e-300)).astype(np.float32)


def nobody(n):
    return np.full(n, np.inf)


def once(n):
    """Every object stands for itself only."""
    return np.ones(n, dtype=np.int64)


def largest_lambda(costs, p):
    return ds3.largest_lambda(costs, p, once(len(costs)))


def two_norm(costs, price, tol=1e-3, max_iter=3000, multiplicity=None):
    """The solution for p = 2 of costs that are weighed by the multiplicity already."""
    radii = np.sqrt(once(len(costs)) if multiplicity is None else multiplicity)
    columns = np.ascontiguousarray((costs / radii).T.astype(np.float32))
    return admm.solve(columns, np.full(len(costs), price), radii, tol, max_iter)
