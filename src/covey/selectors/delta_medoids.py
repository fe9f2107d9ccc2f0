"""Delta-medoids (Liebman, Chor and Stone, 2015): every object is within delta of its group's medoid.

1. Assign. In the order of the data, each object joins its most similar representative if their similarity is at least
   delta. Otherwise the object becomes a representative itself and opens a group. The medoids of the iteration before
   are representatives from the start.
2. Find medoids. The medoid of a group is the member to which the others are most similar on average. If `strict`, only
   members that all others are within delta of may be the medoid. The object that opened the group is always one of
   them.
3. Repeat both steps until the medoids stay the same.

The iteration ends. A medoid never leaves its group, so that the number of groups only grows, and as long as no group is
opened, the sum of the similarities to the medoids only grows as well. Rounding could still make the medoids alternate
between choices of equal sums. This is recognised, because a set of medoids then occurs again.

Each similarity is evaluated when a step first asks for it, and kept (`EvaluatedSimilarities`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import StrOptions

from covey.arrays import Floats, Indices, Integers
from covey.prototype import Prototype
from covey.runtime.memory import check_fits
from covey.runtime.parameters import WHOLE, Interval
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.request import Request
from covey.selectors.saved_state import COUNT, Constraint, Facts, FittedState
from covey.similarity import run
from covey.similarity.calls.failures import OnError
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.run import CheckpointPath
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space

BLOCK = 1 << 20
"""About how many similarities are looked up at a time. They take 8 MB; a smaller number would cost more calls."""


class EvaluatedSimilarities:
    """The similarities of a space. Each is evaluated when it is first asked for, and kept.

    They take 8 bytes a pair: 4 n^2 bytes if the space is symmetric, and 8 n^2 otherwise. If they cannot fit into
    memory, the error ends with the `remedy`.
    """

    def __init__(self, space: Space, remedy: str) -> None:
        self.space = space
        size = space.n_pairs if space.symmetric else space.n_left**2
        check_fits(8 * size, f"Keeping the similarities of {space.n_left} objects", remedy)
        self._values = np.full(size, np.nan)

    def admit(self, pairs: ScoredPairs) -> None:
        """Add pairs that were scored elsewhere."""
        self._values[self._places(pairs.i, pairs.j)] = pairs.forward
        self._values[self._places(pairs.j, pairs.i)] = pairs.backward

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return the similarities s(i[t], j[t]) of different objects."""
        places = self._places(i, j)
        missing = np.flatnonzero(np.isnan(self._values[places]))
        if missing.size:
            missing = missing[np.unique(places[missing], return_index=True)[1]]
            a, b = i[missing], j[missing]
            if self.space.symmetric:  # always scored from the lower to the higher number
                a, b = np.minimum(a, b), np.maximum(a, b)
            self._values[places[missing]] = self.space.score(a, b)
        return self._values[places]

    def block(self, i: Indices, j: Indices, itself: float) -> Floats:
        """Return the matrix of s(i[a], j[b]), with `itself` where both are the same object."""
        values = np.full((i.size, j.size), itself)
        different = i[:, None] != j
        a, b = np.nonzero(different)
        values[different] = self.of(i[a], j[b])
        return values

    def _places(self, i: Indices, j: Indices) -> Integers:
        """Return where the similarity of each pair is kept.

        If the space is symmetric, both directions have one place.
        """
        n = self.space.n_left
        if not self.space.symmetric:
            return i.astype(np.int64) * n + j
        low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j)
        return low * (2 * n - low - 1) // 2 + high - low - 1


BATCH = 256
"""How many objects are compared with all representatives at a time. A larger number makes fewer calls and longer
blocks; it does not change the result."""
ROUNDED_BITS = 20
"""How many of the last of the 53 bits of a sum of similarities are ignored when sums are compared. They hold rounding
errors, and without them sums that are equal in exact arithmetic are equal. With 20 bits, a million roundings fit."""

STOPPED_BY = {"unchanged", "cycle", "max_iter", "one_shot"}
"""What may end the iterations."""


