"""Any objects under a function of the user's own: one pair a call, many pairs a call, or compiled by numba."""

from abc import abstractmethod
from array import array
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.similarity.objects import Objects, count
from covey.similarity.pool import Pool
from covey.similarity.similarity import LARGEST, Similarity
from covey.similarity.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Positions = NDArray[np.intp]

CHUNK = 1 << 16
"""The most pairs of Python objects held in lists at a time."""


class FunctionSpace(Space):
    """Objects scored by a user's function; where each object came from is kept to name it in errors."""

    def __init__(
        self,
        similarity: Similarity,
        left: Objects,
        right: Objects,
        left_rows: Positions,
        right_rows: Positions,
        square: bool,
        n_jobs: int | None,
    ) -> None:
        super().__init__(count(left), count(right), symmetric=square and similarity.symmetric)
        self._under_way = 0
        self._pool = None if self.threaded else Pool(n_jobs)
        self.similarity, self._left, self._right = similarity, left, right
        self._left_rows, self._right_rows = left_rows, right_rows
        self._left_noun = "object" if square else "query"

    def with_itself(self) -> Floats:
        if self.similarity.conversion is None:
            return np.ones(self.n_left)
        return self.similarity.convert(np.zeros(self.n_left))

    def n_done(self) -> int:
        return self.n_evaluations + self._under_way

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        self._under_way = 0
        values = self._call(i, j) if self._pool is None else self._pool.call(self, i, j)
        self._under_way = 0
        bad = ~(np.abs(values) < LARGEST)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise ValueError(self._complaint(i[at], j[at], f"returned {values[at]}"))
        if self.similarity.conversion is not None and values.size and values.min() < 0:
            at = int(np.argmin(values))
            raise ValueError(
                f"The distance of {self._name(i[at], j[at])} is {values[at]}, but a distance must not be negative; "
                "pass a similarity without covey.from_distance."
            )
        return self.similarity.convert(values)

    @abstractmethod
    def _call(self, i: Indices, j: Indices) -> Floats:
        """The function's own values."""

    def __getstate__(self) -> dict[str, Any]:
        """What a worker process needs: neither lock nor pool."""
        return {key: value for key, value in vars(self).items() if key not in ("_lock", "_pool")}

    def _name(self, i: int, j: int) -> str:
        return f"{self._left_noun} {self._left_rows[i]} and object {self._right_rows[j]}"

    def _complaint(self, i: int, j: int, what: str) -> str:
        return (
            f"The similarity of {self._name(i, j)} {what}, but it must be one finite real number, "
            f"below {LARGEST:g} in magnitude; "
            "mend the similarity function or leave these objects out."
        )

    def _failure(self, i: int, j: int, error: Exception) -> RuntimeError:
        return RuntimeError(f"The similarity of {self._name(i, j)} raised {_brief(error)}.")


