"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an *orphan*: nothing but itself can cover it.
2. The *gain* of an object is what it would newly cover, itself included: the sum of the similarities, or the number.
3. Pick the object with the largest gain, whether it is covered already or not. Of equal gains, the lowest index wins.
   Subtract what it covers from the gains of all objects.
4. Stop when ceil(coverage * n) objects are covered.

Gains are sums of integers, so that subtracting is exact. They count similarities in units so fine that the largest sum
just fits into 61 bits. Two gains are compared without their last 24 bits, which hold nothing but the rounding of the
similarities. So sums that are equal on paper, such as 1/3 + 1/3 and 2/3, tie.

Objects wait on a heap, ordered by gains that may be out of date. Gains only shrink; so if the gain at the top of the
heap is up to date, it is the largest of all. Each edge is subtracted once, which takes O(edges log n) in all.
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
from covey.similarity.types import SparseMatrix

GAINS = ("similarity", "count")
"""What a newly covered object may count in a gain: its similarity, or 1."""

ORPHANS = ("self", "outlier")
"""What may happen to orphans: they are picked to cover themselves, or stay uncovered."""

BITS = 61
"""How many bits the largest gain may take. An int64 has 63; two are left for the rounding of the single weights."""

ROUNDED_BITS = 24
"""How many of the last bits of a gain are not compared. A similarity in float64 has 53 bits, so a sum of them may be
off by a few hundred units. Two sums that are equal on paper fail to tie only if a border of 2^24 units lies between
them, which happens less than once in 10 000 times."""

COVERAGE_ROUNDING = 1e-9
"""How much coverage * n may exceed a whole number by rounding and still count as that number. Rounding stays below it
for a few million objects; beyond, one object more than needed may be covered."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Which objects were picked, and what they cover.

    Attributes
    ----------
    indices : int array
        The representatives, in the order in which they were picked.
    gains : float array
        The gain of each representative when it was picked.
    covered_by : int array of shape (n,)
        For each object the representative that covered it first, or -1 if none does. A representative covers itself.
    coverage : float
        The share of objects that are covered. An object with a multiplicity of m counts m times.
    n_orphans : int
        How many objects neither an edge nor an equal object can cover.
    """

    indices: NDArray[np.intp]
    gains: Floats
    covered_by: NDArray[np.intp]
    coverage: float
    n_orphans: int


