"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an *orphan*: nothing but itself can cover it.
2. The *gain* of an object is what it would newly cover, itself included: the sum of the similarities, or the number.
3. Pick the object with the largest gain, whether it is covered already or not. Of equal gains, the lowest index wins.
   Subtract what it covers from the gains of all objects.
4. Stop when ceil(coverage * n) objects are covered, or when as many are picked as the caller wants.

Objects that the caller wants to be representatives are picked first. `edges.py` cuts the edges, `weights.py` says how
much each object counts, `gains.py` how gains are computed and compared, and `picking.py` has the loop that picks.

The edges of a graph that decide who covers whom.

Row x of the matrix of edges holds the objects that cover x by an edge, and their similarities to x.

How much each object counts: in the coverage, and in the gains of what would cover it.

The loop that picks the object with the largest gain, again and again.

Objects wait on a heap, ordered by gains that may be out of date. Gains only shrink; so if the gain at the top of the
heap is up to date, it is the largest of all. Each edge is subtracted once, which takes O(edges log n) in all.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Integers, Positions
from covey.coverage.gains import (
    ROUNDED_BITS,
    as_similarities,
    check_coverage,
    comparison_key,
    exponent_of,
    in_units,
    kept_edges,
    largest_gain,
    own_in_units,
    required,
    rounded_bits,
    similarity_weights,
    unit_for,
)
from covey.coverage.refine import STEPS, improve
from covey.graph.graph import NeighborGraph, check_graph
from covey.runtime.interruptible import in_steps, stop_if_abandoned
from covey.runtime.parameters import is_whole
from covey.similarity.similarity import LARGEST
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


WEIGHT_BITS = 52
"""How many bits the sum of all sample weights may take as a whole number. A float64 holds such numbers exactly."""


@dataclass(frozen=True)
class Weights:
    """What each edge and each object itself adds to a gain, as whole numbers of units.

    A similarity of 1 has 2^exponent units. Gains are compared without their last `rounded` bits.
    """

    edges: Integers
    own: Integers
    exponent: int
    rounded: int


@dataclass(frozen=True)
class Counts:
    """How much each object counts in coverage, in whole `amounts`, of which a weight of 1 has 2^exponent."""

    amounts: Integers
    exponent: int


def counts_of(copies: Integers, sample_weight: Any) -> Counts:
    """Return how much objects count that stand for this many copies and have these weights.

    Weights become whole numbers in two steps, so that sums are exact and do not depend on the order of adding.

    1. Round to units so fine that the sum just fits into 52 bits. The largest weight decides about the unit by its
       power of 2 alone, so that no weight is too large or too small. A weight above 0 stays above 0.
    2. Divide by the largest power of 2 that all have in common. So weights of 1, 2 and 3 are taken as they are, and
       all weights times a power of 2 give the same numbers.
    """
    if sample_weight is None:
        return Counts(copies, 0)
    given = np.asarray(sample_weight)
    if given.shape != copies.shape or given.dtype.kind not in "fiub":
        raise ValueError(f"sample_weight must hold a number for each of the {copies.size} objects.")
    weights = given.astype(np.float64)
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError("sample_weight must hold finite numbers of at least 0.")
    largest = float(weights.max(initial=0))
    if not largest > 0:
        raise ValueError("sample_weight must be above 0 for at least one object.")
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(weights, -exponent)  # all are below 1
    bits = WEIGHT_BITS - math.frexp(math.fsum(scaled))[1]
    amounts = np.maximum(np.rint(np.ldexp(scaled, bits)).astype(np.int64), weights > 0)
    common = int(np.bitwise_or.reduce(amounts))
    zeros = (common & -common).bit_length() - 1
    return Counts(amounts >> zeros, bits - exponent - zeros)


