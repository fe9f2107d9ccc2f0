"""How the driver, which is the process that calls `fit`, goes through a fit:

1. Workers read the parts of X and y (`inputs.py`).
2. The sizes of the clusters decide which are packed together and which are cut into shards (`Plan`).
3. Each part is split accordingly, and the pieces are joined to packs and shards.
4. Packs are fitted side by side, large clusters one after the other (`large.py`), each by all workers.
5. The driver keeps the prototypes and the representatives. Lists that are as long as a cluster stay on the workers, as
   dask arrays.
"""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state

from covey.arrays import Integers
from covey.dask.checkpoint import FolderCheckpoint, TaskCache, absolute, read_manifest
from covey.dask.engine import Engine, lazy_rows
from covey.dask.inputs import LabelledParts, read
from covey.dask.large import LargeCluster, fit_large, n_evaluations_of_all
from covey.dask.worker import (
    FittedPack,
    Pack,
    PartFacts,
    PieceKey,
    array_of,
    fit_pack,
    join_shard,
    part_fingerprint,
    piece_of,
    representatives_of,
    split_part,
    summaries,
)
from covey.dask.wrapper import DistributedPrototype
from covey.runtime.parameters import generator
from covey.selectors.crs import CRS
from covey.similarity.collection import Collection
from covey.similarity.fingerprint import data_fingerprint, object_hashes
from covey.similarity.measures import resolve, similarity_fingerprint
from covey.similarity.run import CheckpointPath

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


@dataclass(frozen=True)
class DistributedFitResult:
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


@dataclass(frozen=True)
class Job:
    """What the steps of a fit need, once X and y are read.

    Attributes
    ----------
    engine : Engine
        Runs the tasks.
    selector : covey.CRS
        Has the parameters to use.
    plan : Plan
        What is done with each cluster.
    labels : list
        The label of each cluster.
    generators : list of numpy.random.Generator
        Draws the random numbers of each cluster.
    checkpoint : TaskCache
        Keeps finished tasks.
    pieces : dict
        Futures of what each part has for a pack or a shard.
    """

    engine: Engine
    selector: CRS
    plan: Plan
    labels: Sequence[Hashable]
    generators: list[np.random.Generator]
    checkpoint: TaskCache
    pieces: dict[PieceKey, list[Any]]


def fit_clusters(
    engine: Engine, X: Any, y: Any, selector: CRS, shard_size: int, folder: CheckpointPath
) -> DistributedFitResult:
    """Select the representatives of all clusters.

    Finished tasks are kept in a folder if there is one, and a cluster of more than `shard_size` objects is cut.
    """
    parts = read(engine, X, y, resolve(selector.similarity))
    columns, sizes = parts.facts, parts.counts.sum(axis=0)
    plan = Plan.of(sizes, shard_size)
    _check_refinable(selector, plan, parts.labels, sizes)
    checkpoint, random_state = _open_checkpoint(engine, folder, parts, selector, shard_size)
    rng = check_random_state(random_state)
    generators = [generator(rng) for _ in parts.labels]
    job = Job(engine, selector, plan, parts.labels, generators, checkpoint, _split(engine, parts, plan))
    del parts  # the pieces take their place in the memory of the workers
    return _run(job, sizes, columns)


def _run(job: Job, sizes: Integers, columns: PartFacts) -> DistributedFitResult:
    """Fit all clusters, and fetch what the driver keeps."""
    engine = job.engine
    # Packs come first, because workers that are idle while a large cluster is fitted can do them meanwhile.
    packs = [_submit_pack(job, number) for number in range(len(job.plan.packs))]
    large = {}
    for number in job.plan.shards:
        cluster = LargeCluster(job.labels[number], number, _join_shards(job, number), columns.n)
        large[number] = fit_large(engine, cluster, job.selector, job.generators[number], job.checkpoint)
    prototypes, counts = _gather_packs(job, [fitted for fitted, _ in packs])
    chosen = [representatives for _, representatives in packs]
    for number, fitted in large.items():
        prototypes[number] = fitted.prototype
        counts.update(fitted.counts)
        chosen += fitted.representatives
    gathered = engine.gather("representatives", chosen)
    representatives = Collection.joined([part for part in gathered if len(part)])
    n_restored = sum(n for name, n in counts.items() if job.checkpoint.is_restored(name))
    return DistributedFitResult(
        prototypes=[prototypes[number] for number in range(len(job.labels))],
        representatives=representatives.take(np.argsort(representatives.rows)),
        n_pairs=sum(n_evaluations_of_all(n, job.selector) for n in sizes.tolist()),
        n_repeated=max(engine.n_reported() - sum(counts.values()) + n_restored, 0),
        n_restored=n_restored,
        columns=columns,
    )


