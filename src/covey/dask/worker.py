"""What the workers do, but for the shards of large clusters (`shards.py`).

1. Check and prepare a part of X, and number its labels.
2. Split a part into pieces, and join the pieces of all parts to packs and shards.
3. Fit the small clusters of a pack, one after the other.
4. Let a fitted classifier answer for a part of X, and compare its objects with the representatives.
"""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from covey.arrays import Floats, Positions
from covey.classifier import Explanation
from covey.dask.shards import Shard
from covey.dask.task import cancellable
from covey.prototype import Prototype
from covey.rejection import Matches, calibrated_bars, nearest_two
from covey.runtime.memory import Sized
from covey.selectors.cluster import Cluster
from covey.selectors.crs import CRS
from covey.selectors.labels import check_labels, label_values
from covey.similarity.collection import Collection
from covey.similarity.fingerprint import data_fingerprint
from covey.similarity.hash_table import scrambled
from covey.similarity.kinds import collect
from covey.similarity.packed_bits import PackedBits
from covey.similarity.similarity import Similarity

PieceKey = tuple[str, int, int]
"""The use of a piece of a part: ("pack", its number, 0), or ("shard", the number of the cluster, that of the shard)."""


@dataclass(frozen=True)
class PartFacts:
    """What the driver knows about a part: its number of objects, its columns, if it has any, whether these are packed
    bits, and which similarity says that objects have nothing in common, if there is one.
    """

    n: int
    n_columns: int | None
    names: tuple[str, ...] | None
    packed: bool = False
    nothing_in_common: float | None = None


PreparedPart = tuple[Collection | None, PartFacts]
"""The collection of a part, or None if the part is empty, and what the driver learns about it."""


def materialized(part: Any) -> Any:
    """Return a part as it is, or as a list if it is an iterator, as those of a bag may be."""
    return list(part) if hasattr(part, "__next__") else part


def is_empty(part: Any) -> bool:
    """Return whether a part holds no objects. What is not a sequence of objects at all is not empty."""
    shape = getattr(part, "shape", None)
    return bool(shape[0] == 0 if shape else shape is None and hasattr(part, "__len__") and len(part) == 0)


class _ColumnRecorder(BaseEstimator):
    """Receives the columns that scikit-learn records for X."""


_ColumnRecorder.__name__ = "covey.dask.CRS"  # which scikit-learn's messages say that X is for


def prepare_part(part: Any, number: int, similarity: Similarity, *, packed: bool) -> PreparedPart:
    """Make a collection of a part; None if the part is empty. If X is known to be `packed`, all parts are."""
    part = materialized(part)
    if is_empty(part):
        return None, PartFacts(0, None, None)
    columns = _ColumnRecorder()
    try:
        collection = collect(PackedBits(part) if packed else part, similarity, columns)
    except (ValueError, TypeError) as error:
        raise _of_part(error, number, "X") from error
    names = tuple(columns.feature_names_in_.tolist()) if hasattr(columns, "feature_names_in_") else None
    collection = collection.without_given()
    packed = isinstance(collection.objects, PackedBits)
    return collection, PartFacts(len(collection), collection.n_columns, names, packed, collection.nothing_in_common)


def prepare_packed(part: PreparedPart, number: int) -> PreparedPart:
    """Read a part again as packed bits, because other parts of X hold some."""
    collection, _ = part
    return part if collection is None else prepare_part(collection.objects, number, collection.similarity, packed=True)


