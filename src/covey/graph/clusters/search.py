"""Clusters of objects without labels, found in their neighbor graph.

1. Equal objects are merged, because a graph of copies would fall apart. They count with their number.
2. A neighbor graph of the distinct objects is made, or one that was made elsewhere is taken.
3. Edges become links that weigh what they are worth (`links.py`). Objects that have nothing in common have none.
4. Groups that are linked closely are the clusters (`communities.py`), or places where objects are dense (`density.py`).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Integers, Positions
from covey.graph.build import GraphLike, Method, choose_method, neighbor_graph
from covey.graph.clusters.communities import communities, n_communities, separation
from covey.graph.clusters.density import density_clusters
from covey.graph.clusters.links import lengths_of, links_of
from covey.graph.graph import NeighborGraph, check_n_neighbors, edges_among, given_edges
from covey.runtime.parameters import is_whole
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from covey.similarity.similarity import Similarity, SimilarityLike

N_NEIGHBORS = 15
"""How many neighbors of each object are looked at. By the adjusted Rand index of communities
and true labels on eleven data sets (iris, wine, digits, Fashion-MNIST, globins, surnames and others): 15 and 20 are
about equally good, 5 and 10 find too many clusters."""
DENSITY = "hdbscan"
"""The word that asks for clusters by density."""
DENSE = 5
"""The fewest objects of a dense place, by default. This is scikit-learn's default."""
ALL_PAIRS_UP_TO = 1000
"""Up to this number of objects, "hdbscan" takes the similarities of all pairs into account, if the graph evaluates them
anyway. They take 12 MB then. Of more objects, the neighbors alone count."""


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clusters that `covey.find_clusters` has found, for `covey.CRS` for objects without labels.

    They are communities of the neighbor graph, found by Louvain's method [1]_ and merged where nothing divides them
    [2]_, or dense places in it [3]_.

    Attributes
    ----------
    labels : int array
        The number of each object's cluster. The largest cluster is 0, the next one 1, and so on. It is -1 for objects
        that belong to no cluster.
    n_evaluations : int
        How many similarities were computed.
    strength : float array
        How strongly each object belongs to its cluster, from 0 to 1; 0 for objects that belong to none. With "hdbscan"
        it is the density at which the object leaves the cluster as a share of the highest density of the cluster, as in
        scikit-learn's ``probabilities_``. Otherwise it is the share of the object's links that lead into its own
        cluster, each counted with its weight, and 1 for an object without links.
    separation : float
        How separate the clusters are, from 0 to 1. The links between two clusters are divided by those that a cut
        through one of them would cut, where fewer are cut. 1 less the largest such ratio of a cluster, and 0 at least,
        is how separate this one is. The number is the mean of it over all objects in clusters: 1 if nothing links the
        clusters, and near 0 if they are cut out of what is one cluster. It is NaN for fewer than two clusters.

    See Also
    --------
    covey.find_clusters : Returns it.
    covey.neighbor_graph : Makes the graph that clusters are found in.

    Notes
    -----
    The cost is that of `covey.neighbor_graph`. Nothing else evaluates a similarity, and memory is that of the graph.
    Equal objects are merged before, and count with their number in the sizes of clusters.

    An edge counts by its length in relation to the usual length around its ends: beyond that, it weighs less, and if it
    is much longer, it joins nothing. So clusters may be smaller than `n_neighbors`. Lengths are the distances that
    similarities were converted from; else 0 or 1, if no similarity is larger, or the largest similarity, less the
    similarity. Objects that have nothing in common, such as dicts without a common key under cosine, are never joined.

    References
    ----------
    .. [1] V. D. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, "Fast unfolding of communities in large
       networks", Journal of Statistical Mechanics, 2008.
    .. [2] G. Karypis, E.-H. Han and V. Kumar, "Chameleon: hierarchical clustering using dynamic modeling", Computer 32,
       1999.
    .. [3] R. J. G. B. Campello, D. Moulavi and J. Sander, "Density-based clustering based on hierarchical density
       estimates", Advances in Knowledge Discovery and Data Mining, 2013.

    Examples
    --------
    The labels can be passed to a selector as y. Leave out objects that belong to no cluster:

    >>> import covey
    >>> import numpy as np
    >>> X = np.array([[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]])
    >>> found = covey.find_clusters(X, 2, n_neighbors=1)
    >>> found, found.sizes
    (Clustering(2 clusters of 5 objects, 0 belong to none), array([3, 2]))
    >>> members = found.labels >= 0
    >>> covey.CRS(2).fit(X[members], found.labels[members]).sample_indices_
    array([3, 0])
    """

    labels: Positions
    n_evaluations: int
    strength: Floats
    separation: float

    @property
    def sizes(self) -> Positions:
        """How many objects each cluster has, the largest first."""
        return np.bincount(self.labels[self.labels >= 0])

    @property
    def n_noise(self) -> int:
        """How many objects belong to no cluster."""
        return int((self.labels < 0).sum())

    def __repr__(self) -> str:
        return f"Clustering({self.sizes.size} clusters of {self.labels.size} objects, {self.n_noise} belong to none)"


def find_clusters(
    X: Objects,
    n_clusters: int | str = "auto",
    similarity: SimilarityLike = "cosine",
    *,
    n_neighbors: int = N_NEIGHBORS,
    min_cluster_size: int | None = None,
    graph: GraphLike = "auto",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Clustering:
    """Find clusters of objects without labels, under any similarity.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects.
    n_clusters : int, "auto" or "hdbscan", default="auto"
        How many clusters to find: communities of the neighbor graph. "auto" merges those that nothing divides. A number
        gives exactly that many; if there are more without any edge between them, the smallest belong to no cluster.
        "hdbscan" finds dense places as scikit-learn's HDBSCAN does, and leaves out objects between them.
    similarity : str, callable or Similarity, default="cosine"
        How similar two objects are; larger means closer. It may be all that `covey.neighbor_graph` takes. Which way a
        distance was converted to a similarity does not matter.
    n_neighbors : int, default=15
        How many neighbors of each object are looked at. Clusters may be smaller.
    min_cluster_size : int, optional
        The fewest objects of a cluster; by default 5 with "hdbscan", and 1 otherwise. Smaller groups of objects belong
        to none with "hdbscan". Otherwise they join the cluster that they are linked to most closely, and belong to none
        if they have no link.
    graph : {"auto", "exact", "nn-descent", "groups"}, NNDescent, NeighborGraph or sparse matrix, default="auto"
        How the graph is made, or a finished graph. Of a finished one all edges are used, and X is not looked at. Pass
        the similarity that it was made with, too.
    random_state : int, RandomState instance or None, default=None
        The seed of the draws of NN-Descent and of groups. Nothing else is random.
    n_jobs : int or None, default=None
        The number of threads, or of processes for Python callables that take long. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    Clustering
        The number of each object's cluster, how strongly it belongs there, how separate the clusters are, and how many
        evaluations it took to find them.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, such as more clusters than there are distinct objects, if X does
        not fit the similarity, if `graph` is not a graph, or if a custom function returns something else than a
        finite real number for a pair.
    RuntimeError
        If a custom function raises an error for a pair. The message names the two objects.

    Examples
    --------
    >>> import covey
    >>> covey.find_clusters([[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]], 2, n_neighbors=1).labels
    array([1, 1, 0, 0, 0])
    """
    check_n_neighbors(n_neighbors)
    smallest = _smallest(n_clusters, min_cluster_size)
    like = resolve(similarity)
    if not isinstance(graph, Method):
        edges = _between_objects(given_edges(graph))
        multiplicity = np.ones(edges.shape[0], dtype=np.int64)
        return _ClusterSearch(edges, edges, like, None, multiplicity).clusters(n_clusters, smallest)
    options: Any = {"method": graph, "random_state": random_state, "n_jobs": n_jobs, "verbose": verbose}
    collection = collect(X, like)
    distinct = collection.distinct()
    merged: Any = collection.take(distinct.first)
    n_listed = n_neighbors
    if n_clusters == DENSITY and len(merged) <= ALL_PAIRS_UP_TO:
        is_exact = choose_method(graph, merged.space(n_jobs), n_neighbors) == "exact"
        n_listed = max(len(merged) - 1, 1) if is_exact else n_neighbors
    made = neighbor_graph(merged, n_listed, like, **options)
    edges = made.to_csr()
    near = edges if n_listed <= n_neighbors else _nearest(made, n_neighbors).to_csr()
    search = _ClusterSearch(edges, near, like, collection.nothing_in_common, distinct.multiplicity)
    return search.clusters(n_clusters, smallest, distinct.kind, made.n_evaluations)


def _smallest(n_clusters: int | str, min_cluster_size: int | None) -> int:
    """Return the fewest objects of a cluster."""
    if min_cluster_size is None:
        return DENSE if n_clusters == DENSITY else 1
    least = 2 if n_clusters == DENSITY else 1
    if not is_whole(min_cluster_size, least):
        raise ValueError(f"min_cluster_size must be an int of at least {least}, got {min_cluster_size!r}.")
    return int(min_cluster_size)


def _nearest(graph: NeighborGraph, k: int) -> NeighborGraph:
    """Return the graph of the first k neighbors."""
    return NeighborGraph(graph.indices[:, :k], graph.similarities[:, :k])


@dataclass(frozen=True, eq=False)
class _ClusterSearch:
    """What clusters of distinct objects are found from.

    Attributes
    ----------
    edges, near : CSR array
        All edges, and those to as many neighbors as were asked for. Row x holds the similarities of x's neighbors.
    similarity : Similarity
        What the similarities are converted from.
    nothing : float or None
        The similarity of objects that have nothing in common.
    multiplicity : int array
        How many equal objects each object stands for.
    """

    edges: sp.csr_array
    near: sp.csr_array
    similarity: Similarity
    nothing: float | None
    multiplicity: Integers

    def clusters(
        self, n_clusters: int | str, smallest: int, kind: Positions | None = None, n_evaluations: int = 0
    ) -> Clustering:
        """Return the clusters of all objects, of which object x is a copy of the distinct object kind[x]."""
        links, all_links = links_of(lengths_of(self.near, self.similarity, self.nothing), self.multiplicity)
        if n_clusters == DENSITY:
            lengths = lengths_of(self.edges, self.similarity, self.nothing)
            groups, strength = density_clusters(lengths, links, self.multiplicity, smallest)
        else:
            groups = self._communities(links, all_links, n_clusters, smallest)
            strength = _strength(all_links, groups)
        apart = separation(links, groups, self.multiplicity)
        every = np.arange(groups.size) if kind is None else kind
        return Clustering(_largest_first(groups[every]), n_evaluations, strength[every], apart)

    def _communities(
        self, links: sp.csr_array, all_links: sp.csr_array, n_clusters: int | str, smallest: int
    ) -> Positions:
        """Return the communities of the links."""
        n = links.shape[0]
        if n_clusters != "auto" and not (is_whole(n_clusters, 1) and int(n_clusters) <= n):
            raise ValueError(
                f"n_clusters must be 'auto', '{DENSITY}' or an int from 1 to {n}, the number of distinct objects, got "
                f"{n_clusters!r}."
            )
        if n_clusters == "auto":
            return communities(links, self.multiplicity, smallest)
        groups = n_communities(links, all_links, int(n_clusters), self.multiplicity, smallest)
        if groups.max() + 1 < int(n_clusters):
            raise ValueError(
                f"n_clusters must be at most {groups.max() + 1}, the number of groups of at least min_cluster_size = "
                f"{smallest} objects, got {n_clusters!r}; pass a smaller number, or a smaller min_cluster_size."
            )
        return groups


def _strength(links: sp.csr_array, groups: Positions) -> Floats:
    """Return the share of each object's links that lead into its own group; 0 for objects in none."""
    x = np.repeat(np.arange(groups.size), np.diff(links.indptr))
    weights = links.data
    total = np.bincount(x, weights=weights, minlength=groups.size)
    own = np.bincount(x, weights=np.where(groups[x] == groups[links.indices], weights, 0.0), minlength=groups.size)
    strength = np.divide(own, total, out=np.ones(groups.size), where=total > 0)
    return np.where(groups < 0, 0.0, np.minimum(strength, 1.0))


def _between_objects(edges: sp.csr_array) -> sp.csr_array:
    """Return the edges without those from an object to itself."""
    every = np.arange(edges.shape[0])
    return edges_among(edges, every, every)


def _largest_first(groups: Positions) -> Positions:
    """Return the groups numbered by size; of groups of one size, the one with the lowest number comes first."""
    sizes = np.bincount(groups[groups >= 0])
    number = np.append(np.argsort(np.argsort(-sizes, kind="stable"), kind="stable"), -1)
    return number[groups]
