"""What workers do for small clusters: several of them make a pack, and one task fits all clusters of a pack."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.arrays import Positions
from covey.dask.engine import watched
from covey.prototype import Prototype
from covey.runtime.memory import Sized
from covey.selectors.cluster import Cluster
from covey.similarity.collection import Collection


@dataclass(frozen=True)
class Pack(Sized):
    """The objects of several clusters, in the order of their rows in X, and the number of the cluster of each."""

    collection: Collection
    codes: Positions

    @classmethod
    def joined(cls, pieces: Sequence["Pack"]) -> "Pack":
        """Join what the parts of X have for a pack, one part after the other."""
        codes = np.concatenate([piece.codes for piece in pieces])
        return cls(Collection.joined([piece.collection for piece in pieces]), codes)


@dataclass(frozen=True)
class FittedPack(Sized):
    """The prototypes of the clusters of a pack, and how many similarities were computed for them."""

    prototypes: list[Prototype]
    n_evaluations: int


def fit_pack(pack: Pack, selector: Any, generators: dict[int, np.random.Generator]) -> FittedPack:
    """Select the representatives of each cluster of a pack, exactly as `covey.CRS` does in one process.

    `selector` is a `covey.CRS`. `generators` holds the random generator of each cluster by its number. Prototypes have
    this number as label.
    """
    prototypes = []
    for number, rng in generators.items():
        members = pack.collection.take(np.flatnonzero(pack.codes == number))
        cluster = Cluster.of_members(number, members.rows, members, selector.n_jobs)
        watched(cluster.space)
        prototypes.append(selector.select(cluster, rng))
    return FittedPack(prototypes, sum(prototype.n_evaluations for prototype in prototypes))


def representatives_of(pack: Pack, fitted: FittedPack) -> Collection:
    """Return the representatives of all clusters of a pack, in the order of their rows."""
    chosen = np.sort(np.concatenate([prototype.indices for prototype in fitted.prototypes]))
    return pack.collection.take(np.searchsorted(pack.collection.rows, chosen))
