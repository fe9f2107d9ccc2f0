"""DS3: dissimilarity-based sparse subset selection (Elhamifar, Sapiro and Sastry, 2016).

Row i of the matrix Z says what share of each object j the object i represents. Representing all of j by i costs d_ij.
DS3 solves one of two problems:

    min <D, Z>                                    sum_i |Z_i|_inf <= budget    (constrained)
    min lambda * sum_i |Z_i|_p + <D, Z>           lambda = alpha * lambda_max  (regularised)

In both, Z >= 0 and every column of Z sums to 1. The solution uses few rows, and these are the representatives. For p =
inf the problem is solved exactly (`facility.py`, which also says what a `Solution` is), and for p = 2 until the
certified gap is small (`admm.py`). `DS3` itself is here.
"""

import warnings
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils._param_validation import Options

from covey.arrays import Floats, Integers, Positions
from covey.prototype import Prototype
from covey.runtime.executor import one_blas_thread
from covey.runtime.memory import check_fits
from covey.runtime.parameters import WHOLE, Interval
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.ds3 import admm, facility
from covey.selectors.request import Request
from covey.selectors.saved_state import COUNT, NUMBER, ROWS, WEIGHTS, Facts, FittedState, n_objects
from covey.similarity import run
from covey.similarity.calls.failures import OnError
from covey.similarity.run import CheckpointPath
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import Space
from covey.similarity.sums import added, mean_of, total_of

Costs = NDArray[np.float32]
"""Costs of representing one object by another. Single precision halves the memory that all pairs take."""

USED = 0.1
"""A row is a representative if its largest share is at least this share of the largest share of all rows. A lower value
would keep rows with nothing but tiny shares, and a higher one would lose rows of fractional optima."""
BLOCK = 1 << 20
"""About how many similarities are asked for at a time. They and their indices take some 20 MB; a smaller number would
cost more calls."""


class SolverResult(NamedTuple):
    """What a solver has found: the rows of Z in use, their shares of each object, and how exact this is."""

    rows: Positions
    shares: Floats
    gap: float
    """The relative duality gap."""
    n_iter: int


class Details(NamedTuple):
    """What `fit` sets for one cluster besides its prototype."""

    n_iter: int
    gap: float
    rows: Positions
    """The rows of X that represent other objects, at least in part."""
    weights: Floats
    """The largest share of each of these rows."""
    outliers: Positions
    """The rows of X that have no representative."""

    def checked(self, prototype: Prototype) -> Self:
        """Return the details of this prototype as a file has them. Raise ValueError if they cannot be true."""
        rows, outliers = ROWS.check("rows", self.rows), ROWS.check("outliers", self.outliers)
        weights = WEIGHTS.check("weights", self.weights)
        if rows.size != weights.size or not np.isin(np.concatenate([rows, outliers]), prototype.members).all():
            raise ValueError("rows and outliers must be members of the cluster")
        return type(self)(COUNT.check("n_iter", self.n_iter), NUMBER.check("gap", self.gap), rows, weights, outliers)


