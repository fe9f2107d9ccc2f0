"""Random small problems of sparse selection, each against a reference that knows nothing of the solvers.

With p = inf the cost of the answer, computed again from the weights of its rows, is compared with the whole linear
program. With p = 2 the cost and the lower bound are compared with cutting planes, where the problem is small enough.
Similarities have ties, copies, hundreds of orders of magnitude between them, or differ in their last digits only.
"""

import warnings
from collections import Counter

import numpy as np
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

import covey
from covey.selectors import ds3
from covey.selectors.ds3 import admm
from tests import reference

TOL = 1e-3
"""The default of DS3's parameter, above which it warns."""
CLOSE = 1e-6
"""Costs are held in single precision, and linear programs are solved to about 1e-7."""
SMALL = 6
"""So many objects have so few shares that a hundred linear programs are solved in a moment."""


def attack(rng, n_cases):
    """How many cases ended in which way: "right", "warned" or "WRONG: why", with the seed of the first example."""
    outcomes, first = Counter(), {}
    for seed in rng.integers(2**63, size=n_cases):
        outcome = outcome_of(int(seed))
        first.setdefault(outcome, seed)
        outcomes[outcome] += 1
    return Counter(
        {
            f"{outcome}\noutcome_of({first[outcome]})" if outcome.startswith("WRONG") else outcome: times
            for outcome, times in outcomes.items()
        }
    )


def outcome_of(seed):
    """What becomes of the case of this seed."""
    rng = np.random.default_rng(seed)
    similarities, options = draw_similarities(rng), draw_options(rng)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("always", ConvergenceWarning)
            with warnings.catch_warnings(record=True) as caught:
                fitted = covey.DS3(**options, similarity="precomputed").fit(similarities)
            fault = compare(similarities, options, fitted) or warning_fault(fitted, caught)
    except Exception as error:
        return f"WRONG: {type(error).__name__}: {error}"
    kind = "a budget" if "budget" in options else f"a price, p = {options['p']:g}"
    return f"WRONG: {fault}, with {kind}" if fault else f"{'warned' if caught else 'right'}, with {kind}"


def draw_similarities(rng):
    """A matrix of 2 to 25 objects; two equal rows are as similar to each other as to themselves."""
    n = int(rng.integers(2, 26))
    kind = rng.choice(["any", "few values", "on a line", "wide", "nearly equal"])
    if kind == "any":
        values = rng.random((n, n))
    elif kind == "few values":
        values = rng.integers(0, rng.integers(2, 5), (n, n)).astype(float)
    elif kind == "on a line":
        places = rng.integers(0, rng.integers(2, 30), n).astype(float)
        values = -np.abs(places[:, None] - places) * rng.choice([0.5, 1, 2], (n, n))
    elif kind == "wide":
        values = -np.exp(rng.normal(0, 4, (n, n)))
    else:
        values = 1 - rng.random((n, n)) * 10.0 ** -rng.integers(3, 14)
    if rng.random() < 0.5:
        values = np.maximum(values, values.T)
    np.fill_diagonal(values, values.max())
    copied = np.sort(rng.integers(0, n, n)) if rng.random() < 0.3 else np.arange(n)
    return values[np.ix_(copied, copied)]


def draw_options(rng):
    if rng.random() < 0.4:
        options = {"budget": float(rng.choice([1, 1.5, 2, 2.5, 3, 5, 7]))}
    else:
        options = {"alpha": float(rng.choice([1, 0.5, 0.2, 0.05, 0.01, 0.001])), "p": float(rng.choice([2, np.inf]))}
    if rng.random() < 0.4:
        options |= {"outliers": True, "beta": rng.choice([0.01, 0.3, 1.0]), "sigma": rng.choice([0.01, 0.1, 1.0])}
    return options


def warning_fault(fitted, caught):
    if bool(caught) != (fitted.duality_gap_ > TOL):
        return "the warning does not follow the gap"
    return "the gap is not between 0 and 1" if not 0 <= fitted.duality_gap_ <= 1 else None


def compare(similarities, options, fitted):
    """What is wrong with the answer, or None."""
    costs = reference.dissimilarities(similarities)
    spared = spared_costs(costs, options)
    if not costs.any():
        return None if fitted.sample_indices_.tolist() == [0] and fitted.duality_gap_ == 0 else "equal objects"
    if "budget" in options:
        return compare_openings(costs, spared, fitted, budget=options["budget"])
    multiplicity = np.ones(len(costs), dtype=np.int64)
    price = options["alpha"] * ds3.largest_lambda(costs.astype(np.float32), options["p"], multiplicity)
    if options["p"] == np.inf or not price:
        return compare_openings(costs, spared, fitted, price=price)
    return compare_shares(costs, spared, price) if len(costs) <= SMALL else None


