"""The edges of a graph that decide who covers whom.

An object r covers x if x lists r as a neighbor and the threshold does not cut this edge. Row x of the matrix of edges
holds the coverers of x, and their similarities to x. Column r, read backwards, holds the objects that r covers.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.graph.graph import NeighborGraph, check_graph
from covey.runtime.parameters import is_number
from covey.similarity.inputs import SparseMatrix


class Adjacency(NamedTuple):
    """The edges from both ends, as arrays for compiled loops.

    `coverers` from starts[x] on holds the objects that cover x, and `covered` from covered_starts[r] on holds those
    that r covers.
    """

    starts: Integers
    coverers: Integers
    covered_starts: Integers
    covered: Integers


def listed_edges(neighbors: Indices, similarities: Floats, threshold: float | None) -> Flags:
    """Return which places in lists of neighbors hold an edge that the threshold does not cut."""
    if threshold is not None and not is_number(threshold):
        raise ValueError(f"threshold must be a number or None, got {threshold!r}.")
    listed: Flags = neighbors >= 0
    return listed if threshold is None else listed & (similarities >= threshold)


def edges_of(graph: NeighborGraph | SparseMatrix, threshold: float | None) -> sp.csr_array:
    """Return the edges that the threshold does not cut, without those from an object to itself.

    A sparse matrix is not turned into lists of equal length, which could take far more memory than its entries.
    """
    if not isinstance(graph, NeighborGraph):
        csr = check_graph(graph)
        rows = np.repeat(np.arange(csr.shape[0], dtype=csr.indices.dtype), np.diff(csr.indptr))
        return some_edges(csr, listed_edges(csr.indices, csr.data, threshold) & (rows != csr.indices))
    listed = listed_edges(graph.indices, graph.similarities, threshold)
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    n = graph.n_objects
    return sp.csr_array((graph.similarities[listed], graph.indices[listed], starts), shape=(n, n))


def some_edges(edges: sp.csr_array, marked: Flags) -> sp.csr_array:
    """Return the edges that are marked, with similarities in float64."""
    starts = np.concatenate([[0], np.cumsum(marked)])[edges.indptr]
    values = edges.data[marked].astype(np.float64, copy=False)
    return sp.csr_array((values, edges.indices[marked], starts), shape=edges.shape)


def adjacency_of(edges: sp.csr_array) -> Adjacency:
    """Return the edges from both ends."""
    covered = sp.csr_array((np.zeros(edges.nnz, np.int8), edges.indices, edges.indptr), shape=edges.shape).tocsc()
    return Adjacency(edges.indptr, edges.indices, covered.indptr, covered.indices)


def similarities_of(edges: sp.csr_array, rows: Positions, others: Positions) -> Floats:
    """Return the similarity that is stored for each row and one of its neighbors."""
    listed = edges[rows]
    places = np.repeat(np.arange(rows.size), np.diff(listed.indptr))
    wanted = listed.indices == others[places]
    similarities = np.empty(rows.size)
    similarities[places[wanted]] = listed.data[wanted]
    return similarities