def cover(
    graph: NeighborGraph | SparseMatrix,
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
        The neighbors of each object. A matrix is read by `NeighborGraph.from_csr`.
    coverage : float, default=0.95
        The share of objects to cover, in (0, 1].
    threshold : float, optional
        Edges less similar than this are dropped. By default, all edges are kept.
    gain : {"similarity", "count"}, default="similarity"
        Whether a newly covered object counts with its similarity or as 1. A similarity below 0 counts nothing, but the
        object is covered all the same.
    on_orphan : {"self", "outlier"}, default="self"
        "self" picks orphans to cover themselves as long as coverage falls short. "outlier" leaves them uncovered, so
        that coverage may end below the share asked for. At least one object is picked in any case.
    with_itself : float array of shape (n,), optional
        What each object counts in its own gain; 1 by default, and wherever the given number is not positive.
    multiplicity : int array of shape (n,), optional
        How many equal objects each object stands for, 1 by default. It counts so many times in gains and in coverage.
    refine : bool, default=False
        Whether to look for a smaller choice that covers as much, by a local search that starts from the greedy one.
    """
    check_coverage(coverage)
    _check_choices(gain, on_orphan, refine)
    edges = edges_of(graph, threshold)
    copies = _check_multiplicity(multiplicity, edges.shape[0])
    n_required = required(coverage, int(copies.sum()))
    orphans = (np.diff(edges.indptr) == 0) & (copies == 1)  # equal objects cover each other
    weights = _integer_weights(edges, gain, with_itself, copies)
    if on_orphan == "outlier":
        weights.own[orphans] = 0
    picked, gains_picked, covered_by = _pick(edges, weights, copies, n_required)
    if refine:
        n_covered = int(copies[covered_by >= 0].sum())
        kept = _refined(edges, weights.own > 0, copies, picked, min(n_required, n_covered))
        picked, gains_picked, covered_by = _pick(*_restrict(kept, edges, weights), copies, int(copies.sum()))
    share = float(copies[covered_by >= 0].sum() / copies.sum())
    return Cover(picked, gains_picked / weights.unit, covered_by, share, int(orphans.sum()))


@dataclass(frozen=True)
class Weights:
    """What each edge and each object itself adds to a gain, as whole numbers of units.

    A similarity of 1 has `unit` units. Gains are compared without their last `rounded` bits.
    """

    edges: Integers
    own: Integers
    unit: float
    rounded: int


def _pick(edges: sp.csr_array, weights: Weights, copies: Integers, n_required: int) -> tuple[Any, Any, Any]:
    """The picked objects, their gains in units, and for each object by which of them it is covered."""
    reverse = _reversed(edges)
    graph = (edges.indptr, edges.indices, weights.edges, reverse.indptr, reverse.indices)
    picked: tuple[Any, Any, Any] = pick(*graph, weights.own, copies, weights.rounded, n_required)
    return picked


def _refined(
    edges: sp.csr_array, counts_itself: NDArray[np.bool_], copies: Integers, picked: Integers, n_required: int
) -> Integers:
    """At most as many representatives as were picked, which cover at least `n_required` objects."""
    reverse = _reversed(edges)
    graph = (edges.indptr, edges.indices, reverse.indptr, reverse.indices)
    kept: Integers = improve(*graph, counts_itself, copies, picked, n_required, STEPS * counts_itself.size)
    return kept


def _restrict(kept: Integers, edges: sp.csr_array, weights: Weights) -> tuple[sp.csr_array, Weights]:
    """The edges to the kept objects alone, and their weights, so that greedy picking picks no others.

    Every weight is at least 1 unit. With a weight of 0, greedy picking could stop before a kept object covers all that
    it can cover, itself included.
    """
    may_cover = np.zeros(weights.own.size, dtype=bool)
    may_cover[kept] = True
    remaining = may_cover[edges.indices]
    starts = np.concatenate([[0], np.cumsum(remaining)])[edges.indptr]
    own = np.where(may_cover, np.maximum(weights.own, 1), 0)
    edges = sp.csr_array((edges.data[remaining], edges.indices[remaining], starts), shape=edges.shape)
    return edges, Weights(np.maximum(weights.edges[remaining], 1), own, weights.unit, weights.rounded)


def _reversed(edges: sp.csr_array) -> sp.csc_array:
    """The edges by coverer: column r holds the objects that r covers. Its values are of no use."""
    return sp.csr_array((np.zeros(edges.nnz, np.int8), edges.indices, edges.indptr), shape=edges.shape).tocsc()


def required(coverage: float, n: int) -> int:
    """The least number of objects, at least 1, that is a share `coverage` of n; 0.07 * 100 is 7, not 8 by rounding."""
    return max(1, math.ceil(coverage * n - COVERAGE_ROUNDING))


def check_coverage(coverage: Any) -> None:
    """Raise ValueError unless this is a number in (0, 1]."""
    if not (isinstance(coverage, Real) and 0 < float(coverage) <= 1):
        raise ValueError(f"coverage must be in (0, 1], got {coverage!r}.")


def _check_choices(gain: str, on_orphan: str, refine: bool) -> None:
    """Raise an error that names the choices if one of these is none of them."""
    if gain not in GAINS:
        raise ValueError(f"gain must be one of {list(GAINS)}, got {gain!r}.")
    if on_orphan not in ORPHANS:
        raise ValueError(f"on_orphan must be one of {list(ORPHANS)}, got {on_orphan!r}.")
    if not isinstance(refine, bool | np.bool_):
        raise TypeError(f"refine must be True or False, got {refine!r}.")


def edges_of(graph: NeighborGraph | SparseMatrix, threshold: float | None) -> sp.csr_array:
    """A matrix whose row x holds the objects that cover x by an edge, and their similarities."""
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
    """The multiplicity of each of n objects as int64, 1 by default; ValueError if it is anything but that."""
    if multiplicity is None:
        return np.ones(n, dtype=np.int64)
    copies = np.asarray(multiplicity)
    if copies.shape != (n,) or copies.dtype.kind not in "iu" or (copies < 1).any():
        raise ValueError(f"multiplicity must hold a whole number of at least 1 for each of the {n} objects.")
    return copies.astype(np.int64)


def _check_with_itself(with_itself: Floats | None, n: int) -> Floats:
    """The similarity of each of n objects with itself, 1 by default; ValueError unless these are finite numbers."""
    if with_itself is None:
        return np.ones(n)
    itself = np.asarray(with_itself)
    if itself.shape != (n,) or itself.dtype.kind not in "fiub" or not np.isfinite(itself).all():
        raise ValueError(f"with_itself must hold a finite number for each of the {n} objects.")
    return itself.astype(np.float64)


def _integer_weights(edges: sp.csr_array, gain: str, with_itself: Floats | None, copies: Integers) -> Weights:
    """The weights for a gain, in units that are a power of 2, as fine as the largest possible gain allows."""
    n = edges.shape[0]
    copies_covered = np.repeat(copies, np.diff(edges.indptr))
    if gain == "count":
        return Weights(copies_covered, copies.copy(), 1.0, 0)
    itself = _check_with_itself(with_itself, n)
    own = copies * np.where(itself > 0, itself, 1.0)
    weights = copies_covered * np.maximum(edges.data, 0)
    largest = float((own + np.bincount(edges.indices, weights, minlength=n)).max())
    unit = 2.0 ** min(BITS - math.ceil(math.log2(largest)), 1000)
    own_units = np.maximum(np.rint(own * unit), 1)  # at least 1, so that picking an uncovered object always has a gain
    return Weights(np.rint(weights * unit).astype(np.int64), own_units.astype(np.int64), unit, ROUNDED_BITS)


@njit(cache=True, nogil=True)
def pick(starts, coverers, weights, reverse_starts, reverse, own, copies, rounded, n_required):  # type: ignore[no-untyped-def]
    """Pick greedily until `n_required` objects are covered or no gain is left; at least one object is picked.

    `coverers` and `weights` from starts[x] on belong to the edges of object x; `reverse` from reverse_starts[r] on
    holds the objects that r covers. The picked objects, their gains and for each object its representative are
    returned.
    """
    n = own.size
    gains, keys = own.copy(), np.empty(n, dtype=np.int64)
    for t in range(coverers.size):
        gains[coverers[t]] += weights[t]
    for u in range(n):
        keys[u] = comparison_key(gains[u], rounded)
    heap = np.argsort(-keys, kind="mergesort")  # what is sorted is a heap
    covered_by = np.full(n, -1, dtype=np.int64)
    picked, gains_picked = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    n_picked, n_covered, size = 0, 0, n
    while n_covered < n_required:
        best = heap[0]
        key = comparison_key(gains[best], rounded)
        if keys[best] != key:
            keys[best] = key
            sink(heap, size, keys)
            continue
        if key == 0 and n_picked > 0:
            break
        picked[n_picked], gains_picked[n_picked] = best, gains[best]
        n_picked += 1
        size -= 1
        heap[0] = heap[size]
        sink(heap, size, keys)
        for t in range(reverse_starts[best] - 1, reverse_starts[best + 1]):
            x = best if t < reverse_starts[best] else reverse[t]  # the first is the object itself
            if covered_by[x] < 0:
                n_covered += copies[x]
                gains[x] -= own[x]
                for edge in range(starts[x], starts[x + 1]):
                    gains[coverers[edge]] -= weights[edge]
                covered_by[x] = best
        covered_by[best] = best
    return picked[:n_picked], gains_picked[:n_picked], covered_by


@njit(cache=True, nogil=True)
def comparison_key(gain, rounded):  # type: ignore[no-untyped-def]
    """The part of a gain that is compared: the gain itself, or, if bits are rounded, the gain without them.

    In the second case 1 is added, so that a gain above 0 never has the key 0.
    """
    if gain == 0 or rounded == 0:
        return gain
    return 1 + ((gain + (np.int64(1) << (rounded - 1))) >> rounded)


@njit(cache=True, nogil=True)
def sink(heap, size, keys):  # type: ignore[no-untyped-def]
    """Move the root of a heap down to its place; the heap is ordered by (key descending, index ascending)."""
    parent, child = 0, 1
    while child < size:
        if child + 1 < size and before(heap[child + 1], heap[child], keys):
            child += 1
        if not before(heap[child], heap[parent], keys):
            child = size  # the root has found its place, which ends the loop
        else:
            heap[parent], heap[child] = heap[child], heap[parent]
            parent, child = child, 2 * child + 1


@njit(cache=True, nogil=True)
def before(a, b, keys):  # type: ignore[no-untyped-def]
    """Whether a is to be picked before b."""
    return keys[a] > keys[b] or (keys[a] == keys[b] and a < b)