def _submit_pack(job: Job, number: int) -> tuple[Any, Any]:
    """Let a worker fit the clusters of a pack, and return the futures of what it finds and of the representatives."""
    pack = job.engine.submit("pack", Pack.joined, job.pieces.pop(("pack", number, 0)))
    generators = {cluster: job.generators[cluster] for cluster in job.plan.packs[number]}
    arguments = pack, job.selector, generators
    fitted = job.checkpoint.submit(job.engine, f"pack-{number}", FittedPack, fit_pack, *arguments)
    return fitted, job.engine.submit("representatives", representatives_of, pack, fitted)


def _join_shards(job: Job, number: int) -> list[Any]:
    """Let workers join the shards of a large cluster, and return their futures."""
    keys = [("shard", number, shard) for shard in range(job.plan.shards[number])]
    return [job.engine.submit("shard", join_shard, job.pieces.pop(key)) for key in keys]


def _gather_packs(job: Job, packs: list[Any]) -> tuple[dict[int, DistributedPrototype], dict[str, int]]:
    """Wait for fitted packs. Return the prototype of each of their clusters, and the evaluations of each task."""
    prototypes, counts = {}, {}
    summaries_of_packs = [job.engine.submit("summary", summaries, pack) for pack in packs]
    for number, summary in enumerate(job.engine.gather("small clusters", summaries_of_packs)):
        counts[f"pack-{number}"] = sum(prototype.n_evaluations for prototype, _ in summary)
        for place, (prototype, n_members) in enumerate(summary):
            cluster = job.plan.packs[number][place]
            lazy = {
                name: lazy_rows(packs[number], array_of, n_members, place, name) for name in ("members", "covered_by")
            }
            prototypes[cluster] = DistributedPrototype.of(prototype, label=job.labels[cluster], **lazy)
    return prototypes, counts


def _check_refinable(selector: CRS, plan: Plan, labels: Sequence[Hashable], sizes: Integers) -> None:
    if plan.shards and selector.refine:
        raise ValueError(
            f"refine=True needs each cluster in one piece, but {labels[min(plan.shards)]!r} is cut into several; pass "
            f"refine=False, or a shard_size of at least {sizes.max()}."
        )


def _open_checkpoint(
    engine: Engine, url: CheckpointPath, parts: LabelledParts, selector: CRS, shard_size: int
) -> tuple[TaskCache, Any]:
    """Return the checkpoint of a fit and its random state.

    A fit without a seed takes the seed of the checkpoint, so that it can go on.
    """
    if url is None:
        return TaskCache(), selector.random_state
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
    futures = [engine.submit("fingerprint", part_fingerprint, *three) for three in arguments]
    data = sum(engine.gather("fingerprints", futures)) % 2**64
    names = ("n_neighbors", "coverage", "threshold", "recall", "gain", "on_orphan", "refine")
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


def _split(engine: Engine, parts: LabelledParts, plan: Plan) -> dict[PieceKey, list[Any]]:
    """Let workers split each part into pieces, and return the futures of those for each pack and shard."""
    pack_of = {cluster: number for number, clusters in enumerate(plan.packs) for cluster in clusters}
    pieces: dict[PieceKey, list[Any]] = {}
    for part, codes, first, counts in zip(
        parts.collections, parts.codes, parts.first_rows.tolist(), parts.counts, strict=True
    ):
        present = np.flatnonzero(counts).tolist()
        keys: list[PieceKey] = [("pack", number, 0) for number in sorted({pack_of[c] for c in present if c in pack_of})]
        keys += [("shard", c, shard) for c in present if c in plan.shards for shard in range(plan.shards[c])]
        split = engine.submit("split", split_part, part, codes, first, pack_of, plan.shards)
        for key in keys:
            pieces.setdefault(key, []).append(engine.submit("piece", piece_of, split, key))
    return pieces
