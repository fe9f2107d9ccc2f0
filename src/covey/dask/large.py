"""How the driver fits a large cluster, whose shards lie on the workers.

1. Each shard makes its neighbor graph (`shard_graph`), every pair of shards is merged (`merge_shards`), and each shard
   keeps the best of what its own graph and all of its merges have found (`fold`).
2. The edges change places: those that lead to a range of rows come together (`coverage/rounds.py`).
3. The driver picks representatives in rounds (`coverage/rounds.py`). It holds one bit for each row of X, and what it
   knows about representatives.
4. Which representative covers which member is worked out on the workers, and stays there until it is computed.

The tasks are in `shards.py`.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import getitem
from typing import Any

import numpy as np

from covey.arrays import Integers
from covey.coverage.rounds import Bits, Facts, Proposal, RowCover, Scale, cover_in_rounds, join_pieces, propose
from covey.dask.checkpoint import TaskCache
from covey.dask.engine import Engine, lazy_rows
from covey.dask.shards import (
    GraphParameters,
    Links,
    Means,
    MergedLinks,
    assign,
    count_members,
    cover_facts,
    drop_unneeded,
    fold,
    join_range,
    mean_of_cluster,
    means_and_count,
    merge_shards,
    representatives_in,
    shard_graph,
    split_edges,
)
from covey.dask.wrapper import DistributedPrototype
from covey.graph.build import auto_neighbors
from covey.graph.merge import length_of_lists
from covey.runtime.libraries import require
from covey.selectors.crs import CRS
from covey.similarity.mean import as_threshold
from covey.similarity.measures import resolve


@dataclass(frozen=True)
class LargeCluster:
    """A cluster whose shards lie on the workers.

    `shards` holds a future of each shard. `n_rows` is the number of rows of X, and `number` that of the cluster.
    """

    label: Hashable
    number: int
    shards: list[Any]
    n_rows: int


@dataclass(frozen=True)
class FittedLargeCluster:
    """The prototype of a large cluster, the evaluations of each task by its name, and futures of representatives."""

    prototype: DistributedPrototype
    counts: dict[str, int]
    representatives: list[Any]


def fit_large(
    engine: Engine, cluster: LargeCluster, selector: CRS, rng: np.random.Generator, checkpoint: TaskCache
) -> FittedLargeCluster:
    """Select the representatives of a large cluster."""
    n_ranges = len(cluster.shards)
    width = -(-cluster.n_rows // n_ranges)
    counted = [engine.submit("count", count_members, shard, width, n_ranges) for shard in cluster.shards]
    facts = engine.gather(f"shards of {cluster.label!r}", counted)
    shards = [shard for shard, (n, _) in zip(cluster.shards, facts, strict=True) if n]
    n_distinct, sizes = sum(n for n, _ in facts), sum(of_ranges for _, of_ranges in facts)
    how = graph_parameters(selector, n_distinct)
    links, means, counts = _graph(engine, cluster, shards, how, rng, checkpoint)
    homogeneity = mean_of_cluster(means)
    threshold: Any = as_threshold(homogeneity) if selector.threshold == "homogeneity" else selector.threshold
    cover = cover_shards(
        engine, shards, links, threshold, n_ranges, width, cluster.n_rows, selector, f"coverage of {cluster.label!r}"
    )
    picked = engine.submit_value("picks", cover.rows)
    coverers = [
        engine.submit("covered by", assign, *pair, threshold, picked, width, n_ranges)
        for pair in zip(shards, links, strict=True)
    ]
    assigned = [engine.submit("members", join_range, _column(engine, coverers, c)) for c in range(n_ranges)]
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
    representatives = [engine.submit("representatives", representatives_in, shard, picked) for shard in shards]
    return FittedLargeCluster(prototype, counts, representatives)


def n_evaluations_of_all(n: int, selector: CRS) -> int:
    """Return how many evaluations all pairs of n objects take under the similarity of a selector."""
    return n * (n - 1) // (2 if resolve(selector.similarity).symmetric else 1)


def _lazy_side(assigned: list[Any], sizes: Integers, side: int) -> Any:
    """Return the members of all ranges, or who covers them, as one dask array."""
    parts = [lazy_rows(part, getitem, int(n), side) for part, n in zip(assigned, sizes, strict=True) if n]
    return require("dask.array", "dask").concatenate(parts)


def graph_parameters(selector: Any, n: int) -> GraphParameters:
    """Return how the graph of n distinct objects is made."""
    k = auto_neighbors(n) if selector.n_neighbors == "auto" else int(selector.n_neighbors)
    return GraphParameters(min(k, n - 1), length_of_lists(k), selector.graph, selector.recall, selector.n_jobs)


def _graph(
    engine: Engine,
    cluster: LargeCluster,
    shards: list[Any],
    how: GraphParameters,
    rng: np.random.Generator,
    checkpoint: TaskCache,
) -> tuple[list[Any], list[Means], dict[str, int]]:
    """Return the lists of each shard as futures, the means over their pairs, and the evaluations of each task."""
    seeds = iter(rng.spawn(len(shards) + len(shards) * (len(shards) - 1) // 2))
    names = [f"shard-{cluster.number}-{s}" for s in range(len(shards))]
    first = [
        checkpoint.submit(engine, name, Links, shard_graph, shard, how, next(seeds))
        for name, shard in zip(names, shards, strict=True)
    ]
    links = [engine.submit("shorten", drop_unneeded, part, how.n_neighbors) for part in first]
    facts = [engine.submit("means", means_and_count, part) for part in first]
    for s, t in combinations(range(len(shards)), 2):
        names.append(f"merge-{cluster.number}-{s}-{t}")
        arguments = shards[s], first[s], shards[t], first[t], how, next(seeds)
        merged = checkpoint.submit(engine, names[-1], MergedLinks, merge_shards, *arguments)
        for shard, side in ((s, "left"), (t, "right")):  # only one side of a merge has to travel to each shard
            links[shard] = engine.submit("fold", fold, links[shard], engine.submit(side, getattr, merged, side))
        facts.append(engine.submit("evaluations", means_and_count, merged))
    gathered = engine.gather(f"neighbor graph of {cluster.label!r}", facts)
    return links, [means for means, _ in gathered if means], dict(zip(names, (n for _, n in gathered), strict=True))


def cover_shards(
    engine: Engine,
    shards: Sequence[Any],
    links: Sequence[Any],
    threshold: float | None,
    n_ranges: int,
    width: int,
    n_rows: int,
    selector: CRS,
    title: str,
) -> RowCover:
    """Pick representatives by greedy coverage, given futures of shards and of their neighbor lists.

    The picks and their order are those of `covey.cover` for the same graph, however it is cut.
    """
    pieces = [
        engine.submit("edges", split_edges, *pair, threshold, width, n_ranges)
        for pair in zip(shards, links, strict=True)
    ]
    ranges = [
        engine.submit("range", join_pieces, _column(engine, pieces, c), selector.gain, selector.on_orphan)
        for c in range(n_ranges)
    ]
    facts: list[Facts] = engine.gather(title, [engine.submit("facts", cover_facts, shard) for shard in ranges])
    filled = [(shard, fact) for shard, fact in zip(ranges, facts, strict=True) if fact.n_objects]

    def ask(covered: Bits, scale: Scale, budgets: Sequence[int]) -> list[Proposal]:
        bits = engine.submit_value("covered", covered)
        proposals = [
            engine.submit("propose", propose, shard, bits, scale, budget)
            for (shard, _), budget in zip(filled, budgets, strict=True)
        ]
        return engine.gather(title, proposals)

    return cover_in_rounds(ask, [fact for _, fact in filled], n_rows, selector.coverage, selector.gain)


def _column(engine: Engine, tables: Sequence[Any], c: int) -> list[Any]:
    """Return entry c of each of several futures of tuples."""
    return [engine.submit("piece", getitem, table, c) for table in tables]
