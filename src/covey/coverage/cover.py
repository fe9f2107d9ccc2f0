"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold (`edges.py`). An object left without an edge is an *orphan*: nothing but itself can
   cover it.
2. Compute the *gain* of each object, which is what it would newly cover, itself included (`gains.py`).
3. Pick the object with the largest gain, whether it is covered already or not. Of equal gains, the lowest index wins.
   Subtract what it covers from the gains of all objects. Objects that the caller wants to be representatives are picked
   before all others.
4. Stop when ceil(coverage * n) objects are covered, or when as many are picked as the caller wants.

Objects wait in a queue, ordered by gains that may be out of date (`queue.py`). Gains only shrink; so if the gain of the
first object is up to date, it is the largest of all. Each edge is subtracted once, so that time grows with the edges.

Edges are views of the graph where they can be (`edges.py`), and weights are computed from similarities edge by edge.
Beyond the graph, covering takes 4 bytes for each edge and about a hundred for each object (`benchmarks/coverage.py`).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Integers
from covey.coverage.edges import Adjacency, Edges, adjacency_of, edges_of, edges_to, n_coverers, similarities_of
from covey.coverage.gains import (
    Weights,
    add_weights,
    as_similarities,
    check_coverage,
    check_multiplicity,
    comparison_key,
    edge_weight,
    required,
    weights_of,
)
from covey.coverage.queue import N_BUCKETS, bucket_of, enter, open_bucket, queue_of, sink, without_top
from covey.coverage.refine import MOST_STEPS, STEPS, improve
from covey.graph.graph import NeighborGraph
from covey.runtime.interruptible import in_steps, stop_if_abandoned
from covey.runtime.parameters import is_whole
from covey.similarity.inputs import SparseMatrix

GAINS = ("similarity", "count")
"""What a newly covered object may count in a gain: its similarity, or 1."""

ORPHANS = ("self", "outlier")
"""What may happen to orphans: they are picked to cover themselves, or stay uncovered."""

NOTHING_FIRST = np.empty(0, dtype=np.int64)
"""No object has to be picked before the greedy choice begins."""

NO_GAIN = (0, 0)
"""The key and the index of the first object with a gain of 0. Picking stops there if all objects are at hand."""

WORK = 1 << 24
"""About how many edges and objects are gone through before Python can look for an interrupt. At some 10 ns each, this
takes a sixth of a second."""


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
    _check_choices(coverage, gain, on_orphan, size, refine=refine)
    edges = edges_of(graph, threshold)
    n = edges.starts.size
    multiplicity = check_multiplicity(multiplicity, n)
    weights = weights_of(edges, gain, with_itself, multiplicity, sample_weight)
    orphans = (n_coverers(edges) == 0) & (multiplicity == 1)  # equal objects cover each other
    weights.own[orphans & (on_orphan == "outlier")] = 0
    first = _check_include(include, n, size)
    n_total = int(weights.multiplicity.sum())
    adjacency = adjacency_of(edges)
    if size is not None:
        size = min(int(size), n)
        goal = Goal(n_total, first, n_most=size)
        picked = filled_up(pick(adjacency, weights, goal), edges, weights.multiplicity, size)
    else:
        goal = Goal(required(coverage, n_total), first, n_most=n)
        picked = pick(adjacency, weights, goal)
        picked = refined(picked, adjacency, weights, goal) if refine else picked
    return _as_cover(picked, weights, orphans)


def similarities_to_coverers(graph: NeighborGraph | SparseMatrix, cover: Cover) -> Floats:
    """Return how similar each picked object is to the one that had covered it before; infinite if none had."""
    coverers = cover.first_covered_by[cover.indices]
    before = np.flatnonzero((coverers >= 0) & (coverers != cover.indices))
    similarities = np.full(coverers.size, np.inf)
    similarities[before] = similarities_of(edges_of(graph, None), cover.indices[before], coverers[before])
    return similarities


class Goal(NamedTuple):
    """When picking is done.

    The objects `first` are picked in any case. Then picking goes on until objects of a multiplicity of `n_required` are
    covered, `n_most` are picked, or the best object does not come before the floor.

    The floor is a key and an index. An object comes before it if its gain has a larger key, or an equal one and the
    object a lower index. At least `n_least` objects are picked, even without a gain.
    """

    n_required: int
    first: Integers
    n_most: int
    n_least: int = 1
    floor: tuple[int, int] = NO_GAIN


class Picked(NamedTuple):
    """The picked objects, their gains in units, and for each object which of them covers it first, or -1.

    An object may be covered by another one first and be picked later.
    """

    indices: NDArray[np.intp]
    gains: Integers
    covered_by: NDArray[np.intp]


def pick(adjacency: Adjacency, weights: Weights, goal: Goal) -> Picked:
    """Pick the objects that must be picked, and then greedily, until the goal is reached."""
    edges, gains, n = Edges(*adjacency[:4]), weights.own.copy(), weights.own.size
    in_steps(n, lambda part: add_weights(edges, weights.factors, weights.scale, part.start, part.stop, gains))
    queue = queue_of(gains, weights.rounded)
    covered_by = np.full(n, -1, dtype=np.int64)
    picked, gains_picked = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    counts = np.array([0, 0, 0, N_BUCKETS])
    counted = (weights.own, weights.multiplicity, weights.factors, weights.scale)
    wanted = (goal.n_required, goal.floor, goal.n_least, goal.first, goal.n_most)
    state = (queue, gains, covered_by, picked, gains_picked, counts)
    while not pick_some(adjacency, counted, weights.rounded, wanted, *state, WORK):
        stop_if_abandoned()
    return Picked(picked[: counts[0]].copy(), gains_picked[: counts[0]].copy(), covered_by)


