"""Any objects under a custom function.

The objects are a list of anything, an array, or rows of numbers. A caller (`calls/callers.py`) calls the function for
pairs, in this process, in several, or in one that is ended if a call takes too long.
"""

import math
from collections.abc import Iterator
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Floats, Hashes, Indices, Positions
from covey.runtime.interruptible import Steps
from covey.similarity.calls.callers import BatchCaller, Caller, CompiledCaller, PairCaller, objects_at
from covey.similarity.calls.pool import Pool
from covey.similarity.calls.spot_check import spot_check
from covey.similarity.calls.timeouts import TimedPool
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_objects, distinct_rows, row_hashes
from covey.similarity.fingerprint import object_hashes
from covey.similarity.inputs import check_input, check_rows, is_frame, is_numeric, like, row_dicts
from covey.similarity.pair_cache import CachedCollection
from covey.similarity.run import Run
from covey.similarity.similarity import Similarity
from covey.similarity.space import ScoredPart, Space


class FunctionSpace(Space):
    """Objects that are scored by a custom function, in this process or in several."""

    asked_once = True

    def __init__(
        self, caller: Caller, n_left: int, n_right: int, *, square: bool, n_jobs: int | None, run: Run
    ) -> None:
        similarity = caller.similarity
        compiled = isinstance(caller, CompiledCaller)
        # Compiled code does not hold the interpreter lock, so that threads can share it. Which value a failed pair gets
        # depends on the order of the pairs, which threads do not keep.
        self.threaded = compiled and run.failures is None and run.timeout is None
        super().__init__(n_left, n_right, symmetric=square and similarity.symmetric, n_jobs=n_jobs, run=run)
        self._caller, self._similarity = caller, similarity
        if run.timeout is not None:
            self._pool: Pool | TimedPool = TimedPool(n_jobs, run.timeout)
        else:
            self._pool = Pool(1 if compiled else n_jobs, run)
        self._steps = Steps()

    def with_itself(self) -> Floats:
        if self._similarity.conversion is None:
            return np.ones(self.n_left)
        return self._similarity.convert(np.zeros(self.n_left))

    def parts(self, i: Indices, j: Indices) -> Iterator[ScoredPart]:
        if self.threaded:
            yield from self._parts_of_threads(i, j)
            return
        for start, (values, notes) in self._pool.parts(self._caller, i, j):
            if self.run.failures is not None:
                self.run.failures.note(values.size, int(np.isnan(values).sum()), notes)
                yield slice(start, start + values.size), self._similarity.convert(values)
            else:
                yield self._valid_values(start, values)

    def _parts_of_threads(self, i: Indices, j: Indices) -> Iterator[ScoredPart]:
        """Yield the similarities of pairs in steps, each of which the threads share."""
        for step in self._steps.over(i.size):
            values = np.full(step.stop - step.start, np.nan)
            every = np.arange(values.size)
            try:
                self.executor.in_batches(partial(self._fill, values, i[step], j[step]), every, every, fewest=1)
            except BaseException:
                yield self._valid_values(step.start, values)
                raise
            yield self._valid_values(step.start, values)

    def _fill(self, values: Floats, i: Indices, j: Indices, positions: Positions, _: Positions) -> Floats:
        """Write the values of the pairs at these positions, up to the first that fails."""
        for part, _notes in self._caller.parts(i[positions], j[positions]):
            values[positions[: part.size]] = part
        return values[positions]

    def _valid_values(self, start: int, values: Floats) -> ScoredPart:
        """Return those of the values from a pair on that are there. If some are missing, an error follows."""
        there = np.flatnonzero(~np.isnan(values))
        return start + there, self._similarity.convert(values[there])

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        # Only a space that threads share is asked like this, and no pair may fail there.
        every = np.arange(i.size)
        return self._similarity.convert(self._fill(np.full(i.size, np.nan), i, j, every, every))


