"""How few representatives any choice needs: a lower bound by linear programming.

The smallest choice of representatives solves an integer program. x_i in {0, 1} says whether object i is chosen, and y_j
in {0, 1} whether object j counts as covered:

    min sum x    such that    y_j <= x_j + sum of x_i over the coverers i of j,    sum y >= required

If x and y may also be fractions, the least sum can only get smaller; so it is a lower bound. A small program is solved
by HiGHS, the solver of SciPy, and a larger one by a method that goes through the edges a limited number of times
(`primal_dual.py`). Both work within tolerances, so their optimum is not trusted. Only their multipliers are used, u_j
>= 0 and v >= 0 of the two kinds of constraints, because for any such multipliers

    v * required + sum_i min(0, 1 - u_i - sum of u_j over the objects j that i covers) + sum_j min(0, u_j - v)

never exceeds the true optimum (weak duality). This value, rounded up, is the bound.

HiGHS does not notice Ctrl-C. So `solve_program`, which also serves other linear programs, solves a program that may
take long in a process of its own, which can be ended. The answer is the same. To start a process takes about half a
second; it is saved in two cases:

- A small program takes less than that, and is solved in this process.
- The simplex method keeps to a limit of time, so that a program is first given a short time in this process.
"""

import math
import threading
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit

from covey.arrays import Floats
from covey.coverage.edges import Edges, adjacency_of, edges_of, n_coverers
from covey.coverage.gains import check_coverage, required
from covey.coverage.primal_dual import multipliers_of, smallest
from covey.graph.graph import NeighborGraph
from covey.runtime.processes import call_apart
from covey.similarity.inputs import SparseMatrix

SMALL = 1000
"""Up to this number of constraints, a program is small. The bound of a cover of 1 000 objects, each of which has ten
random neighbors, took 0.4 s of processor time."""

SHORT = 0.5
"""How many seconds a larger program may take in this process, which is about as long as another one takes to start."""

OUT_OF_TIME = 1
"""The status that SciPy reports if HiGHS has reached a limit."""

ROUNDING = 1e-9
"""How much the value of the bound may exceed a whole number by rounding, per object. This is far more than sums in
float64 can be off, and far less than one representative."""


def cover_lower_bound(
    graph: NeighborGraph | SparseMatrix, coverage: float = 0.95, threshold: float | None = None
) -> int:
    """Prove how many representatives every choice with this coverage needs at least.

    If it is close to the number that `covey.cover` has picked, no other method can do much better on this graph.

    Parameters
    ----------
    graph : NeighborGraph or sparse matrix
        The neighbors of each object, which is G in the paper. Row x of a matrix stores the similarities of x's
        neighbors.
    coverage : float, default=0.95
        The share of objects to cover, in (0, 1]. It is epsilon in the paper.
    threshold : float, optional
        Edges less similar than this are dropped. By default, all edges are kept. It is tau in the paper.

    Returns
    -------
    int
        The bound, at least 1. It holds for the edges of this graph; an approximate graph may lack some.

    Raises
    ------
    ValueError
        If the graph or the coverage is not allowed, as in `covey.cover`.
    RuntimeError
        If HiGHS, the solver of SciPy, does not solve the linear program.

    See Also
    --------
    covey.cover : Picks representatives greedily; with ``refine=True`` it looks for fewer.

    Notes
    -----
    The bound is the optimum of a linear program for up to 1 000 objects, and within about a percent of it for more. No
    better one follows from such a program; the smallest choice often needs some tenths more. A million objects with 15
    neighbors each take less than a minute. The same graph always has the same bound.

    Examples
    --------
    >>> import covey, numpy as np
    >>> graph = covey.neighbor_graph(np.random.default_rng(0).random((300, 5)), 10)
    >>> covey.cover_lower_bound(graph), covey.cover(graph).indices.size
    (22, 26)
    """
    check_coverage(coverage)
    edges = edges_of(graph, threshold)
    n = edges.starts.size
    u, v = _multipliers(edges, required(coverage, n))
    bound = _dual_value(edges, required(coverage, n), u, v)
    return max(1, math.ceil(bound - ROUNDING * n))


def _multipliers(edges: Edges, n_required: int) -> tuple[Floats, float]:
    """Return good multipliers; they need not be optimal for the bound to be right."""
    if edges.starts.size < SMALL:
        return _optimal_multipliers(edges, n_required)
    u = multipliers_of(adjacency_of(edges), n_required)
    return u, float(smallest(u, n_required)[-1])  # no other v gives a better bound with these


def _optimal_multipliers(edges: Edges, n_required: int) -> tuple[Floats, float]:
    """Return the multipliers that HiGHS finds."""
    n, degrees = edges.starts.size, n_coverers(edges)
    itself = sp.eye_array(n, format="csr")
    places = np.concatenate([np.arange(*bounds) for bounds in zip(edges.starts, edges.ends, strict=True)])
    coverers, starts = edges.coverers[places], np.concatenate([[0], np.cumsum(degrees)])
    covers = sp.csr_array((np.ones(coverers.size), coverers, starts), shape=(n, n)) + itself
    constraints = sp.vstack([sp.hstack([-covers, itself]), sp.csr_array(np.repeat([0.0, -1.0], n)[None, :])])
    limits = np.append(np.zeros(n), -n_required)
    solved = solve_program(np.repeat([1.0, 0.0], n), constraints, limits, (0, 1), "highs-ipm")
    if solved.status != 0:
        raise RuntimeError(f"HiGHS did not solve the linear program: {solved.message}")
    multipliers = np.maximum(-solved.ineqlin.marginals, 0)
    return multipliers[:-1], float(multipliers[-1])


def _dual_value(edges: Edges, n_required: int, u: Floats, v: float) -> float:
    """Return the bound that these multipliers give, by the formula at the top of this module."""
    loads = u.copy()
    add_each(*edges[:3], u, loads)
    return float(v * n_required + np.minimum(0, 1 - loads).sum() + np.minimum(0, u - v).sum())


@njit(cache=True, nogil=True)
def add_each(starts, ends, coverers, u, loads):  # type: ignore[no-untyped-def]
    """Add the multiplier of each object to the loads of its coverers."""
    for j in range(u.size):
        for i in coverers[starts[j] : ends[j]]:
            loads[i] += u[j]


def solve_program(objective: Any, constraints: Any, limits: Any, bounds: Any, method: str) -> Any:
    """Minimise ``objective @ x`` such that ``constraints @ x <= limits``, and return what SciPy's `linprog` returns."""
    from scipy.optimize import linprog

    problem, options = (objective, constraints, limits), {"bounds": bounds, "method": method}
    only_here = threading.current_thread() is not threading.main_thread()  # other threads are never interrupted
    if only_here or len(limits) <= SMALL:
        return linprog(*problem, **options)
    if method == "highs-ds":
        solved = linprog(*problem, **options, options={"time_limit": SHORT})
        if solved.status != OUT_OF_TIME:
            return solved
    return call_apart(linprog, *problem, **options)
