"""Any objects under a function of the user's own, which takes one pair a call, many pairs a call, or is compiled by
numba.

A `Caller` calls the function. If something goes wrong, its error names the two objects. A caller can be sent to other
processes. A `FunctionSpace` decides in which process a caller works, checks the values that it returns, and counts
them.
"""

from abc import ABC, abstractmethod
from array import array
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np

from covey.arrays import Floats, Indices, Positions
from covey.similarity.pool import Pool
from covey.similarity.similarity import LARGEST, Similarity
from covey.similarity.space import Space

CHUNK = 1 << 16
"""The most pairs of Python objects that are held in arrays at a time. Each pair takes two references and a result of 8
bytes each, so that the arrays take one and a half megabytes."""


class Caller(ABC):
    """Calls a function for pairs of objects.

    Parameters
    ----------
    similarity : Similarity
        Holds the function.
    left, right : sequences
        The objects of both sides, in the form that the function takes.
    left_names, right_names : int arrays
        The row of X that each object came from, by which errors name it.
    left_noun : str
        The word that errors use for an object of the left side, such as "query".
    """

    def __init__(
        self,
        similarity: Similarity,
        left: Any,
        right: Any,
        left_names: Positions,
        right_names: Positions,
        left_noun: str,
    ) -> None:
        self.similarity, self._left, self._right = similarity, left, right
        self._left_names, self._right_names, self._left_noun = left_names, right_names, left_noun

    @property
    def n_under_way(self) -> int:
        """How many values the current call has computed so far."""
        return 0

    @abstractmethod
    def __call__(self, i: Indices, j: Indices) -> Floats:
        """Return the function's own values for the pairs (left[i[t]], right[j[t]])."""

    def names(self, i: int, j: int) -> str:
        """Name the two objects of a pair."""
        return f"{self._left_noun} {self._left_names[i]} and object {self._right_names[j]}"

    def complaint(self, i: int, j: int, what: str) -> str:
        """Return the error message for a pair whose value cannot be a similarity."""
        return (
            f"The similarity of {self.names(i, j)} {what}, but it must be one finite real number, "
            f"below {LARGEST:g} in magnitude; "
            "mend the similarity function or leave these objects out."
        )

    def failure(self, i: int, j: int, error: Exception) -> RuntimeError:
        """Return the error for a pair for which the function itself has failed."""
        return RuntimeError(f"The similarity of {self.names(i, j)} raised {_brief(error)}.")


class PairCaller(Caller):
    """Calls a plain Python function once a pair. Both sides are arrays of objects."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._n_before, self._values = 0, array("d")  # the chunks that are done, and the current one

    @property
    def n_under_way(self) -> int:
        return self._n_before + len(self._values)

    def __call__(self, i: Indices, j: Indices) -> Floats:
        starts = range(0, i.size, CHUNK)
        chunks = [self._call_chunk(start, i[start : start + CHUNK], j[start : start + CHUNK]) for start in starts]
        self._n_before, self._values = 0, array("d")
        return np.concatenate(chunks) if chunks else np.empty(0)

    def _call_chunk(self, start: int, i: Indices, j: Indices) -> Floats:
        # When a pair fails, the array holds the results before it, so that its length is the position of that pair.
        values = array("d")
        self._n_before, self._values = start, values
        try:
            values.extend(map(self.similarity.function, self._left.take(i), self._right.take(j)))
        except Exception as error:
            raise self._error_of_pair(i[len(values)], j[len(values)], error) from error
        if len(values) < i.size:  # the function has raised StopIteration, which `extend` takes for the end
            stop = StopIteration()
            raise self.failure(i[len(values)], j[len(values)], stop) from stop
        return np.frombuffer(values)

    def _error_of_pair(self, i: int, j: int, error: Exception) -> Exception:
        """Return the error for a pair after a failure.

        The function is called again to find out whether it raises, or returns something that is no number.
        """
        try:
            result = self.similarity.function(self._left[i], self._right[j])
        except Exception:
            return self.failure(i, j, error)
        if isinstance(result, Real):  # the function has failed the first time only
            return self.failure(i, j, error)
        shown = "None" if result is None else f"{type(result).__name__} {result!r}"
        return TypeError(self.complaint(i, j, f"returned {shown}"))


class BatchCaller(Caller):
    """Calls a function that scores many pairs at once. Each side is a list, an array or a CSR array."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._n_under_way = 0

    @property
    def n_under_way(self) -> int:
        return self._n_under_way

    def __call__(self, i: Indices, j: Indices) -> Floats:
        size = self.similarity.batch_size
        values = np.empty(i.size)
        for start in range(0, i.size, size):
            self._n_under_way = start
            batch = slice(start, start + size)
            values[batch] = self._call_batch(i[batch], j[batch])
        self._n_under_way = 0
        return values

    def _call_batch(self, i: Indices, j: Indices) -> Floats:
        span = f"in the batch of {i.size} pairs from {self.names(i[0], j[0])} on"
        try:
            result = self.similarity.function(_some(self._left, i), _some(self._right, j))
        except Exception as error:
            raise RuntimeError(f"The batched similarity raised {_brief(error)}, {span}.") from error
        try:
            values = np.asarray(result)
            got = f"an array of shape {values.shape} and dtype {values.dtype}"
        except Exception as error:  # NumPy, or an object of another library, may raise anything
            values, got = np.empty(0, dtype=object), f"{type(result).__name__}, which is no array: {_brief(error)}"
        if values.shape != (i.size,) or values.dtype.kind not in "fiub":
            raise TypeError(
                f"A batched similarity must return one real number a pair, {i.size} in all, {span}; got {got}; a "
                "function of a single pair needs no covey.batched."
            )
        return values.astype(np.float64, copy=False)