class ObjectSpace(FunctionSpace):
    """Any objects under a plain Python function, called once a pair."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._values = array("d")  # of the chunk under way
        self._left_objects = _object_array(self._left)
        self._right_objects = self._left_objects if self._right is self._left else _object_array(self._right)

    def n_done(self) -> int:
        return super().n_done() + len(self._values)

    def _call(self, i: Indices, j: Indices) -> Floats:
        chunks = [self._call_chunk(i[at : at + CHUNK], j[at : at + CHUNK]) for at in range(0, i.size, CHUNK)]
        return np.concatenate(chunks) if chunks else np.empty(0)

    def _call_chunk(self, i: Indices, j: Indices) -> Floats:
        values = self._values = array("d")  # keeps the results before a failing pair, so their number tells its place
        try:
            values.extend(map(self.similarity.function, self._left_objects.take(i), self._right_objects.take(j)))
        except Exception as error:
            raise self._trouble(i[len(values)], j[len(values)], error) from error
        if len(values) < i.size:  # `extend` takes this one for the end of its input
            stop = StopIteration()
            raise self._failure(i[len(values)], j[len(values)], stop) from stop
        self._values = array("d")
        self._under_way += i.size
        return np.frombuffer(values)

    def _trouble(self, i: int, j: int, error: Exception) -> Exception:
        """Whether the function failed or its result is no number is told by calling it again."""
        try:
            result = self.similarity.function(self._left_objects[i], self._right_objects[j])
        except Exception:
            return self._failure(i, j, error)
        if isinstance(result, Real):  # it has failed once, and not again
            return self._failure(i, j, error)
        shown = "None" if result is None else f"{type(result).__name__} {result!r}"
        return TypeError(self._complaint(i, j, f"returned {shown}"))


class BatchSpace(FunctionSpace):
    """Any objects under a function that scores many pairs at once."""

    def _call(self, i: Indices, j: Indices) -> Floats:
        size = self.similarity.batch_size
        values = np.empty(i.size)
        for at in range(0, i.size, size):
            batch = slice(at, at + size)
            values[batch] = self._call_batch(i[batch], j[batch])
            self._under_way += i[batch].size
        return values

    def _call_batch(self, i: Indices, j: Indices) -> Floats:
        span = f"in the batch of {i.size} pairs from {self._name(i[0], j[0])} on"
        try:
            result = self.similarity.function(_pick(self._left, i), _pick(self._right, j))
        except Exception as error:
            raise RuntimeError(f"The batched similarity raised {_brief(error)}, {span}.") from error
        try:
            values = np.asarray(result)
            got = f"an array of shape {values.shape} and dtype {values.dtype}"
        except Exception as error:  # NumPy's, or that of an object of another library
            values, got = np.empty(0, dtype=object), f"{type(result).__name__}, which is no array: {_brief(error)}"
        if values.shape != (i.size,) or values.dtype.kind not in "fiub":
            raise TypeError(
                f"A batched similarity must return one real number a pair, {i.size} in all, {span}; got {got}; a "
                "function of a single pair needs no covey.batched."
            )
        return values.astype(np.float64, copy=False)


class CompiledSpace(FunctionSpace):
    """Rows under a function compiled by numba: the loop over pairs is compiled around it."""

    threaded = True

    def _call(self, i: Indices, j: Indices) -> Floats:
        values = np.full(i.size, np.nan)
        try:
            if isinstance(self._left, np.ndarray):
                _dense_loop(self.similarity.function)(self._left, self._right, i, j, values)
            else:
                a, b = self._left, self._right
                loop = _csr_loop(self.similarity.function)
                loop(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, i, j, values)
        except Exception as error:
            if type(error).__module__.startswith("numba"):
                raise TypeError(
                    "similarity does not compile on these rows; a numba function takes two rows f(x, y), or, if X is "
                    f"CSR, f(columns_x, values_x, columns_y, values_y), and returns a number: {_brief(error)}."
                ) from error
            failed = int(np.flatnonzero(~np.isnan(values)).max(initial=-1)) + 1  # pairs are filled in order
            raise self._failure(i[failed], j[failed], error) from error
        return values


@lru_cache(maxsize=64)
def _dense_loop(function: Any) -> Any:
    from numba import njit

    @njit(nogil=True)
    def loop(left, right, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            out[t] = function(left[i[t]], right[j[t]])

    return loop


@lru_cache(maxsize=64)
def _csr_loop(function: Any) -> Any:
    from numba import njit

    @njit(nogil=True)
    def loop(a_starts, a_columns, a_values, b_starts, b_columns, b_values, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            a = slice(a_starts[i[t]], a_starts[i[t] + 1])
            b = slice(b_starts[j[t]], b_starts[j[t] + 1])
            out[t] = function(a_columns[a], a_values[a], b_columns[b], b_values[b])

    return loop


def _brief(error: Exception) -> str:
    """An error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[:1]])


def _object_array(objects: Objects) -> NDArray[np.object_]:
    """Each object (row) as one entry: the fastest way to pick many of them."""
    array = np.empty(count(objects), dtype=object)
    for row in range(array.size):
        array[row] = objects[[row]] if sp.issparse(objects) else objects[row]
    return array


def _pick(objects: Objects, positions: Indices) -> Any:
    return [objects[p] for p in positions] if isinstance(objects, list) else objects[positions]
