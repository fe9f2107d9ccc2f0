"""How a large cluster is fitted, whose shards lie on the workers.

1. Each shard makes its neighbor graph (`link`), every pair of shards is merged (`merge_shards`), and each shard keeps
   the best of what its own graph and all of its merges have found (`fold`).
2. The edges change places: those that lead to a range of rows come together (`coverage/shards.py`).
3. The driver picks representatives in rounds (`coverage/shards.py`). It holds one bit for each row of X, and what it
   knows about representatives.
4. Which representative covers which member is worked out on the workers, and stays there until somebody asks.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import getitem
from typing import Any

import numpy as np

from covey.arrays import Flags, Indices, Integers, Positions
from covey.coverage.shards import (
    Bits,
    CoverShard,
    Facts,
    Piece,
    Proposal,
    RowCover,
    Scale,
    cover_in_rounds,
    covered_by,
    join_pieces,
    propose,
)
from covey.coverage.shards import split_edges as split
from covey.dask.checkpoint import Checkpoint
from covey.dask.engine import Engine, lazy_rows, watched
from covey.dask.prototype import DistributedPrototype
from covey.dask.shards import (
    HowToLink,
    LargeCluster,
    Links,
    Means,
    Merged,
    Shard,
    as_indices,
    fold,
    in_one,
    mean_of_cluster,
    n_pairs,
    shortened,
    some,
    to_rows,
)
from covey.graph.build import auto_neighbors, choose_method, graph_and_mean
from covey.graph.descent import NNDescent
from covey.graph.exact import nearest_across
from covey.graph.lists import NeighborLists
from covey.graph.merge import length_of_lists, merge
from covey.runtime.libraries import require
from covey.similarity.collection import Collection
from covey.similarity.mean import as_threshold
from covey.similarity.measures import resolve
from covey.similarity.sums import mean_of, total_of


@dataclass(frozen=True)
class LargeResult:
    """What is known about a large cluster after its fit.

    `counts` holds the evaluations of each task by its name, and `representatives` a future of those of each shard.
    """

    prototype: DistributedPrototype
    counts: dict[str, int]
    representatives: list[Any]


def fit_large(
    engine: Engine, cluster: LargeCluster, selector: Any, rng: np.random.Generator, checkpoint: Checkpoint
) -> LargeResult:
    """Select the representatives of a large cluster."""
    n_ranges = len(cluster.shards)
    width = -(-cluster.n_rows // n_ranges)
    counted = [engine.submit("count", _count, shard, width, n_ranges) for shard in cluster.shards]
    facts = engine.gather(f"shards of {cluster.label!r}", counted)
    shards = [shard for shard, (n, _) in zip(cluster.shards, facts, strict=True) if n]
    n_distinct, sizes = sum(n for n, _ in facts), sum(of_ranges for _, of_ranges in facts)
    how = _how(selector, n_distinct)
    links, means, counts = _graph(engine, cluster, shards, how, rng, checkpoint)
    homogeneity = mean_of_cluster(means)
    threshold: Any = as_threshold(homogeneity) if selector.threshold == "homogeneity" else selector.threshold
    cover = cover_shards(
        engine, shards, links, threshold, n_ranges, width, cluster.n_rows, selector, f"coverage of {cluster.label!r}"
    )
    picked = engine.submit_value("picks", cover.rows)
    coverers = [
        engine.submit("covered by", _assign, *pair, threshold, picked, width, n_ranges)
        for pair in zip(shards, links, strict=True)
    ]
    assigned = [engine.submit("members", _collect_range, _column(engine, coverers, c)) for c in range(n_ranges)]
    prototype = DistributedPrototype(
        label=cluster.label,
        members=_lazy_side(assigned, sizes, 0),
        indices=cover.rows.astype(np.intp),
        gains=cover.gains,
        coverage=cover.coverage,
        covered_by=_lazy_side(assigned, sizes, 1),
        homogeneity=homogeneity,
        threshold=-np.inf if threshold is None else float(threshold),
        n_evaluations=sum(counts.values()),
        scan_rate=sum(counts.values()) / max(n_evaluations_of_all(int(sizes.sum()), selector), 1),
        n_orphans=cover.n_orphans,
    )
    return LargeResult(prototype, counts, [engine.submit("representatives", _chosen, s, picked) for s in shards])


def n_evaluations_of_all(n: int, selector: Any) -> int:
    """Return how many evaluations all pairs of n objects take under the similarity of a selector."""
    return n * (n - 1) // (2 if resolve(selector.similarity).symmetric else 1)


def _lazy_side(assigned: list[Any], sizes: Integers, side: int) -> Any:
    """Return the members of all ranges, or who covers them, as one dask array."""
    parts = [lazy_rows(part, getitem, int(n), side) for part, n in zip(assigned, sizes, strict=True) if n]
    return require("dask.array", "dask").concatenate(parts)


def _how(selector: Any, n: int) -> HowToLink:
    """Return how the graph of n distinct objects is made."""
    k = auto_neighbors(n) if selector.n_neighbors == "auto" else int(selector.n_neighbors)
    return HowToLink(min(k, n - 1), length_of_lists(k), selector.graph, selector.n_jobs)


def _graph(
    engine: Engine,
    cluster: LargeCluster,
    shards: list[Any],
    how: HowToLink,
    rng: np.random.Generator,
    checkpoint: Checkpoint,
) -> tuple[list[Any], list[Means], dict[str, int]]:
    """Return the lists of each shard as futures, the means over their pairs, and the evaluations of each task."""
    seeds = iter(rng.spawn(len(shards) + len(shards) * (len(shards) - 1) // 2))
    names = [f"shard-{cluster.number}-{s}" for s in range(len(shards))]
    first = [
        checkpoint.submit(engine, name, Links, link, shard, how, next(seeds))
        for name, shard in zip(names, shards, strict=True)
    ]
    links = [engine.submit("shorten", shortened, part, how.n_neighbors) for part in first]
    facts = [engine.submit("means", _means, part) for part in first]
    for s, t in combinations(range(len(shards)), 2):
        names.append(f"merge-{cluster.number}-{s}-{t}")
        arguments = shards[s], first[s], shards[t], first[t], how, next(seeds)
        merged = checkpoint.submit(engine, names[-1], Merged, merge_shards, *arguments)
        for shard, side in ((s, "left"), (t, "right")):  # only one side of a merge has to travel to each shard
            links[shard] = engine.submit("fold", fold, links[shard], engine.submit(side, getattr, merged, side))
        facts.append(engine.submit("evaluations", _means, merged))
    found = engine.gather(f"neighbor graph of {cluster.label!r}", facts)
    return links, [means for means, _ in found if means], dict(zip(names, (n for _, n in found), strict=True))


def cover_shards(
    engine: Engine,
    shards: Sequence[Any],
    links: Sequence[Any],
    threshold: float | None,
    n_ranges: int,
    width: int,
    n_rows: int,
    selector: Any,
    title: str,
) -> RowCover:
    """Pick representatives by greedy coverage, given futures of shards and of their neighbor lists.

    The picks and their order are those of `covey.cover` for the same graph, however it is cut.
    """
    pieces = [
        engine.submit("edges", _split_edges, *pair, threshold, width, n_ranges)
        for pair in zip(shards, links, strict=True)
    ]
    ranges = [
        engine.submit("range", join_pieces, _column(engine, pieces, c), selector.gain, selector.on_orphan)
        for c in range(n_ranges)
    ]
    facts: list[Facts] = engine.gather(title, [engine.submit("facts", _facts, shard) for shard in ranges])
    filled = [(shard, fact) for shard, fact in zip(ranges, facts, strict=True) if fact.n_objects]

    def ask(covered: Bits, scale: Scale, budgets: Sequence[int]) -> list[Proposal]:
        bits = engine.submit_value("covered", covered)
        asked = [
            engine.submit("propose", propose, shard, bits, scale, budget)
            for (shard, _), budget in zip(filled, budgets, strict=True)
        ]
        return engine.gather(title, asked)

    return cover_in_rounds(ask, [fact for _, fact in filled], n_rows, selector.coverage, selector.gain)


def _column(engine: Engine, tables: Sequence[Any], c: int) -> list[Any]:
    """Return entry c of each of several futures of tuples."""
    return [engine.submit("piece", getitem, table, c) for table in tables]


# What follows runs on workers.


def _count(shard: Shard | None, width: int, n_ranges: int) -> tuple[int, Integers]:
    """Return how many distinct objects a shard has, and how many members in each range of rows."""
    if shard is None:
        return 0, np.zeros(n_ranges, dtype=np.int64)
    return len(shard.collection), np.bincount(shard.members // width, minlength=n_ranges)


def _means(result: Links | Merged) -> tuple[Means | None, int]:
    """Return the means over pairs, which only the graph of a shard has, and the number of evaluations."""
    return result.means if isinstance(result, Links) else None, result.n_evaluations


def _facts(shard: CoverShard) -> Facts:
    return shard.facts


def _split_edges(shard: Shard, links: Links, threshold: float | None, width: int, n: int) -> tuple[Piece, ...]:
    """Cut the edges of a shard at the threshold, and sort them by the range in which the neighbor lies."""
    itself = shard.collection.space().with_itself()
    return split(links.rows, shard.multiplicity, itself, links.neighbors, links.similarities, threshold, width, n)


def _assign(
    shard: Shard, links: Links, threshold: float | None, picked: Indices, width: int, n: int
) -> tuple[tuple[Positions, Positions], ...]:
    """For each range of rows, return the shard's members in it and the representative of each, or -1."""
    coverers = covered_by(links.rows, links.neighbors, links.similarities, threshold, picked)
    ends = np.searchsorted(shard.members, np.arange(1, n) * width)
    parts = np.split(shard.members, ends), np.split(coverers[shard.kinds].astype(np.intp), ends)
    return tuple(zip(*parts, strict=True))


