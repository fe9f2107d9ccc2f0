"""Clusters by density: scikit-learn's HDBSCAN on a neighbor graph.

HDBSCAN wants distances. That of two neighbors is the largest similarity in the graph less theirs. Objects that are no
neighbors of each other have none, so memory is that of the graph. HDBSCAN refuses a graph that falls apart; links that
are longer than all others tie the parts together.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from covey.arrays import Positions
from covey.similarity.sums import unit_of

SMALLEST_CLUSTER = 10
"""The fewest objects of a cluster. On eleven data sets of 150 to 5 000 objects, 5, 10 and 20 found clusters that agree
with the true labels about equally well."""
SAMPLES = 5
"""An object is in a dense place if this many others are near. This is scikit-learn's default."""
NO_DISTANCE = 1e-9
"""Distances of 0 are raised to this share of the largest, because sparse matrices take a 0 for no link at all."""


def density_clusters(edges: sp.csr_array) -> Positions:
    """Return the number of each object's cluster, from 0; -1 for objects that belong to none.

    Row x of `edges` holds the similarities of x's neighbors.
    """
    from sklearn.cluster import HDBSCAN

    n = edges.shape[0]
    distances = _distances(edges)
    fewest = int(np.diff(distances.indptr).min())
    if n < SMALLEST_CLUSTER or fewest == 0:
        return np.full(n, -1, dtype=np.intp)
    options: Any = {"min_cluster_size": SMALLEST_CLUSTER, "min_samples": min(SAMPLES, fewest)}
    return np.asarray(HDBSCAN(metric="precomputed", copy=True, **options).fit(distances).labels_, dtype=np.intp)


def _distances(edges: sp.csr_array) -> sp.csr_matrix:
    """Return the distances of neighbors as a symmetric matrix in one piece."""
    n = edges.shape[0]
    x, y = np.repeat(np.arange(n), np.diff(edges.indptr)), edges.indices
    similarities = edges.data / unit_of(edges.data)  # so that distances and their squares have floats
    distance = similarities.max(initial=0.0) - similarities
    longest = float(distance.max(initial=0.0)) or 1.0
    distance = np.maximum(distance, NO_DISTANCE * longest)
    first = np.unique(connected_components(edges, directed=False)[1], return_index=True)[1]
    x, y = np.append(x, first[1:]), np.append(y, np.repeat(first[0], first.size - 1))
    distance = np.append(distance, np.full(first.size - 1, 2 * longest))
    a, b = np.minimum(x, y), np.maximum(x, y)
    order = np.lexsort((distance, b, a))
    a, b, distance = a[order], b[order], distance[order]
    kept = np.append(True, (np.diff(a) != 0) | (np.diff(b) != 0))[: a.size]  # the shorter of both directions counts
    a, b, distance = a[kept], b[kept], distance[kept]
    both = np.append(distance, distance), (np.append(a, b), np.append(b, a))
    return sp.csr_matrix(both, shape=(n, n))
