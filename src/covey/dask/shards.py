"""What the workers do with the shards of a large cluster, and the neighbor lists of their objects.

An object belongs to the shard that a hash of its content says. Equal objects therefore meet in one shard, where they
are merged into one, and the shards are random samples of the cluster, for any order of the data.

Objects are called by their rows in X everywhere outside a task. Within a task they are numbered in the order of their
rows, so that the order of neighbors of equal similarity is the same everywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.coverage import rounds as coverage
from covey.coverage.rounds import CoverShard, Facts, Piece, covered_by
from covey.dask.task import cancellable
from covey.graph.build import Method, choose_method, graph_and_mean
from covey.graph.descent import NNDescent
from covey.graph.exact import nearest_across
from covey.graph.lists import NeighborLists
from covey.graph.merge import merge
from covey.runtime.memory import Sized
from covey.similarity.collection import Collection
from covey.similarity.sums import added, mean_of, total_of


@dataclass(frozen=True)
class Shard(Sized):
    """Objects of one cluster.

    Attributes
    ----------
    collection : Collection
        The distinct objects. Its `rows` are the first rows of X that hold them, in ascending order.
    members : int array
        The rows of all objects, in ascending order.
    kinds : int array
        For each of them, its position in the collection.
    """

    collection: Collection
    members: Positions
    kinds: Positions

    @property
    def multiplicity(self) -> Integers:
        """For each distinct object, how many members it stands for."""
        return np.bincount(self.kinds, minlength=len(self.collection))

    @classmethod
    def joined(cls, pieces: Sequence["Shard"]) -> "Shard":
        """Join pieces of a shard that come one after the other in X, and merge equal objects of different pieces."""
        collection = Collection.joined([piece.collection for piece in pieces])
        starts = np.cumsum([0, *(len(piece.collection) for piece in pieces)])
        kinds = np.concatenate([piece.kinds + start for piece, start in zip(pieces, starts, strict=False)])
        members = np.concatenate([piece.members for piece in pieces])
        return cls(collection, members, kinds)._merged()

    @classmethod
    def of(cls, collection: Collection) -> "Shard":
        """Make a shard of a collection and merge its equal objects."""
        return cls(collection, collection.rows, np.arange(len(collection)))._merged()

    def _merged(self) -> "Shard":
        distinct = self.collection.distinct()
        return Shard(self.collection.take(distinct.first), self.members, distinct.kind[self.kinds])


@dataclass(frozen=True)
class GraphParameters:
    """How neighbor graphs are made: the parameters of `CRS` that they depend on, and the length of their lists."""

    n_neighbors: int
    length: int
    method: Method
    recall: float
    n_jobs: int | None


@dataclass(frozen=True)
class Means:
    """Means over the pairs of a shard's `n` members, from which the mean similarity of a whole cluster follows.

    `all` is the mean similarity of all pairs, and `copies` that of the `n_copies` pairs of equal members. A mean is 0
    if there are no such pairs.
    """

    n: int
    all: float
    copies: float
    n_copies: int


@dataclass(frozen=True)
class Links(Sized):
    """Neighbor lists of objects. Neighbors are rows of X; -1 fills lists that are not full."""

    rows: Indices
    neighbors: Indices
    similarities: Floats
    n_evaluations: int
    means: Means | None = None


@dataclass(frozen=True)
class MergedLinks(Sized):
    """The neighbor lists of two shards after their merge."""

    left: Links
    right: Links
    n_evaluations: int


def n_pairs(n: Any) -> Any:
    """Return how many pairs n objects make, for one number or an array of them."""
    return n * (n - 1) // 2


def mean_of_cluster(means: Sequence[Means]) -> float:
    """Return the mean similarity of all pairs of a cluster, given the means over the pairs within its shards.

    Shards are random samples of the distinct objects, so that the mean over pairs of different objects within shards
    estimates that over all of them. Equal objects, however, all lie in one shard: their pairs are counted apart.
    """
    n_all, n_copies = n_pairs(sum(part.n for part in means)), sum(part.n_copies for part in means)
    n_seen = sum(n_pairs(part.n) - part.n_copies for part in means)
    copies = added(Fraction(part.copies) * part.n_copies for part in means)
    others = added(Fraction(part.all) * n_pairs(part.n) for part in means) - copies
    different = others / n_seen if n_seen else Fraction(0)
    return mean_of(copies + different * (n_all - n_copies), n_all)


def drop_unneeded(links: Links, k: int) -> Links:
    """Keep the k best entries of each list."""
    return replace(links, neighbors=links.neighbors[:, :k], similarities=links.similarities[:, :k])


def fold(links: Links, others: Links) -> Links:
    """Offer what a merge has found for a shard to the lists of that shard, and keep the best."""
    lists = NeighborLists.empty(*links.neighbors.shape)
    lists.indices[:], lists.similarities[:] = links.neighbors, links.similarities
    listed = others.neighbors >= 0
    objects = np.repeat(np.arange(len(links.rows), dtype=np.int32), listed.sum(axis=1))
    lists.offer(objects, others.neighbors[listed], others.similarities[listed])
    return replace(links, neighbors=lists.indices, similarities=lists.similarities)


def in_one(rows: Positions, parts: Sequence[Links], length: int) -> NeighborLists:
    """Write the lists of two shards into one table, under the numbers that the objects have in both together."""
    lists = NeighborLists.empty(len(rows), length)
    for part in parts:
        own = to_numbers(rows, part.rows)
        lists.indices[own], lists.similarities[own] = to_numbers(rows, part.neighbors), part.similarities
    return lists


def as_indices(rows: Positions) -> Indices:
    """Return rows as 32-bit integers, which halve the memory; there are fewer than 2^31 of them."""
    return rows.astype(np.int32)


def to_rows(rows: Any, numbers: Indices) -> Indices:
    """Turn numbers of objects into their rows."""
    return np.where(numbers >= 0, rows[numbers], -1).astype(np.int32)


def to_numbers(rows: Any, neighbors: Indices) -> Indices:
    """Turn rows into numbers of objects, and check them, because compiled loops would not.

    They may come from a file of a checkpoint that anybody may have written.
    """
    numbers = np.searchsorted(rows, neighbors)
    unknown = (neighbors >= 0) & (np.append(rows, -1)[numbers] != neighbors)
    if unknown.any():
        raise ValueError(
            f"neighbors must be objects of the two shards that are merged, got row {neighbors[unknown][0]}; if there "
            "is a checkpoint, it is damaged: remove the folder and begin anew."
        )
    return np.where(neighbors >= 0, numbers, -1).astype(np.int32)


def links_at(links: Links, which: Flags) -> Links:
    """Return the lists of some of the objects."""
    return Links(links.rows[which], links.neighbors[which], links.similarities[which], 0)


def count_members(shard: Shard | None, width: int, n_ranges: int) -> tuple[int, Integers]:
    """Return how many distinct objects a shard has, and how many members in each range of rows."""
    if shard is None:
        return 0, np.zeros(n_ranges, dtype=np.int64)
    return len(shard.collection), np.bincount(shard.members // width, minlength=n_ranges)


def means_and_count(result: Links | MergedLinks) -> tuple[Means | None, int]:
    """Return the means over pairs, which only the graph of a shard has, and the number of evaluations."""
    return result.means if isinstance(result, Links) else None, result.n_evaluations


def cover_facts(shard: CoverShard) -> Facts:
    return shard.facts


def split_edges(shard: Shard, links: Links, threshold: float | None, width: int, n: int) -> tuple[Piece, ...]:
    """Cut the edges of a shard at the threshold, and sort them by the range in which the neighbor lies."""
    itself = shard.collection.space().with_itself()
    return coverage.split_edges(
        links.rows, shard.multiplicity, itself, links.neighbors, links.similarities, threshold, width, n
    )


def assign(
    shard: Shard, links: Links, threshold: float | None, picked: Indices, width: int, n: int
) -> tuple[tuple[Positions, Positions], ...]:
    """Return for each range of rows the shard's members in it and the representative of each, or -1."""
    coverers = covered_by(links.rows, links.neighbors, links.similarities, threshold, picked)
    ends = np.searchsorted(shard.members, np.arange(1, n) * width)
    parts = np.split(shard.members, ends), np.split(coverers[shard.kinds].astype(np.intp), ends)
    return tuple(zip(*parts, strict=True))


