"""The edges of a graph that decide who covers whom.

An object r covers x if x lists r as a neighbor and the threshold does not cut this edge. The edges of x lead to its
coverers. Read backwards, they lead from r to the objects that r covers.

Graphs are large, so that edges are views of the graph where they can be. The neighbors of an object stand best first:
those that a threshold leaves are the first ones. A threshold that cuts no edge of a matrix changes nothing. Only other
edges are copied. What is added is one number for each edge: the list of covered objects.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.graph.graph import NeighborGraph, check_graph
from covey.runtime.interruptible import in_steps
from covey.runtime.parameters import is_number
from covey.similarity.inputs import SparseMatrix


class Edges(NamedTuple):
    """The coverers of each object.

    The coverers of x, and how similar they are to x, stand from starts[x] to before ends[x]. The arrays are read-only.
    """

    starts: Integers
    ends: Integers
    coverers: Indices
    similarities: Floats


class Adjacency(NamedTuple):
    """The edges from both ends, as arrays for compiled loops.

    The first four are those of `Edges`. `covered` from covered_starts[r] to before covered_starts[r + 1] holds the
    objects that r covers, in ascending order.
    """

    starts: Integers
    ends: Integers
    coverers: Indices
    similarities: Floats
    covered_starts: Integers
    covered: Indices


def listed_edges(neighbors: Indices, similarities: Floats, threshold: float | None) -> Flags:
    """Return which places in lists of neighbors hold an edge that the threshold does not cut."""
    listed: Flags = neighbors >= 0
    return listed if threshold is None else listed & (similarities >= _checked(threshold))


def edges_of(graph: NeighborGraph | SparseMatrix, threshold: float | None) -> Edges:
    """Return the edges that the threshold does not cut, without those from an object to itself in a matrix."""
    least = -np.inf if threshold is None else float(_checked(threshold))
    if isinstance(graph, NeighborGraph):
        starts = np.arange(graph.n_objects + 1) * graph.indices.shape[1]
        return _kept(edges_from(starts, graph.indices.ravel(), graph.similarities.ravel()), least, loops=True)
    csr = check_graph(graph)
    return _kept(edges_from(csr.indptr, csr.indices, csr.data), least, loops=False)


def edges_from(starts: NDArray[Any], coverers: NDArray[Any], similarities: NDArray[Any]) -> Edges:
    """Return the edges that lie one after the other in these arrays, those of object x from starts[x] on."""
    starts, coverers = starts.astype(np.int64, copy=False), coverers.astype(np.int32, copy=False)
    similarities = similarities.astype(np.float64, copy=False)
    return Edges(*read_only(starts[:-1], starts[1:], coverers, similarities))


def _checked(threshold: Any) -> Any:
    """Return a threshold; raise ValueError unless it is a number."""
    if not is_number(threshold):
        raise ValueError(f"threshold must be a number or None, got {threshold!r}.")
    return threshold


def _kept(edges: Edges, threshold: float, *, loops: bool) -> Edges:
    """Return the edges that lead to an object and reach the threshold; those to the object itself only with `loops`."""
    n, in_front = edges.starts.size, True
    degrees = np.empty(n, dtype=np.int64)

    def count(part: slice) -> None:
        nonlocal in_front
        in_front &= bool(count_kept(*edges, threshold, loops, part.start, part.stop, degrees))

    in_steps(n, count)
    if in_front:
        return edges._replace(ends=read_only(edges.starts + degrees)[0])
    starts = np.concatenate([[0], np.cumsum(degrees)])
    coverers, similarities = np.empty(starts[-1], dtype=np.int32), np.empty(starts[-1])

    def copy(part: slice) -> None:
        copy_kept(*edges, threshold, loops, part.start, part.stop, starts, coverers, similarities)

    in_steps(n, copy)
    return edges_from(starts, coverers, similarities)


def edges_to(edges: Edges, marked: Flags) -> Edges:
    """Return the edges that lead to marked objects."""
    coverers = np.where(marked[edges.coverers], edges.coverers, np.int32(-1))
    return _kept(edges._replace(coverers=read_only(coverers)[0]), -np.inf, loops=True)


def n_coverers(edges: Edges) -> Integers:
    """Return how many others cover each object."""
    return edges.ends - edges.starts


def adjacency_of(edges: Edges) -> Adjacency:
    """Return the edges from both ends."""
    n = edges.starts.size
    cursors = np.zeros(n + 2, dtype=np.int64)  # where the next object that r covers is to be written stands at r + 1
    in_steps(n, lambda part: count_covered(*edges[:3], part.start, part.stop, cursors[2:]))
    np.cumsum(cursors, out=cursors)
    covered = np.empty(cursors[-1], dtype=np.int32)
    in_steps(n, lambda part: list_covered(*edges[:3], part.start, part.stop, cursors[1:], covered))
    return Adjacency(*edges, *read_only(cursors[:-1], covered))


def similarities_of(edges: Edges, rows: Positions, others: Positions) -> Floats:
    """Return the similarity that is stored for each row and one of its neighbors."""
    similarities = np.empty(rows.size)
    find_similarities(*edges, rows, others, similarities)
    return similarities


def read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Return views that cannot be written to.

    Arrays that come from a graph or from another process may be read-only or not. For numba these are different types,
    each of which it would compile the loops for.
    """
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


