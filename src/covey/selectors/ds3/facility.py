"""DS3 with p = inf, solved exactly. The problem is the linear relaxation of facility location, or of the k-median
problem.

A share y_i of each row i is opened, and column j is served by open rows at the costs d_ij, the cheapest first:

    price    min  price * sum y + sum_j cost_j(y)        each opening has a price (regularised)
    budget   min  sum_j cost_j(y),  sum y <= budget      the openings are limited (constrained)

1. An upper bound: open whole rows, and improve the choice by adding, dropping and swapping rows.
2. A lower bound: let v_j be what column j is willing to pay. Row i then gains rho_i = sum_j min(0, d_ij - v_j) by
   opening. For any v, the sum of v plus the least possible sum of the rho of open rows is a lower bound. Subgradient
   steps raise it.
3. The rest: leave out each row whose opening would lift the lower bound above the upper one. Few rows remain. Over
   these, cost_j(y) is the largest of the lines p - sum_i max(0, p - d_ij) y_i for all prices p. A linear program over
   some of these lines therefore bounds the cost from below and proposes a y (Benders' method). Lines that this y shows
   to be missing are added. What the columns pay in the program is tested against all rows, and rows that would gain by
   it are let in again.

Every number that is reported is computed again from y and v over the whole matrix. So the gap holds for anything that a
solver did.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Positions
from covey.coverage.lower_bound import solve_program
from covey.runtime.interruptible import FEW, in_steps

ROUNDING = 1e-12
"""Costs that differ by less than this share of a problem's scale are equal up to rounding. Sums of some 10 000 numbers
in double precision are no more exact than that."""


@dataclass(frozen=True)
class Solution:
    """A feasible answer, its cost, a lower bound of the least cost, and the number of iterations.

    No cost is negative. The scale is the cost of a simple answer. It is needed because an optimum of 0 gives rounding
    nothing to be compared with.
    """

    answer: NDArray[Any]
    cost: float
    lower_bound: float
    n_iter: int
    scale: float

    @property
    def gap(self) -> float:
        """By which share of the cost the least cost may be lower, at most.

        It is 0 if the two differ only by rounding, and never more than 1.
        """
        excess = self.cost - max(self.lower_bound, 0.0)
        return 0.0 if excess <= ROUNDING * self.scale else excess / self.cost


SUBGRADIENTS = 300
"""The most subgradient steps. Each reads the whole matrix. More steps raise the lower bound and leave fewer rows to the
linear program. With 300 steps, 10 to 14 of 6 000 rows were left on two classes of Fashion-MNIST with a budget of 3."""
PATIENCE = 10
"""How many steps may pass without a better bound before the step size is halved. A smaller number may give up a good
step size too early, and a larger one wastes steps."""
MOST_ENTRIES = 2_000_000
"""The most entries of a linear program, which are its rows times its lines. It limits the memory of the solver to about
half a gigabyte. Beyond it, the best answer so far is returned with its gap."""
LET_IN = 20
"""The most rows that are let in after a program; four times as many start. Fewer rows need more programs, and more rows
need larger ones."""
MOST_PROGRAMS = 100
"""The most linear programs. It only guards against a search that hardly moves any more; the best answer so far is then
returned with its gap."""
EXACT = 1e-9
"""The relative gap below which two bounds are equal up to rounding. Costs are kept in single precision but summed in
double precision, which is more exact than this."""
FEASIBLE = 1e-7
"""By how much the solver may violate a constraint, in units of the average cost of a column. It is the default
tolerance of HiGHS, the solver that SciPy calls."""


@dataclass(frozen=True)
class Openings:
    """What it costs to open rows: a price for each, or a budget for all."""

    price: float | None = None
    budget: float = np.inf

    def cost(self, opened: Floats) -> float:
        """Return the price of these openings. It is 0 if there is a budget instead."""
        return 0.0 if self.price is None else self.price * float(opened.sum())

    def cheapest(self, rho: Floats, *, needed: bool) -> tuple[float, Floats]:
        """Return the least sum that the rho of open rows can have, and how far each row is opened for that.

        If rows are `needed`, because not all columns may stay unserved, at least one row is opened.
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

    def hurdle(self, rho: Floats, *, needed: bool) -> float:
        """Return how much a row must gain to be opened."""
        if self.price is not None:
            return min(self.price, -float(rho.min())) if needed else self.price
        n = int(np.ceil(min(self.budget, rho.size)))
        return -float(np.partition(rho, n - 1)[n - 1])