def weights_of(edges: sp.csr_array, gain: str, with_itself: Floats | None, counts: Counts) -> Weights:
    """Return the weights for a gain, in units that are a power of 2, as fine as the largest possible gain allows."""
    amounts_covered = np.repeat(counts.amounts, np.diff(edges.indptr))
    if gain == "count":
        added = amounts_covered.astype(np.float64)
        largest = largest_gain(edges.indices, added, counts.amounts.astype(np.float64))
        return Weights(amounts_covered, counts.amounts.copy(), counts.exponent, rounded_bits(int(largest)))
    itself = _check_with_itself(with_itself, counts.amounts.size)
    weights, own = similarity_weights(edges.data, amounts_covered, itself, counts.amounts)
    unit = unit_for(largest_gain(edges.indices, weights, own))
    exponent = exponent_of(unit) + counts.exponent
    return Weights(in_units(weights, unit), own_in_units(own, unit), exponent, ROUNDED_BITS)


def check_multiplicity(multiplicity: Any, n: int) -> Integers:
    """Return the multiplicity of each of n objects as int64, 1 by default; ValueError if it is anything but that."""
    if multiplicity is None:
        return np.ones(n, dtype=np.int64)
    copies = np.asarray(multiplicity)
    if copies.shape != (n,) or copies.dtype.kind not in "iu" or (copies < 1).any():
        raise ValueError(f"multiplicity must hold a whole number of at least 1 for each of the {n} objects.")
    return copies.astype(np.int64)


def _check_with_itself(with_itself: Any, n: int) -> Floats:
    """Return the similarity of each of n objects with itself, 1 by default; ValueError unless all are finite."""
    if with_itself is None:
        return np.ones(n)
    itself = np.asarray(with_itself)
    if itself.shape != (n,) or itself.dtype.kind not in "fiub" or not (np.abs(itself) < LARGEST).all():
        raise ValueError(
            f"with_itself must hold a finite number, below {LARGEST:g} in magnitude, for each of the {n} objects."
        )
    return itself.astype(np.float64)


NO_GAIN = (0, 0)
"""The key and the index of the first object with a gain of 0. Picking stops there if all objects are at hand."""

NOTHING_FIRST = np.empty(0, dtype=np.int64)
"""No object has to be picked before the greedy choice begins."""


WORK = 1 << 24
"""About how many edges are gone through before Python can look for an interrupt. At some 10 ns each, this takes a sixth
of a second."""


def pick(
    starts: Integers,
    coverers: Integers,
    weights: Integers,
    reverse_starts: Integers,
    reverse: Integers,
    own: Integers,
    copies: Integers,
    rounded: int,
    n_required: int,
    floor: tuple[int, int],
    n_least: int,
    first: Integers,
    n_most: int,
) -> tuple[Integers, Integers, Integers]:
    """Pick the objects `first`, then greedily until `n_required` objects are covered, `n_most` are picked, or the best
    object does not come before the floor.

    The floor is a key and an index. An object comes before it if its gain has a larger key, or an equal one and the
    object a lower index. The floor (0, 0) stops picking where no gain is left. At least `n_least` objects are picked
    whatever their gains are.

    `coverers` and `weights` from starts[x] on belong to the edges of object x; `reverse` from reverse_starts[r] on
    holds the objects that r covers. The picked objects, their gains and for each object the first that covers it are
    returned. An object may be covered by another one first and be picked later.
    """
    gains, keys, counts = own.copy(), np.empty(own.size, dtype=np.int64), np.array([0, 0, own.size])
    in_steps(coverers.size, lambda part: add_weights(coverers[part], weights[part], gains))
    fill_keys(gains, rounded, keys)
    heap = np.argsort(-keys, kind="stable")  # what is sorted is a heap
    covered_by = np.full(own.size, -1, dtype=np.int64)
    picked, gains_picked = np.empty(own.size, dtype=np.int64), np.empty(own.size, dtype=np.int64)
    graph = (starts, coverers, weights, reverse_starts, reverse, own, copies)
    wanted = (n_required, floor, n_least, first, n_most)
    state = (gains, keys, heap, covered_by, picked, gains_picked, counts)
    while not pick_some(graph, rounded, wanted, *state, WORK):
        stop_if_abandoned()
    return picked[: counts[0]], gains_picked[: counts[0]], covered_by


