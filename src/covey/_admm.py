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

from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]

CHECK = 10
"""Iterations between two looks at the gap."""
BALANCE = 10.0
"""How far the residuals may drift apart before mu is doubled or halved."""


@dataclass(frozen=True)
class Relaxed:
    """The shares (columns of Z as rows), their cost, and a certified lower bound of the least cost."""

    shares: NDArray[Any]
    cost: float
    lower_bound: float
    n_iter: int

    @property
    def gap(self) -> float:
        return max(0.0, self.cost - self.lower_bound) / max(abs(self.cost), np.finfo(float).tiny)


def solve(costs: NDArray[Any], weights: Floats, tol: float, max_iter: int) -> Relaxed:
    """`costs` with a row for each column of Z. They are scaled to at most 1, and so is the first mu."""
    cheapest = int(np.argmin(costs.sum(axis=0, dtype=np.float64) + weights))
    C, L = np.zeros_like(costs), np.zeros_like(costs)
    C[:, cheapest] = 1
    best = Relaxed(C.copy(), _cost(costs, weights, C), -np.inf, 0)
    mu = 0.1
    for n_iter in range(1, max_iter + 1):
        Z = C - (L + costs) / costs.dtype.type(mu)
        norms = np.maximum(_row_norms(Z), np.finfo(float).tiny)
        Z *= np.maximum(0, 1 - weights / mu / norms).astype(Z.dtype)
        before = C
        C = Z + L / costs.dtype.type(mu)
        project(C)
        difference = Z - C
        L += costs.dtype.type(mu) * difference
        primal, dual = _norm(difference), mu * _norm(C - before)
        if n_iter % CHECK == 0 or n_iter == max_iter:
            cost, bound = _cost(costs, weights, C), dual_bound(costs, weights, L)
            shares = C.copy() if cost < best.cost else best.shares
            best = Relaxed(shares, min(cost, best.cost), max(bound, best.lower_bound), n_iter)
            if best.gap <= tol:
                break
        if primal > BALANCE * dual:
            mu *= 2
        elif dual > BALANCE * primal:
            mu /= 2
    return best


def dual_bound(costs: NDArray[Any], weights: Floats, L: NDArray[Any]) -> float:
    """A bound from multipliers: what the columns are willing to pay, lowered by as little as makes it feasible."""
    v = -L.max(axis=1).astype(np.float64)
    free = weights == 0
    if free.any():
        v = np.minimum(v, costs[:, free].min(axis=1))
    low, high = 0.0, max(0.0, float((v - costs.min(axis=1)).max()))
    if feasible(costs, weights, v):
        return float(v.sum())
    while high - low > 1e-7 * max(high, 1e-300) and (high - low) * v.size > 1e-9 * max(1.0, abs(float(v.sum()))):
        middle = (low + high) / 2
        low, high = (low, middle) if feasible(costs, weights, v - middle) else (middle, high)
    return float((v - high).sum())


def _cost(costs: NDArray[Any], weights: Floats, C: NDArray[Any]) -> float:
    return float(weights @ _row_norms(C)) + float(np.einsum("ji,ji->", costs, C, dtype=np.float64))


def _row_norms(Z: NDArray[Any]) -> Floats:
    return np.sqrt(np.einsum("ji,ji->i", Z, Z, dtype=np.float64))


def _norm(values: NDArray[Any]) -> float:
    return float(np.sqrt(np.einsum("ji,ji->", values, values, dtype=np.float64)))


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
def project(rows):  # type: ignore[no-untyped-def]
    """Project each row onto the simplex, in place, by Michelot's method: drop what is not positive until none is."""
    for j in range(rows.shape[0]):
        row = rows[j]
        active, total = row.size, 0.0
        for i in range(row.size):
            total += row[i]
        shift, shrinking = (total - 1) / active, True
        while shrinking:
            n_active, total = 0, 0.0
            for i in range(row.size):
                if row[i] > shift:
                    n_active += 1
                    total += row[i]
            shrinking = n_active < active and n_active > 0
            if shrinking:
                active, shift = n_active, (total - 1) / n_active
        for i in range(row.size):
            row[i] = max(row[i] - shift, 0)