class CompiledCaller(Caller):
    """Calls a function that numba has compiled, on dense or CSR rows. A compiled loop over the pairs calls it."""

    def __call__(self, i: Indices, j: Indices) -> Floats:
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
            failed = int(np.flatnonzero(~np.isnan(values)).max(initial=-1)) + 1  # values are filled in order
            raise self.failure(i[failed], j[failed], error) from error
        return values


class FunctionSpace(Space):
    """Objects that are scored by a user's function, in this process or in several."""

    def __init__(self, caller: Caller, n_left: int, n_right: int, square: bool, n_jobs: int | None) -> None:
        self.threaded = isinstance(caller, CompiledCaller)  # compiled code does not hold the interpreter lock
        super().__init__(n_left, n_right, square and caller.similarity.symmetric, n_jobs)
        self._caller, self._similarity = caller, caller.similarity
        self._pool = Pool(1 if self.threaded else n_jobs)
        if self._similarity.kind == "batches":  # the batches are the same whether there may be an interrupt or not
            size = self._similarity.batch_size
            self.interrupted_after = size * max(self.interrupted_after // size, 1)

    def with_itself(self) -> Floats:
        if self._similarity.conversion is None:
            return np.ones(self.n_left)
        return self._similarity.convert(np.zeros(self.n_left))

    def n_done(self) -> int:
        return self.n_evaluations + self._pool.n_under_way + self._caller.n_under_way

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        values = self._pool.call(self._caller, i, j)
        bad = ~(np.abs(values) < LARGEST)
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            raise ValueError(self._caller.complaint(i[first], j[first], f"returned {values[first]}"))
        if self._similarity.conversion is not None and values.size and values.min() < 0:
            least = int(np.argmin(values))
            raise ValueError(
                f"The distance of {self._caller.names(i[least], j[least])} is {values[least]}, but a distance must not "
                "be negative; pass a similarity without covey.from_distance."
            )
        return self._similarity.convert(values)


@lru_cache(maxsize=64)
def _dense_loop(function: Any) -> Any:
    """Compile a loop that calls the function for pairs of dense rows."""
    from numba import njit

    @njit(nogil=True)
    def loop(left, right, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            out[t] = function(left[i[t]], right[j[t]])

    return loop


@lru_cache(maxsize=64)
def _csr_loop(function: Any) -> Any:
    """Compile a loop that calls the function for pairs of CSR rows."""
    from numba import njit

    @njit(nogil=True)
    def loop(a_starts, a_columns, a_values, b_starts, b_columns, b_values, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            a = slice(a_starts[i[t]], a_starts[i[t] + 1])
            b = slice(b_starts[j[t]], b_starts[j[t] + 1])
            out[t] = function(a_columns[a], a_values[a], b_columns[b], b_values[b])

    return loop


def _brief(error: Exception) -> str:
    """Describe an error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[:1]])


def _some(objects: Any, positions: Indices) -> Any:
    """Return the objects at these positions, in the same form."""
    return [objects[position] for position in positions] if isinstance(objects, list) else objects[positions]
