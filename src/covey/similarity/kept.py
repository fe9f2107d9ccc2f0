"""Similarities that are kept in a checkpoint.

`kept` returns a collection of the same objects whose spaces look pairs up in a checkpoint before they evaluate them,
and that write whatever they evaluate to it. Only functions of the user's own are treated like this. What covey computes
itself takes less time than to read it from a file.
"""

from collections.abc import Iterator
from typing import Self

import numpy as np

from covey.arrays import Floats, Indices, Integers, Positions
from covey.similarity.answers import differing
from covey.similarity.checkpoint import Checkpoint, Keys, OtherRunError, numbers_in, pair_keys
from covey.similarity.collection import Collection, WrappedCollection
from covey.similarity.space import Part, Space

ASKED_AGAIN = 5
"""How many kept pairs are evaluated again before a checkpoint is used. A change that a fingerprint does not show, such
as another table that a function reads, mostly changes all values."""


def kept(collection: Collection, checkpoint: Checkpoint) -> Collection:
    """Return a collection whose spaces use a checkpoint, or the collection itself if its similarities are cheap."""
    if not collection.is_costly():
        return collection
    numbers = checkpoint.admit(collection.identities())
    _check_values(collection, checkpoint, numbers)
    return KeptCollection(collection, numbers, checkpoint)


def _check_values(collection: Collection, checkpoint: Checkpoint, numbers: Integers) -> None:
    """Refuse a checkpoint if the similarity no longer gives the values that it holds."""
    keys, before = checkpoint.sample(ASKED_AGAIN, numbers)
    if not keys.size:
        return
    position = np.zeros(int(numbers.max()) + 1, dtype=np.int32)
    position[numbers] = np.arange(numbers.size)
    i, j = (position[number] for number in numbers_in(keys))
    now = collection.against(collection).score_or_nan(i, j)
    checkpoint.n_asked_again += i.size
    now = np.where(np.isnan(now), before, now)  # a failure, in spite of which the work goes on, is no other value
    differ = differing(before, now)
    if differ.size:
        a, b = collection.rows[i[differ[0]]], collection.rows[j[differ[0]]]
        raise OtherRunError(
            f"checkpoint must be of the same similarity, but that of objects {a} and {b} is {now[differ[0]]:.8g}, and "
            f"{before[differ[0]]:.8g} in {checkpoint.path!r}: it has changed, or its answers differ from time to time; "
            "choose another file."
        )


class KeptCollection(WrappedCollection):
    """Objects whose spaces use a checkpoint. `numbers` are the numbers of the objects in it."""

    def __init__(self, collection: Collection, numbers: Integers, checkpoint: Checkpoint) -> None:
        super().__init__(collection)
        self._numbers, self._checkpoint = numbers, checkpoint

    def against(self, others: Self, n_jobs: int | None = None) -> "KeptSpace":
        inner = self._collection.against(self._collection if others is self else others._collection, n_jobs)
        return KeptSpace(inner, self._numbers, others._numbers, self._checkpoint, self.similarity.symmetric)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self._collection.take(positions), self._numbers[positions], self._checkpoint)


class KeptSpace(Space):
    """A space that evaluates only pairs that the checkpoint does not hold, and writes these to it.

    What was looked up counts as evaluated, so that a run that goes on counts as many evaluations as one that nothing
    has disturbed. The checkpoint counts how many of them were saved.
    """

    def __init__(self, space: Space, left: Integers, right: Integers, checkpoint: Checkpoint, unordered: bool) -> None:
        super().__init__(space.n_left, space.n_right, space.symmetric, space.n_jobs)
        self._space, self._checkpoint, self._unordered = space, checkpoint, unordered
        self._left, self._right = left, right
        self.hubs, self.exact_up_to, self.failures = space.hubs, space.exact_up_to, space.failures

    def with_itself(self) -> Floats:
        return self._space.with_itself()

    def parts(self, i: Indices, j: Indices) -> Iterator[Part]:
        return self._parts(i, j, self._keys(i, j))

    def score_again(self, i: Indices, j: Indices) -> Floats:
        scores = self._space.score_or_nan(i, j, counted=False)
        self._checkpoint.n_evaluated += i.size
        self.count(i.size)
        return scores

    def score_backward(self, i: Indices, j: Indices) -> Floats:
        # A pair of a symmetric similarity is kept from the lower to the higher number, so that the key of the other
        # direction is free for the value of the other direction.
        keys = self._keys(i, j)
        keys = (keys << np.uint64(32)) | (keys >> np.uint64(32)) if self._unordered else self._keys(j, i)
        return self.joined(self._parts(j, i, keys), i.size, counted=True)

    def _parts(self, i: Indices, j: Indices, keys: Keys) -> Iterator[Part]:
        """Yield the similarities of pairs whose keys are given, each part as soon as it is in the checkpoint."""
        values, known = self._checkpoint.look_up(keys)
        failed = known & np.isnan(values)
        if self.failures is None:
            known &= ~failed  # these failed in a run that went on in spite of it; perhaps they do not any more
        elif failed.any():
            self.failures.note_kept(int(failed.sum()))
        self._checkpoint.n_saved += int(known.sum())
        if known.any():
            yield np.flatnonzero(known), values[known]
        missing = np.flatnonzero(~known)
        for where, part in self._space.parts(i[missing], j[missing]):
            self._checkpoint.keep(keys[missing[where]], part)
            yield missing[where], part

    def _keys(self, i: Indices, j: Indices) -> Keys:
        a, b = self._left[i], self._right[j]
        return pair_keys(np.minimum(a, b), np.maximum(a, b)) if self._unordered else pair_keys(a, b)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self.joined(self.parts(i, j), i.size, counted=False)
