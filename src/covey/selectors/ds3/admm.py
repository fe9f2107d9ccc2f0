"""DS3 with p = 2, solved by the alternating direction method of multipliers.

    min  sum_i weight_i |Z_i|_2 + <D, Z>    such that Z >= 0 and column j of Z sums to radius_j

The problem is split into Z, which carries the cost, and a copy C of it, which carries the constraints. Each iteration
makes three steps:

1. Z: shrink each row of C - (L + D) / mu towards 0 by weight_i / mu, and go a little beyond it.
2. C: project each column of Z + L / mu onto its simplex.
3. L: add mu (Z - C).

C is always feasible. The multipliers L give a lower bound of the least cost. It is the sum of radius_j v_j for any v
with |(v - d_i)_+|_2 <= weight_i for all rows i. Such a v is found in three steps: start from v_j = -max_i L_ij, lower
the columns that pay too much for a row, and then raise each column to the largest value that the rows allow. The
iteration stops when cost and bound meet. (If it stopped when little changes, it could end far from the optimum.)

The step mu keeps the primal and the dual residual close to each other, each measured in a unit of its own: shares are
about 1, and multipliers are about as large as the largest weight. (Without these units, problems with small weights
take thousands of iterations.)

A column that stands for m equal ones has the radius sqrt(m). With Y_j = sqrt(m) Z_j, the norm of a row counts the
column m times. The cost does so as well if the entries of D are sqrt(m) times those of a single column. All matrices
are stored with the columns of Z as rows, because a projection then reads memory in order.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats
from covey.runtime.interruptible import in_steps
from covey.selectors.ds3.facility import Solution

CHECK = 20
"""How many iterations pass between two computations of the gap. Computing it reads all matrices, so that a smaller
number costs time, and a larger one may add iterations that are not needed."""
BALANCE = 3.0
"""By which factor the residuals may differ before mu is doubled or halved."""
ADAPT = 5
"""How many iterations pass between two changes of mu. With these values of `BALANCE` and `ADAPT`, 972 random problems
of 2 to 25 objects took about 31 iterations on average, and 180 at most, to a gap of 1e-3. A balance of 2 or 5 and 1 to
20 iterations are about as good."""
RELAXATION = 1.6
"""How far the step goes from C towards the shrunk Z, where 1 is all the way. Values from 1.5 to 1.8 are usual, and take
a fifth fewer iterations than 1."""


def solve(costs: NDArray[Any], weights: Floats, radii: Floats, tol: float, max_iter: int) -> Solution:
    """Return Z with its columns as rows; `costs` are stored likewise. A weight may be 0, but not all weights."""
    alone = np.einsum("j,ji->i", radii, costs, dtype=np.float64) + weights * np.linalg.norm(radii)
    C, L, Z = np.zeros_like(costs), np.zeros_like(costs), np.empty_like(costs)
    C[:, np.argmin(alone)] = radii
    best = Solution(C.copy(), float(alone.min()), 0.0, 0, float(alone[weights > 0].min()))
    mu = unit = float(weights.max())
    for n_iter in range(1, max_iter + 1):
        primal, dual = _iterate(costs, weights, radii, mu, C, L, Z)
        if n_iter % CHECK == 0 or n_iter == max_iter:
            cost, bound = _cost(costs, weights, radii, C), dual_bound(costs, weights, radii, L)
            shares = C.copy() if cost < best.cost else best.answer
            best = Solution(shares, min(cost, best.cost), max(bound, best.lower_bound), n_iter, best.scale)
            if best.gap <= tol:
                break
        if n_iter % ADAPT == 0:
            dual *= mu / unit
            mu *= 2 if primal > BALANCE * dual else 0.5 if dual > BALANCE * primal else 1
    return best


def _iterate(
    costs: NDArray[Any],
    weights: Floats,
    radii: Floats,
    mu: float,
    C: NDArray[Any],
    L: NDArray[Any],
    Z: NDArray[Any],
) -> Floats:
    """Make one iteration in place, and return the lengths of Z - C and of the change of C."""
    squares, residuals = np.zeros(weights.size), np.zeros(2)
    size = in_steps(len(costs), lambda rows: aim(costs[rows], C[rows], L[rows], mu, Z[rows], squares))
    lengths = mu * np.sqrt(squares)
    kept = np.maximum(lengths - weights, 0) / np.maximum(lengths, np.finfo(float).tiny)
    in_steps(len(costs), lambda rows: advance(Z[rows], kept, mu, radii[rows], C[rows], L[rows], residuals), size)
    return np.sqrt(residuals)


def dual_bound(costs: NDArray[Any], weights: Floats, radii: Floats, L: NDArray[Any]) -> float:
    """Return a lower bound of the least cost, which holds for any multipliers L."""
    v = -L.max(axis=1).astype(np.float64)
    squares = lower(costs, weights, v)
    in_steps(v.size, lambda rows: lift(costs[rows], weights, v[rows], squares))
    return float(radii @ v)


def _cost(costs: NDArray[Any], weights: Floats, radii: Floats, C: NDArray[Any]) -> float:
    squares, spent = np.zeros(weights.size), np.zeros(1)
    in_steps(len(costs), lambda rows: spend(costs[rows], radii[rows], C[rows], squares, spent))
    return float(spent[0] + weights @ np.sqrt(squares))


def lower(costs: NDArray[Any], weights: Floats, v: Floats) -> Floats:
    """Lower v in place until |(v - d_i)_+|_2 <= weight_i for every row i, and return the squares of these lengths.

    A row i that is too long allows each column only a share of what v_j exceeds d_ij by. Each column is lowered to the
    least of what the rows allow it.
    """
    squares = np.zeros(weights.size)
    in_steps(v.size, lambda rows: add_squares(costs[rows], v[rows], squares))
    borne = np.ones(weights.size)
    too_long = squares > weights * weights
    borne[too_long] = weights[too_long] / np.sqrt(squares[too_long])
    in_steps(v.size, lambda rows: lower_columns(costs[rows], borne, v[rows]))
    squares[:] = 0
    in_steps(v.size, lambda rows: add_squares(costs[rows], v[rows], squares))
    return squares


@njit(cache=True, nogil=True)
def spend(costs, radii, C, squares, spent):  # type: ignore[no-untyped-def]
    """Add <D, C> to `spent`, with every column of C scaled to its radius, which single precision meets only roughly.

    The squared lengths of the rows are added to `squares`.
    """
    total = spent[0]
    for j in range(costs.shape[0]):
        size = 0.0
        for i in range(squares.size):
            size += C[j, i]
        for i in range(squares.size):
            share = C[j, i] * (radii[j] / size)
            total += costs[j, i] * share
            squares[i] += share * share
    spent[0] = total


@njit(cache=True, nogil=True)
def lower_columns(costs, borne, v):  # type: ignore[no-untyped-def]
    """Lower each v_j in place to the least of what the rows allow, which bear a share `borne` of what it pays them."""
    for j in range(v.size):
        offered = v[j]
        for i in range(borne.size):
            over = offered - costs[j, i]
            if over > 0:
                v[j] = min(v[j], costs[j, i] + over * borne[i])


@njit(cache=True, nogil=True)
def add_squares(costs, v, squares):  # type: ignore[no-untyped-def]
    """Add the square of |(v - d_i)_+|_2 to the entry of each row i in `squares`."""
    for j in range(v.size):
        for i in range(squares.size):
            over = v[j] - costs[j, i]
            if over > 0:
                squares[i] += over * over


@njit(cache=True, nogil=True)
def lift(costs, weights, v, squares):  # type: ignore[no-untyped-def]
    """Raise each v_j in turn, in place, to the largest value that all rows allow.

    `squares` is what `lower` returns, and is kept up to date.
    """
    for j in range(v.size):
        top = np.inf
        for i in range(weights.size):
            over = max(0.0, v[j] - costs[j, i])
            room = weights[i] * weights[i] - (squares[i] - over * over)
            top = min(top, costs[j, i] + np.sqrt(max(room, 0.0)))
        if top > v[j]:
            for i in range(weights.size):
                before, after = max(0.0, v[j] - costs[j, i]), max(0.0, top - costs[j, i])
                squares[i] += after * after - before * before
            v[j] = top


@njit(cache=True, nogil=True)
def aim(costs, C, L, mu, Z, squares):  # type: ignore[no-untyped-def]
    """Set Z = C - (L + D) / mu, and add the squared lengths of its rows to `squares`."""
    for j in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            z = C[j, i] - (np.float64(L[j, i]) + np.float64(costs[j, i])) / mu
            Z[j, i] = z
            squares[i] += z * z


@njit(cache=True, nogil=True)
def advance(Z, kept, mu, radii, C, L, residuals):  # type: ignore[no-untyped-def]
    """Make the rest of an iteration: shrink the rows of Z, project onto C, and move L.

    `kept` says what share of each row of Z is left after shrinking. The squared lengths of Z - C and of the change of C
    are added to `residuals`.
    """
    apart, moved = residuals
    z, c = np.empty(Z.shape[1]), np.empty(Z.shape[1])
    for j in range(Z.shape[0]):
        for i in range(z.size):
            z[i] = C[j, i] + RELAXATION * (kept[i] * Z[j, i] - C[j, i])
            c[i] = z[i] + L[j, i] / mu
        project(c, radii[j])
        for i in range(z.size):
            apart += (z[i] - c[i]) ** 2
            moved += (c[i] - C[j, i]) ** 2
            L[j, i] += mu * (z[i] - c[i])
            C[j, i] = c[i]
    residuals[0], residuals[1] = apart, moved


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def project(row, radius):  # type: ignore[no-untyped-def]
    """Project a row onto the simplex, in place.

    Michelot's method drops the numbers that would become negative until none would.
    """
    active, shift, shrinking = row.size, (row.sum() - radius) / row.size, True
    while shrinking:
        n_active, total = 0, 0.0
        for value in row:
            n_active += value > shift
            total += value if value > shift else 0.0
        shrinking = 0 < n_active < active
        if shrinking:
            active, shift = n_active, (total - radius) / n_active
    for i in range(row.size):
        row[i] = max(row[i] - shift, 0.0)
