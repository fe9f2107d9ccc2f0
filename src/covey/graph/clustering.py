"""Clusters of objects without labels, found in their neighbor graph.

1. Equal objects are merged, because a graph of copies would fall apart.
2. A neighbor graph of the distinct objects is made, or one that was made elsewhere is taken.
3. Groups that are linked closely are the clusters (`communities.py`), or places where objects are dense (`density.py`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.arrays import Positions
from covey.graph.build import neighbor_graph
from covey.graph.communities import communities
from covey.graph.density import density_clusters
from covey.graph.given import edges_among, given_edges
from covey.graph.graph import GraphLike, check_n_neighbors
from covey.runtime.parameters import is_whole
from covey.similarity.collect import collect
from covey.similarity.named import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.types import Objects

N_NEIGHBORS = 15
"""How many neighbors of each object are looked at. Measured once, by hand, by the adjusted Rand index of communities
and true labels on eleven data sets (iris, wine, digits, Fashion-MNIST, globins, surnames and others): 15 and 20 are
about equally good, 5 and 10 find too many clusters."""
DENSITY = "hdbscan"
"""The word that asks for clusters by density."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """The clusters that `covey.find_clusters` has found, for `covey.CRS` where nobody has labelled the objects.

    They are communities of the neighbor graph, found by Louvain's method [1]_, or dense places in it.

    Attributes
    ----------
    labels : int array
        The number of each object's cluster. The largest cluster is 0, the next one 1, and so on. It is -1 for objects
        that belong to no cluster.
    n_evaluations : int
        How many similarities were computed.

    See Also
    --------
    covey.find_clusters : Returns it.
    covey.neighbor_graph : Makes the graph that clusters are found in.

    Notes
    -----
    The cost is that of `covey.neighbor_graph`. Finding communities evaluates no similarity, and its memory is that of
    the graph. Equal objects are merged before. "hdbscan" puts fewer than 10 distinct objects into no cluster at all.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, "Fast unfolding of communities in large
       networks", Journal of Statistical Mechanics, 2008.

    Examples
    --------
    The labels can be passed to a selector as y. Leave out objects that belong to no cluster:

    >>> import covey
    >>> import numpy as np
    >>> X = np.array([[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]])
    >>> found = covey.find_clusters(X, 2, n_neighbors=1)
    >>> found, found.sizes
    (Clusters(2 clusters of 5 objects, 0 belong to none), array([3, 2]))
    >>> kept = found.labels >= 0
    >>> covey.CRS(2).fit(X[kept], found.labels[kept]).sample_indices_
    array([3, 0])
    """

    labels: Positions
    n_evaluations: int

    @property
    def sizes(self) -> Positions:
        """How many objects each cluster has, the largest first."""
        return np.bincount(self.labels[self.labels >= 0])

    @property
    def n_noise(self) -> int:
        """How many objects belong to no cluster."""
        return int((self.labels < 0).sum())

    def __repr__(self) -> str:
        return f"Clusters({self.sizes.size} clusters of {self.labels.size} objects, {self.n_noise} belong to none)"


def find_clusters(
    X: Objects,
    n_clusters: int | str = "auto",
    similarity: SimilarityLike = "cosine",
    *,
    n_neighbors: int = N_NEIGHBORS,
    graph: GraphLike = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Clusters:
    """Find clusters of objects without labels, under any similarity.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects.
    n_clusters : int, "auto" or "hdbscan", default="auto"
        How many clusters to find: communities of the neighbor graph. "auto" lets the modularity of the graph
        decide. "hdbscan" finds dense places by scikit-learn's HDBSCAN, and leaves out objects between them.
    similarity : str, callable or Similarity, default="cosine"
        How similar two objects are; larger means closer. Communities depend only on who is among whose neighbors. It
        may be whatever `covey.neighbor_graph` takes.
    n_neighbors : int, default=15
        How many neighbors of each object are looked at. More give fewer and larger clusters.
    graph : {"auto", "exact", "nn-descent"}, NeighborGraph or sparse matrix, default="auto"
        How the graph is made, or a finished graph. Of a finished one all edges are used, and X is not looked at.
    random_state : int, RandomState instance or None, default=None
        The seed of NN-Descent's draws. Nothing else is random.
    n_jobs : int or None, default=None
        The number of threads, or of processes for Python callables that take long. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Clusters
        The number of each object's cluster, and how many evaluations it took to find them.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, such as more clusters than there are distinct objects, if X does
        not fit the similarity, if `graph` is no graph, or if a function of your own returns something else than a
        finite real number for a pair.
    RuntimeError
        If a function of your own raises an error for a pair. The message names the two objects.

    Examples
    --------
    >>> import covey
    >>> covey.find_clusters([[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]], 2, n_neighbors=1).labels
    array([1, 1, 0, 0, 0])
    """
    check_n_neighbors(n_neighbors)
    if not isinstance(graph, str):
        return Clusters(_largest_first(_grouped(_between_objects(given_edges(graph)), n_clusters)), 0)
    options: Any = {"method": graph, "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}
    return _clusters_of(X, n_clusters, similarity, n_neighbors, options)


def _clusters_of(
    X: Objects, n_clusters: int | str, similarity: SimilarityLike, n_neighbors: int, options: dict[str, Any]
) -> Clusters:
    """Return the clusters in a graph of the distinct objects. The options are those of `neighbor_graph`."""
    collection = collect(X, resolve(similarity))
    distinct = collection.distinct()
    merged: Any = collection.take(distinct.first)
    made = neighbor_graph(merged, n_neighbors, similarity, **options)
    found = _grouped(made.to_csr(), n_clusters)
    return Clusters(_largest_first(found[distinct.kind]), made.n_evaluations)


def _between_objects(edges: sp.csr_array) -> sp.csr_array:
    """Return the edges without those from an object to itself."""
    every = np.arange(edges.shape[0])
    return edges_among(edges, every, every)


def _grouped(edges: sp.csr_array, n_clusters: int | str) -> Positions:
    """Return the number of each object's cluster; row x of `edges` holds the similarities of x's neighbors."""
    if n_clusters == DENSITY:
        return density_clusters(edges)
    n = edges.shape[0]
    if n_clusters != "auto" and not (is_whole(n_clusters, 1) and int(n_clusters) <= n):
        raise ValueError(
            f"n_clusters must be 'auto', '{DENSITY}' or an int from 1 to {n}, the number of distinct objects, got "
            f"{n_clusters!r}."
        )
    pattern = sp.csr_array((np.ones(edges.nnz), edges.indices, edges.indptr), shape=edges.shape)
    return communities(sp.csr_array(pattern + pattern.T), None if n_clusters == "auto" else int(n_clusters))


def _largest_first(groups: Positions) -> Positions:
    """Return the groups numbered by size; of groups of one size, the one with the lowest number comes first."""
    sizes = np.bincount(groups[groups >= 0])
    number = np.append(np.argsort(np.argsort(-sizes, kind="stable"), kind="stable"), -1)
    return number[groups]
