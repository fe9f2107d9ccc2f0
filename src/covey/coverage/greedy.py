"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an *orphan*: nothing but itself can cover it.
2. The *gain* of an object is what it would newly cover, itself included: the sum of the similarities, or the number.
3. Pick the object with the largest gain, whether it is covered already or not. Of equal gains, the lowest index wins.
   Subtract what it covers from the gains of all objects.
4. Stop when ceil(coverage * n) objects are covered, or when as many are picked as the caller wants.

Objects that the caller wants to be representatives are picked first. `edges.py` cuts the edges, `weights.py` says how
much each object counts, `gains.py` how gains are computed and compared, and `picking.py` has the loop that picks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Integers
from covey.coverage.edges import by_coverer, edges_of, similarities_of, some_edges
from covey.coverage.gains import as_similarities, check_coverage, required
from covey.coverage.picking import NO_GAIN, NOTHING_FIRST, pick
from covey.coverage.refine import STEPS, improve
from covey.coverage.weights import Weights, check_multiplicity, counts_of, weights_of
from covey.graph.graph import NeighborGraph
from covey.runtime.parameters import is_whole
from covey.similarity.types import SparseMatrix

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