def _of_part(error: ValueError | TypeError, number: int, name: str) -> ValueError | TypeError:
    """Return an error that also names the part. Subclasses of these two may take other arguments than a message."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"In part {number} of {name}, whose rows are counted from 0 here: {error}")


def part_facts(part: PreparedPart) -> PartFacts:
    return part[1]


def part_labels(part: Any, number: int, n: int) -> NDArray[Any]:
    """Return the labels of a part, checked."""
    part = materialized(part)
    try:
        return np.empty(0, dtype=object) if n == 0 and is_empty(part) else check_labels(part, n)
    except (ValueError, TypeError) as error:
        raise _of_part(error, number, "y") from error


def count_labels(labels: NDArray[Any]) -> Counter[Hashable]:
    return Counter(label_values(labels))


def label_codes(labels: NDArray[Any], number_of: dict[Hashable, int]) -> NDArray[np.intp]:
    values = label_values(labels)
    return np.fromiter(map(number_of.__getitem__, values), dtype=np.intp, count=len(values))


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


def part_fingerprint(part: PreparedPart, codes: Positions, first: int) -> int:
    """Return the fingerprint of a part: of its objects, their rows and the numbers of their labels."""
    if part[0] is None:
        return 0
    rows = first + np.arange(codes.size)
    labels = scrambled(codes.astype(np.uint64) + np.uint64(1))  # 0 would stay 0
    return data_fingerprint(rows, part[0].content_hashes() ^ labels)


def split_part(
    part: PreparedPart,
    codes: Positions,
    first: int,
    pack_of: Mapping[int, int],
    n_shards: Mapping[int, int],
) -> dict[PieceKey, Pack | Shard]:
    """Return the pieces of a part by what they are for."""
    if part[0] is None:
        return {}
    collection = part[0].numbered(first + np.arange(len(part[0])))
    pieces: dict[PieceKey, Pack | Shard] = {}
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


def piece_of(pieces: Mapping[PieceKey, Pack | Shard], key: PieceKey) -> Pack | Shard | None:
    return pieces.get(key)


def join_shard(pieces: list[Shard | None]) -> Shard | None:
    """Join the pieces of a shard; None if no object fell into it."""
    filled = [piece for piece in pieces if piece is not None]
    return Shard.joined(filled) if filled else None


def fit_pack(pack: Pack, selector: CRS, generators: dict[int, np.random.Generator]) -> FittedPack:
    """Select the representatives of each cluster of a pack, exactly as `covey.CRS` does in one process.

    Each cluster has a random generator by its number. Prototypes have this number as label.
    """
    prototypes = []
    for number, rng in generators.items():
        members = pack.collection.take(np.flatnonzero(pack.codes == number))
        cluster = Cluster.of_members(number, members.rows, members, selector.n_jobs)
        cancellable(cluster.space)
        prototypes.append(selector.select(cluster, rng))
    return FittedPack(prototypes, sum(prototype.n_evaluations for prototype in prototypes))


def representatives_of(pack: Pack, fitted: FittedPack) -> Collection:
    """Return the representatives of all clusters of a pack, in the order of their rows."""
    chosen = np.sort(np.concatenate([prototype.indices for prototype in fitted.prototypes]))
    return pack.collection.take(np.searchsorted(pack.collection.rows, chosen))


def summaries(fitted: FittedPack) -> list[tuple[Prototype, int]]:
    """Return prototypes without what is as long as a cluster, and the number of members of each."""
    none = np.empty(0, dtype=np.intp)
    return [
        (replace(prototype, members=none, covered_by=none), prototype.members.size) for prototype in fitted.prototypes
    ]


def array_of(fitted: FittedPack, place: int, name: str) -> NDArray[np.intp]:
    return np.asarray(getattr(fitted.prototypes[place], name))


def arrays_of(answer: Any) -> list[Any]:
    if isinstance(answer, Explanation):
        return [array for array in vars(answer).values() if array is not None]
    return list(answer) if isinstance(answer, tuple) else [answer]


def answer_part(model: Any, part: Any, method: str, empty: Any, args: tuple[Any, ...]) -> list[Any]:
    """Call a method of a model for a part of X, and return the arrays of its answer."""
    part = materialized(part)
    return arrays_of(empty if is_empty(part) else getattr(model, method)(part, *args))


def first_of_equal(representatives: Collection, classes: Positions) -> tuple[Collection, Positions, Any]:
    """Return the first of equal representatives, their classes and their content hashes."""
    hashes = representatives.content_hashes()
    first = np.sort(np.unique(hashes, return_index=True)[1])
    return representatives.take(first), classes[first], hashes[first]


def nearest_in_part(part: PreparedPart, known: tuple[Collection, Positions, Any], n_jobs: int | None) -> Matches | None:
    """Compare the objects of a part with the representatives. It is None if the part is empty."""
    collection, _ = part
    if collection is None:
        return None
    representatives, _, hashes = known
    space = representatives.space_of_queries(collection.objects, n_jobs=n_jobs)
    return nearest_two(space, collection.content_hashes(), hashes)


def bars_of_parts(
    nearest: list[Matches | None],
    known: tuple[Collection, Positions, Any],
    n_classes: int,
    rate: float,
    nothing_in_common: float | None,
) -> Floats:
    """Return the bars of calibrated rejection, given what the objects of all parts show."""
    parts = [part for part in nearest if part is not None]
    together = Matches(*(np.concatenate(side) for side in zip(*parts, strict=True)))
    return calibrated_bars(together, known[1], n_classes, rate, nothing_in_common)
