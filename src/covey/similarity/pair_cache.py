"""The cache of pairs: similarities that were evaluated are looked up instead of evaluated again.

A custom function may take milliseconds a pair. So the collection of its objects can be wrapped by a
`CachedCollection`, whose spaces all use one `Cache`:

1. Look the pairs up in the store of the cache.
2. Evaluate the missing ones in the space of all objects, of which there is one for each number of processes.
3. Store these as soon as they are there.

There are two stores. They differ in what is counted:

- A table in memory *shares* evaluations between selectors that work on the same objects in turn. A pair is evaluated
  once, whichever space asks for it and how often. If the similarity is symmetric, it is evaluated from the lower to the
  higher number of its objects. Only evaluations count, not what is looked up.
- A checkpoint *replays* an earlier run. Missing pairs are evaluated in the direction in which they are asked for, and
  what is looked up counts as evaluated. So a run that goes on gives the answer, and counts the evaluations, of one that
  nothing has disturbed. The checkpoint counts how many of them were saved.

What covey computes itself is not cached: computing it again takes less time than looking it up. One selector keeps
pairs apart from this, under any similarity: `selectors/delta_medoids.py` asks for most pairs of a cluster many times,
and a dense array of 8 bytes a pair answers that without keys. It asks the space of the cluster for missing pairs, which
may be one of this module.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from covey.arrays import Floats, Hashes, Indices, Integers, Positions
from covey.exceptions import CheckpointMismatchError
from covey.similarity.calls.spot_check import differing
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.collection import Collection, Representatives
from covey.similarity.duplicates import Distinct
from covey.similarity.hash_table import Keys, PairTable, numbers_in, pair_keys, swapped
from covey.similarity.space import ScoredPart, Space, WrappedSpace

EVALUATED_AGAIN = 5
"""How many stored pairs are evaluated again before a checkpoint is used. A change that a fingerprint does not show,
such as another table that a function reads, mostly changes all values."""


class Cache:
    """A store of similarities, and the collection whose pairs it holds.

    `numbers` are the numbers by which the store knows the objects.
    """

    def __init__(self, collection: Collection, store: PairTable | Checkpoint, numbers: Integers) -> None:
        self.collection, self.store, self.numbers = collection, store, numbers
        self._spaces: dict[int | None, Space] = {}

    def space(self, n_jobs: int | None) -> Space:
        """Return the space that evaluates pairs of all objects with this many threads or processes."""
        if n_jobs not in self._spaces:
            self._spaces[n_jobs] = self.collection.against(self.collection, n_jobs)
        return self._spaces[n_jobs]


class CachedCollection(Collection):
    """Objects whose spaces use a cache. `positions` are their positions in the collection of the cache.

    The cache belongs to this process. So a copy in another process, representatives, queries, and what is joined with
    other collections are made of the inner `collection` alone.
    """

    cached = True

    def __init__(self, collection: Collection, positions: Positions | Indices, cache: Cache) -> None:
        super().__init__(collection.similarity, collection.objects, collection.rows, collection.given)
        self.run = collection.run
        self._collection, self._positions, self._cache = collection, positions.astype(np.int32), cache

    @classmethod
    def in_memory(cls, collection: Collection) -> Self:
        """Wrap a collection so that its pairs are evaluated once."""
        every = np.arange(len(collection))
        cached = cls(collection, every, Cache(collection, PairTable(), every))
        # A checkpoint belongs to the selector that has opened it. One that uses the table does not report on it.
        return cached.under(replace(collection.run, checkpoint=None))

    @classmethod
    def in_file(cls, collection: Collection, checkpoint: Checkpoint) -> Self:
        """Wrap a collection so that its pairs are kept in a checkpoint, or refuse one that has other values."""
        numbers = checkpoint.admit(collection.identities())
        _check_values(collection, checkpoint, numbers)
        return cls(collection, np.arange(len(collection)), Cache(collection, checkpoint, numbers))

    def __reduce__(self) -> Any:
        return self._collection.__reduce__()

    def cached_in_memory(self) -> Collection:
        return CachedCollection.in_memory(self)

    def against(self, others: Self, n_jobs: int | None = None) -> "CachedSpace":
        return CachedSpace(self._cache, self._positions, others._positions, square=others is self, n_jobs=n_jobs)

    def known_pairs(self) -> tuple[Indices, Indices, Floats]:
        if not isinstance(self._cache.store, PairTable):
            return super().known_pairs()
        i, j, similarities = self._cache.store.pairs()
        member = np.full(len(self._cache.collection), -1, dtype=np.int32)
        member[self._positions] = np.arange(self._positions.size)
        i, j = member[i], member[j]
        pairs = (i >= 0) & (j >= 0) & (i != j) & ~np.isnan(similarities)  # NaN marks those that have failed
        i, j, similarities = i[pairs], j[pairs], similarities[pairs]
        if self.similarity.symmetric:
            return np.concatenate([i, j]), np.concatenate([j, i]), np.concatenate([similarities, similarities])
        return i, j, similarities

    def space(self, n_jobs: int | None = None) -> Space:
        return self.spot_checked(super().space(n_jobs))

    def spot_checked(self, space: Space) -> Space:
        return self._collection.spot_checked(space)

    @property
    def n_columns(self) -> int | None:
        return self._collection.n_columns

    @property
    def nothing_in_common(self) -> float | None:
        return self._collection.nothing_in_common

    def representatives(self, positions: Positions) -> Representatives:
        return self._collection.representatives(positions)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        return self._collection.space_of_queries(X, estimator, n_jobs)

    def distinct(self) -> Distinct:
        return self._collection.distinct()

    def content_hashes(self) -> Hashes:
        return self._collection.content_hashes()

    def _joined(self, parts: Sequence[Collection]) -> Collection:
        return self._collection._joined(parts)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self._collection.take(positions), self._positions[positions], self._cache)


class CachedSpace(WrappedSpace):
    """A space that evaluates only the pairs that the store of a cache does not hold, and stores these.

    The two sides are positions in the collection of the cache.
    """

    def __init__(self, cache: Cache, left: Indices, right: Indices, *, square: bool, n_jobs: int | None) -> None:
        self._unordered = cache.collection.similarity.symmetric
        super().__init__(cache.space(n_jobs), left.size, right.size, symmetric=square and self._unordered)
        self._store, self._numbers = cache.store, cache.numbers
        self._file = cache.store if isinstance(cache.store, Checkpoint) else None
        self._left, self._right = left, right

    def with_itself(self) -> Floats:
        return self._space.with_itself()[self._left]

    def parts(self, i: Indices, j: Indices) -> Iterator[ScoredPart]:
        return self._parts(self._left[i], self._right[j], counted=False)

    def score_or_nan(self, i: Indices, j: Indices, *, counted: bool = True) -> Floats:
        return self.joined(self._parts(self._left[i], self._right[j], counted=counted), i.size, counted=False)

    def score_again(self, i: Indices, j: Indices) -> Floats:
        scores = self._space.score_again(self._left[i], self._right[j])
        if self._file is not None:
            self._file.count(evaluated=i.size)
        self.count(i.size)
        return scores

    def score_backward(self, i: Indices, j: Indices) -> Floats:
        if self._file is not None:
            backward = self._parts(self._right[j], self._left[i], counted=True, backward=True)
            return self.joined(backward, i.size, counted=False)
        scores = self._space.score_backward(self._left[i], self._right[j])
        self.count(i.size)
        return scores

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self.score_or_nan(i, j, counted=False)

    def _parts(self, a: Indices, b: Indices, *, counted: bool, backward: bool = False) -> Iterator[ScoredPart]:
        """Yield the similarities of pairs of positions, and count those that count as evaluations."""
        keys = self._keys(a, b)
        if backward and self._unordered:
            keys = swapped(keys)  # a pair is stored from the lower to the higher number, so that this key is free
        values, known = self._look_up(keys)
        if known.any():
            yield np.flatnonzero(known), values[known]
            if counted and self._file is not None:
                self.count(int(known.sum()))
        missing, repeated = np.flatnonzero(~known), np.empty(0, dtype=np.intp)
        if self._file is None:
            _, first = np.unique(keys[missing], return_index=True)
            is_first = np.zeros(missing.size, dtype=np.bool_)
            is_first[first] = True
            missing, repeated = missing[is_first], missing[~is_first]
            if self._unordered:
                a, b = np.minimum(a, b), np.maximum(a, b)
        if missing.size:
            for where, part in self._space.parts(a[missing], b[missing]):
                self._store.store(keys[missing[where]], part)
                yield missing[where], part
                if counted:
                    self.count(part.size)
        if repeated.size:
            yield repeated, self._store.look_up(keys[repeated])[0]

    def _keys(self, a: Indices, b: Indices) -> Keys:
        first, second = self._numbers[a], self._numbers[b]
        if self._unordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        return pair_keys(first, second)

    def _look_up(self, keys: Keys) -> tuple[Floats, Any]:
        """Return the stored similarities of pairs, and which of them are known."""
        values, known = self._store.look_up(keys)
        if self._file is not None:
            failed = known & np.isnan(values)
            if self.run.failures is None:
                known &= ~failed  # these failed in a run that went on in spite of it; perhaps they do not any more
            elif failed.any():
                self.run.failures.note_stored(int(failed.sum()))
            self._file.count(saved=int(known.sum()))
        return values, known


def _check_values(collection: Collection, checkpoint: Checkpoint, numbers: Integers) -> None:
    """Refuse a checkpoint if the similarity no longer gives the values that it holds."""
    keys, before = checkpoint.sample(EVALUATED_AGAIN, numbers)
    if not keys.size:
        return
    position = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    position[numbers] = np.arange(numbers.size)
    i, j = (position[number] for number in numbers_in(keys))
    now = collection.against(collection).score_or_nan(i, j)
    checkpoint.count(asked_again=i.size)
    now = np.where(np.isnan(now), before, now)  # a failure, in spite of which the work goes on, is not another value
    differ = differing(before, now)
    if differ.size:
        a, b = collection.rows[i[differ[0]]], collection.rows[j[differ[0]]]
        raise CheckpointMismatchError(
            f"checkpoint must be of the same similarity, but that of objects {a} and {b} is {now[differ[0]]:.8g}, and "
            f"{before[differ[0]]:.8g} in {checkpoint.path!r}: it has changed, or its answers differ from time to time; "
            "choose another file."
        )