@njit(cache=True, nogil=True)
def add_weights(coverers, weights, gains):  # type: ignore[no-untyped-def]
    """Add the weight of each edge to the gain of its coverer."""
    for t in range(coverers.size):
        gains[coverers[t]] += weights[t]


@njit(cache=True, nogil=True)
def fill_keys(gains, rounded, keys):  # type: ignore[no-untyped-def]
    """Fill `keys` with what is compared of each gain."""
    for u in range(gains.size):
        keys[u] = comparison_key(gains[u], rounded)


@njit(cache=True, nogil=True)
def pick_some(graph, rounded, wanted, gains, keys, heap, covered_by, picked, gains_picked, counts, work):  # type: ignore[no-untyped-def]
    """Go on picking until so much work is done; return whether there is nothing left to do.

    `counts` holds how many objects are picked, how many are covered, and how many are on the heap.
    """
    starts, coverers, weights, reverse_starts, reverse, own, copies = graph
    n_required, floor, n_least, first, n_most = wanted
    n_picked, n_covered, size = counts
    done = False
    while work > 0:
        if n_picked >= first.size and (n_covered >= n_required or n_picked >= n_most):
            done = True
            break
        work -= 1
        if n_picked < first.size:
            best = first[n_picked]  # it stays on the heap, where it will have no gain left
        else:
            best = heap[0]
            key = comparison_key(gains[best], rounded)
            if keys[best] != key:
                keys[best] = key
                sink(heap, size, keys)
                continue
            if n_picked >= n_least and (key < floor[0] or (key == floor[0] and best >= floor[1])):
                done = True
                break
            size -= 1
            heap[0] = heap[size]
            sink(heap, size, keys)
        picked[n_picked], gains_picked[n_picked] = best, gains[best]
        n_picked += 1
        for t in range(reverse_starts[best] - 1, reverse_starts[best + 1]):
            x = best if t < reverse_starts[best] else reverse[t]  # the first is the object itself
            if covered_by[x] < 0:
                n_covered += copies[x]
                gains[x] -= own[x]
                for edge in range(starts[x], starts[x + 1]):
                    gains[coverers[edge]] -= weights[edge]
                work -= starts[x + 1] - starts[x]
                covered_by[x] = best
    counts[0], counts[1], counts[2] = n_picked, n_covered, size
    return done


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


GAINS = ("similarity", "count")
"""What a newly covered object may count in a gain: its similarity, or 1."""

ORPHANS = ("self", "outlier")
"""What may happen to orphans: they are picked to cover themselves, or stay uncovered."""


