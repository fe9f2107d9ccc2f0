"""Which tasks the clusters become: small clusters are packed together, large ones are cut into shards."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from covey.arrays import Integers

SMALLEST_PACK = 2_000
"""Small clusters are packed until a task has at least this many objects, so that handing it over costs little beside
its work."""

MOST_PACKS = 256
"""About the most tasks that small clusters are packed into. Every part of X may have objects for every pack, so that
the number of tasks is the product of both, and Dask's scheduler slows down beyond 100 000 tasks."""

MOST_SHARDS = 100
"""The most shards of a cluster. Every two shards are merged, and every two exchange edges, so that 100 of them make
about 50 000 tasks, half of what Dask's scheduler manages well."""


@dataclass(frozen=True)
class Plan:
    """What is to be done with each cluster. Clusters are numbered in the order of their labels.

    Attributes
    ----------
    packs : list of lists of int
        The clusters that one task fits one after the other.
    shards : dict of int to int
        For each large cluster, the number of its shards.
    """

    packs: list[list[int]]
    shards: dict[int, int]

    @classmethod
    def of(cls, sizes: Sequence[int] | Integers, shard_size: int) -> Self:
        """Decide what happens to clusters of the given sizes. It depends on nothing but the sizes.

        Raise ValueError if a cluster would be cut into too many shards.
        """
        sizes = np.asarray(sizes)
        large = sizes > shard_size
        shards = {int(cluster): -(-int(sizes[cluster]) // shard_size) for cluster in np.flatnonzero(large)}
        most = int(sizes.max())
        if most > MOST_SHARDS * shard_size:
            raise ValueError(
                f"shard_size must be at least {-(-most // MOST_SHARDS)}, because a cluster of {most} objects may be "
                f"cut into {MOST_SHARDS} shards at most, got {shard_size}; as large as the memory of workers allows is "
                "best."
            )
        full = min(shard_size, max(SMALLEST_PACK, int(sizes[~large].sum()) // MOST_PACKS))
        packs: list[list[int]] = []
        n_packed = full
        for cluster in np.flatnonzero(~large).tolist():
            if n_packed >= full or n_packed + sizes[cluster] > shard_size:
                packs.append([])
                n_packed = 0
            packs[-1].append(cluster)
            n_packed += int(sizes[cluster])
        return cls(packs, shards)