def spared_costs(costs, options):
    """What it costs to represent nobody: w_j = beta exp(-m_j / sigma), m_j the least positive cost of column j."""
    if not options.get("outliers"):
        return np.full(len(costs), np.inf)
    least = [min((cost for cost in column if cost > 0), default=0.0) for column in costs.T]
    return options["beta"] * np.exp(-np.array(least) / options["sigma"])


def compare_openings(costs, spared, fitted, price=0.0, budget=np.inf):
    """The cost of the rows' weights, less the gap that is admitted, must not exceed the whole program's optimum."""
    weights = fitted.row_weights_
    if weights.sum() > budget * (1 + CLOSE):
        return "the weights exceed the budget"
    found = price * weights.sum() + sum(map(served, costs.T, [weights] * len(costs), spared))
    slack = CLOSE * found + 1e-12 * (costs.sum(axis=1).min() + price)
    if found <= slack:
        return None
    # The program sees costs in units of what was found, none above a million of them: that lowers it at most.
    unit = found / len(costs)
    least = unit * reference.sparse_selection(
        np.minimum(costs / unit, 1e6), price / unit, budget, np.minimum(spared / unit, 1e6)
    )
    return None if found * (1 - fitted.duality_gap_) <= least + slack else "the optimum is lower than the gap tells"


def served(costs, weights, spared):
    """What a column costs if open rows serve it, the cheapest first, each up to its weight."""
    left, total = 1.0, 0.0
    for i in np.argsort(costs, kind="stable"):
        if costs[i] <= spared:
            share = min(left, weights[i])
            left, total = left - share, total + share * costs[i]
    return total + left * (spared if np.isfinite(spared) else costs.max())


def compare_shares(costs, spared, price):
    """The solver for p = 2 must be right about the cost of its answer, and cutting planes must not refute its bound."""
    columns, weights = costs.T.astype(np.float32), np.full(len(costs), price)
    if np.isfinite(spared).all():
        columns, weights = np.column_stack([columns, spared.astype(np.float32)]), np.append(weights, 0)
    solved = admm.solve(np.ascontiguousarray(columns), weights, np.ones(len(costs)), TOL, 3000)
    Z = solved.answer.T.astype(float)
    Z /= Z.sum(axis=0)
    cost = weights @ np.linalg.norm(Z, axis=1) + (columns.T.astype(float) * Z).sum()
    lowest, highest = cutting_planes(columns.T.astype(float), weights)
    slack = CLOSE * solved.scale
    if Z.min() < 0 or abs(cost - solved.cost) > CLOSE * cost:
        return "the cost is not that of the shares"
    if solved.lower_bound > highest + slack or cost < lowest - slack:
        return "the reference refutes the bounds"
    return "the optimum is lower than the gap tells" if cost * (1 - solved.gap) > highest + slack else None


def cutting_planes(costs, weights):
    """Bounds of the optimum for p = 2: |Z_i| is at least g Z_i for every unit vector g, so linear programs bound it."""
    m, n = costs.shape
    objective = np.concatenate([costs.ravel(), weights])
    whole = np.hstack([np.kron(np.ones(m), np.eye(n)), np.zeros((n, m))])
    cuts, lowest, highest = np.empty((0, m * n + m)), -np.inf, np.inf
    directions = np.vstack([np.full((1, m, n), n**-0.5), np.repeat(np.eye(n)[:, None], m, axis=1)])
    for _ in range(100):
        for g in directions:
            cuts = np.vstack([cuts, np.hstack([(np.eye(m)[:, :, None] * g).reshape(m, m * n), -np.eye(m)])])
        solved = linprog(objective, cuts, np.zeros(len(cuts)), whole, np.ones(n))
        Z = solved.x[: m * n].reshape(m, n)
        lengths = np.linalg.norm(Z, axis=1)
        lowest, highest = solved.fun, min(highest, weights @ lengths + (costs * Z).sum())
        if highest - lowest <= CLOSE * highest:
            break
        directions = (Z / np.maximum(lengths, 1e-300)[:, None])[None]
    return lowest, highest
