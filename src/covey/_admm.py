"""DS3 with p = 2, by the alternating direction method of multipliers.

    min  sum_i weight_i |Z_i|_2 + <D, Z>    such that Z >= 0 and every column of Z sums to 1

1. Z: shrink each row of C - (L + D) / mu towards 0 by weight_i / mu.
2. C: project each column of Z + L / mu onto the simplex.
3. L: add mu (Z - C).

The step mu follows the two residuals. C is always feasible; the multipliers L give a dual bound: v_j = -max_i L_ij,
lowered until |(v - d_i)_+|_2 <= weight_i for all rows, adds up to no more than the least cost. The iteration stops when
cost and bound meet. (Small changes alone would end it far from the optimum.)

All matrices are kept with the columns of Z as rows: a projection then reads memory in order.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey._certificate import Certified

Floats = NDArray[np.float64]

CHECK = 20
"""Iterations between two looks at the gap."""
BALANCE = 10.0
"""How far the residuals may drift apart before mu is doubled or halved."""


def solve(costs: NDArray[Any], weights: Floats, tol: float, max_iter: int) -> Certified:
    """Z, its columns as rows. `costs` alike, scaled to at most 1, for which the first mu is made."""
    cheapest = int(np.argmin(costs.sum(axis=0, dtype=np.float64) + weights))
    C, L, Z = np.zeros_like(costs), np.zeros_like(costs), np.empty_like(costs)
    C[:, cheapest] = 1
    best = Certified(C.copy(), _cost(costs, weights, C), -np.inf, 0)
    mu = 0.1
    for n_iter in range(1, max_iter + 1):
        norms = np.sqrt(aim(costs, C, L, mu, Z))
        kept = np.maximum(0, 1 - weights / mu / np.maximum(norms, np.finfo(float).tiny))
        primal, dual = np.sqrt(advance(Z, kept, mu, C, L))
        if n_iter % CHECK == 0 or n_iter == max_iter:
            cost, bound = _cost(costs, weights, C), dual_bound(costs, weights, L, best.cost * tol / 20)
            shares = C.copy() if cost < best.cost else best.answer
            best = Certified(shares, min(cost, best.cost), max(bound, best.lower_bound), n_iter)
            if best.gap <= tol:
                break
        if primal > BALANCE * mu * dual:
            mu *= 2
        elif mu * dual > BALANCE * primal:
            mu /= 2
    return best


def dual_bound(costs: NDArray[Any], weights: Floats, L: NDArray[Any], precision: float) -> float:
    """A bound from multipliers: what the columns are willing to pay, lowered by about as little as is feasible."""
    v = -L.max(axis=1).astype(np.float64)
    free = weights == 0
    if free.any():
        v = np.minimum(v, costs[:, free].min(axis=1))
    if feasible(costs, weights, v):
        return float(v.sum())
    low, high = 0.0, float((v - costs.min(axis=1)).max())
    for _ in range(60):  # halvings use up the digits
        if (high - low) * v.size <= precision:
            break
        middle = (low + high) / 2
        low, high = (low, middle) if feasible(costs, weights, v - middle) else (middle, high)
    return float((v - high).sum())


def _cost(costs: NDArray[Any], weights: Floats, C: NDArray[Any]) -> float:
    norms = np.sqrt(np.einsum("ji,ji->i", C, C, dtype=np.float64))
    return float(weights @ norms) + float(np.einsum("ji,ji->", costs, C, dtype=np.float64))


@njit(cache=True, nogil=True)
def feasible(costs, weights, v):  # type: ignore[no-untyped-def]
    """Whether |(v - d_i)_+|_2 <= weight_i for every row i of Z."""
    squares = np.zeros(weights.size)
    for j in range(costs.shape[0]):
        for i in range(costs.shape[1]):
            over = v[j] - costs[j, i]
            if over > 0:
                squares[i] += over * over
    return np.all(squares <= weights * weights)


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
def advance(Z, kept, mu, C, L):  # type: ignore[no-untyped-def]
    """Shrink Z to what is kept of its rows, project onto C, move L; the squared lengths of Z - C and of C's change."""
    apart, moved = 0.0, 0.0
    z, c = np.empty(Z.shape[1]), np.empty(Z.shape[1])
    for j in range(Z.shape[0]):
        for i in range(z.size):
            z[i] = kept[i] * Z[j, i]
            c[i] = z[i] + L[j, i] / mu
        project(c)
        for i in range(z.size):
            apart += (z[i] - c[i]) ** 2
            moved += (c[i] - C[j, i]) ** 2
            L[j, i] += mu * (z[i] - c[i])
            C[j, i] = c[i]
    return np.array([apart, moved])


@njit(cache=True, nogil=True, fastmath={"reassoc"})
def project(row):  # type: ignore[no-untyped-def]
    """Project onto the simplex, in place, by Michelot's method: drop what is not positive until nothing is."""
    active, shift, shrinking = row.size, (row.sum() - 1) / row.size, True
    while shrinking:
        n_active, total = 0, 0.0
        for value in row:
            n_active += value > shift
            total += value if value > shift else 0.0
        shrinking = 0 < n_active < active
        if shrinking:
            active, shift = n_active, (total - 1) / n_active
    for i in range(row.size):
        row[i] = max(row[i] - shift, 0.0)
