"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an orphan: only it can cover itself.
2. A candidate's gain is what it would newly cover, itself included: the sum of similarities, or the number.
3. Pick the largest gain, ties to the lowest index, covered or not; withdraw what it covers from all gains.
4. Stop when ceil(coverage * n) objects are covered.

Gains are sums of integers, similarities in units so fine that the largest sum just fits into 61 bits, so withdrawing
is exact. They are compared without their last 24 bits, which hold the rounding of the similarities: sums that are equal
on paper, such as 1/3 + 1/3 and 2/3, tie. Gains only shrink, so a candidate whose key on the heap is up to date beats
all others: each edge is withdrawn once, O(edges log n).
"""

import math
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Integers
from covey.coverage.refine import STEPS, improve
from covey.graph.graph import NeighborGraph

GAINS = ("similarity", "count")
ORPHANS = ("self", "outlier")
BITS = 61
"""The largest sum of weights, in units."""
ROUNDED_BITS = 24
"""Of the 61 bits of a gain, the last ones that are not compared. A similarity is rounded to 53 bits, so a sum of them
may be off by a few hundred units; that it lies so close to a border of 2^24 units that it ties with one more or one
less is as unlikely as 1 in 10 000."""


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
        The share of objects covered, those that are there several times counted as often.
    n_orphans : int
        How many objects neither an edge nor a copy can cover.
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
    multiplicity: Integers | None = None,
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
        Whether newly covered objects weigh as their similarity or as one each. A similarity below 0 weighs nothing,
        but the object is covered all the same.
    on_orphan : {"self", "outlier"}, default="self"
        Orphans are picked for themselves while coverage falls short, or left uncovered as outliers; coverage may then
        end below the share asked for. At least one object is picked in any case.
    with_itself : float array of shape (n,), optional
        What an object weighs in its own gain; 1 by default and wherever it is not positive.
    multiplicity : int array of shape (n,), optional
        How many times each object is there, 1 by default: it counts as often in gains and in the share covered.
    refine : bool, default=False
        Look for a smaller choice that covers as much, by a local search that starts from the greedy one.
    """
    check_coverage(coverage)
    if gain not in GAINS:
        raise ValueError(f"gain must be one of {list(GAINS)}, got {gain!r}.")
    if on_orphan not in ORPHANS:
        raise ValueError(f"on_orphan must be one of {list(ORPHANS)}, got {on_orphan!r}.")
    if not isinstance(refine, bool | np.bool_):
        raise TypeError(f"refine must be True or False, got {refine!r}.")
    edges = edges_of(graph, threshold)
    times = _check_multiplicity(multiplicity, edges.shape[0])
    n_required = required(coverage, int(times.sum()))
    orphans = (np.diff(edges.indptr) == 0) & (times == 1)  # copies cover each other
    weights = _integer_weights(edges, gain, with_itself, times)
    if on_orphan == "outlier":
        weights.own[orphans] = 0
    picked, won, covered_by = _pick(edges, weights, times, n_required)
    if refine:
        n_covered = int(times[covered_by >= 0].sum())
        kept = _refined(edges, weights.own > 0, times, picked, min(n_required, n_covered))
        picked, won, covered_by = _pick(*_only(kept, edges, weights), times, int(times.sum()))
    share = float(times[covered_by >= 0].sum() / times.sum())
    return Cover(picked, won / weights.unit, covered_by, share, int(orphans.sum()))


@dataclass(frozen=True)
class Weights:
    """What each edge and each object itself adds to a gain, as integers.

    `unit` of them make a similarity of 1; gains are compared without their last `rounded` bits.
    """

    edges: Integers
    own: Integers
    unit: float
    rounded: int


def _pick(edges: sp.csr_array, weights: Weights, times: Integers, n_required: int) -> tuple[Any, Any, Any]:
    reverse = _reversed(edges)
    graph = (edges.indptr, edges.indices, weights.edges, reverse.indptr, reverse.indices)
    picked: tuple[Any, Any, Any] = pick(*graph, weights.own, times, weights.rounded, n_required)
    return picked


def _refined(
    edges: sp.csr_array, alone: NDArray[np.bool_], times: Integers, picked: Integers, n_required: int
) -> Integers:
    reverse = _reversed(edges)
    graph = (edges.indptr, edges.indices, reverse.indptr, reverse.indices)
    kept: Integers = improve(*graph, alone, times, picked, n_required, STEPS * alone.size)
    return kept


def _only(kept: Integers, edges: sp.csr_array, weights: Weights) -> tuple[sp.csr_array, Weights]:
    """Edges to these objects alone, with their weights: the others have nothing to gain.

    Whatever these objects cover, themselves included, must count for something, or it would not be covered.
    """
    may_cover = np.zeros(weights.own.size, dtype=bool)
    may_cover[kept] = True
    left = may_cover[edges.indices]
    starts = np.concatenate([[0], np.cumsum(left)])[edges.indptr]
    own = np.where(may_cover, np.maximum(weights.own, 1), 0)
    edges = sp.csr_array((edges.data[left], edges.indices[left], starts), shape=edges.shape)
    return edges, Weights(np.maximum(weights.edges[left], 1), own, weights.unit, weights.rounded)


