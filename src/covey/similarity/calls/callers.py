"""Callers of a custom function, which takes one pair a call, many pairs a call, or is compiled by numba.

A `Caller` calls the function and checks its values. If something goes wrong, its error names the two objects, or it
notes what has happened and goes on. What it has evaluated before an error is handed on ahead of the error. A caller can
be sent to other processes, which `answer` by it. They import this module and hence neither numba nor scikit-learn, so
that they start soon. A `FunctionSpace` decides in which process a caller works, and turns values into similarities.
"""

from abc import ABC, abstractmethod
from array import array
from collections.abc import Iterable, Iterator
from functools import lru_cache
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from covey.arrays import Floats, Indices, Positions
from covey.runtime.wording import one_line
from covey.runtime.workers import Outcome, attempt
from covey.similarity.calls.failures import MOST_EXAMPLES
from covey.similarity.similarity import LARGEST, Similarity

CalledPart = tuple[Floats, list[str]]
"""The values of some pairs that follow each other, and descriptions of failures among them."""


class Answer(NamedTuple):
    """What a worker answers: the parts that a caller has yielded, and how it has ended, well or by an error."""

    parts: list[CalledPart]
    ending: Outcome


def answer(caller: "Caller", i: Indices, j: Indices) -> Answer:
    """Let a caller work, and return what it has yielded, also if an error has stopped it."""
    parts: list[CalledPart] = []

    def collect() -> None:
        for part in caller.parts(i, j):
            parts.append(part)  # one by one, because a list made at once would be lost with the error

    return Answer(parts, attempt(collect))


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
    goes_on : bool
        Whether the work goes on in spite of failures.
    """

    def __init__(
        self,
        similarity: Similarity,
        left: Any,
        right: Any,
        left_names: Positions,
        right_names: Positions,
        left_noun: str,
        *,
        goes_on: bool,
    ) -> None:
        self.similarity, self._left, self._right = similarity, left, right
        self._left_names, self._right_names, self._left_noun = left_names, right_names, left_noun
        self.goes_on = goes_on
        self._notes: list[str] = []

    @property
    def unit(self) -> int:
        """How many pairs the function takes in one call."""
        return 1

    def parts(self, i: Indices, j: Indices) -> Iterator[CalledPart]:
        """Yield the function's own values for the pairs (left[i[t]], right[j[t]]), and descriptions of failures.

        All values are one part. If something stops the work, be it an error or Ctrl-C, the part has those of the pairs
        before, and the error follows it. A value that cannot be a similarity, or a distance, has become NaN. If the
        work goes on in spite of failures, so has that of a pair for which the function fails; if not, an error follows.
        """
        pieces: list[Floats] = []
        stopped: BaseException | None = None
        try:
            for values in self._values(i, j):
                pieces.append(values)  # one by one, because a list made at once would be lost with the error
        except BaseException as error:
            stopped = error
        values = np.concatenate(pieces) if pieces else np.empty(0)
        bad = ~(np.abs(values) < LARGEST)
        if self.similarity.conversion is not None:
            bad |= values < 0
        if bad.any():
            first = int(np.flatnonzero(bad)[0])
            pair = i[first], j[first]
            if self.goes_on and not self._notes:
                self.note(*pair, f"returned {values[first]}")
            elif not self.goes_on and (stopped is None or isinstance(stopped, Exception)):
                stopped = self._refusal(*pair, float(values[first]))
            values = np.where(bad, np.nan, values)
        notes, self._notes = self._notes, []
        if values.size or stopped is None:
            yield values, notes
        if stopped is not None:
            try:
                raise stopped
            finally:
                del stopped  # it refers to this frame, and the frame to it

    @abstractmethod
    def _values(self, i: Indices, j: Indices) -> Iterator[Floats]:
        """Yield the function's own values in the order of the pairs, and those before an error ahead of it.

        If the work goes on in spite of failures, the value of a pair for which the function fails is NaN.
        """

    def names(self, i: int, j: int) -> str:
        """Name the two objects of a pair."""
        return f"{self._left_noun} {self._left_names[i]} and object {self._right_names[j]}"

    def complaint(self, i: int, j: int, what: str) -> str:
        """Return the error message for a pair whose value cannot be a similarity."""
        return (
            f"The similarity of {self.names(i, j)} {what}, but it must be one finite real number, "
            f"below {LARGEST:g} in magnitude; "
            "correct the similarity function or leave these objects out."
        )

    def failure(self, i: int, j: int, error: Exception) -> RuntimeError:
        """Return the error for a pair for which the function itself has failed."""
        return RuntimeError(f"The similarity of {self.names(i, j)} raised {one_line(error, first=True, named=True)}.")

    def note(self, i: int, j: int, what: str) -> None:
        """Note what has happened with a pair, if few were noted so far."""
        if len(self._notes) < MOST_EXAMPLES:
            self._notes.append(f"That of {self.names(i, j)} {what}.")

    def _refusal(self, i: int, j: int, value: float) -> ValueError:
        """Return the error for a pair whose value cannot be a similarity, or a distance."""
        if self.similarity.conversion is not None and value < 0:
            return ValueError(
                f"The distance of {self.names(i, j)} is {value}, but a distance must not be negative; pass a "
                "similarity without covey.from_distance."
            )
        return ValueError(self.complaint(i, j, f"returned {value}"))


class PairCaller(Caller):
    """Calls a plain Python function once a pair. Both sides are arrays of objects."""

    def _values(self, i: Indices, j: Indices) -> Iterator[Floats]:
        values, stopped = _up_to_failure(map(self.similarity.function, self._left.take(i), self._right.take(j)))
        yield values
        failed = values.size
        if stopped is None and failed < i.size:
            stopped = StopIteration()  # `map` takes it for the end if the function raises it
        if isinstance(stopped, Exception) and self.goes_on:
            self.note(i[failed], j[failed], f"raised {one_line(stopped, first=True, named=True)}")
            yield np.array([np.nan])
            values, stopped = _up_to_failure(map(self._value_or_nan, i[failed + 1 :], j[failed + 1 :]))
            yield values
        if stopped is not None:
            try:
                if isinstance(stopped, Exception):
                    raise self._error_of_pair(i[failed], j[failed], stopped) from stopped
                raise stopped
            finally:
                del stopped  # it refers to this frame, and the frame to it

    def _value_or_nan(self, i: int, j: int) -> float:
        """Return the value of one pair, or NaN if the function fails."""
        try:
            return array("d", [self.similarity.function(self._left[i], self._right[j])])[0]  # as for many pairs
        except Exception as error:
            self.note(i, j, f"raised {one_line(error, first=True, named=True)}")
            return np.nan

    def _error_of_pair(self, i: int, j: int, error: Exception) -> Exception:
        """Return the error for a pair after a failure.

        The function is called again to find out whether it raises, or returns something that is not a number.
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

    @property
    def unit(self) -> int:
        return self.similarity.batch_size

    def _values(self, i: Indices, j: Indices) -> Iterator[Floats]:
        for start in range(0, i.size, self.unit):
            batch = slice(start, start + self.unit)
            yield (self._halves if self.goes_on else self._call_batch)(i[batch], j[batch])

    def _halves(self, i: Indices, j: Indices) -> Floats:
        """Return the values of a batch. If the function fails, ask for each half of it, down to single pairs."""
        try:
            return self._call_batch(i, j)
        except Exception as error:
            if i.size == 1:
                self.note(i[0], j[0], f"raised {one_line(error.__cause__ or error, first=True, named=True)}")
                return np.array([np.nan])
        middle = i.size // 2
        return np.concatenate([self._halves(i[:middle], j[:middle]), self._halves(i[middle:], j[middle:])])

    def _call_batch(self, i: Indices, j: Indices) -> Floats:
        span = f"in the batch of {i.size} pairs from {self.names(i[0], j[0])} on"
        try:
            result = self.similarity.function(objects_at(self._left, i), objects_at(self._right, j))
        except Exception as error:
            said = one_line(error, first=True, named=True)
            raise RuntimeError(f"The batched similarity raised {said}, {span}.") from error
        try:
            values = np.asarray(result)
            got = f"an array of shape {values.shape} and dtype {values.dtype}"
        except Exception as error:  # NumPy, or an object of another library, may raise anything
            said = one_line(error, first=True, named=True)
            values, got = np.empty(0, dtype=object), f"{type(result).__name__}, which is not an array: {said}"
        if values.shape != (i.size,) or values.dtype.kind not in "fiub":
            raise TypeError(
                f"A batched similarity must return one real number a pair, {i.size} in all, {span}; got {got}; a "
                "function of a single pair needs no covey.batched."
            )
        return values.astype(np.float64, copy=False)


