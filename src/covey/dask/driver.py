"""How a fit goes on a cluster, as the driver sees it:

1. Workers read the parts of X and y (`inputs.py`).
2. The sizes of the clusters decide which are packed together and which are cut into shards (`plan.py`).
3. Each part is split accordingly, and the pieces are joined to packs and shards.
4. Packs are fitted side by side (`packs.py`), large clusters one after the other (`large.py`), each by all workers.
5. The driver keeps the prototypes and the representatives. Lists that are as long as a cluster stay on the workers, as
   dask arrays.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from covey.arrays import Positions
from covey.dask.checkpoint import Checkpoint, FolderCheckpoint, absolute, read_manifest
from covey.dask.engine import Engine, lazy_rows
from covey.dask.inputs import PartFacts, Parts, read
from covey.dask.large import fit_large, n_evaluations_of_all
from covey.dask.packs import FittedPack, Pack, fit_pack, representatives_of
from covey.dask.plan import Plan, plan
from covey.dask.prototype import DistributedPrototype
from covey.dask.shards import LargeCluster, Shard
from covey.prototype import Prototype
from covey.runtime.parameters import generator
from covey.selectors.crs import CRS
from covey.similarity.collection import Collection
from covey.similarity.fingerprint import data_fingerprint, object_hashes
from covey.similarity.hash_table import scrambled
from covey.similarity.measures import resolve, similarity_fingerprint
from covey.similarity.run import Path

Unit = tuple[str, int, int]
"""What a piece is for: ("pack", its number, 0), or ("shard", the number of the cluster, that of the shard)."""


@dataclass(frozen=True)
class DistributedSelection:
    """What a fit returns.

    Attributes
    ----------
    prototypes : list of DistributedPrototype
        One for each cluster, in the order of the labels.
    representatives : Collection
        All representatives, in the order of their rows.
    n_pairs : int
        How many evaluations all pairs within clusters would take.
    n_repeated : int
        How many evaluations were made again because a worker was lost.
    n_restored : int
        How many evaluations were not made because a checkpoint had their results.
    columns : PartFacts
        The number and names of the columns.
    """

    prototypes: list[DistributedPrototype]
    representatives: Collection
    n_pairs: int
    n_repeated: int
    n_restored: int
    columns: PartFacts


def select(engine: Engine, X: Any, y: Any, selector: CRS, shard_size: int, folder: Path) -> DistributedSelection:
    """Select the representatives of all clusters."""
    fit = Fit(engine, X, y, selector, shard_size, folder)
    packs = fit.submit_packs()  # before large clusters, because workers that are idle there can do them meanwhile
    prototypes = {}
    for cluster in fit.large_clusters():
        fitted = fit_large(engine, cluster, selector, fit.generators[cluster.number], fit.checkpoint)
        fit.add(fitted.counts, fitted.representatives)
        prototypes[cluster.number] = fitted.prototype
    return fit.outcome({**prototypes, **fit.gather_packs(packs)})


class Fit:
    """One fit. It begins by reading X and y, and by splitting them into packs and shards.

    Parameters
    ----------
    engine : Engine
        Runs the tasks.
    X, y
        What the user has passed.
    selector : covey.CRS
        A plain selector with the parameters to use.
    shard_size : int
        The most objects of a shard.
    folder : path or None
        Where finished tasks are kept.

    Attributes
    ----------
    checkpoint : Checkpoint
        Keeps finished tasks.
    generators : dict
        The random generator of each cluster, by its number.
    """

    def __init__(self, engine: Engine, X: Any, y: Any, selector: Any, shard_size: int, folder: Path) -> None:
        self._engine, self._selector = engine, selector
        parts = read(engine, X, y, resolve(selector.similarity))  # not kept: pieces take the place of parts
        self._labels, self._facts, sizes = parts.labels, parts.facts, parts.counts.sum(axis=0)
        self._sizes: list[int] = sizes.tolist()
        self._todo = plan(sizes, shard_size)
        if self._todo.shards and selector.refine:
            label = self._labels[min(self._todo.shards)]
            raise ValueError(
                f"refine=True needs each cluster in one piece, but {label!r} is cut into several; pass refine=False, "
                f"or a shard_size of at least {sizes.max()}."
            )
        self.checkpoint, random_state = _open_checkpoint(engine, folder, parts, selector, shard_size)
        rng = check_random_state(random_state)
        self.generators = {number: generator(rng) for number in range(len(self._labels))}
        self._pieces = _split(engine, parts, self._todo)
        self._chosen: list[Any] = []
        self._counts: dict[str, int] = {}

    def submit_packs(self) -> list[Any]:
        """Let workers fit the packs, and return the futures of what they find."""
        fitted = []
        for number, clusters in enumerate(self._todo.packs):
            pack = self._engine.submit("pack", Pack.joined, self._pieces.pop(("pack", number, 0)))
            generators = {cluster: self.generators[cluster] for cluster in clusters}
            arguments = pack, self._selector, generators
            fitted.append(self.checkpoint.submit(self._engine, f"pack-{number}", FittedPack, fit_pack, *arguments))
            self._chosen.append(self._engine.submit("representatives", representatives_of, pack, fitted[-1]))
        return fitted

    def gather_packs(self, fitted: list[Any]) -> dict[int, DistributedPrototype]:
        """Wait for the packs, and return the prototype of each of their clusters."""
        summaries = [self._engine.submit("summary", _summaries, pack) for pack in fitted]
        found = {}
        for number, summary in enumerate(self._engine.gather("small clusters", summaries)):
            self._counts[f"pack-{number}"] = sum(prototype.n_evaluations for prototype, _ in summary)
            for place, (prototype, n_members) in enumerate(summary):
                cluster = self._todo.packs[number][place]
                lazy = {
                    name: lazy_rows(fitted[number], _array_of, n_members, place, name)
                    for name in ("members", "covered_by")
                }
                found[cluster] = DistributedPrototype.of(prototype, label=self._labels[cluster], **lazy)
        return found

    def large_clusters(self) -> Iterator[LargeCluster]:
        """Yield the clusters that are cut into shards."""
        for number, n_shards in self._todo.shards.items():
            units = [("shard", number, shard) for shard in range(n_shards)]
            shards = [self._engine.submit("shard", _join_shard, self._pieces.pop(unit)) for unit in units]
            yield LargeCluster(self._labels[number], number, shards, self._facts.n)

    def add(self, counts: Mapping[str, int], representatives: list[Any]) -> None:
        """Add the evaluations of each task by its name, and the futures of representatives, of a large cluster."""
        self._counts.update(counts)
        self._chosen += representatives

    def outcome(self, prototypes: Mapping[int, DistributedPrototype]) -> DistributedSelection:
        """Fetch the representatives, and sum up, given the prototype of each cluster by its number."""
        found = self._engine.gather("representatives", self._chosen)
        joined = Collection.joined([part for part in found if len(part)])
        n_restored = sum(n for name, n in self._counts.items() if self.checkpoint.is_restored(name))
        n_counted = sum(self._counts.values()) - n_restored
        return DistributedSelection(
            [prototypes[number] for number in range(len(self._labels))],
            joined.take(np.argsort(joined.rows)),
            sum(n_evaluations_of_all(n, self._selector) for n in self._sizes),
            max(self._engine.n_reported() - n_counted, 0),
            n_restored,
            self._facts,
        )


def _open_checkpoint(engine: Engine, url: Path, parts: Parts, selector: Any, shard_size: int) -> tuple[Checkpoint, Any]:
    """Return the checkpoint of a fit and its random state.

    A fit without a seed takes the seed of the checkpoint, so that it can go on.
    """
    if url is None:
        return Checkpoint(), selector.random_state
    url, random_state = absolute(url), selector.random_state
    if random_state is None:
        stored = (read_manifest(url) or {}).get("seed")
        random_state = stored if isinstance(stored, int) else int(np.random.SeedSequence().generate_state(1)[0])
    elif not isinstance(random_state, Integral):
        raise ValueError(
            f"random_state must be an int or None if there is a checkpoint, which has to draw the same numbers again, "
            f"got {random_state!r}."
        )
    arguments = zip(parts.collections, parts.codes, parts.first_rows.tolist(), strict=True)
    futures = [engine.submit("fingerprint", _fingerprint, *three) for three in arguments]
    data = sum(engine.gather("fingerprints", futures)) % 2**64
    names = ("n_neighbors", "coverage", "threshold", "gain", "on_orphan", "refine")
    labels = data_fingerprint(np.arange(len(parts.labels)), object_hashes(parts.labels))
    manifest = {
        "data": f"{data:016x}",
        "labels": f"{labels:016x}",
        "similarity": similarity_fingerprint(resolve(selector.similarity)),
        "shard_size": shard_size,
        "seed": int(random_state),
        "graph": str(selector.graph),
        **{name: getattr(selector, name) for name in names},
    }
    checkpoint = FolderCheckpoint(url, json.loads(json.dumps(manifest, default=float)))
    checkpoint.probe(engine)
    return checkpoint, int(random_state)


def _split(engine: Engine, parts: Parts, todo: Plan) -> dict[Unit, list[Any]]:
    """Split each part into the pieces of packs and shards, and return the futures of the pieces of each unit."""
    pack_of = {cluster: number for number, clusters in enumerate(todo.packs) for cluster in clusters}
    pieces: dict[Unit, list[Any]] = {}
    for part, codes, first, counts in zip(
        parts.collections, parts.codes, parts.first_rows.tolist(), parts.counts, strict=True
    ):
        present = np.flatnonzero(counts).tolist()
        units: list[Unit] = [("pack", number, 0) for number in sorted({pack_of[c] for c in present if c in pack_of})]
        units += [("shard", c, shard) for c in present if c in todo.shards for shard in range(todo.shards[c])]
        split = engine.submit("split", _split_part, part, codes, first, pack_of, todo.shards)
        for unit in units:
            pieces.setdefault(unit, []).append(engine.submit("piece", _piece, split, unit))
    return pieces


# What follows runs on workers.


def _numbered(collection: Collection, first: int) -> Collection:
    """Return a collection whose rows are counted from `first` on."""
    return collection.numbered(first + np.arange(len(collection)))


def _fingerprint(part: tuple[Collection | None, PartFacts], codes: Positions, first: int) -> int:
    """Return the fingerprint of a part: of its objects, their rows and the numbers of their labels."""
    if part[0] is None:
        return 0
    rows = first + np.arange(codes.size)
    labels = scrambled(codes.astype(np.uint64) + np.uint64(1))  # 0 would stay 0
    return data_fingerprint(rows, part[0].content_hashes() ^ labels)


def _split_part(
    part: tuple[Collection | None, PartFacts],
    codes: Positions,
    first: int,
    pack_of: Mapping[int, int],
    n_shards: Mapping[int, int],
) -> dict[Unit, Pack | Shard]:
    """Return the pieces of a part by what they are for."""
    if part[0] is None:
        return {}
    collection = _numbered(part[0], first)
    pieces: dict[Unit, Pack | Shard] = {}
    packs = np.array([pack_of.get(code, -1) for code in range(int(codes.max()) + 1)])[codes]
    for pack in np.unique(packs[packs >= 0]).tolist():
        members = np.flatnonzero(packs == pack)
        pieces["pack", pack, 0] = Pack(collection.take(members), codes[members])
    for cluster, n in n_shards.items():
        members = np.flatnonzero(codes == cluster)
        if not members.size:
            continue
        objects = collection.take(members)
        shard_of = objects.content_hashes() % np.uint64(n)
        for shard in np.unique(shard_of).tolist():
            pieces["shard", cluster, shard] = Shard.of(objects.take(np.flatnonzero(shard_of == shard)))
    return pieces


def _piece(pieces: Mapping[Unit, Pack | Shard], unit: Unit) -> Pack | Shard | None:
    return pieces.get(unit)


def _join_shard(pieces: list[Shard | None]) -> Shard | None:
    """Join the pieces of a shard; None if no object fell into it."""
    filled = [piece for piece in pieces if piece is not None]
    return Shard.joined(filled) if filled else None


def _summaries(fitted: FittedPack) -> list[tuple[Prototype, int]]:
    """Return prototypes without what is as long as a cluster, and the number of members of each."""
    none = np.empty(0, dtype=np.intp)
    return [
        (replace(prototype, members=none, covered_by=none), prototype.members.size) for prototype in fitted.prototypes
    ]


def _array_of(fitted: FittedPack, place: int, name: str) -> NDArray[np.intp]:
    return np.asarray(getattr(fitted.prototypes[place], name))
