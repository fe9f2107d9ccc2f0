"""CRS: cluster representatives selection by greedy coverage of the reverse neighbor graph."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from covey.coverage.greedy import GAINS, ORPHANS, cover
from covey.graph.build import METHODS, build, choose_method
from covey.graph.descent import SAMPLE_RATE, TOL
from covey.graph.graph import GraphLike, NeighborGraph
from covey.prototype import Prototype
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster
from covey.selectors.state import NOT_SAVED, FittedState
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs


class CRS(Selector):
    """Cluster representatives selection.

    For each cluster: build the graph of the k most similar others, drop edges below the cluster's homogeneity, and
    pick greedily the objects that most others have among their neighbors, until nearly all are covered.

    Parameters
    ----------
    n_neighbors : int or "auto", default=10
        k. More neighbors, fewer representatives. "auto" is max(5, floor(sqrt((n - 1) / (2 log2 n)))) in a cluster of
        n. At most n - 1 are there.
    coverage : float, default=0.95
        The share of each cluster to cover, in (0, 1].
    threshold : "homogeneity", float or None, default="homogeneity"
        Edges less similar than this are dropped; None keeps them all.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), `covey.batched`, `covey.from_distance`, or
        "precomputed" if X is a matrix of similarities.
    graph : {"auto", "exact", "nn-descent"}, NeighborGraph or sparse matrix, default="auto"
        How the graph is made (see `covey.neighbor_graph`), or a graph of all objects of X made elsewhere, of which
        the best k edges within each cluster are used. A threshold of "homogeneity" then needs the `similarity` that
        the graph was made with, by which equal objects are merged; with any other threshold X is not looked at.
    gain : {"similarity", "count"}, default="similarity"
        Whether a newly covered object weighs as its similarity or as one. A similarity below 0 weighs nothing, but the
        object is covered all the same.
    on_orphan : {"self", "outlier"}, default="self"
        Whether objects that no edge can cover may be picked for themselves, or stay uncovered.
    refine : bool, default=False
        After the greedy choice, look for a smaller one with the same coverage: drop what is not needed, swap two
        representatives for one. It never grows, always gives the same, and takes a quarter of a second for 6 000.
    sample_rate, tol : float, default=0.7, 0.001
        NN-Descent's share of list entries joined in a round, and the share of changed entries that ends it.
    random_state : int, RandomState instance or None, default=None
        Decides sampled pairs and NN-Descent's draws. The same seed gives the same result for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads for compiled similarities, processes for Python callables that take long enough; -1 for all cores.
    verbose : int, default=0
        1 shows a bar on a terminal, or else logs each cluster's result to the logger "covey"; 2 does both.

    Attributes
    ----------
    sample_indices_ : int array
        Rows of X selected: by cluster, in the order picked.
    prototypes_ : dict
        The `Prototype` of each label; without labels, that of cluster 0.
    n_evaluations_ : int
        How many similarities were computed.
    scan_rate_ : float
        That number as a share of all pairs within clusters.

    Examples
    --------
    >>> import covey
    >>> words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b)) / len(set(a) | set(b))
    >>> selector = covey.CRS(n_neighbors=2, similarity=shared_letters).fit(words)
    >>> [words[i] for i in selector.sample_indices_]
    ['dodge', 'cart']
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"})],
        "coverage": [Interval(Real, 0, 1, closed="right")],
        "threshold": [StrOptions({"homogeneity"}), Interval(Real, None, None, closed="neither"), None],
        "similarity": "no_validation",
        "graph": [StrOptions(set(METHODS)), NeighborGraph, "sparse matrix"],
        "gain": [StrOptions(set(GAINS))],
        "on_orphan": [StrOptions(set(ORPHANS))],
        "refine": ["boolean"],
        "sample_rate": [Interval(Real, 0, 1, closed="right")],
        "tol": [Interval(Real, 0, 1, closed="both")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }
    _fitted_state: ClassVar[FittedState] = {"_given": NOT_SAVED}

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        coverage: float = 0.95,
        threshold: float | str | None = "homogeneity",
        similarity: SimilarityLike = "cosine",
        graph: GraphLike = "auto",
        gain: str = "similarity",
        on_orphan: str = "self",
        refine: bool = False,
        sample_rate: float = SAMPLE_RATE,
        tol: float = TOL,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.coverage = coverage
        self.threshold = threshold
        self.similarity = similarity
        self.graph = graph
        self.gain = gain
        self.on_orphan = on_orphan
        self.refine = refine
        self.sample_rate = sample_rate
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _check_fit(self, n: int) -> None:
        self._given: NeighborGraph | None = None
        if isinstance(self.graph, NeighborGraph):
            self._given = self.graph
        elif sp.issparse(self.graph):
            self._given = NeighborGraph.from_csr(self.graph)
        if self._given is not None and self._given.n_objects != n:
            raise ValueError(
                f"graph must have one row for each of the {n} objects of X, got {self._given.n_objects}; "
                "make it from the same X."
            )

    def _merges(self) -> bool:
        """A given graph is taken as it is, unless the similarity is asked for the threshold anyway."""
        return self._given is None or self.threshold == "homogeneity"

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        graph, homogeneity = self._graph(cluster, rng)
        threshold: Any = as_threshold(homogeneity) if self.threshold == "homogeneity" else self.threshold
        covered = cover(
            graph,
            self.coverage,
            None if cluster.space.n_left == 1 else threshold,  # a single object has no edges to cut
            gain=self.gain,
            on_orphan=self.on_orphan,
            with_itself=cluster.space.with_itself(),
            multiplicity=cluster.multiplicity,
            refine=self.refine,
        )
        return cluster.prototype(
            indices=covered.indices,
            gains=covered.gains,
            covered_by=covered.covered_by,
            homogeneity=homogeneity,
            threshold=-np.inf if threshold is None else float(threshold),
            n_orphans=covered.n_orphans,
        )

    def _graph(self, cluster: Cluster, rng: np.random.Generator) -> tuple[NeighborGraph, float]:
        """The cluster's graph and homogeneity; neither evaluates a pair that the other has evaluated."""
        space, multiplicity = cluster.space, cluster.multiplicity
        k = auto_neighbors(space.n_left) if self.n_neighbors == "auto" else int(self.n_neighbors)
        if self._given is not None:
            graph = self._given.among(cluster.members, cluster.kinds, k)
            if self.threshold != "homogeneity":
                return graph, np.nan
            homogeneity, known = mean_similarity(space, multiplicity, rng)
            _check_same_similarity(cluster, self._given, known)
            return graph, homogeneity.value
        method = choose_method(self.graph, space, k)
        if method == "nn-descent":
            homogeneity, known = mean_similarity(space, multiplicity, rng)
            graph = build(space, k, method, rng, sample_rate=self.sample_rate, tol=self.tol, scored=known)
            return graph, homogeneity.value
        graph = build(space, k, method, rng, multiplicity=multiplicity)
        mean = graph.mean_similarity
        if mean is None:  # the exact graph has counted every pair, but summed none
            mean = mean_similarity(space, multiplicity, rng, counted=False)[0].value
        return graph, mean