@dataclass(frozen=True, eq=False)
class Cover:
    """Which objects `covey.cover` has picked, and what they cover.

    An object r covers x if r is x itself, or if r is among the neighbors of x and at least as similar as the threshold.
    Objects are picked one by one, always that with the largest gain, which is what it newly covers. This is the last
    step of `covey.CRS`, for those who have a graph of their own.

    Attributes
    ----------
    indices : int array
        The representatives, in the order in which they were picked.
    gains : float array
        The gain of each representative when it was picked.
    covered_by : int array of shape (n,)
        For each object the representative that covered it first, or -1 if none does. A representative covers itself.
    coverage : float
        The share of objects that are covered. An object with a multiplicity of m counts m times, and one with a sample
        weight by its weight.
    n_orphans : int
        How many objects neither an edge nor an equal object can cover.
    first_covered_by : int array of shape (n,)
        The same as `covered_by`, except that a representative may have been covered by another one before it was
        picked. The first m representatives alone cover all objects of which this is one of them.

    See Also
    --------
    covey.cover : Returns it.
    covey.cover_lower_bound : How few objects any choice needs.
    covey.neighbor_graph : Makes a graph of k neighbors.
    covey.threshold_graph : Makes a graph of all neighbors that reach a threshold.

    Notes
    -----
    No similarity is evaluated. Time and memory grow with the number of edges. If gains are equal, the object with the
    lowest index is picked, so that the same graph always gives the same answer.

    Examples
    --------
    An object that resembles no other one is an orphan. It is picked to cover itself, or stays uncovered:

    >>> import covey
    >>> graph = covey.threshold_graph([[1, 0], [1, 0.1], [0.1, 1], [0, 1], [-1, -1]], threshold=0.9)
    >>> found = covey.cover(graph, coverage=1)
    >>> found.indices, found.covered_by, found.n_orphans
    (array([0, 2, 4]), array([0, 0, 2, 2, 4]), 1)
    >>> covey.cover(graph, coverage=1, on_orphan="outlier").covered_by
    array([ 0,  0,  2,  2, -1])
    """

    indices: NDArray[np.intp]
    gains: Floats
    covered_by: NDArray[np.intp]
    coverage: float
    n_orphans: int
    first_covered_by: NDArray[np.intp]


def cover(
    graph: NeighborGraph | SparseMatrix,
    coverage: float = 0.95,
    threshold: float | None = None,
    *,
    gain: str = "similarity",
    on_orphan: str = "self",
    with_itself: Floats | None = None,
    multiplicity: Integers | None = None,
    sample_weight: Floats | None = None,
    include: Sequence[int] | Integers = (),
    size: int | None = None,
    refine: bool = False,
) -> Cover:
    """Pick few objects that cover a share of all, or a given number of objects that cover as much as possible.

    Parameters
    ----------
    graph : NeighborGraph or sparse matrix
        The neighbors of each object, which is G in the paper. Row x of a matrix stores the similarities of x's
        neighbors.
    coverage : float, default=0.95
        The share of objects to cover, in (0, 1]. It is epsilon in the paper.
    threshold : float, optional
        Edges less similar than this are dropped. By default, all edges are kept. It is tau in the paper.
    gain : {"similarity", "count"}, default="similarity"
        Whether a newly covered object counts with its similarity, if that is above 0, or as 1.
    on_orphan : {"self", "outlier"}, default="self"
        Whether orphans are picked to cover themselves, or stay uncovered. At least one object is picked in any case.
    with_itself : float array of shape (n,), optional
        What each object counts in its own gain; 1 by default, and wherever the given number is not positive.
    multiplicity : int array of shape (n,), optional
        How many equal objects each object stands for, 1 by default. It counts that often in gains and in coverage.
    sample_weight : float array of shape (n,), optional
        How much each object counts in gains and in coverage, instead of its multiplicity. Only the ratios of weights
        matter for what is picked. An object of weight 0 need not be covered, and is picked only if it covers others.
    include : sequence of int, default=()
        Objects that must be representatives. They are picked first, in this order.
    size : int, optional
        How many objects to pick instead of reaching `coverage`. If fewer cover all, those that are least similar to
        what covers them follow. Fewer are picked if there are not so many; outliers and weights of 0 do not count.
    refine : bool, default=False
        Whether a local search looks for fewer objects that cover as much. It cannot be combined with `size`.

    Returns
    -------
    Cover
        What was picked, and what it covers.

    Raises
    ------
    TypeError
        If the graph is a dense matrix, which belongs into `covey.CRS` as X with ``similarity="precomputed"``.
    ValueError
        If the matrix is not square, holds NaN or looks like distances, or if a parameter has a value that is not
        allowed.

    Examples
    --------
    >>> import covey
    >>> words = ["cat", "cart", "care", "dog", "dodge", "lodge"]
    >>> graph = covey.neighbor_graph(words, 2, lambda a, b: len(set(a) & set(b)) / len(set(a) | set(b)))
    >>> [words[i] for i in covey.cover(graph, coverage=1).indices]
    ['dodge', 'cart']

    The one word that covers most, and a choice that has to begin with "cat":

    >>> covey.cover(graph, size=1).indices, covey.cover(graph, coverage=1, include=[0]).indices
    (array([4]), array([0, 4]))
    """
    _check_choices(coverage, gain, on_orphan, refine, size)
    edges = edges_of(graph, threshold)
    weights, amounts, orphans = _counted(edges, gain, on_orphan, with_itself, multiplicity, sample_weight)
    return _found(edges, weights, amounts, coverage, include, size, refine).as_cover(weights.exponent, amounts, orphans)