class SequenceCollection(Collection):
    """A list of any objects, an array of them, or rows of numbers.

    The rows of a frame that holds more than numbers become dicts.
    """

    @classmethod
    def of(cls, X: Any, similarity: Similarity, estimator: Any = None) -> "SequenceCollection":
        """Check X and make a collection of it."""
        if sp.issparse(X) or is_numeric(X):
            return cls(similarity, check_rows(X, estimator, finite=False), given=X)
        return cls(similarity, _plain(X), given=X)

    @property
    def n_columns(self) -> int | None:
        """How many columns the objects have if they are rows of numbers. Queries must then be such rows, too."""
        return int(self.objects.shape[1]) if sp.issparse(self.objects) or is_numeric(self.objects) else None

    def space(self, n_jobs: int | None = None) -> Space:
        return self.spot_checked(super().space(n_jobs))

    def spot_checked(self, space: Space) -> Space:
        return spot_check(space, self.similarity, self.rows)

    def against(self, others: Self, n_jobs: int | None = None) -> FunctionSpace:
        caller = self._caller(others, "object")
        return FunctionSpace(caller, len(self), len(others), square=others is self, n_jobs=n_jobs, run=self.run)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> FunctionSpace:
        queries = SequenceCollection(self.similarity, self._check_queries(X, estimator)).under(self.run)
        caller = queries._caller(self, "query")
        return FunctionSpace(caller, len(queries), len(self), square=False, n_jobs=n_jobs, run=self.run)

    def cached_in(self, checkpoint: Checkpoint) -> Collection:
        return CachedCollection.in_file(self, checkpoint)

    def cached_in_memory(self) -> Collection:
        return CachedCollection.in_memory(self)

    def distinct(self) -> Distinct:
        return distinct_rows(self.objects) if self.n_columns is not None else distinct_objects(self.objects)

    def content_hashes(self) -> Hashes:
        """Return a hash of the content of each object. Equal arrays of numbers of different types have equal hashes."""
        if sp.issparse(self.objects):
            return row_hashes(self.objects)
        if self._are_numbers():
            return row_hashes(self.objects.reshape(len(self), math.prod(self.objects.shape[1:])))
        return object_hashes(self.objects)

    def identities(self) -> Hashes:
        plain = sp.issparse(self.objects) or self._are_numbers()
        return self.content_hashes() if plain else object_hashes(self.objects, whole=True)

    def _are_numbers(self) -> bool:
        return isinstance(self.objects, np.ndarray) and self.objects.dtype.kind in "biuf"

    @cached_property
    def _array(self) -> NDArray[np.object_]:
        """The objects, or rows, as entries of an array. Taking many of them at once is fastest this way."""
        array = np.empty(len(self), dtype=object)
        for row in range(array.size):
            array[row] = self.objects[[row]] if sp.issparse(self.objects) else self.objects[row]
        return array

    def _check_queries(self, X: Any, estimator: Any) -> Any:
        """Return queries in the form that the objects of this collection have."""
        X = check_input(X)
        if self.n_columns is None:
            return _plain(X)
        return like(check_rows(X, estimator, compared=True, finite=False), self.objects)

    def _caller(self, right: "SequenceCollection", noun: str) -> Caller:
        """Make the caller of the function for these objects on the left side and others on the right."""
        names, goes_on = (self.rows, right.rows, noun), self.run.failures is not None
        if self.similarity.kind == "batches":
            return BatchCaller(self.similarity, self.objects, right.objects, *names, goes_on=goes_on)
        if _is_compiled(self.similarity.function) and not isinstance(self.objects, list):
            return CompiledCaller(self.similarity, self.objects, right.objects, *names, goes_on=goes_on)
        return PairCaller(self.similarity, self._array, right._array, *names, goes_on=goes_on)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, objects_at(self.objects, positions), self.rows[positions])


def _plain(X: Any) -> Any:
    """Return the objects as a list or an array."""
    if is_frame(X):
        return row_dicts(X)
    if sp.issparse(X):
        return check_rows(X, finite=False)
    return np.asarray(X) if isinstance(X, np.ndarray) else list(X)


def _is_compiled(function: Any) -> bool:
    """Return whether numba has compiled a function.

    Numba is not imported for this, because plain functions do not need it.
    """
    return type(function).__module__.startswith("numba.") and hasattr(function, "py_func")
