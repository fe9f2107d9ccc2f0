"""The neighbor graph: the k most similar others of each object, best first."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.graph.descent import SMALLEST_LIST, descend
from covey.graph.exact import nearest_others
from covey.graph.lists import NeighborLists
from covey.graph.recall import Recall
from covey.runtime.progress import progress
from covey.runtime.random import generator
from covey.similarity.collect import Space, space_of
from covey.similarity.csr import check_csr
from covey.similarity.homogeneity import FEW_PAIRS, mean_of_all
from covey.similarity.objects import check_objects, looks_like_distances
from covey.similarity.pairs import ScoredPairs
from covey.similarity.similarity import CONVERSIONS, resolve

EXACT_UP_TO = 30
"""`auto` is exact up to this many objects a neighbor: NN-Descent would score half of all pairs or more."""
METHODS = ("auto", "exact", "nn-descent")
SAMPLE_RATE, TOL = 0.7, 0.001
"""NN-Descent's share of list entries that are joined in a round, and the share of changed entries that ends it."""


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The most similar others of each object.

    Attributes
    ----------
    indices : int array of shape (n, k)
        Neighbors of each object, by similarity descending, then index ascending; -1 where a graph made elsewhere has
        fewer than k.
    similarities : float array of shape (n, k)
        Their similarities; -inf where there is no neighbor.
    n_evaluations : int
        How many similarities were computed, or bounded closely enough to settle the pair.
    method : {"exact", "nn-descent", "given"}
        How the graph was made.
    mean_similarity : float or None
        The mean over all pairs, where making the graph scored them all.
    estimated_recall : Recall or None
        For an approximate graph, the share of true neighbors in it, estimated from pairs drawn at random.
    """

    indices: NDArray[np.int32]
    similarities: NDArray[np.float64]
    n_evaluations: int = 0
    method: str = "given"
    mean_similarity: float | None = None
    estimated_recall: Recall | None = None

    def __post_init__(self) -> None:
        """Check the lists, because compiled code follows them unchecked, and make them read-only."""
        indices, similarities = _check_lists(self.indices, self.similarities)
        for name, array in (("indices", indices.view()), ("similarities", similarities.view())):
            array.flags.writeable = False
            object.__setattr__(self, name, array)

    def __repr__(self) -> str:
        return (
            f"NeighborGraph({self.n_objects} objects, {self.n_neighbors} neighbors each, {self.method}, "
            f"{self.n_evaluations} evaluations)"
        )

    @property
    def n_objects(self) -> int:
        return int(self.indices.shape[0])

    @property
    def n_neighbors(self) -> int:
        return int(self.indices.shape[1])

    def to_csr(self) -> sp.csr_array:
        """The graph as a CSR array of shape (n, n); row x holds the similarities of x's neighbors."""
        listed = self.indices >= 0
        starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
        shape = (self.n_objects, self.n_objects)
        csr = sp.csr_array((self.similarities[listed], self.indices[listed], starts), shape=shape)
        csr.sort_indices()
        return csr

    @classmethod
    def from_csr(
        cls, matrix: Any, n_neighbors: int | None = None, *, from_distance: str | None = None
    ) -> "NeighborGraph":
        """A graph made elsewhere.

        Parameters
        ----------
        matrix : sparse matrix or array of shape (n, n)
            Row x stores the similarities of x's neighbors; a stored 0 is a neighbor, what is not stored is none. An
            object as its own neighbor is left out.
        n_neighbors : int, optional
            Keep the best so many of each row; by default all.
        from_distance : {"inverse", "negative", "exponential"}, optional
            The matrix stores distances (as those of scikit-learn's ``KNeighborsTransformer`` and of pynndescent do);
            convert them as `covey.from_distance` would.
        """
        csr = _check_graph(matrix, from_distance)
        if n_neighbors is not None:
            _check_n_neighbors(n_neighbors)
        n = csr.shape[0]
        rows = np.repeat(np.arange(n), np.diff(csr.indptr))
        others = rows != csr.indices
        rows, columns, values = rows[others], csr.indices[others], csr.data[others].astype(np.float64)
        if from_distance is not None:
            values = CONVERSIONS[from_distance](values)
        degrees = np.bincount(rows, minlength=n)
        size = max(int(degrees.max(initial=0)), 1)
        size = size if n_neighbors is None else min(size, n_neighbors)
        order = np.lexsort((columns, -values, rows))
        rank = np.arange(rows.size) - np.repeat(np.cumsum(degrees) - degrees, degrees)
        kept = rank < size
        lists = NeighborLists.empty(n, size)
        lists.indices[rows[kept], rank[kept]] = columns[order][kept]
        lists.similarities[rows[kept], rank[kept]] = values[order][kept]
        return cls(lists.indices, lists.similarities)

    def among(self, members: NDArray[np.intp], kinds: NDArray[np.intp], n_neighbors: int) -> "NeighborGraph":
        """The graph among some of its objects, where those of one kind are one object: the best edges of each kind."""
        n_kinds = int(kinds.max()) + 1
        kind_of = np.full(self.n_objects, -1, dtype=np.intp)
        kind_of[members] = kinds
        listed = self.indices[members] >= 0
        a = np.repeat(kinds, listed.sum(axis=1))
        b = kind_of[self.indices[members][listed]]
        values = self.similarities[members][listed]
        kept = (b >= 0) & (a != b)
        a, b, values = a[kept], b[kept], values[kept]
        order = np.lexsort((-values, b, a))  # copies may have the same edge
        a, b, values = a[order], b[order], values[order]
        best = np.append(True, (np.diff(a) != 0) | (np.diff(b) != 0))[: a.size]
        edges = sp.coo_array((values[best], (a[best], b[best])), shape=(n_kinds, n_kinds))
        return NeighborGraph.from_csr(edges.tocsr(), n_neighbors)