def _collect_range(parts: Sequence[tuple[Positions, Positions]]) -> tuple[Positions, Positions]:
    """Join what all shards have for a range of rows, in the order of the rows."""
    members, coverers = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.argsort(members)
    return members[order], coverers[order]


def _chosen(shard: Shard, picked: Indices) -> Collection:
    """Return the representatives that lie in a shard, in the order of their rows."""
    return shard.collection.take(np.flatnonzero(np.isin(shard.collection.rows, picked)))


def link(shard: Shard, how: HowToLink, rng: np.random.Generator) -> Links:
    """Make the neighbor graph of a shard."""
    space, multiplicity = watched(shard.collection.space(how.n_jobs)), shard.multiplicity
    graph, mean = graph_and_mean(space, multiplicity, how.length, how.method, rng)
    several = np.flatnonzero(multiplicity > 1).astype(np.int32)
    pairs = n_pairs(multiplicity[several])
    n, n_copies = int(multiplicity.sum()), int(pairs.sum())
    copies = mean_of(total_of(space.of_copies(several), pairs), n_copies) if n_copies else 0.0
    means = Means(n, mean if n > 1 else 0.0, copies, n_copies)
    rows = as_indices(shard.collection.rows)
    lists = NeighborLists.empty(len(rows), how.length)
    width = graph.indices.shape[1]
    lists.indices[:, :width], lists.similarities[:, :width] = graph.indices, graph.similarities
    return Links(rows, to_rows(rows, lists.indices), lists.similarities, space.n_evaluations, means)