def _reversed(edges: sp.csr_array) -> sp.csc_array:
    return sp.csr_array((np.zeros(edges.nnz, np.int8), edges.indices, edges.indptr), shape=edges.shape).tocsc()


def required(coverage: float, n: int) -> int:
    """The least number of objects that is a share `coverage` of n, safe from rounding (0.95 * 20 is 19); at least 1."""
    return max(1, math.ceil(coverage * n - 1e-9))


def check_coverage(coverage: Any) -> None:
    if not (isinstance(coverage, Real) and 0 < float(coverage) <= 1):
        raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")


def edges_of(graph: Any, threshold: float | None) -> sp.csr_array:
    """Row x: the objects that cover x by an edge, and how similar they are."""
    if threshold is not None and not (isinstance(threshold, Real) and threshold == threshold):
        raise ValueError(f"threshold must be a number or None, got {threshold!r}.")
    if not isinstance(graph, NeighborGraph):
        graph = NeighborGraph.from_csr(graph)
    kept = graph.indices >= 0
    if threshold is not None:
        kept &= graph.similarities >= threshold
    starts = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    n = graph.n_objects
    return sp.csr_array((graph.similarities[kept], graph.indices[kept], starts), shape=(n, n))


def _check_multiplicity(multiplicity: Integers | None, n: int) -> Integers:
    if multiplicity is None:
        return np.ones(n, dtype=np.int64)
    times = np.asarray(multiplicity)
    if times.shape != (n,) or times.dtype.kind not in "iu" or (times < 1).any():
        raise ValueError(f"multiplicity must hold a whole number of at least 1 for each of the {n} objects.")
    return times.astype(np.int64)


def _check_with_itself(with_itself: Floats | None, n: int) -> Floats:
    if with_itself is None:
        return np.ones(n)
    itself = np.asarray(with_itself)
    if itself.shape != (n,) or itself.dtype.kind not in "fiub" or not np.isfinite(itself).all():
        raise ValueError(f"with_itself must hold a finite number for each of the {n} objects.")
    return itself.astype(np.float64)


def _integer_weights(edges: sp.csr_array, gain: str, with_itself: Floats | None, times: Integers) -> Weights:
    n = edges.shape[0]
    times_covered = np.repeat(times, np.diff(edges.indptr))
    if gain == "count":
        return Weights(times_covered, times.copy(), 1.0, 0)
    itself = _check_with_itself(with_itself, n)
    own = times * np.where(itself > 0, itself, 1.0)
    weights = times_covered * np.maximum(edges.data, 0)
    largest = float((own + np.bincount(edges.indices, weights, minlength=n)).max())
    unit = 2.0 ** min(BITS - math.ceil(math.log2(largest)), 1000)
    own_units = np.maximum(np.rint(own * unit), 1)  # an uncovered object always has something to gain
    return Weights(np.rint(weights * unit).astype(np.int64), own_units.astype(np.int64), unit, ROUNDED_BITS)


@njit(cache=True, nogil=True)
def pick(starts, coverers, weights, reverse_starts, reverse, own, times, rounded, n_required):  # type: ignore[no-untyped-def]
    """Greedy picking; `coverers` by object with their weights, `reverse` the objects by coverer."""
    n = own.size
    gains, keys = own.copy(), np.empty(n, dtype=np.int64)
    for at in range(coverers.size):
        gains[coverers[at]] += weights[at]
    for u in range(n):
        keys[u] = compared(gains[u], rounded)
    heap = np.argsort(-keys, kind="mergesort")  # sorted, hence a heap
    covered_by = np.full(n, -1, dtype=np.int64)
    picked, won = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_picked, n_covered, size = 0, 0, n
    while n_covered < n_required:
        best = heap[0]
        key = compared(gains[best], rounded)
        if keys[best] != key:
            keys[best] = key
            sink(heap, size, keys)
            continue
        if key == 0 and n_picked > 0:
            break
        picked[n_picked], won[n_picked] = best, gains[best]
        n_picked += 1
        size -= 1
        heap[0] = heap[size]
        sink(heap, size, keys)
        for at in range(reverse_starts[best] - 1, reverse_starts[best + 1]):
            x = best if at < reverse_starts[best] else reverse[at]  # first itself
            if covered_by[x] < 0:
                n_covered += times[x]
                gains[x] -= own[x]
                for edge in range(starts[x], starts[x + 1]):
                    gains[coverers[edge]] -= weights[edge]
                covered_by[x] = best
        covered_by[best] = best
    return picked[:n_picked], won[:n_picked], covered_by


@njit(cache=True, nogil=True)
def compared(gain, rounded):  # type: ignore[no-untyped-def]
    """What is compared of a gain: 0 for nothing at all, else 1 more than the gain without its rounded bits."""
    if gain == 0 or rounded == 0:
        return gain
    return 1 + ((gain + (np.int64(1) << (rounded - 1))) >> rounded)


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
