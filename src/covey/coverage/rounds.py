"""Coverage of a cluster that is too large for one machine: how the driver picks from what the shards propose.

This is greedy coverage as in `greedy.py`, with the same picks in the same order and the same gains, for any number of
shards (`shards.py`). The only state is one bit for each row: whether it is covered. A round goes like this:

1. Each shard computes the gains of its objects, and sends the best of them, whom they would newly cover, and its
   *bound*: the key and the row of the best object that it does not send.
2. The driver picks greedily among all candidates while the best of them comes before every bound.
3. It marks what is newly covered, and asks again, until enough is covered or no gain is left.

*Why the picks are the same.* Gains only shrink when more is covered, so an object that was not sent never rises above
the bound of its shard. A candidate before all bounds is therefore the best of all objects. The driver knows its gain
exactly, because a candidate is sent with everything that it would newly cover.

*Why each round picks an object, if there is a gain left.* The best of all objects is the best of its own shard, so it
is sent. It comes before all bounds, as no shard holds a better one.

The driver's memory is one bit for each row, a few numbers for each representative, and the proposals of one round, at
most `MOST_EDGES` edges and one candidate for each shard.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from covey.arrays import Floats, Indices, Integers
from covey.coverage.gains import as_similarities, check_coverage, required
from covey.coverage.picking import NO_GAIN, NOTHING_FIRST, pick
from covey.coverage.shards import Bits, Facts, Proposal, Scale, scale_of

FIRST_EDGES = 1 << 18
"""What all proposals of the first round may cost together, where a candidate costs 1 and each object that it would
newly cover costs 1 more. Whenever fewer than half of the candidates of a round are picked, because a bound came first,
the cost doubles, up to `MOST_EDGES`. No measurement is on record for where to start."""

MOST_EDGES = 1 << 21
"""What all proposals of any round may cost together. It bounds the memory of the driver: proposals of this size took 29
MB, and picking from them another 147 MB at its peak. A larger limit saves rounds, in each of which every shard goes
through all its edges. 200 000 objects in 8 shards with a limit of 4096, about as small a share as this limit is of 100
million objects, took 72 rounds with gains by similarity and 163 with gains by count."""

Ask = Callable[[Bits, Scale, Sequence[int]], Sequence[Proposal]]
"""A function that calls `propose` for every shard, with the covered rows, the scale and the budget of that shard, and
returns the proposals in the order of the shards."""


@dataclass(frozen=True, eq=False)
class Batch:
    """What the driver picked in one round.

    Attributes
    ----------
    rows, gains
        The picked rows in order, and their gains in units.
    covered : int array
        The rows that the picks cover, ascending. Rows that were covered before may be among them.
    n_covered : int
        How many objects are newly covered. An object with a multiplicity of m counts m times.
    n_picked_of : int array
        How many of the picks each shard proposed.
    done : bool
        Whether enough is covered or no gain is left.
    """

    rows: Indices
    gains: Integers
    covered: Indices
    n_covered: int
    n_picked_of: Integers
    done: bool


@dataclass(frozen=True, eq=False)
class RowCover:
    """Which rows were picked, and what they cover; the names mean the same as in `Cover`.

    Attributes
    ----------
    rows : int array
        The rows of the representatives, in the order in which they were picked.
    gains : float array
        The gain of each representative when it was picked.
    covered : uint8 array
        One bit for each row, as `numpy.packbits` packs them: whether the row is covered.
    coverage : float
        The share of objects that are covered. An object with a multiplicity of m counts m times.
    n_orphans : int
        How many objects neither an edge nor an equal object can cover.
    n_rounds : int
        How many times the shards were asked.
    """

    rows: Indices
    gains: Floats
    covered: Bits
    coverage: float
    n_orphans: int
    n_rounds: int


def cover_in_rounds(ask: Ask, facts: Sequence[Facts], n_rows: int, coverage: float, gain: str) -> RowCover:
    """Pick few objects that cover at least a share of all, by asking the shards that hold them again and again.

    Parameters
    ----------
    ask : callable
        ``ask(covered, scale, budgets)`` calls ``propose(shard, covered, scale, budget)`` for every shard with its own
        budget and returns the proposals in the order of the shards. It must not change its arguments.
    facts : list of Facts
        The facts of each shard.
    n_rows : int
        How many rows there are. All rows of objects lie below it.
    coverage : float
        The share of objects to cover, in (0, 1].
    gain : {"similarity", "count"}
        What the shards were joined with: whether a newly covered object counts with its similarity or as 1.
    """
    check_coverage(coverage)
    n_copies = sum(fact.n_copies for fact in facts)
    if n_copies == 0:
        raise ValueError("the shards must hold at least one object, got none.")
    scale, n_required = scale_of(facts, gain), required(coverage, n_copies)
    covered, n_covered, cost = np.zeros(-(-n_rows // 8), dtype=np.uint8), 0, FIRST_EDGES
    batches: list[Batch] = []
    shares = np.full(len(facts), 1 / len(facts))
    while not batches or not batches[-1].done:
        proposals = ask(covered, scale, _budgets(cost, shares))
        batch = pick_from(proposals, scale, n_required - n_covered, at_least_one=not batches)
        batches.append(batch)
        covered, n_covered = _with(covered, batch.covered), n_covered + batch.n_covered
        if 2 * batch.rows.size < sum(proposal.rows.size for proposal in proposals):
            cost = min(2 * cost, MOST_EDGES)
        shares = _shares(proposals, batch.n_picked_of)
    gains = as_similarities(np.concatenate([batch.gains for batch in batches]), scale.exponent)
    rows = np.concatenate([batch.rows for batch in batches])
    n_orphans = sum(fact.n_orphans for fact in facts)
    return RowCover(rows, gains, covered, n_covered / n_copies, n_orphans, len(batches))


def pick_from(proposals: Sequence[Proposal], scale: Scale, n_missing: int, at_least_one: bool) -> Batch:
    """Pick greedily among all candidates until `n_missing` objects are newly covered or a bound comes first.

    The candidates and those that they would newly cover become a small problem of their own, in which they are numbered
    by ascending rows. Objects that are not candidates have no gain in it. With `at_least_one`, an object is picked even
    if no candidate has a gain; nothing else may have been picked before.
    """
    candidates = np.concatenate([proposal.rows for proposal in proposals])
    listed = np.concatenate([candidates, *(proposal.covered for proposal in proposals)])
    objects, numbers = np.unique(listed, return_inverse=True)
    at, covered = numbers[: candidates.size], numbers[candidates.size :]
    own, copies, lengths = (np.zeros(objects.size, dtype=np.int64) for _ in range(3))
    own[at] = np.concatenate([proposal.own for proposal in proposals])
    copies[covered] = np.concatenate([proposal.copies_covered for proposal in proposals])
    copies[at] = np.concatenate([proposal.copies for proposal in proposals])
    lengths[at] = np.concatenate([np.diff(proposal.starts) for proposal in proposals])
    weights = np.concatenate([proposal.weights for proposal in proposals])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    covers = sp.csr_array((weights, covered, starts), shape=(objects.size, objects.size))
    edges = covers.tocsc()  # by the object that is covered
    key, row = min((proposal.bound for proposal in proposals), key=_order)
    floor = NO_GAIN if key == 0 else (key, int(np.searchsorted(objects, row)))
    graph = (edges.indptr, edges.indices, edges.data, covers.indptr, covers.indices)
    picked, gains, by = pick(
        *graph, own, copies, scale.rounded, n_missing, floor, int(at_least_one), NOTHING_FIRST, own.size
    )
    n_covered = int(copies[by >= 0].sum())
    ends = np.cumsum([proposal.rows.size for proposal in proposals])
    shards = np.searchsorted(ends, np.searchsorted(candidates, objects[picked]), side="right")
    n_picked_of = np.bincount(shards, minlength=len(proposals))
    return Batch(objects[picked], gains, objects[by >= 0], n_covered, n_picked_of, n_covered >= n_missing or key == 0)


def _with(covered: Bits, rows: Indices) -> Bits:
    """New bits in which these rows are covered as well; whoever still holds the old bits finds them unchanged."""
    bits = covered.copy()
    np.bitwise_or.at(bits, rows >> 3, np.right_shift(128, rows & 7).astype(np.uint8))
    return bits


def _order(bound: tuple[int, int]) -> tuple[int, int]:
    """What bounds are sorted by: the largest key comes first, and of equal ones the lowest row."""
    return -bound[0], bound[1]


def _shares(proposals: Sequence[Proposal], n_picked_of: Integers) -> Floats:
    """Which share of the budget each shard gets in the next round.

    One half is shared out evenly. Without ties, the other half goes where the picks of this round came from, because
    the best objects may be in few shards. If the first bounds tie, the lowest rows come first, and one shard after the
    other is exhausted. Then the first shard in the order of bounds gets half of the rest, the next one a quarter, and
    so on. For 200 000 objects in 8 shards and 16 384 edges a round, this took 21 rounds with gains by similarity, which
    hardly tie, and 47 with gains by count; sharing out by picks alone took 87 with counts, and by ties alone 32 with
    similarities.
    """
    bounds = [proposal.bound for proposal in proposals]
    order = sorted(range(len(bounds)), key=lambda shard: _order(bounds[shard]))
    shares = n_picked_of + 1.0
    if len(order) > 1 and bounds[order[0]][0] == bounds[order[1]][0]:
        shares[order] = 0.5 ** np.arange(len(order))
    return 0.5 / shares.size + 0.5 * shares / shares.sum()


def _budgets(cost: int, shares: Floats) -> list[int]:
    """What each shard may spend, at least 1, if all together may spend `cost`."""
    return [max(int(cost * share), 1) for share in shares]