def merge_shards(
    left: Shard, left_links: Links, right: Shard, right_links: Links, how: HowToLink, rng: np.random.Generator
) -> Merged:
    """Add the neighbors that two shards have in each other to their lists, and keep the best of each list."""
    joined = Collection.joined([left.collection, right.collection])
    order = np.argsort(joined.rows)
    union = joined.take(order)
    on_right = order >= len(left.collection)
    space = watched(union.space(how.n_jobs))
    both = in_one(union.rows, (left_links, right_links), how.length)
    method = choose_method(how.method, space, how.length)
    if isinstance(method, NNDescent):
        lists, _ = merge(space, on_right, both, how.n_neighbors, rng, method)
        n_evaluations = space.n_evaluations
    else:
        lists, n_evaluations = _exact(union, on_right, both, how)
    k = how.n_neighbors
    best = Links(as_indices(union.rows), to_rows(union.rows, lists.indices[:, :k]), lists.similarities[:, :k], 0)
    return Merged(some(best, ~on_right), some(best, on_right), n_evaluations)


def _exact(union: Collection, on_right: Flags, both: NeighborLists, how: HowToLink) -> tuple[NeighborLists, int]:
    """Score all pairs across and offer them to the lists."""
    sides = [np.flatnonzero(~on_right), np.flatnonzero(on_right)]
    left, right = (union.take(side) for side in sides)
    spaces = watched(left.against(right, how.n_jobs)), watched(right.against(left, how.n_jobs))
    found = nearest_across(*spaces, how.length, symmetric=union.similarity.symmetric)
    for own, others, lists in zip(sides, sides[::-1], found, strict=True):
        i = np.repeat(own.astype(np.int32), lists.indices.shape[1])
        both.offer(i, others[lists.indices.ravel()].astype(np.int32), lists.similarities.ravel())
    return both, sum(space.n_evaluations for space in spaces)
