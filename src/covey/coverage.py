"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an orphan: only it can cover itself.
2. A candidate's gain is what it would newly cover, itself included: the sum of similarities, or the number.
3. Pick the largest gain, ties to the lowest index, covered or not; withdraw what it covers from all gains.
4. Stop when ceil(coverage * n) objects are covered.

Gains are integers (similarities in units of 2^-32), so withdrawing is exact and ties are real. They only shrink, so
a candidate whose key on the heap is up to date beats all others: each edge is withdrawn once, O(edges log n).
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey._refine import STEPS, improve
from covey.graph import NeighborGraph

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

GAINS = ("similarity", "count")
ORPHANS = ("self", "outlier")


@dataclass(frozen=True, eq=False)
class Cover:
    """Which objects were picked, and what they cover.

    Attributes
    ----------
    indices : int array
        The representatives, in the order picked.
    gains : float array
        The gain of each when it was picked.
    covered_by : int array of shape (n,)
        For each object the representative that covered it first (itself, for a representative), or -1.
    coverage : float
        The share of objects covered.
    n_orphans : int
        How many objects no edge can cover.
    """

    indices: NDArray[np.intp]
    gains: Floats
    covered_by: NDArray[np.intp]
    coverage: float
    n_orphans: int


def cover(
    graph: Any,
    coverage: float = 0.95,
    threshold: float | None = None,
    *,
    gain: str = "similarity",
    on_orphan: str = "self",
    with_itself: Floats | None = None,
    refine: bool = False,
) -> Cover:
    """Pick few objects that cover at least a share of all.

    Parameters
    ----------
    graph : NeighborGraph or sparse matrix
    coverage : float, default=0.95
        The share to cover, in (0, 1].
    threshold : float, optional
        Edges less similar than this are dropped; by default none.
    gain : {"similarity", "count"}, default="similarity"
        Whether newly covered objects weigh as their similarity or as one each.
    on_orphan : {"self", "outlier"}, default="self"
        Orphans are picked for themselves while coverage falls short, or left uncovered as outliers; coverage may then
        end below the share asked for. At least one object is picked in any case.
    with_itself : float array of shape (n,), optional
        What an object weighs in its own gain; 1 by default and wherever it is not positive.
    refine : bool, default=False
        Look for a smaller choice that covers as much, by a local search that starts from the greedy one.
    """
    check_coverage(coverage)
    if gain not in GAINS:
        raise ValueError(f"gain must be one of {list(GAINS)}, got {gain!r}.")
    if on_orphan not in ORPHANS:
        raise ValueError(f"on_orphan must be one of {list(ORPHANS)}, got {on_orphan!r}.")
    edges = edges_of(graph, threshold)
    n = edges.shape[0]
    orphans = np.diff(edges.indptr) == 0
    weights, own, unit = _integer_weights(edges, gain, with_itself)
    if on_orphan == "outlier":
        own[orphans] = 0
    picked, won, covered_by = _pick(edges, weights, own, required(coverage, n))
    if refine:
        kept = _refined(edges, own, picked, min(required(coverage, n), int(np.sum(covered_by >= 0))))
        picked, won, covered_by = _pick(*_only(kept, edges, weights, own), n)
    return Cover(picked, won / unit, covered_by, float(np.mean(covered_by >= 0)), int(orphans.sum()))


def _pick(edges: sp.csr_array, weights: Integers, own: Integers, n_required: int) -> tuple[Any, Any, Any]:
    reverse = _reversed(edges)
    picked: tuple[Any, Any, Any] = pick(
        edges.indptr, edges.indices, weights, reverse.indptr, reverse.indices, own, n_required
    )
    return picked


def _refined(edges: sp.csr_array, own: Integers, picked: Integers, n_required: int) -> Integers:
    reverse, n_steps = _reversed(edges), STEPS * own.size
    parts = (edges.indptr, edges.indices, reverse.indptr, reverse.indices)
    kept: Integers = improve(*parts, own > 0, picked, n_required, n_steps)
    return kept


def _only(
    kept: Integers, edges: sp.csr_array, weights: Integers, own: Integers
) -> tuple[sp.csr_array, Integers, Integers]:
    """Edges to these objects alone, with their weights: the others have nothing to gain."""
    may_cover = np.zeros(own.size, dtype=bool)
    may_cover[kept] = True
    left = may_cover[edges.indices]
    starts = np.concatenate([[0], np.cumsum(left)])[edges.indptr]
    edges = sp.csr_array((edges.data[left], edges.indices[left], starts), shape=edges.shape)
    return edges, np.maximum(weights[left], 1), np.where(may_cover, own, 0)  # what is covered must count