def neighbor_graph(
    X: Any,
    n_neighbors: int = 10,
    similarity: Any = "cosine",
    method: str = "auto",
    *,
    sample_rate: float = SAMPLE_RATE,
    tol: float = TOL,
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> NeighborGraph:
    """The n_neighbors most similar others of each object.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
    n_neighbors : int, default=10
        At most n - 1 are there.
    similarity : str, callable or Similarity, default="cosine"
    method : {"auto", "exact", "nn-descent"}, default="auto"
        "exact" evaluates all pairs. "nn-descent" evaluates few and finds most neighbors. "auto" is exact up to 30
        objects a neighbor or 20 000 pairs; for cosine, dot, euclidean and jaccard, where matrix products do the work,
        up to 10 000 dense or 20 000 CSR rows; for similarities of strings up to 5 000; and for precomputed matrices.
    sample_rate, tol : float, default=0.7, 0.001
        NN-Descent's share of list entries joined in a round, and the share of changed entries that ends it.
    random_state : int, RandomState instance or None, default=None
        Decides NN-Descent's draws. The same seed gives the same graph for any `n_jobs`.
    n_jobs : int or None, default=None
        Threads for compiled similarities, processes for Python callables that take long enough; -1 for all cores.
    verbose : int, default=0
        1 shows a bar on a terminal.
    """
    _check_n_neighbors(n_neighbors)
    if not (isinstance(sample_rate, Real) and 0 < sample_rate <= 1):
        raise ValueError(f"sample_rate must be in (0, 1], got {sample_rate!r}.")
    if not (isinstance(tol, Real) and 0 <= tol <= 1):
        raise ValueError(f"tol must be in [0, 1], got {tol!r}.")
    if not (n_jobs is None or isinstance(n_jobs, Integral)):
        raise TypeError(f"n_jobs must be an int or None, got {n_jobs!r}.")
    resolved = resolve(similarity)
    space = space_of(check_objects(X, resolved), resolved, n_jobs=n_jobs)
    method = choose_method(method, space, n_neighbors)
    options: dict[str, Any] = {"sample_rate": sample_rate, "tol": tol, "rng": generator(random_state), "n_jobs": n_jobs}
    with progress("neighbor graph", None, "evaluations", shown=verbose > 0) as bar:
        bar.watch(lambda: (space.n_done(), space.n_expected))
        return build(space, n_neighbors, method, **options)


def choose_method(method: str, space: Space, k: int) -> str:
    """Settle "auto", and do not descend where lists would hold everyone anyway."""
    if method not in METHODS:
        raise ValueError(f"method must be one of {list(METHODS)}, got {method!r}.")
    n = space.n_left
    small = n <= EXACT_UP_TO * k or n * (n - 1) // 2 <= FEW_PAIRS
    if method == "auto" and (small or n <= space.exact_up_to):
        return "exact"
    return "exact" if method == "exact" or n - 1 <= max(k, SMALLEST_LIST) else "nn-descent"


def build(
    space: Space,
    k: int,
    method: str,
    *,
    sample_rate: float = SAMPLE_RATE,
    tol: float = TOL,
    rng: np.random.Generator,
    n_jobs: int | None,
    known: ScoredPairs | None = None,
    multiplicity: NDArray[np.int64] | None = None,
) -> NeighborGraph:
    """The graph of a space by a settled method; `known` pairs are not scored again.

    The mean similarity is that of all pairs if the objects are there so many times (`multiplicity`).
    """
    before = space.n_evaluations
    k = min(k, space.n_left - 1)
    mean, recall = None, None
    if space.n_left == 1:
        lists = NeighborLists.empty(1, 0)
    elif method == "exact":
        multiplicity = np.ones(space.n_left, dtype=np.int64) if multiplicity is None else multiplicity
        lists, total = nearest_others(space, k, n_jobs, multiplicity)
        mean = None if total is None else mean_of_all(space, multiplicity, total)
    else:
        lists, recall = descend(space, k, sample_rate=sample_rate, tol=tol, rng=rng, n_jobs=n_jobs, known=known)
    indices, similarities = np.ascontiguousarray(lists.indices[:, :k]), np.ascontiguousarray(lists.similarities[:, :k])
    return NeighborGraph(indices, similarities, space.n_evaluations - before, method, mean, recall)


def _check_n_neighbors(n_neighbors: Any) -> None:
    if not isinstance(n_neighbors, Integral) or int(n_neighbors) < 1:
        raise ValueError(f"n_neighbors must be an int of at least 1, got {n_neighbors!r}.")


def _check_lists(indices: Any, similarities: Any) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Neighbors and their similarities as arrays; ValueError if a neighbor is no object or a similarity no number."""
    neighbors, values = np.asarray(indices), np.asarray(similarities)
    if neighbors.ndim != 2 or not len(neighbors) or neighbors.shape != values.shape:
        raise ValueError(
            "indices and similarities of a graph must have the same shape (n, k), one row for each object and at least "
            f"one object, got {neighbors.shape} and {values.shape}."
        )
    if (neighbors.size and neighbors.dtype.kind not in "iu") or values.dtype.kind not in "fiub":
        raise ValueError(
            f"indices of a graph must be integers and similarities real numbers, got {neighbors.dtype} and "
            f"{values.dtype}."
        )
    n = len(neighbors)
    for extreme in (int(neighbors.min(initial=0)), int(neighbors.max(initial=0))):
        if not -1 <= extreme < n:
            raise ValueError(f"indices of a graph of {n} objects must lie in [0, {n}), or be -1, got {extreme}.")
    values = values.astype(np.float64, copy=False)
    wrong = (neighbors >= 0) & ~np.isfinite(values)
    if wrong.any():
        raise ValueError(f"similarities of neighbors in a graph must be finite, got {values[wrong][0]}.")
    return neighbors.astype(np.int32, copy=False), values


def _check_graph(matrix: Any, from_distance: str | None) -> sp.csr_array:
    if not sp.issparse(matrix):
        raise TypeError(
            f"graph must be a sparse matrix or a covey.NeighborGraph, got {type(matrix).__name__}; "
            "pass a dense matrix as X with similarity='precomputed'."
        )
    csr = check_csr(matrix, "graph")
    if not csr.has_canonical_format:
        csr = csr.copy()
        csr.sum_duplicates()
    if csr.shape[0] != csr.shape[1]:
        raise ValueError(f"graph must be a square matrix, one row for each object, got shape {csr.shape}.")
    if csr.shape[0] == 0:
        raise ValueError("graph must hold at least one object, got an empty matrix.")
    if csr.data.dtype.kind not in "fiub" or not np.isfinite(csr.data).all():
        raise ValueError("graph must store finite real numbers, got NaN, infinity or another type.")
    if from_distance is None and looks_like_distances(csr):
        raise ValueError(
            "graph looks like distances: its diagonal is smaller than the rest, but larger must mean closer; "
            "pass covey.NeighborGraph.from_csr(graph, from_distance='inverse')."
        )
    if from_distance is not None and not (isinstance(from_distance, str) and from_distance in CONVERSIONS):
        raise ValueError(f"from_distance must be one of {sorted(CONVERSIONS)}, got {from_distance!r}.")
    if from_distance is not None and csr.data.min(initial=0) < 0:
        raise ValueError(f"graph must not store negative distances, got {csr.data.min()}; leave from_distance out.")
    return csr