def similarities_to_coverers(graph: NeighborGraph | SparseMatrix, found: Cover) -> Floats:
    """How similar each picked object is to the one that had covered it before; infinite if none had."""
    coverers = found.first_covered_by[found.indices]
    before = np.flatnonzero((coverers >= 0) & (coverers != found.indices))
    similarities = np.full(coverers.size, np.inf)
    similarities[before] = similarities_of(edges_of(graph, None), found.indices[before], coverers[before])
    return similarities


def _counted(
    edges: sp.csr_array, gain: str, on_orphan: str, with_itself: Any, multiplicity: Any, sample_weight: Any
) -> tuple[Weights, Integers, Flags]:
    """Return what each edge and object weighs in gains, how much each object counts, and which are orphans.

    An object that counts 0 adds nothing to any gain, so that it is picked only for others that it covers.
    """
    copies = check_multiplicity(multiplicity, edges.shape[0])
    counts = counts_of(copies, sample_weight)
    weights = weights_of(edges, gain, with_itself, counts)
    orphans = (np.diff(edges.indptr) == 0) & (copies == 1)  # equal objects cover each other
    weights.own[orphans & (on_orphan == "outlier")] = 0
    return weights, counts.amounts, orphans


def _found(
    edges: sp.csr_array,
    weights: Weights,
    amounts: Integers,
    coverage: float,
    include: Any,
    size: int | None,
    refine: bool,
) -> "Picked":
    """Pick the objects to include and then greedily, until the coverage is reached or there are `size` of them."""
    first = _check_include(include, amounts.size, size)
    size = None if size is None else min(int(size), amounts.size)
    n_required = required(coverage if size is None else 1.0, int(amounts.sum()))
    found = _pick(edges, weights, amounts, n_required, first, amounts.size if size is None else size)
    if size is not None:
        return found.filled_up(edges, amounts, size)
    if not refine:
        return found
    n_covered = int(amounts[found.covered_by >= 0].sum())
    kept = _refined(edges, weights.own > 0, amounts, found.indices, first.size, min(n_required, n_covered))
    return _pick(*_restrict(kept, edges, weights, amounts), amounts, int(amounts.sum()), first, amounts.size)


@dataclass(frozen=True, eq=False)
class Picked:
    """The picked objects, their gains in units, and for each object which of them covers it first, or -1."""

    indices: NDArray[np.intp]
    gains: Integers
    covered_by: NDArray[np.intp]

    def as_cover(self, exponent: int, amounts: Integers, orphans: Flags) -> Cover:
        """Return the result. A similarity of 1 has 2^exponent units, and each object counts as much as its amount."""
        covered_by = self.covered_by.copy()
        covered_by[self.indices] = self.indices
        share = float(amounts[covered_by >= 0].sum() / amounts.sum())
        gains, n_orphans = as_similarities(self.gains, exponent), int(orphans.sum())
        return Cover(self.indices, gains, covered_by, share, n_orphans, self.covered_by)

    def filled_up(self, edges: sp.csr_array, amounts: Integers, size: int) -> "Picked":
        """Pick further objects up to this number: those that are least similar to what covers them come first.

        Nothing else is left to decide by, because all that can be covered is covered. An object that nothing covers is
        not picked, and neither is one that counts 0.
        """
        if self.indices.size >= size:
            return self
        left = (self.covered_by >= 0) & (amounts > 0)
        left[self.indices] = False
        candidates = np.flatnonzero(left)
        similarities = similarities_of(edges, candidates, self.covered_by[candidates])
        more = candidates[np.lexsort((candidates, similarities))][: size - self.indices.size]
        gains = np.append(self.gains, np.zeros(more.size, dtype=self.gains.dtype))
        return Picked(np.append(self.indices, more), gains, self.covered_by)