def solve(costs: NDArray[Any], openings: Openings, spared: Floats) -> Solution:
    """Find how far to open each row so that serving the columns costs least.

    A column may stay unserved at the cost `spared`.
    """
    chosen = local_search(costs, openings, spared)
    opened = np.zeros(len(costs))
    opened[chosen] = 1
    scale = float(costs.sum(axis=1, dtype=np.float64).min()) + (
        openings.price or 0.0
    )  # the cost if one row serves all columns
    best = Solution(opened, _cost(costs, openings, spared, opened), -np.inf, 0, scale)
    willing, best = _raise_bound(costs, openings, spared, best)
    if best.gap > EXACT:
        best = _close_gap(costs, openings, spared, willing, best)
    return best


def serve(costs: NDArray[Any], opened: Floats, spared: Floats) -> tuple[Positions, Floats]:
    """Return the open rows, and what share of each column each of them serves.

    The cheapest serve first, and of equally cheap ones the lowest.
    """
    rows = np.flatnonzero(opened > 0)
    order = np.argsort(costs[rows], axis=0, kind="stable")
    shares = np.empty(order.shape)
    fill(costs[rows].astype(np.float64), order, opened[rows], spared, shares)
    return rows, shares


def _cost(costs: NDArray[Any], openings: Openings, spared: Floats, opened: Floats) -> float:
    """Return the cost of serving all columns by these openings."""
    rows, shares = serve(costs, opened, spared)
    unserved = 1 - shares.sum(axis=0)
    left = unserved > EXACT  # smaller shares are rounding errors
    spared_cost = float(unserved[left] @ spared[left])
    return float(np.einsum("ij,ij->", costs[rows], shares, dtype=np.float64)) + spared_cost + openings.cost(opened)


def _raise_bound(costs: NDArray[Any], openings: Openings, spared: Floats, best: Solution) -> tuple[Floats, Solution]:
    """Raise the lower bound by subgradient steps.

    Return what the columns are willing to pay, and the improved bound.
    """
    chosen = np.flatnonzero(best.answer)
    nearest = np.sort(costs[chosen], axis=0)[:2].astype(np.float64)
    v = best_v = np.minimum(nearest.mean(axis=0), spared)
    bound, scale, failures, n_iter = -np.inf, 1.0, 0, 0
    needed = bool(np.isinf(spared).any())
    while n_iter < SUBGRADIENTS:
        n_iter += 1
        rho = gains_of(costs, v)
        least, opened = openings.cheapest(rho, needed=needed)
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


def _close_gap(costs: NDArray[Any], openings: Openings, spared: Floats, willing: Floats, best: Solution) -> Solution:
    """Solve linear programs over the rows and lines that matter, until no other row or line would change the answer."""
    needed = bool(np.isinf(spared).any())
    rho = gains_of(costs, willing)
    lifted = best.lower_bound + openings.hurdle(rho, needed=needed) + rho
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
        bound = max(best.lower_bound, float(v.sum()) + openings.cheapest(rho, needed=needed)[0])
        opened, cost = (opened, cost) if cost < best.cost else (best.answer, best.cost)
        best = Solution(opened, cost, bound, n_iter, best.scale)
        outside = np.setdiff1d(np.flatnonzero(-rho > openings.hurdle(rho[rows], needed=needed) * (1 + EXACT)), rows)
        prices = _last_prices(near, share, spared)
        missing = np.flatnonzero(prices - share @ np.maximum(prices - near, 0) > estimated + FEASIBLE * unit)
        if best.gap <= EXACT or not (outside.size or missing.size):
            break
        rows = np.union1d(rows, outside[np.argsort(rho[outside], kind="stable")[:LET_IN]])
        lines = Lines(np.append(lines.columns, missing), np.append(lines.prices, prices[missing]))
    return best


