"""The edges of a graph that decide who covers whom.

Row x of the matrix of edges holds the objects that cover x by an edge, and their similarities to x.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Positions
from covey.coverage.gains import kept_edges
from covey.graph.graph import NeighborGraph, check_graph
from covey.similarity.types import SparseMatrix


def edges_of(graph: NeighborGraph | SparseMatrix, threshold: float | None) -> sp.csr_array:
    """Return the edges that the threshold does not cut, without those from an object to itself.

    A sparse matrix is not turned into lists of equal length, which could take far more memory than its entries.
    """
    if not isinstance(graph, NeighborGraph):
        csr = check_graph(graph)
        rows = np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))
        return some_edges(csr, kept_edges(csr.indices, csr.data, threshold) & (rows != csr.indices))
    kept = kept_edges(graph.indices, graph.similarities, threshold)
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    n = graph.n_objects
    return sp.csr_array((graph.similarities[kept], graph.indices[kept], starts), shape=(n, n))


def some_edges(edges: sp.csr_array, kept: Any) -> sp.csr_array:
    """Return those of the edges that are marked in `kept`, with similarities in float64."""
    starts = np.concatenate([[0], np.cumsum(kept)])[edges.indptr]
    values = edges.data[kept].astype(np.float64, copy=False)
    return sp.csr_array((values, edges.indices[kept], starts), shape=edges.shape)


def by_coverer(edges: sp.csr_array) -> sp.csc_array:
    """Return the edges by coverer: column r holds the objects that r covers. Its values are of no use."""
    return sp.csr_array((np.zeros(edges.nnz, np.int8), edges.indices, edges.indptr), shape=edges.shape).tocsc()


def similarities_of(edges: sp.csr_array, rows: Positions, others: Positions) -> Floats:
    """Return the similarity that is stored for each row and one of its neighbors."""
    listed = edges[rows]
    places = np.repeat(np.arange(rows.size), np.diff(listed.indptr))
    wanted = listed.indices == others[places]
    similarities = np.empty(rows.size)
    similarities[places[wanted]] = listed.data[wanted]
    return similarities