def join_range(parts: Sequence[tuple[Positions, Positions]]) -> tuple[Positions, Positions]:
    """Join what all shards have for a range of rows, in the order of the rows."""
    members, coverers = (np.concatenate(side) for side in zip(*parts, strict=True))
    order = np.argsort(members)
    return members[order], coverers[order]


def representatives_in(shard: Shard, picked: Indices) -> Collection:
    """Return the representatives that lie in a shard, in the order of their rows."""
    return shard.collection.take(np.flatnonzero(np.isin(shard.collection.rows, picked)))


def shard_graph(shard: Shard, how: GraphParameters, rng: np.random.Generator) -> Links:
    """Make the neighbor graph of a shard."""
    space, multiplicity = cancellable(shard.collection.space(how.n_jobs)), shard.multiplicity
    graph, mean = graph_and_mean(space, multiplicity, how.length, how.method, rng, recall=how.recall)
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
    left: Shard, left_links: Links, right: Shard, right_links: Links, how: GraphParameters, rng: np.random.Generator
) -> MergedLinks:
    """Add the neighbors that two shards have in each other to their lists, and keep the best of each list."""
    joined = Collection.joined([left.collection, right.collection])
    order = np.argsort(joined.rows)
    union = joined.take(order)
    on_right = order >= len(left.collection)
    space = cancellable(union.space(how.n_jobs))
    both = in_one(union.rows, (left_links, right_links), how.length)
    method = choose_method(how.method, space, how.length)
    if method == "exact":
        lists, n_evaluations = _exact(union, on_right, both, how)
    else:
        descent = method if isinstance(method, NNDescent) else NNDescent()
        lists, _ = merge(space, on_right, both, how.n_neighbors, rng, descent, how.recall)
        n_evaluations = space.n_evaluations
    k = how.n_neighbors
    best = Links(as_indices(union.rows), to_rows(union.rows, lists.indices[:, :k]), lists.similarities[:, :k], 0)
    return MergedLinks(links_at(best, ~on_right), links_at(best, on_right), n_evaluations)


def _exact(union: Collection, on_right: Flags, both: NeighborLists, how: GraphParameters) -> tuple[NeighborLists, int]:
    """Score all pairs across and offer them to the lists."""
    sides = [np.flatnonzero(~on_right), np.flatnonzero(on_right)]
    left, right = (union.take(side) for side in sides)
    spaces = cancellable(left.against(right, how.n_jobs)), cancellable(right.against(left, how.n_jobs))
    both_ways = nearest_across(*spaces, how.length, symmetric=union.similarity.symmetric)
    for own, others, lists in zip(sides, sides[::-1], both_ways, strict=True):
        i = np.repeat(own.astype(np.int32), lists.indices.shape[1])
        both.offer(i, others[lists.indices.ravel()].astype(np.int32), lists.similarities.ravel())
    return both, sum(space.n_evaluations for space in spaces)
