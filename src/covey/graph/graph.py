"""The result of this stage: a neighbor graph, made here or read from a sparse matrix that was made elsewhere.

A graph that was made elsewhere can be cut down to one cluster (`edges_among`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Indices, Positions
from covey.graph.lists import NeighborLists
from covey.graph.recall import Recall
from covey.runtime.parameters import is_whole
from covey.similarity.checkpoint import CheckpointReport
from covey.similarity.inputs import SparseMatrix, check_csr, looks_like_distances
from covey.similarity.similarity import CONVERSIONS, LARGEST


@dataclass(frozen=True, eq=False)
class NeighborGraph:
    """The k most similar others of each object, best first.

    `covey.neighbor_graph` makes it, and `from_csr` reads one that another library has made. `covey.CRS` takes it as
    ``graph``, and `covey.cover` picks representatives from it. It is G in the paper.

    Attributes
    ----------
    indices : int array of shape (n, k)
        The neighbors of each object, the most similar first; of equally similar ones, the lowest index comes first.
        In a graph made elsewhere, -1 fills the rows of objects with fewer than k neighbors.
    similarities : float array of shape (n, k)
        The similarities of these neighbors; -inf where there is no neighbor.
    n_evaluations : int
        How many similarities were computed. A pair that an upper bound or an estimate ruled out counts as well.
    method : {"exact", "nn-descent", "groups", "given"}
        How the graph was made; "given" means elsewhere.
    mean_similarity : float or None
        The mean similarity of all pairs, if all were scored while the graph was made.
    estimated_recall : Recall or None
        The share of true neighbors in an approximate graph, estimated from random pairs, or for "groups" from the true
        neighbors of a sample of objects.
    checkpoint : CheckpointReport or None
        What a checkpoint has saved, if there was one.
    n_failed : int
        For how many pairs the similarity has failed, if this did not end the work.

    Raises
    ------
    ValueError
        If the arrays differ in shape, if a neighbor is not an object, or if a similarity is not a finite number below
        1e150 in magnitude.

    See Also
    --------
    covey.neighbor_graph : Makes a graph of objects.
    covey.threshold_graph : Links all objects that are similar enough.

    Notes
    -----
    A graph takes 12 bytes for each neighbor of each object. Its arrays are read-only.

    An exact graph of n objects takes n (n - 1) / 2 evaluations, twice as many if the similarity is not symmetric.
    NN-Descent [1]_ takes a share of them that falls with n. Groups take some thousand for each object, for any n;
    most of these are looked at by matrix products alone. Memory is O(n k) in all cases. If an approximate graph has
    probably missed many neighbors, a `sklearn.exceptions.ConvergenceWarning` asks for more neighbors, or for the exact
    graph. A custom function that does not do what it is taken to do gives one of covey's own warnings.

    References
    ----------
    .. [1] W. Dong, C. Moses and K. Li, "Efficient k-nearest neighbor graph construction for generic similarity
       measures", Proceedings of the 20th International Conference on World Wide Web, 2011.

    Examples
    --------
    >>> import covey
    >>> graph = covey.neighbor_graph([[1, 0], [1, 0.1], [0.1, 1], [0, 1]], n_neighbors=1)
    >>> graph
    NeighborGraph(4 objects, 1 neighbors each, exact, 6 evaluations)
    >>> graph.indices.ravel(), graph.similarities.ravel().round(3)
    (array([1, 0, 3, 2], dtype=int32), array([0.995, 0.995, 0.995, 0.995]))

    NN-Descent evaluates a small part of all pairs:

    >>> from sklearn.datasets import load_digits
    >>> digits = covey.neighbor_graph(load_digits().data, 5, method="nn-descent", random_state=0)
    >>> digits.n_evaluations < 0.1 * 1797 * 1796 / 2
    True

    One graph serves many selections, and none of them evaluates a similarity again:

    >>> X = [[1, 0], [1, 0.1], [0.1, 1], [0, 1]]
    >>> [covey.CRS(1, graph=graph, threshold=t).fit(X).sample_indices_.size for t in (0.9, 0.999)]
    [2, 4]
    """

    indices: Indices
    similarities: Floats
    n_evaluations: int = 0
    method: str = "given"
    mean_similarity: float | None = None
    estimated_recall: Recall | None = None
    checkpoint: CheckpointReport | None = None
    n_failed: int = 0

    def __post_init__(self) -> None:
        """Check the lists and make them read-only: compiled code follows them without checks of its own."""
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
        """How many objects the graph has."""
        return int(self.indices.shape[0])

    @property
    def n_neighbors(self) -> int:
        """How many places each list of neighbors has."""
        return int(self.indices.shape[1])

    def to_csr(self) -> sp.csr_array:
        """Return the graph as a CSR array, for SciPy, scikit-learn and other libraries.

        Returns
        -------
        CSR array of shape (n, n)
            Row x holds the similarities of x's neighbors. A similarity of 0 is stored as well.

        See Also
        --------
        from_csr : The way back.

        Examples
        --------
        >>> import covey
        >>> graph = covey.neighbor_graph([[1, 0], [1, 0.1], [0.1, 1], [0, 1]], n_neighbors=1)
        >>> graph.to_csr().toarray().round(3)
        array([[0.   , 0.995, 0.   , 0.   ],
               [0.995, 0.   , 0.   , 0.   ],
               [0.   , 0.   , 0.   , 0.995],
               [0.   , 0.   , 0.995, 0.   ]])
        """
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
        """Read a graph that was made elsewhere.

        Parameters
        ----------
        matrix : sparse matrix or array of shape (n, n)
            Row x stores the similarities of x's neighbors. A stored 0 is a neighbor; an entry that is not stored is
            none. The diagonal is ignored, because no object is its own neighbor.
        n_neighbors : int, optional
            Keep only this many neighbors of each object, the most similar ones. By default all are kept.
        from_distance : {"inverse", "negative", "exponential"}, optional
            Say that the matrix stores distances, as those of scikit-learn's ``KNeighborsTransformer`` and of
            pynndescent do, and how to convert them to similarities, as in `covey.from_distance`.

        Returns
        -------
        NeighborGraph
            The graph; its method is "given" and it has no evaluations.

        Raises
        ------
        TypeError
            If the matrix is not sparse.
        ValueError
            If it is not square, holds NaN, infinity or similarities of 1e150 or more in magnitude, or looks like
            distances although `from_distance` is not given.

        See Also
        --------
        to_csr : The way back.

        Examples
        --------
        Neighbors that scikit-learn has found, with their distances:

        >>> import covey
        >>> from sklearn.neighbors import kneighbors_graph
        >>> X = [[0.0], [1.0], [5.0]]
        >>> distances = kneighbors_graph(X, n_neighbors=1, mode="distance")
        >>> graph = covey.NeighborGraph.from_csr(distances, from_distance="inverse")
        >>> graph.indices.ravel(), graph.similarities.ravel()
        (array([1, 0, 1], dtype=int32), array([0.5, 0.5, 0.2]))
        """
        csr = check_graph(matrix, from_distance)
        if n_neighbors is not None:
            check_n_neighbors(n_neighbors)
        return cls(*_lists_of(csr, n_neighbors, from_distance))


def _lists_of(csr: sp.csr_array, n_neighbors: int | None, from_distance: str | None) -> tuple[Indices, Floats]:
    """Return the neighbors and similarities of a checked graph, as lists of equal length."""
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
    best = rank < size
    lists = NeighborLists.empty(n, size)
    lists.indices[rows[best], rank[best]] = columns[order][best]
    lists.similarities[rows[best], rank[best]] = values[order][best]
    return lists.indices, lists.similarities


def check_n_neighbors(n_neighbors: Any) -> None:
    """Raise ValueError unless this is a whole number of at least 1."""
    if not is_whole(n_neighbors, 1):
        raise ValueError(f"n_neighbors must be an int of at least 1, got {n_neighbors!r}.")


def _check_lists(indices: Any, similarities: Any) -> tuple[Indices, Floats]:
    """Return the neighbors as int32 and their similarities as float64.

    It raises ValueError if the shapes differ, if a neighbor is not an object or if a similarity is not finite.
    """
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
    wrong = np.argwhere((neighbors >= 0) & ~(np.abs(values) < LARGEST))
    if wrong.size:
        x, place = wrong[0]
        raise ValueError(
            f"similarities of neighbors in a graph must be finite and below {LARGEST:g} in magnitude, got "
            f"{values[x, place]} for the objects {x} and {neighbors[x, place]}."
        )
    return neighbors.astype(np.int32, copy=False), values


def check_graph(matrix: Any, from_distance: str | None = None) -> sp.csr_array:
    """Return the matrix as CSR with each entry stored once; an error says why a matrix is not a graph."""
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
    lowest, highest = (
        (csr.data.min(initial=0), csr.data.max(initial=0)) if csr.data.dtype.kind in "fiub" else (np.nan,) * 2
    )
    if not (np.isfinite(lowest) and np.isfinite(highest)):
        raise ValueError("graph must store finite real numbers, got NaN, infinity or another type.")
    if from_distance is None and max(abs(float(lowest)), abs(float(highest))) >= LARGEST:
        first = int(np.flatnonzero(np.abs(csr.data) >= LARGEST)[0])
        x = int(np.searchsorted(csr.indptr, first, side="right")) - 1
        raise ValueError(
            f"graph must store similarities below {LARGEST:g} in magnitude, got {csr.data[first]} for the objects "
            f"{x} and {csr.indices[first]}."
        )
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


def given_edges(graph: NeighborGraph | SparseMatrix) -> sp.csr_array:
    """Return the edges of a finished graph that a user has passed."""
    return graph.to_csr() if isinstance(graph, NeighborGraph) else check_graph(graph)


def edges_among(edges: sp.csr_array, members: Positions, kinds: Positions) -> sp.csr_array:
    """Return the edges among some of the objects, with equal ones merged.

    Members with the same number in `kinds` (0, 1, ...) are equal and become one object, which has that number. It gets
    the edges of all of them; where several lead to the same object, the most similar one is kept.
    """
    n_kinds = int(kinds.max()) + 1
    kind_of = np.full(edges.shape[0], -1, dtype=np.int32)
    kind_of[members] = kinds
    part = edges[members]
    a, b, values = np.repeat(kinds, np.diff(part.indptr)), kind_of[part.indices], part.data.astype(np.float64)
    among = (b >= 0) & (a != b)
    a, b, values = a[among], b[among], values[among]
    if n_kinds < members.size:  # several members of one kind may have an edge to the same kind
        order = np.lexsort((-values, b, a))
        a, b, values = a[order], b[order], values[order]
        best = np.append(True, (np.diff(a) != 0) | (np.diff(b) != 0))[: a.size]
        a, b, values = a[best], b[best], values[best]
    return sp.coo_array((values, (a, b)), shape=(n_kinds, n_kinds)).tocsr()