@dataclass(frozen=True)
class Lines:
    """Lower bounds of what it costs to serve a column. Each line belongs to a column and a price."""

    columns: Positions
    prices: Floats


def _linear_program(
    costs: Floats, lines: Lines, openings: Openings, spared: Floats, unit: float
) -> tuple[Floats, Floats, Floats] | None:
    """Return the best openings of these rows by the lines, what each column then costs, and what it pays.

    The variables are the openings and then the costs of the columns. Costs are in the given unit, because the
    tolerances of the solver are absolute.
    """
    (m, n), n_lines = costs.shape, lines.columns.size
    slopes = sp.csr_array(np.maximum(lines.prices - costs[:, lines.columns], 0).T / unit)
    own = sp.csr_array((np.ones(n_lines), (np.arange(n_lines), lines.columns)), shape=(n_lines, n))
    total = sp.csr_array(np.repeat([1.0, 0.0], [m, n])[None, :])
    constraints: list[Any] = [sp.hstack([-slopes, -own])]
    limits: list[Any] = [-lines.prices / unit]
    if np.isinf(spared).any():  # some column must be served, so that a row must be open
        constraints, limits = [*constraints, -total], [*limits, [-1.0]]
    if openings.price is None:
        constraints, limits = [*constraints, total], [*limits, [openings.budget]]
    objective = np.repeat([(openings.price or 0.0) / unit, 1.0], [m, n])
    bounds = np.column_stack([np.zeros(m + n), np.repeat([1.0, np.inf], [m, n])])
    solved = solve_program(objective, sp.vstack(constraints, format="csr"), np.concatenate(limits), bounds, "highs-ds")
    if solved.status != 0:  # the solver has failed, but the best answer so far is certified
        return None
    opened = np.clip(solved.x[:m], 0, 1)
    # The solver keeps the limits only up to its tolerance, so that they are restored here.
    if openings.price is None and opened.sum() > openings.budget:
        opened *= openings.budget / opened.sum()
    if np.isinf(spared).any() and opened.sum() < 1:
        opened /= opened.sum()
    weights = np.maximum(-solved.ineqlin.marginals[:n_lines], 0)
    paid = np.bincount(lines.columns, weights * lines.prices, minlength=n)
    return opened, solved.x[m:] * unit, np.minimum(paid, spared)


def _last_prices(costs: Floats, opened: Floats, spared: Floats) -> Floats:
    """Return what each column pays for the last share of it that is served."""
    order = np.argsort(costs, axis=0, kind="stable")
    enough = np.cumsum(opened[order], axis=0) >= 1 - EXACT
    last = np.where(enough.any(axis=0), enough.argmax(axis=0), len(costs) - 1)
    dearest = np.take_along_axis(np.take_along_axis(costs, order, axis=0), last[None, :], axis=0)[0]
    return np.minimum(np.where(enough.any(axis=0), dearest, np.maximum(dearest, spared)), spared)


def local_search(costs: NDArray[Any], openings: Openings, spared: Floats) -> Positions:
    """Return whole rows to open, such that no further row, no fewer rows and no swap of rows costs less."""
    n = len(costs)
    limit = n if openings.price is not None else min(n, int(openings.budget))
    price = 0.0 if openings.price is None else openings.price
    chosen = np.array([int(np.argmin(costs.sum(axis=1, dtype=np.float64)))])
    while chosen.size < limit:  # greedily adds the row that saves most
        now = np.minimum(costs[chosen].min(axis=0), spared).astype(np.float64)
        saved = gains_of(costs, now)
        best = int(np.argmin(saved))
        if saved[best] + price >= 0:
            break
        chosen = np.append(chosen, best)
    return np.sort(swap(costs, chosen, price, spared, may_vary=openings.price is not None))


