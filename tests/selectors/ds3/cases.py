"""Arguments of the compiled loops of DS3, for the tests of all compiled loops."""

import numpy as np

from covey.selectors.ds3 import admm, facility

rng = np.random.default_rng(0)


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
