"""CRS, cluster representatives selection: greedy coverage of the reverse neighbor graph."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import Interval, StrOptions

from covey.coverage.greedy import GAINS, ORPHANS, cover
from covey.graph.build import METHODS, auto_neighbors, graph_and_mean
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

    CRS makes three steps in each cluster. It builds the graph of the k most similar others of each object. It drops the
    edges that are less similar than the cluster's homogeneity. Then it picks, one by one, the object that most
    uncovered objects have among their neighbors, until nearly all objects are covered.

    Parameters
    ----------
    n_neighbors : int or "auto", default=10
        The number k of neighbors. More neighbors give fewer representatives. "auto" is max(5, floor(sqrt((n - 1) / (2
        log2 n)))) in a cluster of n objects. No object has more than n - 1 neighbors.
    coverage : float, default=0.95
        The share of each cluster to cover, in (0, 1].
    threshold : "homogeneity", float or None, default="homogeneity"
        Edges that are less similar than this are dropped. None keeps all edges.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), or what `covey.batched` or `covey.from_distance`
        returns. It is "precomputed" if X is a matrix of similarities.
    graph : {"auto", "exact", "nn-descent"}, NeighborGraph or sparse matrix, default="auto"
        How the graph is made (see `covey.neighbor_graph`), or a finished graph of all objects of X. Of such a graph the
        best k edges within each cluster are used. If the threshold is "homogeneity", `similarity` must be the one that
        the graph was made with; it also decides which objects are equal and are merged. With any other threshold X is
        not looked at.
    gain : {"similarity", "count"}, default="similarity"
        Whether a newly covered object adds its similarity or 1 to a gain. A similarity below 0 adds nothing, but the
        object is covered all the same.
    on_orphan : {"self", "outlier"}, default="self"
        Whether an object that no edge can cover may be picked to cover itself, or stays uncovered.
    refine : bool, default=False
        Whether to look for fewer representatives of the same coverage after the greedy choice. It drops what is not
        needed and replaces two representatives by one. The result is never larger and is always the same. It takes a
        quarter of a second for 6 000 objects.
    sample_rate, tol : float, default=0.7, 0.001
        Parameters of NN-Descent: the share of the list entries that are joined in a round, and the share of changed
        entries at which it stops.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled and the draws of NN-Descent. The same seed gives the same result for any
        `n_jobs`.
    n_jobs : int or None, default=None
        How many threads, for compiled similarities, or processes, for slow Python functions, share the work. As in
        joblib, None means 1 and -1 means all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs the result of each cluster to the logger "covey". 2 does
        both.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster and stand in the order in which they were picked.
    prototypes_ : dict
        The `Prototype` of each label. Without labels, all objects are cluster 0.
    n_evaluations_ : int
        How many similarities were computed.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take.

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
        """Merge equal objects, unless a graph is given and the similarity is not needed for the threshold either."""
        return self._given is None or self.threshold == "homogeneity"

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        """Select the representatives of one cluster."""
        graph, homogeneity = self._graph(cluster, rng)
        threshold: Any = as_threshold(homogeneity) if self.threshold == "homogeneity" else self.threshold
        covered = cover(
            graph,
            self.coverage,
            None if cluster.space.n_left == 1 else threshold,  # a single object has no edges to drop
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
        """Return the cluster's graph and its homogeneity."""
        space, multiplicity = cluster.space, cluster.multiplicity
        k = auto_neighbors(space.n_left) if self.n_neighbors == "auto" else int(self.n_neighbors)
        if self._given is not None:
            graph = self._given.among(cluster.members, cluster.kinds, k)
            if self.threshold != "homogeneity":
                return graph, np.nan
            homogeneity, scored = mean_similarity(space, multiplicity, rng)
            _check_same_similarity(cluster, self._given, scored)
            return graph, homogeneity.value
        method = str(self.graph)  # a given graph was used above, so this is a name
        return graph_and_mean(space, multiplicity, k, method, rng, sample_rate=self.sample_rate, tol=self.tol)


def _check_same_similarity(cluster: Cluster, given: NeighborGraph, scored: ScoredPairs | None) -> None:
    """Refuse a given graph that was made with another similarity than the homogeneity.

    The weakest edge within the cluster is scored and compared with the similarity that the graph stores. The tolerance
    allows for a graph in single precision.
    """
    among = np.full(given.n_objects, -1, dtype=np.intp)
    among[cluster.members] = cluster.kinds
    similarities, others = given.similarities[cluster.members], given.indices[cluster.members]
    listed = (others >= 0) & (among[others] >= 0)
    if not listed.any():
        return
    x, column = np.unravel_index(np.argmin(np.where(listed, similarities, np.inf)), listed.shape)
    kinds, stored = (cluster.kinds[x], among[others[x, column]]), similarities[x, column]
    i, j = (np.array([kind], dtype=np.int32) for kind in kinds)
    score = None if scored is None else scored.find(*map(int, kinds))
    if score is None:
        score = float((cluster.space.of_copies(i) if kinds[0] == kinds[1] else cluster.space.score(i, j))[0])
    if not np.isclose(score, stored, rtol=1e-3, atol=1e-6):
        raise ValueError(
            f"graph and similarity must agree for threshold='homogeneity', but an edge of {stored:.6g} has similarity "
            f"{score:.6g}; pass the similarity that the graph was made with, or a number or None as threshold."
        )