def auto_neighbors(n: int) -> int:
    """k such that k^2 n log2(n) joins do not exceed all n (n - 1) / 2 pairs, but at least 5."""
    return max(5, int(np.sqrt((n - 1) / (2 * np.log2(n))))) if n > 1 else 5


def _check_same_similarity(cluster: Cluster, given: NeighborGraph, known: ScoredPairs | None) -> None:
    """Refuse a given graph whose weakest edge does not have the similarity that the homogeneity was computed with."""
    among = np.full(given.n_objects, -1, dtype=np.intp)
    among[cluster.members] = cluster.kinds
    similarities, others = given.similarities[cluster.members], given.indices[cluster.members]
    listed = (others >= 0) & (among[others] >= 0)
    if not listed.any():
        return
    x, at = np.unravel_index(np.argmin(np.where(listed, similarities, np.inf)), listed.shape)
    kinds, stored = (cluster.kinds[x], among[others[x, at]]), similarities[x, at]
    i, j = (np.array([kind], dtype=np.int32) for kind in kinds)
    score = None if known is None else known.find(*map(int, kinds))
    if score is None:
        score = float((cluster.space.of_copies(i) if kinds[0] == kinds[1] else cluster.space.score(i, j))[0])
    if not np.isclose(score, stored, rtol=1e-3, atol=1e-6):
        raise ValueError(
            f"graph and similarity must agree for threshold='homogeneity', but an edge of {stored:.6g} has similarity "
            f"{score:.6g}; pass the similarity that the graph was made with, or a number or None as threshold."
        )