def gains_of(costs: NDArray[Any], v: Floats) -> Floats:
    """Compute rho_i = sum_j min(0, d_ij - v_j) for each row."""
    rho = np.zeros(len(costs))
    in_steps(len(costs), lambda rows: add_gains(costs[rows], v, rho[rows]))
    return rho


def swap(costs: NDArray[Any], chosen: Positions, price: float, spared: Floats, *, may_vary: bool) -> Positions:
    """Open, close and swap rows as long as that saves anything. If their number may not vary, rows are only swapped."""
    n_rows, n = costs.shape
    nearest, first, second = np.empty(n, np.int64), np.empty(n), np.empty(n)
    nearest_two(costs, chosen, spared, nearest, first, second)
    row, unchanged, size = 0, 0, FEW

    def visit(rows: slice) -> None:
        nonlocal chosen, row, unchanged
        how = (price, may_vary, spared, nearest, first, second, row, unchanged, rows.stop - rows.start)
        chosen, row, unchanged = visit_rows(costs, chosen, *how)

    while unchanged < n_rows:
        size = in_steps(n_rows - unchanged, visit, size)
    return chosen


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def add_gains(costs, v, rho):  # type: ignore[no-untyped-def]
    """Fill rho with the gains of these rows."""
    for i in range(costs.shape[0]):
        total = 0.0
        for j in range(costs.shape[1]):
            total += min(0.0, costs[i, j] - v[j])
        rho[i] = total


@njit(cache=True, nogil=True)
def fill(costs, order, opened, spared, shares):  # type: ignore[no-untyped-def]
    """Serve each column by the rows in `order`, each up to its opening, unless it costs less to leave the column
    unserved.
    """
    for j in range(costs.shape[1]):
        left = 1.0
        for turn in range(costs.shape[0]):
            i = order[turn, j]
            shares[i, j] = min(left, opened[i]) if costs[i, j] <= spared[j] else 0.0
            left -= shares[i, j]


@njit(cache=True, nogil=True)
def nearest_two(costs, chosen, spared, nearest, first, second):  # type: ignore[no-untyped-def]
    """Find the cheapest open row of each column, as a position in `chosen`, and its two lowest costs.

    The position is -1 if it costs less to leave the column unserved.
    """
    for j in range(costs.shape[1]):
        nearest[j], first[j], second[j] = -1, spared[j], np.inf
        for place in range(chosen.size):
            cost = costs[chosen[place], j]
            if cost < first[j]:
                nearest[j], first[j], second[j] = place, cost, first[j]
            elif cost < second[j]:
                second[j] = cost


@njit(cache=True, nogil=True)
def visit_rows(costs, chosen, price, may_vary, spared, nearest, first, second, i, unchanged, n_visits):  # type: ignore[no-untyped-def]
    """Open, close or swap this many rows from row i on, and stop where the last change was a full round ago.

    Return the open rows, the next row to be visited, and how many visits in a row have changed nothing.
    """
    n = costs.shape[1]
    for _ in range(n_visits):
        if unchanged == costs.shape[0]:
            break
        # `saved` is what opening row i saves, and `lost` what closing each open row loses after that.
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
    return chosen, i, unchanged


@njit(cache=True, nogil=True)
def closing_saves(chosen, i, nearest, first, second, price):  # type: ignore[no-untyped-def]
    """Return whether closing the open row i saves more than it loses."""
    lost = 0.0
    for j in range(nearest.size):
        if nearest[j] >= 0 and chosen[nearest[j]] == i:
            lost += second[j] - first[j]
    return lost < price - 1e-9
