"""CRS, cluster representatives selection: greedy coverage of the reverse neighbor graph."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self, cast

import numpy as np
import scipy.sparse as sp
from sklearn.utils._param_validation import StrOptions

from covey.coverage.cover import GAINS, ORPHANS, cover, similarities_to_coverers
from covey.graph.build import METHODS, GraphLike, Method, auto_neighbors, graph_and_mean
from covey.graph.descent import NNDescent
from covey.graph.graph import NeighborGraph, edges_among, given_edges
from covey.graph.recall import RECALL, TARGETS, Recall, warn_of_missed
from covey.graph.threshold import edges_and_mean
from covey.prototype import Prototype
from covey.runtime.callbacks import with_callbacks
from covey.runtime.parameters import WHOLE, Interval
from covey.selectors.base import Selector, run_options, whole_or_nothing
from covey.selectors.budget import Ranking, best_of
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.request import Request
from covey.similarity import run
from covey.similarity.calls.failures import OnError
from covey.similarity.collection import Collection
from covey.similarity.inputs import Labels, Objects
from covey.similarity.mean import as_threshold, mean_similarity
from covey.similarity.run import CheckpointPath
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space


class CRS(Selector):
    """Cluster representatives selection: pick the few members that cover each cluster, under any similarity.

    CRS [1]_ makes three steps in each cluster. It builds the graph of the k most similar others of each object. It
    drops the edges that are less similar than the cluster's homogeneity. Then it picks, one by one, the object that
    most uncovered objects have among their neighbors, until nearly all objects are covered.

    Parameters
    ----------
    n_neighbors : int, "auto" or None, default=10
        The number of neighbors, which is k in the paper. More neighbors give fewer representatives. "auto" is max(5,
        floor(sqrt((n - 1) / (2 log2 n)))) in a cluster of n objects. No object has more than n - 1 neighbors. None
        takes all objects that reach the threshold as neighbors, so that with ``coverage=1`` every object has a
        representative that is at least this similar. All pairs are then compared, or for many objects those within
        groups (see `covey.threshold_graph`), and memory grows with the number of pairs that reach the threshold.
    coverage : float, default=0.95
        The share of each cluster to cover, in (0, 1]. It is epsilon in the paper. It is not used if `size` is given.
    threshold : "homogeneity", float or None, default="homogeneity"
        Edges that are less similar than this are dropped, which is tau in the paper. "homogeneity" is the mean
        similarity h of the pairs of the cluster. None keeps all edges.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), or what `covey.batched` or `covey.from_distance`
        returns. It is "precomputed" if X is a matrix of similarities.
    graph : {"auto", "exact", "nn-descent", "groups"}, NNDescent, NeighborGraph or sparse matrix, default="auto"
        How the graph is made (see `covey.neighbor_graph`), or a finished graph of all objects of X. Of such a graph the
        best k edges within each cluster are used. If the threshold is "homogeneity", `similarity` must be the one that
        the graph was made with; it also decides which objects are equal and are merged. With any other threshold X is
        not looked at.
    recall : float, default=0.95
        The share of the true neighbors that an approximate graph should hold, in (0, 1), as in `covey.neighbor_graph`.
        A larger share takes more evaluations.
    gain : {"similarity", "count"}, default="similarity"
        Whether a newly covered object adds its similarity or 1 to a gain. A similarity below 0 adds nothing, but the
        object is covered all the same.
    on_orphan : {"self", "outlier"}, default="self"
        Whether an object that no edge can cover may be picked to cover itself, or stays uncovered.
    size : int, float or None, default=None
        How many representatives are selected in all clusters together: their number, or a share of all objects below 1.
        The objects that were picked first are kept, those with the largest gains of all clusters and at least one of
        each cluster, however small the share is. If fewer cover everything, objects follow that are least similar to
        what covers them. By default, `coverage` decides.
    refine : bool, default=False
        Whether to look for fewer representatives of the same coverage after the greedy choice. It drops what is not
        needed and replaces two representatives by one. The result is never larger and is always the same. It takes a
        quarter of a second for 6 000 objects.
    checkpoint : path or None, default=None
        A file that keeps what the fit has paid for, so that the same call goes on where it was stopped. It keeps
        every pair that a custom function has evaluated; these pairs also serve later fits with other
        parameters, or with more objects. For named similarities it keeps finished clusters. Only one fit at a time can
        use the file.
    on_error : {"raise", "lowest"}, default="raise"
        What happens if the similarity fails for a pair: if it raises an error, returns no finite number, or exceeds
        `timeout`. "raise" ends the fit with an error that names the two objects. With "lowest" the pair counts as
        similar as the least similar pair before it, and a `covey.exceptions.FailedPairsWarning` says how many.
    timeout : float or None, default=None
        How many seconds one evaluation of a custom function may take. The function is then called in processes of
        its own, which are ended if they take longer. A batched function gets this time for each batch.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled and the draws of NN-Descent and of groups. The same seed gives the same result
        for any `n_jobs`.
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
        How many similarities were computed. It is S in the paper.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take. Pairs that matrix
        products have ruled out count as evaluations, as in an exact graph.
    checkpoint_ : CheckpointReport
        How many evaluations the checkpoint has saved. It is there only if there is a checkpoint.
    n_failed_ : int
        How many evaluations have failed. It is there only if ``on_error="lowest"``.

    Raises
    ------
    ValueError
        At `fit`, if a parameter has a value that is not allowed, if X does not fit the similarity, if y or a given
        graph is not as long as X, if `size` allows for fewer representatives than there are clusters, or if a custom
        function returns NaN or infinity for a pair.
    TypeError
        At `fit`, if X is not a sequence of objects, or if a custom function returns no real number for a pair.
    RuntimeError
        At `fit`, if a custom function raises an error for a pair, or takes longer than `timeout`. The message
        names the two objects.
    CheckpointMismatchError
        At `fit`, if the checkpoint was made with other data, another similarity or other parameters.

    Warns
    -----
    sklearn.exceptions.ConvergenceWarning
        If an approximate graph stays short of `recall`. Ask for less, for more neighbors, or pass ``graph="exact"``.
    UserWarning
        If there are fewer objects to select than `size` asks for. Equal objects are one, and neither outliers nor
        objects of weight 0 that cover nothing are selected.
    AsymmetryWarning, NondeterminismWarning, UnpicklableSimilarityWarning, FailedPairsWarning
        If a custom function does not do what it is taken to do. Each says what to change.

    See Also
    --------
    covey.NearestPrototypeClassifier : Classifies by the most similar representative.
    covey.Sharpened : Moves representatives to where they tell classes apart.
    covey.dask.CRS : The same on a Dask cluster.
    covey.cover : The greedy choice alone, for a graph that was made elsewhere.

    Notes
    -----
    The similarity need not be a metric, nor symmetric. An exact graph takes n (n - 1) / 2 evaluations in a cluster of n
    objects. NN-Descent takes a share of them that falls with n; "auto" uses it where that pays. Memory beyond the data
    is O(n k). If the graph is approximate, coverage counts the edges that it has found.

    References
    ----------
    .. [1] J. Hlaváč, M. Kopp and J. Kohout, "Cluster Representatives Selection in Non-Metric Spaces for Nearest
       Prototype Classification", arXiv:2107.01345, 2021.

    Examples
    --------
    >>> import covey
    >>> words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    >>> def shared_letters(a, b):
    ...     return len(set(a) & set(b)) / len(set(a) | set(b))
    >>> selector = covey.CRS(n_neighbors=2, similarity=shared_letters).fit(words)
    >>> [words[i] for i in selector.sample_indices_]
    ['dodge', 'cart']

    Each label has a prototype of its own, and a budget is shared by all of them:

    >>> labels = ["c", "c", "c", "d", "d", "d"]
    >>> selector = covey.CRS(n_neighbors=2, similarity=shared_letters, size=3).fit(words, labels)
    >>> {label: [words[i] for i in prototype.indices] for label, prototype in selector.prototypes_.items()}
    {'c': ['cart', 'care'], 'd': ['dodge']}
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_neighbors": [Interval(Integral, 1, None, closed="left"), StrOptions({"auto"}), None],
        "coverage": [Interval(Real, 0, 1, closed="right")],
        "threshold": [StrOptions({"homogeneity"}), Interval(Real, None, None, closed="neither"), None],
        "similarity": "no_validation",
        "graph": [StrOptions(set(METHODS)), NNDescent, NeighborGraph, "sparse matrix"],
        "recall": [TARGETS],
        "gain": [StrOptions(set(GAINS))],
        "on_orphan": [StrOptions(set(ORPHANS))],
        "size": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither"), None],
        "refine": ["boolean"],
        **run.CONSTRAINTS,
        "random_state": ["random_state"],
        "n_jobs": [WHOLE, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_neighbors: int | str | None = 10,
        *,
        coverage: float = 0.95,
        threshold: float | str | None = "homogeneity",
        similarity: SimilarityLike = "cosine",
        graph: GraphLike = "auto",
        recall: float = RECALL,
        gain: str = "similarity",
        on_orphan: str = "self",
        size: float | None = None,
        refine: bool = False,
        checkpoint: CheckpointPath = None,
        on_error: OnError = "raise",
        timeout: float | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.coverage = coverage
        self.threshold = threshold
        self.similarity = similarity
        self.graph = graph
        self.recall = recall
        self.gain = gain
        self.on_orphan = on_orphan
        self.size = size
        self.refine = refine
        self.checkpoint = checkpoint
        self.on_error = on_error
        self.timeout = timeout
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    @whole_or_nothing
    @with_callbacks
    def fit(
        self,
        X: Objects | Collection,
        y: Labels | None = None,
        *,
        sample_weight: Any = None,
        include: Any = None,
    ) -> Self:
        """Select representatives of each cluster.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects. With ``similarity="precomputed"`` it is a square matrix of similarities.
        y : sequence of labels, optional
            Objects with the same label are a cluster. By default all objects are one cluster. Labels are of any type
            whose values can be sorted and be keys of a dict: numbers, strings, dates, or tuples of these.
        sample_weight : sequence of numbers, optional
            How much it matters that each object is covered: its weight counts in the gains and in the coverage. By
            default each counts 1. Only the ratios of weights matter for what is selected; the largest must lie between
            1e-150 and 1e150. An object of weight 0 need not be covered, and is selected only if it covers others. The
            homogeneity does not depend on weights.
        include : sequence of int, or mask, optional
            Rows of X that must be representatives. They are picked first. Of several equal rows the first is enough.
            Inside of a search or cross-validation only a mask will do, because this is cut along with X. Row numbers
            would mean other rows there, and are refused.

        Returns
        -------
        CRS
            The selector itself.

        Examples
        --------
        A representative that must be there, and members that need not be covered:

        >>> import covey
        >>> X = [[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]]
        >>> covey.CRS(2).fit(X, include=[4]).sample_indices_
        array([4, 0])
        >>> covey.CRS(2).fit(X, sample_weight=[1, 1, 0, 0, 0]).sample_indices_
        array([0])
        """
        return self._fit(X, y, run_options(self), sample_weight=sample_weight, include=include, **self._asked())

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        request = self._request_in(cluster, **{**self._asked(), "graph": None})
        # A graph may have more rows than the cluster.
        given = None if isinstance(self.graph, Method) else given_edges(self.graph)
        last = int(cluster.members[-1])
        if given is not None and given.shape[0] <= last:
            raise ValueError(
                f"graph must have one row for each object of X, got {given.shape[0]}, but row {last} of X is in the "
                "cluster; make it from the same X."
            )
        return self._select(cluster, rng, replace(request, graph=given)).prototype

    def _validate_params(self) -> None:
        super()._validate_params()
        if self.n_neighbors is None and self.threshold is None and isinstance(self.graph, Method):
            raise ValueError(
                "threshold must be 'homogeneity' or a number if n_neighbors is None, because then all objects that "
                "reach it are neighbors, got None."
            )
        if self.size is not None and self.refine:
            raise ValueError("refine looks for fewer representatives, but size says how many there are; pass one.")

    def _asked(self) -> dict[str, Any]:
        """Return what the parameters ask of a fit, as arguments of `Request.of`."""
        named = isinstance(self.graph, Method)
        # Which objects are equal is a question to the similarity, which a finished graph may do without.
        merged = named or self.threshold == "homogeneity"
        return {"size": self.size, "graph": None if named else self.graph, "merged": merged}

    @property
    def _details(self) -> Any:
        """The class of a cluster's details: it is ranked if the number of representatives is limited."""
        return None if self.size is None else Ranking

    def _finish(self, selected: list[ClusterResult], request: Request) -> list[Prototype]:
        """Keep the best representatives of all clusters if their number is limited.

        This is also the place to say, once for all clusters, that graphs have missed too much.
        """
        links = "threshold graph" if self.n_neighbors is None else "neighbor graph"
        warn_of_missed(links, [one.recall for one in selected], self.recall)
        prototypes = [one.prototype for one in selected]
        if request.size is not None:
            prototypes = best_of(prototypes, [one.details for one in selected], request)
        return prototypes

    def _select(self, cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
        graph, homogeneity, recall = self._graph(cluster, rng, request.graph)
        size = request.size
        threshold: Any = as_threshold(homogeneity) if self.threshold == "homogeneity" else self.threshold
        covered = cover(
            graph,
            self.coverage,
            None if cluster.space.n_left == 1 else threshold,  # a single object has no edges to drop
            gain=self.gain,
            on_orphan=self.on_orphan,
            with_itself=cluster.space.with_itself(),
            multiplicity=cluster.multiplicity,
            sample_weight=cluster.weights,
            include=cluster.included,
            size=None if size is None else max(size, cluster.included.size),
            refine=self.refine,
        )
        prototype = cluster.prototype(
            indices=covered.indices,
            gains=covered.gains,
            covered_by=covered.covered_by,
            homogeneity=homogeneity,
            threshold=-np.inf if threshold is None else float(threshold),
            n_orphans=covered.n_orphans,
        )
        if size is None:
            return ClusterResult(prototype, cluster.n_pairs, recall=recall)
        first = covered.first_covered_by[cluster.kinds]
        first = np.where(first >= 0, cluster.rows[first], -1)
        ranking = Ranking(first, similarities_to_coverers(graph, covered))
        return ClusterResult(prototype, cluster.n_pairs, ranking, recall)

    def _graph(
        self, cluster: Cluster, rng: np.random.Generator, given: sp.csr_array | None
    ) -> tuple[NeighborGraph | sp.csr_array, float, Recall | None]:
        """Return the cluster's graph, its homogeneity, and the estimated recall of an approximate graph.

        The graph is a part of the given one if there is one.
        """
        space, multiplicity = cluster.space, cluster.multiplicity
        if given is not None:
            graph = edges_among(given, cluster.members, cluster.kinds)
            graph = graph if self.n_neighbors is None else NeighborGraph.from_csr(graph, self._k(space))
            if self.threshold != "homogeneity":
                return graph, np.nan, None
            homogeneity, scored = mean_similarity(space, multiplicity, rng)
            _check_same_similarity(cluster, given, scored)
            return graph, homogeneity.value, None
        method = cast("Method", self.graph)  # a given graph was used above
        if self.n_neighbors is None:
            threshold = None if self.threshold == "homogeneity" else float(self.threshold)  # type: ignore[arg-type]
            return edges_and_mean(space, multiplicity, threshold, rng, method, recall=self.recall)
        made, mean = graph_and_mean(space, multiplicity, self._k(space), method, rng, recall=self.recall)
        return made, mean, made.estimated_recall

    def _k(self, space: Space) -> int:
        """Return the number of neighbors of each object in a space."""
        return auto_neighbors(space.n_left) if self.n_neighbors == "auto" else int(self.n_neighbors)  # type: ignore[arg-type]


def _check_same_similarity(cluster: Cluster, given: sp.csr_array, scored: ScoredPairs | None) -> None:
    """Refuse a given graph that was made with another similarity than the homogeneity.

    The weakest edge within the cluster is scored and compared with the similarity that the graph stores. The tolerance
    allows for a graph in single precision.
    """
    among = np.full(given.shape[0], -1, dtype=np.intp)
    among[cluster.members] = cluster.kinds
    edges = given[cluster.members]
    x = np.repeat(np.arange(cluster.members.size), np.diff(edges.indptr))
    listed = (among[edges.indices] >= 0) & (cluster.members[x] != edges.indices)
    if not listed.any():
        return
    weakest = int(np.argmin(np.where(listed, edges.data, np.inf)))
    kinds, stored = (cluster.kinds[x[weakest]], among[edges.indices[weakest]]), float(edges.data[weakest])
    i, j = (np.array([kind], dtype=np.int32) for kind in kinds)
    score = None if scored is None else scored.find(*map(int, kinds))
    if score is None:
        score = float((cluster.space.of_copies(i) if kinds[0] == kinds[1] else cluster.space.score(i, j))[0])
    if not np.isclose(score, stored, rtol=1e-3, atol=1e-6):
        raise ValueError(
            f"graph and similarity must agree for threshold='homogeneity', but an edge of {stored:.6g} has similarity "
            f"{score:.6g}; pass the similarity that the graph was made with, or a number or None as threshold."
        )