class DS3(Selector):
    """Find representatives by sparse optimisation over all pairs, and certify how close to the optimum they are.

    DS3 [1]_ finds very few representatives that stand for all objects as cheaply as possible. It is the most expensive
    method: use it for small clusters.

    Parameters
    ----------
    budget : float, default=3
        The most representatives of each cluster, as the sum of their largest shares. It must be at least 1. If a
        fractional optimum is better, more objects than that represent others in part: 24 for a budget of 3 and 700
        uniformly distributed points.
    alpha : float, optional
        Solve the regularised problem instead, with lambda = alpha * lambda_max. A larger alpha gives fewer
        representatives, and 1 usually gives one.
    p : {2, inf}, default=inf
        The norm of the rows of Z in the regularised problem. The constrained one takes inf.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), or what `covey.batched` or `covey.from_distance`
        returns. It is "precomputed" if X is a matrix of similarities. It may be asymmetric and need not follow the
        triangle inequality. The cost of representing x by r is the largest similarity of two different objects less
        s(x, r), divided by the largest such cost. It is 0 if r is equal to x.
    outliers : bool, default=False
        Whether objects may stay without a representative and become outliers. For an object this costs beta * exp(-m /
        sigma), where m is the least cost above 0 of representing it.
    beta : float, default=1
        How expensive outliers are, above 0. The default is that of the toolbox of the DS3 authors.
    sigma : float, default=1
        How fast an outlier becomes cheaper with its least cost, above 0. The default has the same source.
    tol : float, default=1e-3
        The relative duality gap at which iterations stop for p = 2. A larger gap at the end gives a warning for any p.
    max_iter : int, default=3000
        The most iterations for p = 2.
    checkpoint : path or None, default=None
        A file that keeps what the fit has paid for, so that the same call goes on where it was stopped. See
        `covey.CRS`.
    on_error : {"raise", "lowest"}, default="raise"
        What happens if the similarity fails for a pair. See `covey.CRS`.
    timeout : float or None, default=None
        How many seconds one evaluation of a custom function may take. See `covey.CRS`.
    n_jobs : int or None, default=None
        How many threads, for compiled similarities, or processes, for slow Python functions, share the work. As in
        joblib, None means 1 and -1 means all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs the result of each cluster to the logger "covey". 2 does
        both.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster, and those that represent most come first.
    prototypes_ : dict
        The `Prototype` of each label. Its gains are the sums of the representatives' shares.
    duality_gap_ : float
        The largest relative gap of all clusters, from 0 to 1. Each optimum costs at least (1 - gap) times what was
        found. The gap is 0 if the two differ by less than 1e-12 of what a single representative of all would cost,
        because this is rounding.
    row_weights_ : float array
        For each row of X, the largest share of any object that it represents. Rows with at least a tenth of their
        cluster's largest weight are representatives. These are sorted by the Euclidean norm of their shares.
    outliers_ : int array
        The rows of X of which less than half is represented.
    n_evaluations_ : int
        How many similarities were computed, which are those of all pairs within clusters.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take, which is 1.
    n_iter_ : int
        The most iterations that a cluster took.
    checkpoint_ : CheckpointReport
        How many evaluations the checkpoint has saved. It is there only if there is a checkpoint.
    n_failed_ : int
        How many evaluations have failed. It is there only if ``on_error="lowest"``.

    Raises
    ------
    MemoryError
        At `fit`, if a cluster needs more memory than the machine has. Use `covey.CRS`.
    ValueError
        At `fit`, if a parameter has a value that is not allowed, such as ``p=2`` without `alpha`.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If a solver has stopped at a gap above `tol`. The message says what to change.

    See Also
    --------
    covey.CRS : Takes fewer evaluations, and memory that grows with n.

    Notes
    -----
    The costs of all pairs are kept in single precision. With p = inf a cluster of n objects takes 4 n^2 bytes (144 MB
    for 6 000 objects), 30 n bytes for each representative, and up to half a gigabyte for a linear program. With p = 2
    it takes 24 n^2 bytes. A cluster that needs more memory than the machine has is refused at once. With p = inf, a
    large budget or a small alpha on a large cluster may leave more rows in question than a linear program can take. The
    best answer found is then returned with its gap and a warning.

    References
    ----------
    .. [1] E. Elhamifar, G. Sapiro and S. S. Sastry, "Dissimilarity-Based Sparse Subset Selection", IEEE Transactions
       on Pattern Analysis and Machine Intelligence 38 (2016).

    Examples
    --------
    >>> import covey
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> numbers = [1, 2, 3, 10, 11, 12, 13, 20]
    >>> selector = covey.DS3(budget=2, similarity=nearness).fit(numbers)
    >>> [numbers[i] for i in selector.sample_indices_], selector.duality_gap_
    ([12, 2], 0.0)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "budget": [Interval(Real, 1, None, closed="left")],
        "alpha": [Interval(Real, 0, None, closed="neither"), None],
        "p": [Options(Real, {2, np.inf})],
        "similarity": "no_validation",
        "outliers": ["boolean"],
        "beta": [Interval(Real, 0, None, closed="neither")],
        "sigma": [Interval(Real, 0, None, closed="neither")],
        "tol": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **run.CONSTRAINTS,
        "n_jobs": [WHOLE, None],
        "verbose": ["verbose"],
    }
    _fitted_state: ClassVar[FittedState] = {
        "n_iter_": COUNT,
        "duality_gap_": NUMBER,
        "row_weights_": WEIGHTS,
        "outliers_": ROWS,
    }
    _fitted_facts: ClassVar[Facts] = {
        "row_weights_ must have one entry for each row": lambda selector: (
            selector.row_weights_.size == n_objects(selector)
        ),
        "outliers_ must be rows": lambda selector: selector.outliers_.max(initial=0) < n_objects(selector),
    }

    def __init__(
        self,
        budget: float = 3,
        *,
        alpha: float | None = None,
        p: float = np.inf,
        similarity: SimilarityLike = "cosine",
        outliers: bool = False,
        beta: float = 1.0,
        sigma: float = 1.0,
        tol: float = 1e-3,
        max_iter: int = 3000,
        checkpoint: CheckpointPath = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.budget = budget
        self.alpha = alpha
        self.p = p
        self.similarity = similarity
        self.outliers = outliers
        self.beta = beta
        self.sigma = sigma
        self.tol = tol
        self.max_iter = max_iter
        self.checkpoint = checkpoint
        self.on_error = on_error
        self.timeout = timeout
        self.n_jobs = n_jobs
        self.verbose = verbose

    _details = Details

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.alpha is None and self.p == 2:
            raise ValueError("p must be inf with a budget, got 2; pass alpha for the regularised form.")

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        return self._select(cluster, rng, self._request_in(cluster)).prototype

    def _select(self, cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
        costs, homogeneity = dissimilarities(cluster.space, cluster.multiplicity, 4 if self.p == np.inf else 24)
        with one_blas_thread:  # the last bits of a product differ with the number of threads
            return self._optimised(cluster, costs, homogeneity)

    def _optimised(self, cluster: Cluster, costs: Costs, homogeneity: float) -> ClusterResult:
        """Select in a cluster whose costs are known; the costs are changed."""
        multiplicity, spared = cluster.multiplicity, self._spared(costs)
        # From here on the costs of a column are those of all the equal objects that it stands for.
        costs *= multiplicity.astype(np.float32)
        spared *= multiplicity
        solution = self._solve(costs, spared, multiplicity)
        rows, shares = solution.rows, solution.shares
        if not rows.size:  # all objects are outliers, but a prototype needs a representative
            rows, shares = np.array([np.argmin(costs.sum(axis=1, dtype=np.float64))]), np.zeros((1, len(costs)))
        weights = shares.max(axis=1)
        used = np.flatnonzero(weights >= USED * weights.max())
        used = used[np.argsort(-(shares[used] ** 2 @ multiplicity), kind="stable")]
        representatives = rows[used]
        covered_by = representatives[_most_used(shares[used], costs[representatives])]
        covered_by[shares.sum(axis=0) < 0.5] = -1
        covered_by[representatives] = representatives
        prototype = cluster.prototype(
            indices=representatives,
            gains=shares[used] @ multiplicity,
            covered_by=covered_by,
            homogeneity=homogeneity,
        )
        outliers = prototype.members[prototype.covered_by < 0]
        details = Details(solution.n_iter, solution.gap, cluster.rows[rows], weights, outliers)
        return ClusterResult(prototype, cluster.n_pairs, details)

    def _finish(self, selected: list[ClusterResult], request: Request) -> list[Prototype]:
        details: list[Details] = [one.details for one in selected]
        self.n_iter_ = max(detail.n_iter for detail in details)
        self.duality_gap_ = max(detail.gap for detail in details)
        self.outliers_ = np.sort(np.concatenate([detail.outliers for detail in details]))
        self.row_weights_ = np.zeros(request.n)
        for detail in details:
            self.row_weights_[detail.rows] = detail.weights
        return super()._finish(selected, request)

    def _spared(self, costs: Costs) -> Floats:
        """Return what it costs to leave each object without a representative."""
        if not self.outliers:
            return np.full(len(costs), np.inf)
        least = np.min(costs, axis=0, where=costs > 0, initial=np.inf).astype(np.float64)
        least[np.isinf(least)] = 0  # every object represents it at no cost
        return float(self.beta) * np.exp(-least / float(self.sigma))

    def _solve(self, costs: Costs, spared: Floats, multiplicity: Integers) -> "SolverResult":
        """Solve the problem for the whole cluster, exactly or by `_relax`."""
        if not costs.any():  # no object costs anything, so that any one represents all
            return SolverResult(np.array([0]), np.ones((1, len(costs))), 0.0, 1)
        price = None if self.alpha is None else float(self.alpha) * largest_lambda(costs, self.p, multiplicity)
        if self.p == 2 and price:
            return self._relax(costs, price, spared, multiplicity)
        budget = float(self.budget) if price is None else np.inf
        solved = facility.solve(costs, facility.Openings(price, budget), spared)
        self._warn(solved.gap, "the linear program is too large; use fewer objects")
        return SolverResult(*facility.serve(costs, solved.answer, spared), solved.gap, solved.n_iter)

    def _relax(self, costs: Costs, price: float, spared: Floats, multiplicity: Integers) -> "SolverResult":
        """Solve the regularised problem for p = 2, up to a gap."""
        columns, weights, radii = costs.T, np.full(len(costs), price), np.sqrt(multiplicity)
        if self.outliers:
            columns, weights = np.column_stack([columns, spared.astype(columns.dtype)]), np.append(weights, 0)
        columns = np.ascontiguousarray(columns / radii.astype(columns.dtype)[:, None])
        relaxed = admm.solve(columns, weights, radii, float(self.tol), int(self.max_iter))
        self._warn(relaxed.gap, f"raise max_iter above {self.max_iter}")
        shares = (relaxed.answer / relaxed.answer.sum(axis=1, keepdims=True))[:, : len(costs)].T
        rows = np.flatnonzero(shares.max(axis=1) > 0)
        return SolverResult(rows, shares[rows].astype(np.float64), relaxed.gap, relaxed.n_iter)

    def _warn(self, gap: float, remedy: str) -> None:
        """Warn if a solver has stopped at a larger gap than was asked for."""
        if gap > self.tol:
            warnings.warn(
                f"DS3 stopped at a duality gap of {gap:.2g}, above tol={self.tol:g}; {remedy}, or raise tol.",
                ConvergenceWarning,
                stacklevel=2,
            )


def dissimilarities(space: Space, multiplicity: Integers, bytes_a_pair: int) -> tuple[Costs, float]:
    """Return the cost of representing object j by object i, and the mean similarity of different objects.

    An object of multiplicity m stands for m equal ones. Two of these are different objects, and they are as similar as
    the object is to itself.
    """
    n = space.n_left
    check_fits(bytes_a_pair * n * n, f"DS3 on a cluster of {n} objects", "draw a sample of it, or use covey.CRS")
    space.expect(space.n_pairs)
    costs = np.zeros((n, n), dtype=np.float32)
    copied = np.flatnonzero(multiplicity > 1).astype(np.int32)
    copies, twins = multiplicity[copied], space.of_copies(copied)
    largest, totals = float(twins.max(initial=-np.inf)), [total_of(twins, copies * (copies - 1))]
    origin, scale = 0.0, 0.0  # stored numbers are moved and scaled to lie between 0 and about 1 in single precision
    objects = np.arange(n, dtype=np.int32)
    step = max(1, BLOCK // n)
    for start in range(0, n, step):
        x, r = np.meshgrid(objects[start : start + step], objects, indexing="ij")
        asked = x < r if space.symmetric else x != r
        x, r = x[asked], r[asked]
        similarities = space.score(x, r)
        largest = max(largest, float(similarities.max(initial=-np.inf)))
        totals += [total_of(similarities, multiplicity[x] * multiplicity[r])] * (2 if space.symmetric else 1)
        if start == 0:
            origin = largest
        short = origin - similarities
        scale = scale or float(np.abs(short).max(initial=0.0))
        if scale:
            short /= scale
        costs[r, x] = short
        if space.symmetric:
            costs[x, r] = short
    if scale:
        costs += np.float32((largest - origin) / scale)
    np.maximum(costs, 0, out=costs)  # rounding may have made some costs negative
    np.fill_diagonal(costs, 0)
    if costs.any():
        costs /= costs.max()
    size = int(multiplicity.sum())
    return costs, mean_of(added(totals), size * (size - 1)) if size > 1 else np.nan


def largest_lambda(costs: Costs, p: float, multiplicity: Integers) -> float:
    """Return lambda_max. With a larger lambda, one representative is enough (for p = inf, usually).

    The costs of a column are those of all the equal objects that it stands for.
    """
    cheapest = costs[np.argmin(costs.sum(axis=1, dtype=np.float64))].astype(np.float64)
    largest = 0.0
    for row in costs:
        more = row - cheapest
        if p == np.inf:
            largest = max(largest, float(np.abs(more).sum()) / 2)
        elif more.sum() > 0:
            squares = float(more @ (more / multiplicity))
            largest = max(largest, float(np.sqrt(multiplicity.sum())) * squares / (2 * float(more.sum())))
    return largest


def _most_used(shares: Floats, costs: Costs) -> Positions:
    """Return for each object the position of the representative with the largest share of it, or of the cheapest if
    none has any share.
    """
    return np.where(shares.max(axis=0) > 0, shares.argmax(axis=0), costs.argmin(axis=0))