class CompiledCaller(Caller):
    """Calls a function that numba has compiled, on dense or CSR rows. A compiled loop over the pairs calls it."""

    def _values(self, i: Indices, j: Indices) -> Iterator[Floats]:
        values = np.full(i.size, np.nan)
        if not i.size:
            self._loop(i, j, values)  # compiles it
        start = 0
        while start < i.size:
            try:
                self._loop(i[start:], j[start:], values[start:])
                break
            except BaseException as error:
                if type(error).__module__.startswith("numba"):
                    raise TypeError(
                        "similarity does not compile on these rows; a numba function takes two rows f(x, y), or, if X "
                        "is CSR, f(columns_x, values_x, columns_y, values_y), and returns a number: "
                        f"{one_line(error, first=True, named=True)}."
                    ) from error
                # Values are filled in order.
                failed = start + int(np.flatnonzero(~np.isnan(values[start:])).max(initial=-1)) + 1
                if not isinstance(error, Exception):
                    yield values[:failed]
                    raise
                if not self.goes_on:
                    yield values[:failed]
                    raise self.failure(i[failed], j[failed], error) from error
                self.note(i[failed], j[failed], f"raised {one_line(error, first=True, named=True)}")
                start = failed + 1
        yield values

    def _loop(self, i: Indices, j: Indices, values: Floats) -> None:
        """Compute the values of pairs one after the other."""
        if isinstance(self._left, np.ndarray):
            _dense_loop(self.similarity.function)(self._left, self._right, i, j, values)
        else:
            a, b = self._left, self._right
            loop = _csr_loop(self.similarity.function)
            loop(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, i, j, values)


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


def _up_to_failure(values: Iterable[float]) -> tuple[Floats, BaseException | None]:
    """Return values up to the first that cannot be had, and what has kept it from being had."""
    had = array("d")
    try:
        had.extend(values)
    except BaseException as error:
        return np.frombuffer(had), error
    return np.frombuffer(had), None


def objects_at(objects: Any, positions: Positions | Indices) -> Any:
    """Return the objects at these positions in the same plain form."""
    return [objects[position] for position in positions] if isinstance(objects, list) else objects[positions]
