"""Delta-medoids (Liebman, Chor and Stone, 2015): every object within delta of its cluster's medoid.

1. Assign: in the order of the data, each object joins the most similar representative if that is at least delta
   similar; else it becomes one. The medoids of the iteration before are there from the start.
2. Medoids: each group is represented by the member most similar to the others on average; if `strict`, only members
   that all others are within delta of are eligible, and whoever opened the group is one.
3. Repeat until the medoids stay the same.

A medoid never leaves its group, so groups only get more, and between two openings the sum of similarities to the
medoids only grows: the iteration ends. Rounding could still make sums of equal size go round in a circle, which is
recognised.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.utils._param_validation import Interval, StrOptions

from covey.arrays import Floats, Indices, Integers
from covey.prototype import Prototype
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster
from covey.selectors.delta_medoids_pairs import BLOCK, KnownSimilarities
from covey.selectors.state import COUNT, Facts, FittedState, Rule
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.similarity import SimilarityLike

BATCH = 256
"""Of how many objects the similarities to all representatives are asked at a time."""
ROUNDED_BITS = 20
"""Of the 53 bits of a sum of similarities, the last ones that are not compared: they hold what was rounded, so that
sums that are equal on paper tie."""


class DeltaMedoids(Selector):
    """Representatives such that every object is within delta of one of them.

    Parameters
    ----------
    delta : "homogeneity" or float, default="homogeneity"
        The similarity that an object must have to its representative; the cluster's mean by default. Larger, more
        representatives.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), `covey.batched`, `covey.from_distance`, or
        "precomputed" if X is a matrix of similarities. If it is not symmetric, s(x, r) is
        asked for an object x and a representative r.
    strict : bool, default=True
        Whether a medoid must be within delta of its whole group. If not, it is the member most similar to the others
        on average, and some may not be covered in the end.
    one_shot : bool, default=False
        Assign once and keep whoever opened a group: far fewer evaluations, more representatives.
    max_iter : int, default=50
        The most iterations.
    random_state : int, RandomState instance or None, default=None
        Decides the pairs that are sampled where the homogeneity is not known exactly.
    n_jobs : int or None, default=None
        Threads for compiled similarities, processes for Python callables that take long enough; -1 for all cores.
    verbose : int, default=0
        1 shows a bar on a terminal, or else logs each cluster's result to the logger "covey"; 2 does both.

    Attributes
    ----------
    sample_indices_ : int array
        Rows of X selected: by cluster, the one with the largest group first.
    prototypes_ : dict
        The `Prototype` of each label; its gains are the sizes of the groups.
    n_evaluations_ : int
        How many similarities were computed; none is computed twice.
    scan_rate_ : float
        That number as a share of all pairs within clusters.
    n_iter_ : int
        The most iterations that a cluster took.
    stopped_by_ : dict
        What ended each label's iterations: "unchanged", "cycle", "max_iter" or "one_shot".

    Notes
    -----
    The result depends on the order of the objects. Similarities are kept: 4 n^2 bytes for a cluster of n (8 n^2 if
    they are not symmetric), 144 MB for 6 000 objects.

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
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
    _fitted_state: ClassVar[FittedState] = {
        "n_iter_": COUNT,
        "stopped_by_": Rule(
            "a dict of labels and what ended their iterations",
            lambda value: type(value) is dict and {*value.values()} <= {"unchanged", "cycle", "max_iter", "one_shot"},
        ),
    }
    _fitted_facts: ClassVar[Facts] = {
        "stopped_by_ must have the labels of the prototypes": lambda selector: (
            selector.stopped_by_.keys() == selector.prototypes_.keys()
        ),
    }

    def __init__(
        self,
        delta: float | str = "homogeneity",
        *,
        similarity: SimilarityLike = "cosine",
        strict: bool = True,
        one_shot: bool = False,
        max_iter: int = 50,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.delta = delta
        self.similarity = similarity
        self.strict = strict
        self.one_shot = one_shot
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        return self._select_with_details(cluster, rng)[0]

    def _select_with_details(self, cluster: Cluster, rng: np.random.Generator) -> tuple[Prototype, tuple[int, str]]:
        """The prototype, the number of iterations, and what ended them."""
        space, multiplicity = cluster.space, cluster.multiplicity
        known = KnownSimilarities(space, "use covey.CRS, whose memory grows with n")
        delta, homogeneity = self._delta(known, multiplicity, rng)
        groups, n_iter, stopped_by = self._iterate(known, delta, multiplicity)
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
        return prototype, (n_iter, stopped_by)

    def _set_details(self, details: dict[Any, tuple[int, str]], n: int) -> None:
        self.n_iter_ = max(n_iter for n_iter, _ in details.values())
        self.stopped_by_ = {label: stopped_by for label, (_, stopped_by) in details.items()}

    def _delta(self, known: KnownSimilarities, multiplicity: Integers, rng: np.random.Generator) -> tuple[float, float]:
        """The similarity asked for, and the homogeneity if it was needed."""
        if self.delta != "homogeneity":
            return float(self.delta), np.nan
        found, pairs = mean_similarity(known.space, multiplicity, rng)
        if pairs is not None:
            known.admit(pairs)
        return as_threshold(found.value), found.value

    def _iterate(self, known: KnownSimilarities, delta: float, multiplicity: Integers) -> tuple["Groups", int, str]:
        """The last groups, the number of iterations and what ended them."""
        seen: set[bytes] = set()
        previous = b""
        steps = iterations(known, delta, multiplicity, self.strict, self.one_shot)
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
class Groups:
    """For each object the medoid of its group and the similarity to it."""

    medoids: Indices
    similarities: NDArray[np.float64]

    def by_size(self, multiplicity: Integers) -> tuple[NDArray[np.intp], Integers]:
        """The medoids, that of the largest group first, then by index, and the sizes."""
        medoids, group = np.unique(self.medoids, return_inverse=True)
        sizes = np.zeros(medoids.size, dtype=np.int64)
        np.add.at(sizes, group, multiplicity)
        order = np.lexsort((medoids, -sizes))
        return medoids[order].astype(np.intp), sizes[order]


def iterations(
    known: KnownSimilarities, delta: float, multiplicity: Integers, strict: bool, one_shot: bool
) -> Iterator[Groups]:
    """The groups after each iteration, for ever."""
    medoids = np.empty(0, dtype=np.int32)
    while True:
        groups = assign(known, delta, medoids)
        if not one_shot:
            groups = with_medoids(known, delta, multiplicity, groups, strict)
        yield groups
        medoids = np.unique(groups.medoids)


def assign(known: KnownSimilarities, delta: float, medoids: Indices) -> Groups:
    """Let each object join its most similar representative, the lowest of equal ones, or become one."""
    n = known.space.n_left
    owners, best = np.full(n, -1, dtype=np.int32), np.full(n, -np.inf)
    representatives = medoids
    owners[medoids] = medoids
    for start in range(0, n, BATCH):
        rows = start + np.flatnonzero(owners[start : start + BATCH] < 0).astype(np.int32)
        if representatives.size and rows.size:
            values = known.block(rows, representatives, itself=np.nan)
            best[rows] = values.max(axis=1)
            owners[rows] = np.where(values == best[rows, None], representatives, n).min(axis=1)
        # Whoever is too far from all that are there becomes one itself, and those after it see it.
        far = rows[~(best[rows] >= delta)]  # a single object has no homogeneity, hence no delta
        while far.size:
            opened = far[0]
            owners[opened], representatives = opened, np.append(representatives, opened)
            rows = rows[rows > opened]
            similarities = known.of(rows, np.full(rows.size, opened))
            closer = (similarities > best[rows]) | ((similarities == best[rows]) & (opened < owners[rows]))
            best[rows[closer]], owners[rows[closer]] = similarities[closer], opened
            far = rows[~(best[rows] >= delta)]
    best[representatives] = np.inf
    return Groups(owners, best)


def with_medoids(
    known: KnownSimilarities, delta: float, multiplicity: Integers, groups: Groups, strict: bool
) -> Groups:
    """The same groups, each with its medoid."""
    order = np.argsort(groups.medoids, kind="stable")
    starts = np.flatnonzero(np.diff(groups.medoids[order], prepend=-1))
    medoids, similarities = np.empty_like(groups.medoids), np.full(order.size, np.inf)
    for members in np.split(order.astype(np.int32), starts[1:]):
        medoid = medoids[members] = medoid_of(known, delta, multiplicity, members, strict)
        others = members[members != medoid]
        similarities[others] = known.of(others, np.full(others.size, medoid, dtype=np.int32))
    return Groups(medoids, similarities)


def medoid_of(
    known: KnownSimilarities, delta: float, multiplicity: Integers, members: Indices, strict: bool
) -> np.int32:
    """The member with the largest sum of similarities to it, the lowest of equal ones; all copies count."""
    if members.size == 1:
        return members[0]
    copies = multiplicity[members]
    sums, least = np.zeros((2, members.size))
    several = copies > 1
    sums[several] = (copies[several] - 1) * known.space.of_copies(members[several])
    step = max(1, BLOCK // members.size)
    for at in range(0, members.size, step):
        part = slice(at, at + step)
        values = known.block(members, members[part], itself=np.nan)
        sums[part] += np.nansum(values * copies[:, None], axis=0)
        least[part] = np.nanmin(values, axis=0)
    sums = without_rounding(sums)
    if strict:
        sums[least < delta] = -np.inf
    return members[np.argmax(sums)]


def without_rounding(sums: Floats) -> Floats:
    """Sums to compare: those that differ by no more than rounding are the same."""
    unit = np.ldexp(1.0, np.frexp(np.abs(sums).max())[1] - 53 + ROUNDED_BITS)
    return np.rint(sums / unit)