@njit(cache=True, nogil=True)
def is_kept(x, coverer, similarity, threshold, loops):  # type: ignore[no-untyped-def]
    """Return whether an edge from x leads to an object, and is not cut."""
    return coverer >= 0 and similarity >= threshold and (loops or coverer != x)


@njit(cache=True, nogil=True)
def count_kept(starts, ends, coverers, similarities, threshold, loops, first, end, degrees):  # type: ignore[no-untyped-def]
    """Count the edges that are kept of the objects from `first` to before `end`; return whether none of them stands
    behind one that is not kept."""
    in_front = True
    for x in range(first, end):
        degrees[x] = 0
        for edge in range(starts[x], ends[x]):
            if is_kept(x, coverers[edge], similarities[edge], threshold, loops):
                in_front = in_front and degrees[x] == edge - starts[x]
                degrees[x] += 1
    return in_front


@njit(cache=True, nogil=True)
def copy_kept(starts, ends, coverers, similarities, threshold, loops, first, end, to, kept, values):  # type: ignore[no-untyped-def]
    """Copy the edges that are kept of the objects from `first` to before `end`; those of x go to the place to[x]."""
    for x in range(first, end):
        place = to[x]
        for edge in range(starts[x], ends[x]):
            if is_kept(x, coverers[edge], similarities[edge], threshold, loops):
                kept[place], values[place] = coverers[edge], similarities[edge]
                place += 1


@njit(cache=True, nogil=True)
def count_covered(starts, ends, coverers, first, end, counts):  # type: ignore[no-untyped-def]
    """Add to the count of each coverer how many of the objects from `first` to before `end` it covers."""
    for x in range(first, end):
        for u in coverers[starts[x] : ends[x]]:
            counts[u] += 1


@njit(cache=True, nogil=True)
def list_covered(starts, ends, coverers, first, end, cursors, covered):  # type: ignore[no-untyped-def]
    """Enter the objects from `first` to before `end` into the lists of what their coverers cover."""
    for x in range(first, end):
        for u in coverers[starts[x] : ends[x]]:
            covered[cursors[u]] = x
            cursors[u] += 1


@njit(cache=True, nogil=True)
def find_similarities(starts, ends, coverers, similarities, rows, others, found):  # type: ignore[no-untyped-def]
    """Find how similar each row is to one of its neighbors."""
    for t in range(rows.size):
        for edge in range(starts[rows[t]], ends[rows[t]]):
            if coverers[edge] == others[t]:
                found[t] = similarities[edge]
