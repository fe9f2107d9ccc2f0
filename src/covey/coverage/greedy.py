"""Greedy coverage of the reverse neighbor graph.

An object r *covers* x if r is among x's neighbors with a similarity of at least the threshold, or if r is x itself.

1. Cut the edges below the threshold. An object left without an edge is an *orphan*: nothing but itself can cover it.
2. The *gain* of an object is what it would newly cover, itself included: the sum of the similarities, or the number.
3. Pick the object with the largest gain, whether it is covered already or not. Of equal gains, the lowest index wins.
   Subtract what it covers from the gains of all objects.
4. Stop when ceil(coverage * n) objects are covered.

`gains.py` says how gains are computed and compared, and `picking.py` has the loop that picks.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Integers
from covey.coverage.gains import (
    ROUNDED_BITS,
    check_coverage,
    in_units,
    kept_edges,
    largest_gain,
    own_in_units,
    required,
    similarity_weights,
    unit_for,
)
from covey.coverage.picking import NO_GAIN, pick
from covey.coverage.refine import STEPS, improve
from covey.graph.graph import NeighborGraph
from covey.similarity.types import SparseMatrix

GAINS = ("similarity", "count")
"""What a newly covered object may count in a gain: its similarity, or 1."""

ORPHANS = ("self", "outlier")
"""What may happen to orphans: they are picked to cover themselves, or stay uncovered."""


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
    picked: tuple[Any, Any, Any] = pick(*graph, weights.own, copies, weights.rounded, n_required, NO_GAIN, 1)
    return picked


def _refined(
    edges: sp.csr_array, counts_itself: Flags, copies: Integers, picked: Integers, n_required: int
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
    if not isinstance(graph, NeighborGraph):
        graph = NeighborGraph.from_csr(graph)
    kept = kept_edges(graph.indices, graph.similarities, threshold)
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
    copies_covered = np.repeat(copies, np.diff(edges.indptr))
    if gain == "count":
        return Weights(copies_covered, copies.copy(), 1.0, 0)
    itself = _check_with_itself(with_itself, copies.size)
    weights, own = similarity_weights(edges.data, copies_covered, itself, copies)
    unit = unit_for(largest_gain(edges.indices, weights, own))
    return Weights(in_units(weights, unit), own_in_units(own, unit), unit, ROUNDED_BITS)
