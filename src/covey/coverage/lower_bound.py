"""How few representatives could possibly do: a bound by linear programming.

A choice of representatives is x_i in {0, 1}; y_j in {0, 1} tells whether object j counts as covered:

    min sum x    such that    y_j <= x_j + sum of x_i over the coverers i of j,    sum y >= required

Let x and y be fractions, and the least sum is a lower bound, found by HiGHS. A solver works within tolerances, so its
optimum is not taken at its word. Whatever its multipliers u_j >= 0 and v >= 0 of the two kinds of constraints are,

    v * required + sum_i min(0, 1 - u_i - sum of u_j over what i covers) + sum_j min(0, u_j - v)

never exceeds the true optimum: that is what is reported, rounded up.
"""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.coverage.greedy import check_coverage, edges_of, required

Floats = NDArray[np.float64]

ROUNDING = 1e-9
"""Per object: far more than sums in float64 can lose, far less than one representative."""


def cover_lower_bound(graph: Any, coverage: float = 0.95, threshold: float | None = None) -> int:
    """A number of representatives below which no prototype has that coverage.

    Parameters
    ----------
    graph : NeighborGraph or sparse matrix
    coverage : float, default=0.95
        The share to cover, in (0, 1].
    threshold : float, optional
        Edges less similar than this are dropped; by default none.

    Returns
    -------
    int
        At least 1. In an approximate graph the bound is for what that graph knows.

    Examples
    --------
    >>> import covey, numpy as np
    >>> graph = covey.neighbor_graph(np.random.default_rng(0).random((300, 5)), 10)
    >>> covey.cover_lower_bound(graph), covey.cover(graph).indices.size
    (22, 26)
    """
    check_coverage(coverage)
    edges = edges_of(graph, threshold)
    n = edges.shape[0]
    u, v = _multipliers(edges, required(coverage, n))
    bound = _dual_value(edges, required(coverage, n), u, v)
    return max(1, math.ceil(bound - ROUNDING * n))


def _multipliers(edges: sp.csr_array, n_required: int) -> tuple[Floats, float]:
    """Multipliers that are about the best."""
    from scipy.optimize import linprog

    n = edges.shape[0]
    itself = sp.eye_array(n, format="csr")
    covers = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=(n, n)) + itself
    constraints = sp.vstack([sp.hstack([-covers, itself]), sp.csr_array(np.repeat([0.0, -1.0], n)[None, :])])
    limits = np.append(np.zeros(n), -n_required)
    solved = linprog(np.repeat([1.0, 0.0], n), constraints, limits, bounds=(0, 1), method="highs-ipm")
    if solved.status != 0:
        raise RuntimeError(f"HiGHS did not solve the linear program: {solved.message}")
    multipliers = np.maximum(-solved.ineqlin.marginals, 0)
    return multipliers[:-1], float(multipliers[-1])


def _dual_value(edges: sp.csr_array, n_required: int, u: Floats, v: float) -> float:
    spent = u + np.bincount(edges.indices, np.repeat(u, np.diff(edges.indptr)), minlength=u.size)
    return float(v * n_required + np.minimum(0, 1 - spent).sum() + np.minimum(0, u - v).sum())
