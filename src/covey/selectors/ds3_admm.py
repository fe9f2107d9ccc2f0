"""DS3 with p = 2, by the alternating direction method of multipliers.

    min  sum_i weight_i |Z_i|_2 + <D, Z>    such that Z >= 0 and column j of Z sums to radius_j

1. Z: shrink each row of C - (L + D) / mu towards 0 by weight_i / mu, and go on a little beyond it.
2. C: project each column of Z + L / mu onto its simplex.
3. L: add mu (Z - C).

C is always feasible. The multipliers L give a lower bound of the least cost, the sum of radius_j v_j for any v with
|(v - d_i)_+|_2 <= weight_i for all rows i: start from v_j = -max_i L_ij, lower the columns that pay for a row too much,
then raise each column as far as the rows allow. The iteration stops when cost and bound meet. (Small changes alone
would end it far from the optimum.)

The step mu keeps the two residuals close to each other, each in its own unit: shares are about 1, multipliers about as
large as the largest weight. (Compared without units, small weights take thousands of iterations.)

A column that stands for m equal ones has the radius sqrt(m): with Y_j = sqrt(m) Z_j the norm of a row counts it m
times, and so does the cost if the entries of D are sqrt(m) times those of one. All matrices are kept with the columns
of Z as rows: a projection then reads memory in order.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats
from covey.selectors.ds3_certificate import Certified

CHECK = 20
"""Iterations between two looks at the gap."""
BALANCE = 3.0
"""How far the residuals may drift apart before mu is doubled or halved."""
ADAPT = 5
"""Iterations between two changes of mu. With these two values 972 random problems of 2 to 25 objects took about 31
iterations on average and 180 at most to a gap of 1e-3; a balance of 2 or 5 and 1 to 20 iterations are about as good."""
RELAXATION = 1.6
"""How far Z goes of the way from C: 1.5 to 1.8 is usual, and takes a fifth fewer iterations than 1."""


def solve(costs: NDArray[Any], weights: Floats, radii: Floats, tol: float, max_iter: int) -> Certified:
    """Z, its columns as rows. `costs` alike; a weight may be 0, but not all."""
    alone = np.einsum("j,ji->i", radii, costs, dtype=np.float64) + weights * np.linalg.norm(radii)
    C, L, Z = np.zeros_like(costs), np.zeros_like(costs), np.empty_like(costs)
    C[:, np.argmin(alone)] = radii
    best = Certified(C.copy(), float(alone.min()), 0.0, 0, float(alone[weights > 0].min()))
    mu = unit = float(weights.max())
    for n_iter in range(1, max_iter + 1):
        lengths = mu * np.sqrt(aim(costs, C, L, mu, Z))
        kept = np.maximum(lengths - weights, 0) / np.maximum(lengths, np.finfo(float).tiny)
        primal, dual = np.sqrt(advance(Z, kept, mu, radii, C, L))
        if n_iter % CHECK == 0 or n_iter == max_iter:
            cost, bound = _cost(costs, weights, radii, C), dual_bound(costs, weights, radii, L)
            shares = C.copy() if cost < best.cost else best.answer
            best = Certified(shares, min(cost, best.cost), max(bound, best.lower_bound), n_iter, best.scale)
            if best.gap <= tol:
                break
        if n_iter % ADAPT == 0:
            dual *= mu / unit
            mu *= 2 if primal > BALANCE * dual else 0.5 if dual > BALANCE * primal else 1
    return best


def dual_bound(costs: NDArray[Any], weights: Floats, radii: Floats, L: NDArray[Any]) -> float:
    """A lower bound of the least cost from any multipliers."""
    v = -L.max(axis=1).astype(np.float64)
    squares = lower(costs, weights, v)
    lift(costs, weights, v, squares)
    return float(radii @ v)


def _cost(costs: NDArray[Any], weights: Floats, radii: Floats, C: NDArray[Any]) -> float:
    squares = np.zeros(weights.size)
    return float(spend(costs, radii, C, squares) + weights @ np.sqrt(squares))


@njit(cache=True, nogil=True)
def spend(costs, radii, C, squares):  # type: ignore[no-untyped-def]
    """<D, C> with every column of C scaled to its radius, which single precision meets only about.

    The squared lengths of the rows are added to `squares`.
    """
    total = 0.0
    for j in range(costs.shape[0]):
        size = 0.0
        for i in range(squares.size):
            size += C[j, i]
        for i in range(squares.size):
            share = C[j, i] * (radii[j] / size)
            total += costs[j, i] * share
            squares[i] += share * share
    return total


@njit(cache=True, nogil=True)
def lower(costs, weights, v):  # type: ignore[no-untyped-def]
    """Lower v in place until |(v - d_i)_+|_2 <= weight_i for every row i; the squares of these lengths.

    What v_j exceeds d_ij by shrinks to the share of it that row i can bear; the least of the rows' offers counts.
    """
    squares = np.zeros(weights.size)
    add_squares(costs, v, squares)
    borne = np.ones(weights.size)
    for i in range(weights.size):
        if squares[i] > weights[i] * weights[i]:
            borne[i] = weights[i] / np.sqrt(squares[i])
    for j in range(v.size):
        offered = v[j]
        for i in range(weights.size):
            over = offered - costs[j, i]
            if over > 0:
                v[j] = min(v[j], costs[j, i] + over * borne[i])
    squares[:] = 0
    add_squares(costs, v, squares)
    return squares


@njit(cache=True, nogil=True)
def add_squares(costs, v, squares):  # type: ignore[no-untyped-def]
    """Add |(v - d_i)_+|_2 squared to the squares of each row i."""
    for j in range(v.size):
        for i in range(squares.size):
            over = v[j] - costs[j, i]
            if over > 0:
                squares[i] += over * over


@njit(cache=True, nogil=True)
def lift(costs, weights, v, squares):  # type: ignore[no-untyped-def]
    """Raise each v_j in turn, in place, as far as all rows can bear it; `squares` as `lower` returns them."""
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
def aim(costs, C, L, mu, Z):  # type: ignore[no-untyped-def]
    """Z = C - (L + D) / mu, and the squared lengths of its rows."""
    squares = np.zeros(Z.shape[1])
    for j in range(Z.shape[0]):
        for i in range(Z.shape[1]):
            z = C[j, i] - (np.float64(L[j, i]) + np.float64(costs[j, i])) / mu
            Z[j, i] = z
            squares[i] += z * z
    return squares


@njit(cache=True, nogil=True)
def advance(Z, kept, mu, radii, C, L):  # type: ignore[no-untyped-def]
    """Shrink Z to what is kept of its rows, project onto C, move L; the squared lengths of Z - C and of C's change."""
    apart, moved = 0.0, 0.0
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
    return np.array([apart, moved])


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def project(row, radius):  # type: ignore[no-untyped-def]
    """Project onto the simplex, in place, by Michelot's method: drop what is not positive until nothing is."""
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
