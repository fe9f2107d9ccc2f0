"""The shards of a large cluster, and the neighbor lists of their objects.

An object belongs to the shard that a hash of its content says. Equal objects therefore meet in one shard, where they
are merged into one, and the shards are random samples of the cluster, in whatever order the data came.

Objects are called by their rows in X everywhere outside a task. Within a task they are numbered in the order of their
rows, so that the order of neighbors of equal similarity is the same everywhere.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from covey.arrays import Flags, Floats, Indices, Integers, Positions
from covey.graph.build import Method
from covey.graph.lists import NeighborLists
from covey.runtime.memory import Sized
from covey.similarity.collection import Collection
from covey.similarity.sums import added, mean_of


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
class LargeCluster:
    """A cluster whose shards lie on the workers.

    `shards` holds a future of each shard. `n_rows` is the number of rows of X, and `number` that of the cluster.
    """

    label: Hashable
    number: int
    shards: list[Any]
    n_rows: int


@dataclass(frozen=True)
class HowToLink:
    """How neighbor graphs are made: the parameters of `CRS` that they depend on, and the length of their lists."""

    n_neighbors: int
    length: int
    method: Method
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
class Merged(Sized):
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


def shortened(links: Links, k: int) -> Links:
    """Keep the k best entries of each list."""
    return replace(links, neighbors=links.neighbors[:, :k], similarities=links.similarities[:, :k])


def fold(links: Links, found: Links) -> Links:
    """Offer what a merge has found for a shard to the lists of that shard, and keep the best."""
    lists = NeighborLists.empty(*links.neighbors.shape)
    lists.indices[:], lists.similarities[:] = links.neighbors, links.similarities
    listed = found.neighbors >= 0
    objects = np.repeat(np.arange(len(links.rows), dtype=np.int32), listed.sum(axis=1))
    lists.offer(objects, found.neighbors[listed], found.similarities[listed])
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


def some(links: Links, which: Flags) -> Links:
    """Return the lists of some of the objects."""
    return Links(links.rows[which], links.neighbors[which], links.similarities[which], 0)
