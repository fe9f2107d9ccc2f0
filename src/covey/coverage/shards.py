"""Coverage of a cluster that is too large for one machine: what each worker does with its shard.

`rounds.py` tells how the shards together find the picks of `greedy.py`, in the same order and with the same gains. All
functions here are pure, and all values are plain arrays, so a task that is lost may be run again anywhere.

Objects are known by their *rows*, whole numbers in [0, n_rows). Not every row needs to be an object of this cluster.
The objects come in groups, each with the neighbor lists of its objects. A *shard* instead owns a range of rows, and
knows whom the objects of this range cover. So the edges change their place once:

1. `split_edges` cuts the edges of one group at the threshold and sorts them by the range in which the coverer lies.
2. `join_pieces` puts together what all groups have for one range.
3. `propose` is what a shard does in each round: it computes the gains of its objects from scratch, given which rows are
   covered, and sends its best objects and whom they would newly cover.
4. `covered_by` goes back to the groups: it says which representative covers each of their objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.coverage.gains import (
    ROUNDED_BITS,
    SHRUNK,
    comparison_key,
    exponent_of,
    in_units,
    kept_edges,
    largest_gain,
    own_in_units,
    similarity_weights,
    unit_for,
)
from covey.runtime.sizes import Sized

Bits = NDArray[np.uint8]
"""One bit for each row, as `numpy.packbits` packs them: whether the row is covered."""

NOBODY = (0, -1)
"""The bound of a shard that sent all objects that have a gain."""


@dataclass(frozen=True, eq=False)
class Piece(Sized):
    """What one group of objects has for one range of rows: objects of the range, and edges that lead into it.

    Attributes
    ----------
    rows, copies, itself, orphans
        For each object of the group that lies in the range its row, its multiplicity, its similarity with itself, and
        whether nothing but itself can cover it. Rows are ascending.
    covered, coverers, similarities, copies_covered
        For each edge the row that is covered, the row in the range that covers it, their similarity, and the
        multiplicity of the covered object. Covered rows are ascending.
    """

    rows: Indices
    copies: Integers
    itself: Floats
    orphans: Flags
    covered: Indices
    coverers: Indices
    similarities: Floats
    copies_covered: NDArray[Any]


@dataclass(frozen=True)
class Facts:
    """What the driver must know of a shard before the first round.

    `n_copies` is the number of objects where a merged object counts as many times as its multiplicity says, and
    `largest` the largest gain before anything is covered, as a sum of weights.
    """

    n_objects: int
    n_copies: int
    n_orphans: int
    largest: float


@dataclass(frozen=True, eq=False)
class CoverShard(Sized):
    """Whom the objects of one range of rows cover.

    Attributes
    ----------
    rows, own, copies
        For each object its row, what it counts in its own gain, and its multiplicity. Rows are ascending. An orphan
        that must stay uncovered counts 0.
    starts : int array
        The object at place p covers the entries from starts[p] to starts[p + 1] of the next three arrays.
    covered, weights, copies_covered
        The rows that are covered, what each adds to the gain (scaled down, as in `gains.py`), and the multiplicities.
        The rows of an object are ascending, and multiplicities have the smallest type that holds them.
    facts : Facts
        What the driver must know of this shard.
    """

    rows: Indices
    own: Floats
    copies: Integers
    starts: Integers
    covered: Indices
    weights: Floats
    copies_covered: NDArray[Any]
    facts: Facts


@dataclass(frozen=True)
class Scale:
    """How gains become whole numbers.

    A weight of 1 has `unit` units, a similarity of 1 has 2^exponent, and the last `rounded` bits are not compared.
    """

    unit: float
    exponent: int
    rounded: int


@dataclass(frozen=True, eq=False)
class Proposal(Sized):
    """The best objects of a shard in one round, and whom they would newly cover.

    Attributes
    ----------
    rows, own, copies
        For each candidate its row, what it counts in its own gain in units, and its multiplicity. Rows are ascending.
        If a candidate is covered itself, the latter two are 0.
    starts, covered, weights, copies_covered
        Whom the candidates would newly cover, as in `CoverShard`, with weights in units.
    bound : (int, int)
        The key of the gain and the row of the best object that is not a candidate; `NOBODY` if no other has a gain.
    """

    rows: Indices
    own: Integers
    copies: Integers
    starts: Integers
    covered: Indices
    weights: Integers
    copies_covered: NDArray[Any]
    bound: tuple[int, int]


def split_edges(
    rows: Indices,
    copies: Integers,
    itself: Floats,
    neighbors: Indices,
    similarities: Floats,
    threshold: float | None,
    width: int,
    n_shards: int,
) -> tuple[Piece, ...]:
    """What a group of objects has for each shard, where shard c owns the rows from c * width to (c + 1) * width.

    Parameters
    ----------
    rows, copies, itself
        For each object of the group its row, its multiplicity and its similarity with itself. Rows are ascending.
    neighbors, similarities : arrays of shape (n, k)
        The rows of the neighbors of each object, or -1 where there is none, and their similarities.
    threshold : float or None
        Edges less similar than this are dropped; None keeps all.
    width, n_shards : int
        How many rows a shard owns, and how many shards there are.
    """
    largest_row = max(int(rows.max(initial=-1)), int(neighbors.max(initial=-1)))
    if largest_row >= width * n_shards:
        raise ValueError(f"rows must lie below width * n_shards = {width * n_shards}, got {largest_row}.")
    similarities = np.asarray(similarities, dtype=np.float64)
    kept = kept_edges(neighbors, similarities, threshold)
    degrees = kept.sum(axis=1)
    orphans = (degrees == 0) & (copies == 1)  # equal objects cover each other
    order = np.argsort((neighbors[kept] // width).astype(np.min_scalar_type(n_shards)), kind="stable")
    coverers = neighbors[kept][order].astype(np.int32, copy=False)
    covered = np.repeat(rows, degrees)[order].astype(np.int32, copy=False)
    similarities, copies_covered = similarities[kept][order], _compact(np.repeat(copies, degrees)[order])
    rows = rows.astype(np.int32, copy=False)
    objects = np.searchsorted(rows, np.arange(n_shards + 1) * width)  # where the objects of each range start
    edges = np.searchsorted(coverers // width, np.arange(n_shards + 1))  # where the edges into each range start
    pieces = []
    for c in range(n_shards):
        own, into = slice(objects[c], objects[c + 1]), slice(edges[c], edges[c + 1])
        lists = covered[into], coverers[into], similarities[into], copies_covered[into]
        pieces.append(Piece(rows[own], copies[own], itself[own], orphans[own], *lists))
    return tuple(pieces)


def join_pieces(pieces: Sequence[Piece], gain: str, on_orphan: str) -> CoverShard:
    """The shard that owns one range of rows, from what all groups have for this range.

    Neither the order of the pieces nor the grouping of the objects matters.
    """
    rows, order = _sorted_rows(np.concatenate([piece.rows for piece in pieces]))
    copies, itself, orphans = (
        np.concatenate([getattr(piece, name) for piece in pieces])[order] for name in ("copies", "itself", "orphans")
    )
    covered, coverers, similarities, copies_covered = (
        np.concatenate([getattr(piece, name) for piece in pieces])
        for name in ("covered", "coverers", "similarities", "copies_covered")
    )
    places = _places(coverers, rows)
    order = np.lexsort((covered, places))  # by covered row within a coverer, as where gains are sums over all objects
    places, covered, copies_covered = places[order], covered[order], copies_covered[order]
    if gain == "count":
        weights, own = copies_covered.astype(np.float64), copies.astype(np.float64)
    else:
        weights, own = similarity_weights(similarities[order], copies_covered, itself, copies)
    facts = Facts(rows.size, int(copies.sum()), int(orphans.sum()), largest_gain(places, weights, own))
    if on_orphan == "outlier":
        own[orphans] = 0
    starts = np.searchsorted(places, np.arange(rows.size + 1))
    return CoverShard(rows, own, copies, starts, covered, weights, copies_covered, facts)


def scale_of(facts: Sequence[Facts], gain: str) -> Scale:
    """How gains become whole numbers, which is the same for all shards."""
    if gain == "count":
        return Scale(1.0, 0, 0)
    unit = unit_for(max(fact.largest for fact in facts))
    return Scale(unit, exponent_of(unit) - SHRUNK, ROUNDED_BITS)


def propose(shard: CoverShard, covered: Bits, scale: Scale, budget: int) -> Proposal:
    """The best objects of a shard, given which rows are covered, as many as the budget allows.

    A candidate costs 1 and as much as there are objects that it would newly cover. At least one candidate is sent,
    whatever it costs, even if it has no gain, unless the shard has no objects.
    """
    own = own_in_units(shard.own, scale.unit)
    graph = _read_only(shard.starts, shard.covered, shard.weights, shard.rows, own, covered)
    keys, costs, uncovered = keys_left(*graph, scale.unit, scale.rounded)
    best = _best(keys, budget + 1)  # each costs at least 1, so one of them is too many, whose key is the bound
    n_sent = int(np.searchsorted(np.cumsum(costs[best]), budget, side="right"))
    n_sent = min(max(n_sent, 1), best.size)
    bound = NOBODY
    if n_sent < best.size and keys[best[n_sent]] > 0:
        bound = int(keys[best[n_sent]]), int(shard.rows[best[n_sent]])
    sent = np.sort(best[:n_sent])
    starts = np.concatenate([[0], np.cumsum(costs[sent] - 1)])
    edges = edges_left(*_read_only(shard.starts, shard.covered, covered), sent, int(starts[-1]))
    return Proposal(
        shard.rows[sent],
        np.where(uncovered[sent], own[sent], 0),
        np.where(uncovered[sent], shard.copies[sent], 0),
        starts,
        shard.covered[edges],
        in_units(shard.weights[edges], scale.unit),
        shard.copies_covered[edges],
        bound,
    )


def covered_by(
    rows: Indices, neighbors: Indices, similarities: Floats, threshold: float | None, picked: Indices
) -> Indices:
    """For each object of a group the row of the representative that covered it first, or -1 if none does.

    `picked` holds the rows of all representatives in the order in which they were picked. A representative covers
    itself, even if another one covered it before.
    """
    order = np.argsort(picked)
    last = picked.size  # who is no representative comes after all of them
    by_row, ranks = picked[order], np.append(order, last)

    def rank(candidates: Indices) -> Positions:
        places = np.searchsorted(by_row, candidates)
        found = by_row[np.minimum(places, last - 1)] == candidates
        return ranks[np.where(found, places, last)]

    similarities = np.asarray(similarities, dtype=np.float64)
    kept = kept_edges(neighbors, similarities, threshold)
    first = np.where(kept, rank(neighbors), last).min(axis=1, initial=last)
    coverers = np.append(picked, -1)[first]
    return np.where(rank(rows) < last, rows, coverers).astype(np.int32)


def _best(keys: Integers, n: int) -> Positions:
    """The places of the n largest keys, the largest first; of equal ones, the lowest place comes first."""
    if n < keys.size:
        smallest = np.partition(keys, keys.size - n)[keys.size - n]
        larger = np.flatnonzero(keys > smallest)
        chosen = np.concatenate([larger, np.flatnonzero(keys == smallest)[: n - larger.size]])
    else:
        chosen = np.arange(keys.size)
    return chosen[np.lexsort((chosen, -keys[chosen]))]


def _sorted_rows(rows: Indices) -> tuple[Indices, Positions]:
    """Rows in ascending order, and the order that sorts them; ValueError if a row comes twice."""
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    twice = rows[1:][np.diff(rows) == 0]
    if twice.size:
        raise ValueError(f"every object must be in one group only, got row {twice[0]} more than once.")
    return rows, order


def _places(coverers: Indices, rows: Indices) -> Positions:
    """The place of each coverer among the rows of a shard; ValueError if one is none of them."""
    places = np.searchsorted(rows, coverers)
    wrong = np.append(rows, -1)[places] != coverers
    if wrong.any():
        raise ValueError(f"every neighbor must be an object of the cluster, got row {coverers[wrong][0]}.")
    return places


def _compact(copies: Integers) -> NDArray[Any]:
    """Multiplicities in the smallest type that holds them; nearly always a byte, where there may be 10^9 edges."""
    return copies.astype(np.min_scalar_type(int(copies.max(initial=0))))


def _read_only(*arrays: NDArray[Any]) -> list[NDArray[Any]]:
    """Views that cannot be written to.

    Arrays that come from another process may be read-only or not. For numba these are different types, each of which it
    would compile the loops for.
    """
    views = [array.view() for array in arrays]
    for view in views:
        view.flags.writeable = False
    return views


@njit(cache=True, nogil=True)
def is_covered(row, bits):  # type: ignore[no-untyped-def]
    """Whether a row is covered, by bits as `numpy.packbits` packs them."""
    return (bits[row >> 3] >> (7 - (row & 7))) & 1 == 1


@njit(cache=True, nogil=True)
def keys_left(starts, covered, weights, rows, own, bits, unit, rounded):  # type: ignore[no-untyped-def]
    """For each object of a shard the key of its gain, what it costs to send it, and whether it is uncovered itself."""
    keys, costs = np.empty(rows.size, dtype=np.int64), np.ones(rows.size, dtype=np.int64)
    uncovered = np.empty(rows.size, dtype=np.bool_)
    for p in range(rows.size):
        uncovered[p] = not is_covered(rows[p], bits)
        gain = own[p] if uncovered[p] else 0
        for edge in range(starts[p], starts[p + 1]):
            if not is_covered(covered[edge], bits):
                gain += np.int64(np.rint(weights[edge] * unit))
                costs[p] += 1
        keys[p] = comparison_key(gain, rounded)
    return keys, costs, uncovered


@njit(cache=True, nogil=True)
def edges_left(starts, covered, bits, places, n):  # type: ignore[no-untyped-def]
    """The n edges from the objects at these places of a shard to objects that are not covered."""
    edges, size = np.empty(n, dtype=np.int64), 0
    for p in places:
        for edge in range(starts[p], starts[p + 1]):
            if not is_covered(covered[edge], bits):
                edges[size] = edge
                size += 1
    return edges
