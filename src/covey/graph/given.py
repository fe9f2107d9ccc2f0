"""A graph that was made elsewhere, cut down to one cluster."""

import numpy as np
import scipy.sparse as sp

from covey.arrays import Positions
from covey.graph.graph import NeighborGraph, check_graph
from covey.similarity.types import SparseMatrix


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
    kept = (b >= 0) & (a != b)
    a, b, values = a[kept], b[kept], values[kept]
    if n_kinds < members.size:  # several members of one kind may have an edge to the same kind
        order = np.lexsort((-values, b, a))
        a, b, values = a[order], b[order], values[order]
        best = np.append(True, (np.diff(a) != 0) | (np.diff(b) != 0))[: a.size]
        a, b, values = a[best], b[best], values[best]
    return sp.coo_array((values, (a, b)), shape=(n_kinds, n_kinds)).tocsr()