class Iterations(NamedTuple):
    """How many iterations a cluster took, and what ended them."""

    n_iter: int
    stopped_by: str

    def checked(self, prototype: Prototype) -> Self:
        """Return what a file says of the iterations. Raise ValueError if it cannot be true."""
        if self.stopped_by not in STOPPED_BY:
            raise ValueError(f"the iterations cannot have been ended by {self.stopped_by!r}")
        return self._replace(n_iter=COUNT.check("n_iter", self.n_iter))


class DeltaMedoids(Selector):
    """Find representatives such that every object is within delta of one of them.

    Delta-medoids [1]_ spreads representatives evenly over a cluster, where CRS follows its density. Use it if every
    object must have a representative that is similar enough.

    Parameters
    ----------
    delta : "homogeneity" or float, default="homogeneity"
        The least similarity of an object to its representative. By default it is the mean similarity of the cluster's
        pairs. A larger delta gives more representatives.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), or what `covey.batched` or `covey.from_distance`
        returns. It is "precomputed" if X is a matrix of similarities. If it is not symmetric, s(x, r) is used for an
        object x and a representative r.
    strict : bool, default=True
        Whether a medoid must be within delta of its whole group. If not, the medoid is the member to which the others
        are most similar on average, and some members may stay uncovered.
    one_shot : bool, default=False
        Whether to assign the objects only once and keep the representatives that opened the groups. This takes far
        fewer evaluations and gives more representatives.
    max_iter : int, default=50
        The most iterations.
    checkpoint : path or None, default=None
        A file that keeps what the fit has paid for, so that the same call goes on where it was stopped. See
        `covey.CRS`.
    on_error : {"raise", "lowest"}, default="raise"
        What happens if the similarity fails for a pair. See `covey.CRS`.
    timeout : float or None, default=None
        How many seconds one evaluation of a custom function may take. See `covey.CRS`.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled if the homogeneity is not computed exactly.
    n_jobs : int or None, default=None
        How many threads, for compiled similarities, or processes, for slow Python functions, share the work. As in
        joblib, None means 1 and -1 means all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs the result of each cluster to the logger "covey". 2 does
        both.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster, and those with the largest groups come first.
    prototypes_ : dict
        The `Prototype` of each label. Its gains are the sizes of the groups.
    n_evaluations_ : int
        How many similarities were computed. None of them is computed twice, but for a spot check of at most 1 % of the
        pairs.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take.
    n_iter_ : int
        The most iterations that a cluster took.
    stopped_by_ : dict
        What ended the iterations of each label: "unchanged", "cycle", "max_iter" or "one_shot".
    checkpoint_ : CheckpointReport
        How many evaluations the checkpoint has saved. It is there only if there is a checkpoint.
    n_failed_ : int
        How many evaluations have failed. It is there only if ``on_error="lowest"``.

    Raises
    ------
    MemoryError
        At `fit`, if the similarities of a cluster would take more memory than the machine has. Use `covey.CRS`.
    ValueError
        At `fit`, if a parameter has a value that is not allowed, or if X or y does not fit.

    See Also
    --------
    covey.CRS : Takes fewer evaluations, and memory that grows with n. With ``n_neighbors=None`` and ``coverage=1`` it
        gives the same guarantee.

    Notes
    -----
    The result depends on the order of the objects. All similarities that were computed are kept. This takes 4 n^2 bytes
    for a cluster of n objects, which is 144 MB for 6 000, and 8 n^2 if the similarity is not symmetric.

    References
    ----------
    .. [1] E. Liebman, B. Chor and P. Stone, "Representative Selection in Nonmetric Datasets", Applied Artificial
       Intelligence 29 (2015).

    Examples
    --------
    >>> import covey
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> numbers = [1, 2, 3, 10, 11, 12, 13, 20]
    >>> selector = covey.DeltaMedoids(delta=-2, similarity=nearness).fit(numbers)
    >>> [numbers[i] for i in selector.sample_indices_]
    [2, 11, 13, 20]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "delta": [StrOptions({"homogeneity"}), Interval(Real, None, None, closed="neither")],
        "similarity": "no_validation",
        "strict": ["boolean"],
        "one_shot": ["boolean"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        **run.CONSTRAINTS,
        "random_state": ["random_state"],
        "n_jobs": [WHOLE, None],
        "verbose": ["verbose"],
    }
    _fitted_state: ClassVar[FittedState] = {
        "n_iter_": COUNT,
        "stopped_by_": Constraint(
            "a dict of labels and what ended their iterations",
            lambda value: type(value) is dict and {*value.values()} <= STOPPED_BY,
        ),
    }
    _fitted_facts: ClassVar[Facts] = {
        "stopped_by_ must have the labels of the prototypes": lambda selector: (
            selector.stopped_by_.keys() == selector.prototypes_.keys()
        ),
    }

    _details = Iterations

    def __init__(
        self,
        delta: float | str = "homogeneity",
        *,
        similarity: SimilarityLike = "cosine",
        strict: bool = True,
        one_shot: bool = False,
        max_iter: int = 50,
        checkpoint: CheckpointPath = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.delta = delta
        self.similarity = similarity
        self.strict = strict
        self.one_shot = one_shot
        self.max_iter = max_iter
        self.checkpoint = checkpoint
        self.on_error = on_error
        self.timeout = timeout
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        return self._select(cluster, rng, self._request_in(cluster)).prototype

    def _select(self, cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
        space, multiplicity = cluster.space, cluster.multiplicity
        evaluated = EvaluatedSimilarities(space, "use covey.CRS, whose memory grows with n")
        delta, homogeneity = self._delta(evaluated, multiplicity, rng)
        groups, n_iter, stopped_by = self._iterate(evaluated, delta, multiplicity)
        indices, sizes = groups.by_size(multiplicity)
        covered = groups.similarities >= delta
        covered[indices] = True
        prototype = cluster.prototype(
            indices=indices,
            gains=sizes.astype(np.float64),
            covered_by=np.where(covered, groups.medoids, -1),
            homogeneity=homogeneity,
            threshold=delta,
            n_orphans=int(np.sum(sizes == 1)),
        )
        return ClusterResult(prototype, cluster.n_pairs, Iterations(n_iter, stopped_by))

    def _finish(self, selected: list[ClusterResult], request: Request) -> list[Prototype]:
        self.n_iter_ = max(one.details.n_iter for one in selected)
        self.stopped_by_ = {one.prototype.label: one.details.stopped_by for one in selected}
        return super()._finish(selected, request)

    def _delta(
        self, evaluated: EvaluatedSimilarities, multiplicity: Integers, rng: np.random.Generator
    ) -> tuple[float, float]:
        """Return delta, and the homogeneity if it was needed."""
        if self.delta != "homogeneity":
            return float(self.delta), np.nan
        mean, pairs = mean_similarity(evaluated.space, multiplicity, rng)
        if pairs is not None:
            evaluated.admit(pairs)
        return as_threshold(mean.value), mean.value

    def _iterate(
        self, evaluated: EvaluatedSimilarities, delta: float, multiplicity: Integers
    ) -> tuple["MedoidGroups", int, str]:
        """Return the last groups, the number of iterations, and what ended them."""
        seen: set[bytes] = set()
        previous = b""
        steps = iterations(evaluated, delta, multiplicity, strict=self.strict, one_shot=self.one_shot)
        for n_iter, groups in enumerate(steps, start=1):
            medoids = np.unique(groups.medoids).tobytes()
            if self.one_shot:
                return groups, n_iter, "one_shot"
            if medoids == previous:
                return groups, n_iter, "unchanged"
            if medoids in seen:
                return groups, n_iter, "cycle"
            if n_iter == self.max_iter:
                return groups, n_iter, "max_iter"
            seen.add(medoids)
            previous = medoids
        raise AssertionError("iterations do not end by themselves")


@dataclass(frozen=True)
class MedoidGroups:
    """For each object, the medoid of its group and its similarity to this medoid."""

    medoids: Indices
    similarities: NDArray[np.float64]

    def by_size(self, multiplicity: Integers) -> tuple[NDArray[np.intp], Integers]:
        """Return the medoids and the sizes of their groups, the largest first.

        Groups of one size are in the order of their medoids.
        """
        medoids, group = np.unique(self.medoids, return_inverse=True)
        sizes = np.zeros(medoids.size, dtype=np.int64)
        np.add.at(sizes, group, multiplicity)
        order = np.lexsort((medoids, -sizes))
        return medoids[order].astype(np.intp), sizes[order]


def iterations(
    evaluated: EvaluatedSimilarities, delta: float, multiplicity: Integers, *, strict: bool, one_shot: bool
) -> Iterator[MedoidGroups]:
    """Yield the groups after each iteration, without end."""
    medoids = np.empty(0, dtype=np.int32)
    while True:
        groups = assign(evaluated, delta, medoids)
        if not one_shot:
            groups = with_medoids(evaluated, delta, multiplicity, groups, strict=strict)
        yield groups
        medoids = np.unique(groups.medoids)


def assign(evaluated: EvaluatedSimilarities, delta: float, medoids: Indices) -> MedoidGroups:
    """Let each object join its most similar representative, or become one.

    Of equally similar representatives the lowest counts.
    """
    n = evaluated.space.n_left
    owners, best = np.full(n, -1, dtype=np.int32), np.full(n, -np.inf)
    representatives = medoids
    owners[medoids] = medoids
    for start in range(0, n, BATCH):
        rows = start + np.flatnonzero(owners[start : start + BATCH] < 0).astype(np.int32)
        if representatives.size and rows.size:
            values = evaluated.block(rows, representatives, itself=np.nan)
            best[rows] = values.max(axis=1)
            owners[rows] = np.where(values == best[rows, None], representatives, n).min(axis=1)
        # The first object that is too far from all representatives becomes one, and later objects may join it.
        far = rows[~(best[rows] >= delta)]  # `not >=` also holds if delta is NaN, as it is for a single object
        while far.size:
            opened = far[0]
            owners[opened], representatives = opened, np.append(representatives, opened)
            rows = rows[rows > opened]
            similarities = evaluated.of(rows, np.full(rows.size, opened))
            closer = (similarities > best[rows]) | ((similarities == best[rows]) & (opened < owners[rows]))
            best[rows[closer]], owners[rows[closer]] = similarities[closer], opened
            far = rows[~(best[rows] >= delta)]
    best[representatives] = np.inf
    return MedoidGroups(owners, best)


def with_medoids(
    evaluated: EvaluatedSimilarities, delta: float, multiplicity: Integers, groups: MedoidGroups, *, strict: bool
) -> MedoidGroups:
    """Return the same groups, each with its medoid as representative."""
    order = np.argsort(groups.medoids, kind="stable")
    starts = np.flatnonzero(np.diff(groups.medoids[order], prepend=-1))
    medoids, similarities = np.empty_like(groups.medoids), np.full(order.size, np.inf)
    for members in np.split(order.astype(np.int32), starts[1:]):
        medoid = medoids[members] = medoid_of(evaluated, delta, multiplicity, members, strict=strict)
        others = members[members != medoid]
        similarities[others] = evaluated.of(others, np.full(others.size, medoid, dtype=np.int32))
    return MedoidGroups(medoids, similarities)


def medoid_of(
    evaluated: EvaluatedSimilarities, delta: float, multiplicity: Integers, members: Indices, *, strict: bool
) -> np.int32:
    """Return the member with the largest sum of similarities of all members to it.

    Copies count, too, and of equal members the lowest is returned.
    """
    if members.size == 1:
        return members[0]
    sums, least = sums_of(evaluated, multiplicity[members], members)
    sums = without_rounding(sums)
    if strict:
        sums[least < delta] = -np.inf
    return members[np.argmax(sums)]


def sums_of(evaluated: EvaluatedSimilarities, multiplicity: Integers, members: Indices) -> tuple[Floats, Floats]:
    """Return the sum of the similarities of all members to each of them, and the least of these similarities."""
    sums, least = np.zeros((2, members.size))
    several = multiplicity > 1
    sums[several] = (multiplicity[several] - 1) * evaluated.space.of_copies(members[several])
    step = max(1, BLOCK // members.size)
    for start in range(0, members.size, step):
        part = slice(start, start + step)
        values = evaluated.block(members, members[part], itself=np.nan)
        sums[part] += np.nansum(values * multiplicity[:, None], axis=0)
        least[part] = np.nanmin(values, axis=0)
    return sums, least


def without_rounding(sums: Floats) -> Floats:
    """Return sums that can be compared: those that differ only by rounding become equal."""
    unit = np.ldexp(1.0, np.frexp(np.abs(sums).max())[1] - 53 + ROUNDED_BITS)
    return np.rint(sums / unit)