def _pick(
    edges: sp.csr_array, weights: Weights, amounts: Integers, n_required: int, first: Integers, n_most: int
) -> Picked:
    """Pick the objects `first` and then greedily, until `n_required` are covered or `n_most` are picked."""
    reverse = by_coverer(edges)
    graph = (edges.indptr, edges.indices, weights.edges, reverse.indptr, reverse.indices)
    return Picked(*pick(*graph, weights.own, amounts, weights.rounded, n_required, NO_GAIN, 1, first, n_most))


def _refined(
    edges: sp.csr_array, counts_itself: Flags, amounts: Integers, picked: Integers, n_fixed: int, n_required: int
) -> Integers:
    """At most as many representatives as were picked, which cover at least `n_required` objects.

    The first `n_fixed` of them stay in any case.
    """
    reverse = by_coverer(edges)
    graph = (edges.indptr, edges.indices, reverse.indptr, reverse.indices)
    kept: Integers = improve(*graph, counts_itself, amounts, picked, n_fixed, n_required, STEPS * counts_itself.size)
    return kept


def _restrict(kept: Integers, edges: sp.csr_array, weights: Weights, amounts: Integers) -> tuple[sp.csr_array, Weights]:
    """The edges to the kept objects alone, and their weights, so that greedy picking picks no others.

    Every weight of an object that counts is at least 1 unit. With a weight of 0, greedy picking could stop before a
    kept object covers all that it can cover, itself included.
    """
    may_cover = np.zeros(weights.own.size, dtype=bool)
    may_cover[kept] = True
    remaining = may_cover[edges.indices]
    own = np.where(may_cover, np.maximum(weights.own, amounts > 0), 0)
    counted = np.repeat(amounts > 0, np.diff(edges.indptr))
    added = np.maximum(weights.edges, counted)[remaining]
    return some_edges(edges, remaining), Weights(added, own, weights.exponent, weights.rounded)


def _check_choices(coverage: float, gain: str, on_orphan: str, refine: bool, size: Any) -> None:
    """Raise an error that says what is allowed if one of these is not."""
    check_coverage(coverage)
    if gain not in GAINS:
        raise ValueError(f"gain must be one of {list(GAINS)}, got {gain!r}.")
    if on_orphan not in ORPHANS:
        raise ValueError(f"on_orphan must be one of {list(ORPHANS)}, got {on_orphan!r}.")
    if not isinstance(refine, bool | np.bool_):
        raise TypeError(f"refine must be True or False, got {refine!r}.")
    if size is not None and not is_whole(size, 1):
        raise ValueError(f"size must be a whole number of at least 1, or None, got {size!r}.")
    if size is not None and refine:
        raise ValueError("refine looks for fewer representatives, but size says how many there are; pass one of them.")


def _check_include(include: Any, n: int, size: int | None) -> Integers:
    """Return the objects that must be picked, or raise ValueError unless they are different numbers of objects."""
    first = np.asarray(include)
    if first.size == 0:
        return NOTHING_FIRST
    if first.ndim != 1 or first.dtype.kind not in "iu" or first.min() < 0 or first.max() >= n:
        raise ValueError(f"include must hold numbers of objects from 0 to {n - 1}, got {include!r}.")
    if np.unique(first).size < first.size:
        raise ValueError("include must name each object once.")
    if size is not None and first.size > size:
        raise ValueError(f"size must allow for the {first.size} objects to include, got {size}.")
    return first.astype(np.int64)
