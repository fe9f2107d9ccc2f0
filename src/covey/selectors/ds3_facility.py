"""DS3 with p = inf, solved exactly: it is the linear relaxation of facility location, or of the k-median problem.

Open a share y_i of each row i, and let column j be served by open rows at costs d_ij, the cheapest first:

    price    min  price * sum y + sum_j cost_j(y)        each opening has a price (regularised)
    budget   min  sum_j cost_j(y),  sum y <= budget      openings are limited (constrained)

1. Above: open whole rows, improved by adding, dropping and swapping them.
2. Below: whatever each column is willing to pay, v_j, row i gains rho_i = sum_j min(0, d_ij - v_j) by opening, and
   sum v + the least that the rho of open rows can add up to is a lower bound. Subgradients raise it.
3. A row whose opening would lift the lower bound above the upper one is left out. Over the few that stay, cost_j(y) is
   the largest of the lines p - sum_i max(0, p - d_ij) y_i, p any price, so a linear program of some of these lines
   finds y from below (Benders). Lines that its y shows to be missing are added. What its columns pay is tested
   against all rows, and those that would gain by it are let in.

Every number that is reported is recomputed from y and v over the whole matrix: the gap holds whatever the solver did.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Positions
from covey.selectors.ds3_certificate import Certified

SUBGRADIENTS = 300
PATIENCE = 10
"""Steps without a better bound before they are halved."""
MOST_ENTRIES = 2_000_000
"""The most entries of a linear program, rows times lines; beyond, what is there is reported with its gap."""
LET_IN = 20
"""How many rows at most are let in at a time."""
MOST_PROGRAMS = 100
EXACT = 1e-9
"""Relative gap below which two bounds are equal but for rounding."""
FEASIBLE = 1e-7
"""How far the solver may violate a constraint, in units of what a column costs on average."""


@dataclass(frozen=True)
class Openings:
    """What opening rows costs: a price each, or a budget for all."""

    price: float | None = None
    budget: float = np.inf

    def cost(self, opened: Floats) -> float:
        return 0.0 if self.price is None else self.price * float(opened.sum())

    def cheapest(self, rho: Floats, needed: bool) -> tuple[float, Floats]:
        """The least that the gains of open rows can add up to, and how far each is opened for that.

        Where rows are needed, since not all columns may stay unserved, at least one is opened.
        """
        opened = np.zeros(rho.size)
        if self.price is not None:
            opened[rho + self.price < 0] = 1
            if needed and not opened.any():
                opened[np.argmin(rho)] = 1
            return float((rho + self.price)[opened > 0].sum()), opened
        order = np.argsort(rho, kind="stable")[: int(np.ceil(min(self.budget, rho.size)))]
        opened[order] = np.clip(self.budget - np.arange(order.size), 0, 1)
        opened[rho >= 0] = 0
        return float(opened @ rho), opened

    def hurdle(self, rho: Floats, needed: bool) -> float:
        """What a row must gain to be opened."""
        if self.price is not None:
            return min(self.price, -float(rho.min())) if needed else self.price
        n = int(np.ceil(min(self.budget, rho.size)))
        return -float(np.partition(rho, n - 1)[n - 1])


def solve(costs: NDArray[Any], openings: Openings, spared: Floats) -> Certified:
    """How far to open each row so that serving the columns costs least; they may stay unserved at the cost `spared`."""
    chosen = local_search(costs, openings, spared)
    opened = np.zeros(len(costs))
    opened[chosen] = 1
    scale = float(costs.sum(axis=1, dtype=np.float64).min()) + (openings.price or 0.0)  # one row serves all columns
    best = Certified(opened, _cost(costs, openings, spared, opened), -np.inf, 0, scale)
    willing, best = _raise_bound(costs, openings, spared, best)
    if best.gap > EXACT:
        best = _close_gap(costs, openings, spared, willing, best)
    return best


def serve(costs: NDArray[Any], opened: Floats, spared: Floats) -> tuple[Positions, Floats]:
    """The open rows, and what share each serves of each column: the cheapest first, of equal ones the lowest."""
    rows = np.flatnonzero(opened > 0)
    order = np.argsort(costs[rows], axis=0, kind="stable")
    shares = np.empty(order.shape)
    fill(costs[rows].astype(np.float64), order, opened[rows], spared, shares)
    return rows, shares


def _cost(costs: NDArray[Any], openings: Openings, spared: Floats, opened: Floats) -> float:
    rows, shares = serve(costs, opened, spared)
    unserved = 1 - shares.sum(axis=0)
    left = unserved > EXACT  # not just rounding
    spared_cost = float(unserved[left] @ spared[left])
    return float(np.einsum("ij,ij->", costs[rows], shares, dtype=np.float64)) + spared_cost + openings.cost(opened)


def _raise_bound(costs: NDArray[Any], openings: Openings, spared: Floats, best: Certified) -> tuple[Floats, Certified]:
    """Subgradient ascent of what the columns are willing to pay."""
    chosen = np.flatnonzero(best.answer)
    nearest = np.sort(costs[chosen], axis=0)[:2].astype(np.float64)
    v = best_v = np.minimum(nearest.mean(axis=0), spared)
    bound, scale, failures, n_iter = -np.inf, 1.0, 0, 0
    needed = bool(np.isinf(spared).any())
    while n_iter < SUBGRADIENTS:
        n_iter += 1
        rho = gains_of(costs, v)
        least, opened = openings.cheapest(rho, needed)
        value = float(v.sum()) + least
        failures = 0 if value > bound else failures + 1
        if value > bound:
            bound, best_v = value, v
        if failures == PATIENCE:
            scale, failures, v = scale / 2, 0, best_v
            continue
        rows = np.flatnonzero(opened)
        slope = 1 - opened[rows] @ (costs[rows] < v)
        steepness = float(slope @ slope)
        if replace(best, lower_bound=bound).gap <= EXACT or steepness == 0:
            break
        v = np.minimum(v + scale * (best.cost - value) / steepness * slope, spared)
    return best_v, replace(best, lower_bound=bound, n_iter=n_iter)


def _close_gap(costs: NDArray[Any], openings: Openings, spared: Floats, willing: Floats, best: Certified) -> Certified:
    """Linear programs over the rows and lines that matter, until no other row or line would change them."""
    needed = bool(np.isinf(spared).any())
    rho = gains_of(costs, willing)
    lifted = best.lower_bound + openings.hurdle(rho, needed) + rho
    rows = np.flatnonzero(lifted <= best.cost + EXACT * abs(best.cost))
    rows = np.union1d(rows[np.argsort(rho[rows], kind="stable")[: 4 * LET_IN]], np.flatnonzero(best.answer))
    lines = Lines(np.arange(willing.size), willing)
    for n_iter in range(best.n_iter + 1, best.n_iter + MOST_PROGRAMS + 1):
        if rows.size * lines.columns.size > MOST_ENTRIES:
            break
        near = costs[rows].astype(np.float64)
        unit = best.cost / willing.size
        solved = _linear_program(near, lines, openings, spared, unit)
        if solved is None:
            break
        share, estimated, v = solved
        opened = np.zeros(len(costs))
        opened[rows] = share
        cost = _cost(costs, openings, spared, opened)
        rho = gains_of(costs, v)
        bound = max(best.lower_bound, float(v.sum()) + openings.cheapest(rho, needed)[0])
        opened, cost = (opened, cost) if cost < best.cost else (best.answer, best.cost)
        best = Certified(opened, cost, bound, n_iter, best.scale)
        outside = np.setdiff1d(np.flatnonzero(-rho > openings.hurdle(rho[rows], needed) * (1 + EXACT)), rows)
        prices = _last_prices(near, share, spared)
        missing = np.flatnonzero(prices - share @ np.maximum(prices - near, 0) > estimated + FEASIBLE * unit)
        if best.gap <= EXACT or not (outside.size or missing.size):
            break
        rows = np.union1d(rows, outside[np.argsort(rho[outside], kind="stable")[:LET_IN]])
        lines = Lines(np.append(lines.columns, missing), np.append(lines.prices, prices[missing]))
    return best


@dataclass(frozen=True)
class Lines:
    """Lower bounds of what serving a column costs: each for a column, at a price."""

    columns: Positions
    prices: Floats


def _linear_program(
    costs: Floats, lines: Lines, openings: Openings, spared: Floats, unit: float
) -> tuple[Floats, Floats, Floats] | None:
    """The best openings of these rows as far as the lines tell, what each column costs then, and what it pays.

    Variables are the openings, then the columns' costs in the given unit: the solver's tolerances are absolute.
    """
    from scipy.optimize import linprog

    (m, n), n_lines = costs.shape, lines.columns.size
    slopes = sp.csr_array(np.maximum(lines.prices - costs[:, lines.columns], 0).T / unit)
    own = sp.csr_array((np.ones(n_lines), (np.arange(n_lines), lines.columns)), shape=(n_lines, n))
    total = sp.csr_array(np.repeat([1.0, 0.0], [m, n])[None, :])
    constraints: list[Any] = [sp.hstack([-slopes, -own])]
    limits: list[Any] = [-lines.prices / unit]
    if np.isinf(spared).any():  # somebody must be served
        constraints, limits = [*constraints, -total], [*limits, [-1.0]]
    if openings.price is None:
        constraints, limits = [*constraints, total], [*limits, [openings.budget]]
    objective = np.repeat([(openings.price or 0.0) / unit, 1.0], [m, n])
    bounds = np.column_stack([np.zeros(m + n), np.repeat([1.0, np.inf], [m, n])])
    solved = linprog(
        objective, sp.vstack(constraints, format="csr"), np.concatenate(limits), bounds=bounds, method="highs-ds"
    )
    if solved.status != 0:  # what is there is certified anyway
        return None
    opened = np.clip(solved.x[:m], 0, 1)
    # The solver keeps to its limits only up to a tolerance.
    if openings.price is None and opened.sum() > openings.budget:
        opened *= openings.budget / opened.sum()
    if np.isinf(spared).any() and opened.sum() < 1:
        opened /= opened.sum()
    weights = np.maximum(-solved.ineqlin.marginals[:n_lines], 0)
    paid = np.bincount(lines.columns, weights * lines.prices, minlength=n)
    return opened, solved.x[m:] * unit, np.minimum(paid, spared)


def _last_prices(costs: Floats, opened: Floats, spared: Floats) -> Floats:
    """What each column pays for the last share that it is served."""
    order = np.argsort(costs, axis=0, kind="stable")
    enough = np.cumsum(opened[order], axis=0) >= 1 - EXACT
    last = np.where(enough.any(axis=0), enough.argmax(axis=0), len(costs) - 1)
    dearest = np.take_along_axis(np.take_along_axis(costs, order, axis=0), last[None, :], axis=0)[0]
    return np.minimum(np.where(enough.any(axis=0), dearest, np.maximum(dearest, spared)), spared)


def local_search(costs: NDArray[Any], openings: Openings, spared: Floats) -> Positions:
    """Whole rows to open, such that no other row, none fewer and no swap makes them cheaper."""
    n = len(costs)
    limit = n if openings.price is not None else min(n, int(openings.budget))
    price = 0.0 if openings.price is None else openings.price
    chosen = np.array([int(np.argmin(costs.sum(axis=1, dtype=np.float64)))])
    while chosen.size < limit:  # greedily, the one that saves most
        now = np.minimum(costs[chosen].min(axis=0), spared).astype(np.float64)
        saved = gains_of(costs, now)
        best = int(np.argmin(saved))
        if saved[best] + price >= 0:
            break
        chosen = np.append(chosen, best)
    return np.sort(swap(costs, chosen, price, openings.price is not None, spared))


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def gains_of(costs, v):  # type: ignore[no-untyped-def]
    """rho_i = sum_j min(0, d_ij - v_j)."""
    rho = np.zeros(costs.shape[0])
    for i in range(costs.shape[0]):
        total = 0.0
        for j in range(costs.shape[1]):
            total += min(0.0, costs[i, j] - v[j])
        rho[i] = total
    return rho


@njit(cache=True, nogil=True)
def fill(costs, order, opened, spared, shares):  # type: ignore[no-untyped-def]
    """Serve each column by the rows in `order`, each up to its opening, as long as it is not spared for less."""
    for j in range(costs.shape[1]):
        left = 1.0
        for at in range(costs.shape[0]):
            i = order[at, j]
            shares[i, j] = min(left, opened[i]) if costs[i, j] <= spared[j] else 0.0
            left -= shares[i, j]


@njit(cache=True, nogil=True)
def nearest_two(costs, chosen, spared, nearest, first, second):  # type: ignore[no-untyped-def]
    """Of each column the place of its cheapest open row in `chosen`, -1 if it is spared, and its two lowest costs."""
    for j in range(costs.shape[1]):
        nearest[j], first[j], second[j] = -1, spared[j], np.inf
        for place in range(chosen.size):
            cost = costs[chosen[place], j]
            if cost < first[j]:
                nearest[j], first[j], second[j] = place, cost, first[j]
            elif cost < second[j]:
                second[j] = cost


@njit(cache=True, nogil=True)
def swap(costs, chosen, price, may_vary, spared):  # type: ignore[no-untyped-def]
    """Open, close and swap rows while that saves anything; only swap if their number may not vary."""
    n = costs.shape[1]
    nearest, first, second = np.empty(n, np.int64), np.empty(n), np.empty(n)
    nearest_two(costs, chosen, spared, nearest, first, second)
    i, unchanged = 0, 0
    while unchanged < costs.shape[0]:
        # What opening row i saves, and what closing each open row then loses.
        saved, lost = 0.0, np.zeros(chosen.size)
        for j in range(n):
            cost = costs[i, j]
            if cost < first[j]:
                saved += cost - first[j]
            elif nearest[j] >= 0:
                lost[nearest[j]] += min(cost, second[j]) - first[j]
        worst, opens = np.argmin(lost), not np.any(chosen == i)
        unchanged += 1
        if opens and saved + lost[worst] < -1e-9 and (not may_vary or lost[worst] < price):
            chosen = np.append(np.delete(chosen, worst), i)
            unchanged = 0
        elif opens and may_vary and saved + price < -1e-9:
            chosen = np.append(chosen, i)
            unchanged = 0
        elif not opens and may_vary and chosen.size > 1 and closing_saves(chosen, i, nearest, first, second, price):
            chosen = chosen[chosen != i]
            unchanged = 0
        if unchanged == 0:
            nearest_two(costs, chosen, spared, nearest, first, second)
        i = i + 1 if i + 1 < costs.shape[0] else 0
    return chosen


@njit(cache=True, nogil=True)
def closing_saves(chosen, i, nearest, first, second, price):  # type: ignore[no-untyped-def]
    lost = 0.0
    for j in range(nearest.size):
        if nearest[j] >= 0 and chosen[nearest[j]] == i:
            lost += second[j] - first[j]
    return lost < price - 1e-9
