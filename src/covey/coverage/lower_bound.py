"""How few representatives any choice needs: a lower bound by linear programming.

The smallest choice of representatives solves an integer program. x_i in {0, 1} says whether object i is chosen, and y_j
in {0, 1} whether object j counts as covered:

    min sum x    such that    y_j <= x_j + sum of x_i over the coverers i of j,    sum y >= required

If x and y may also be fractions, the least sum can only get smaller; so it is a lower bound. HiGHS, the solver of
SciPy, finds it. A solver works within tolerances, so its optimum is not trusted. Only its multipliers are used, u_j >=
0 and v >= 0 of the two kinds of constraints, because for any such multipliers

    v * required + sum_i min(0, 1 - u_i - sum of u_j over the objects j that i covers) + sum_j min(0, u_j - v)

never exceeds the true optimum (weak duality). This value, rounded up, is the bound.
"""

import math

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats
from covey.coverage.edges import edges_of
from covey.coverage.gains import check_coverage, required
from covey.coverage.linear_program import solve_program
from covey.graph.graph import NeighborGraph
from covey.similarity.types import SparseMatrix

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
    The linear program has two variables for each object. It takes longer than picking does, and more memory.

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
    """The multipliers that HiGHS finds; they need not be optimal for the bound to be right."""
    n = edges.shape[0]
    itself = sp.eye_array(n, format="csr")
    covers = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=(n, n)) + itself
    constraints = sp.vstack([sp.hstack([-covers, itself]), sp.csr_array(np.repeat([0.0, -1.0], n)[None, :])])
    limits = np.append(np.zeros(n), -n_required)
    solved = solve_program(np.repeat([1.0, 0.0], n), constraints, limits, (0, 1), "highs-ipm")
    if solved.status != 0:
        raise RuntimeError(f"HiGHS did not solve the linear program: {solved.message}")
    multipliers = np.maximum(-solved.ineqlin.marginals, 0)
    return multipliers[:-1], float(multipliers[-1])


def _dual_value(edges: sp.csr_array, n_required: int, u: Floats, v: float) -> float:
    """The bound that these multipliers give, by the formula at the top of this module."""
    spent = u + np.bincount(edges.indices, np.repeat(u, np.diff(edges.indptr)), minlength=u.size)
    return float(v * n_required + np.minimum(0, 1 - spent).sum() + np.minimum(0, u - v).sum())