def _reversed(edges: sp.csr_array) -> sp.csc_array:
    return sp.csr_array((np.zeros(edges.nnz, np.int8), edges.indices, edges.indptr), shape=edges.shape).tocsc()


def required(coverage: float, n: int) -> int:
    """The least number of objects that is a share `coverage` of n, safe from rounding (0.95 * 20 is 19); at least 1."""
    return max(1, math.ceil(coverage * n - 1e-9))


def check_coverage(coverage: float) -> None:
    if not 0 < coverage <= 1:
        raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")


def edges_of(graph: Any, threshold: float | None) -> sp.csr_array:
    """Row x: the objects that cover x by an edge, and how similar they are."""
    if not isinstance(graph, NeighborGraph):
        graph = NeighborGraph.from_csr(graph)
    kept = graph.indices >= 0
    if threshold is not None:
        kept &= graph.similarities >= threshold
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    n = graph.n_objects
    return sp.csr_array((graph.similarities[kept], graph.indices[kept], starts), shape=(n, n))


def _integer_weights(edges: sp.csr_array, gain: str, with_itself: Floats | None) -> tuple[Integers, Integers, float]:
    """The edges' and the objects' own weights as integers, and how many units make 1."""
    n = edges.shape[0]
    if gain == "count":
        return np.ones(edges.nnz, dtype=np.int64), np.ones(n, dtype=np.int64), 1.0
    if edges.nnz and edges.data.min() < 0:
        raise ValueError(
            f"gain='similarity' needs similarities of at least 0, got {edges.data.min():.6g}; use gain='count'."
        )
    own = np.ones(n) if with_itself is None else np.where(with_itself > 0, with_itself, 1.0)
    largest = float((own + np.bincount(edges.indices, edges.data, minlength=n)).max())
    # Sums just fit; only if similarities are tiny need it be so fine.
    finest = min(61 - math.ceil(math.log2(largest)), 1000)
    unit = 2.0 ** (min(32, finest) if largest >= 1 else finest)
    own_units = np.maximum(np.rint(own * unit), 1)  # an uncovered object always has something to gain
    return np.rint(edges.data * unit).astype(np.int64), own_units.astype(np.int64), unit


@njit(cache=True, nogil=True)
def pick(starts, coverers, weights, reverse_starts, reverse, own, n_required):  # type: ignore[no-untyped-def]
    """Greedy picking; `coverers` by object with their weights, `reverse` the objects by coverer."""
    n = own.size
    gains = own.copy()
    for at in range(coverers.size):
        gains[coverers[at]] += weights[at]
    heap, keys = np.argsort(-gains, kind="mergesort"), gains.copy()  # sorted, hence a heap
    covered_by = np.full(n, -1, dtype=np.int64)
    picked, won = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_picked, n_covered, size = 0, 0, n
    while n_covered < n_required:
        best = heap[0]
        if keys[best] != gains[best]:
            keys[best] = gains[best]
            sink(heap, size, keys)
            continue
        if gains[best] == 0 and n_picked > 0:
            break
        picked[n_picked], won[n_picked] = best, gains[best]
        n_picked += 1
        size -= 1
        heap[0] = heap[size]
        sink(heap, size, keys)
        for at in range(reverse_starts[best] - 1, reverse_starts[best + 1]):
            x = best if at < reverse_starts[best] else reverse[at]  # first itself
            if covered_by[x] < 0:
                n_covered += 1
                gains[x] -= own[x]
                for edge in range(starts[x], starts[x + 1]):
                    gains[coverers[edge]] -= weights[edge]
                covered_by[x] = best
        covered_by[best] = best
    return picked[:n_picked], won[:n_picked], covered_by


@njit(cache=True, nogil=True)
def sink(heap, size, keys):  # type: ignore[no-untyped-def]
    """Let the root sink to its place in a max-heap ordered by (key descending, index ascending)."""
    at, child = 0, 1
    while child < size:
        if child + 1 < size and before(heap[child + 1], heap[child], keys):
            child += 1
        if not before(heap[child], heap[at], keys):
            child = size  # in place
        else:
            heap[at], heap[child] = heap[child], heap[at]
            at, child = child, 2 * child + 1


@njit(cache=True, nogil=True)
def before(a, b, keys):  # type: ignore[no-untyped-def]
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)