def filled_up(picked: Picked, edges: Edges, multiplicity: Integers, size: int) -> Picked:
    """Pick further objects up to this number: those that are least similar to what covers them come first.

    Nothing else is left to decide by, because all that can be covered is covered. An object that nothing covers is not
    picked, and neither is one that counts 0.
    """
    if picked.indices.size >= size:
        return picked
    left = (picked.covered_by >= 0) & (multiplicity > 0)
    left[picked.indices] = False
    candidates = np.flatnonzero(left)
    similarities = similarities_of(edges, candidates, picked.covered_by[candidates])
    more = candidates[np.lexsort((candidates, similarities))][: size - picked.indices.size]
    gains = np.append(picked.gains, np.zeros(more.size, dtype=picked.gains.dtype))
    return Picked(np.append(picked.indices, more), gains, picked.covered_by)


def refined(picked: Picked, adjacency: Adjacency, weights: Weights, goal: Goal) -> Picked:
    """Pick the representatives that a local search makes of the picked ones, which cover as much as is required.

    They are picked greedily from the edges that lead to them, so that there are no others to pick. Every weight of an
    object that counts is at least 1 unit then. With a weight of 0, picking could stop before a representative covers
    all that it can cover, itself included.
    """
    counted, n = weights.multiplicity > 0, weights.own.size
    n_required = min(goal.n_required, int(weights.multiplicity[picked.covered_by >= 0].sum()))
    representatives = improve(
        adjacency,
        weights.own > 0,
        weights.multiplicity,
        picked.indices,
        n_fixed=goal.first.size,
        n_required=n_required,
        n_steps=min(STEPS * n, MOST_STEPS),
    )
    may_cover = np.zeros(n, dtype=bool)
    may_cover[representatives] = True
    own = np.where(may_cover, np.maximum(weights.own, counted), 0)
    some = replace(weights, own=own, scale=weights.scale._replace(least=1))
    everything = goal._replace(n_required=int(weights.multiplicity.sum()))
    return pick(adjacency_of(edges_to(Edges(*adjacency[:4]), may_cover)), some, everything)


def _as_cover(picked: Picked, weights: Weights, orphans: Flags) -> Cover:
    """Return the result, with gains as similarities or numbers of objects."""
    multiplicity = weights.multiplicity
    covered_by = picked.covered_by.copy()
    covered_by[picked.indices] = picked.indices
    share = float(multiplicity[covered_by >= 0].sum() / multiplicity.sum())
    gains = as_similarities(picked.gains, weights.exponent)
    return Cover(picked.indices, gains, covered_by, share, int(orphans.sum()), picked.covered_by)


def _check_choices(coverage: float, gain: str, on_orphan: str, size: Any, *, refine: bool) -> None:
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


@njit(cache=True, nogil=True)
def pick_some(  # type: ignore[no-untyped-def]
    adjacency, weights, rounded, wanted, queue, gains, covered_by, picked, gains_picked, counts, work
):
    """Go on picking until so much work is done; return whether there is nothing left to do.

    `counts` holds how many objects are picked, how many are covered, how many are on the heap of the queue, and which
    of its buckets is open.
    """
    n_required, floor, n_least, first, n_most = wanted
    n_picked, n_covered, size, bucket = counts
    done = False
    while not done and work > 0:
        best = np.int64(-1)
        work -= 1
        if n_picked >= first.size and (n_covered >= n_required or n_picked >= n_most):
            done = True
        elif n_picked < first.size:
            best = first[n_picked]  # it stays in the queue, where it will have no gain left
        elif size == 0:
            bucket -= 1
            size = open_bucket(queue, bucket, gains, rounded)
            work -= size
        else:
            top = np.int64(queue.heap[0])
            key = comparison_key(gains[top], rounded)
            if queue.keys[top] != key:
                queue.keys[top] = key
                if bucket_of(key) == bucket:
                    sink(queue.heap, 0, size, queue.keys)
                else:
                    size = without_top(queue, size)
                    enter(queue, top)
            elif n_picked >= n_least and (key < floor[0] or (key == floor[0] and top >= floor[1])):
                done = True
            else:
                size = without_top(queue, size)
                best = top
        if best >= 0:
            picked[n_picked], gains_picked[n_picked] = best, gains[best]
            n_picked += 1
            newly, n_edges = cover_by(best, adjacency, weights, gains, covered_by)
            n_covered += newly
            work -= n_edges
    counts[0], counts[1], counts[2], counts[3] = n_picked, n_covered, size, bucket
    return done


@njit(cache=True, nogil=True)
def cover_by(best, adjacency, weights, gains, covered_by):  # type: ignore[no-untyped-def]
    """Let an object cover what it can; return the multiplicity of what is newly covered, and how many edges that took.

    What is newly covered no longer counts in the gains of its coverers.
    """
    starts, ends, coverers, similarities, covered_starts, covered = adjacency
    own, multiplicity, factors, scale = weights
    newly, n_edges = 0, 0
    for t in range(covered_starts[best] - 1, covered_starts[best + 1]):
        x = best if t < covered_starts[best] else np.int64(covered[t])  # the first is the object itself
        if covered_by[x] < 0:
            covered_by[x] = best
            newly += multiplicity[x]
            n_edges += ends[x] - starts[x]
            gains[x] -= own[x]
            for edge in range(starts[x], ends[x]):
                gains[coverers[edge]] -= edge_weight(similarities[edge], factors[x], scale)
    return newly, n_edges
