"""Processes for callables that hold the interpreter lock.

1. Time the first pairs. Processes are worth their while only if the work left is longer than `WORTH_IT`.
2. Write the caller (objects and function) to a file, once. Each worker reads the file when it first meets it.
3. Share out the pairs in batches of about `BATCH_SECONDS`, so that handing them over costs next to nothing.
4. If the caller cannot be written or read, say so once and go on in this process.

A worker answers with its batch's values, or with the error that one process would have raised. The values are those of
one process, in the same order; evaluations are counted by the caller.
"""

import math
import os
import pickle
import tempfile
import time
import traceback
import warnings
import weakref
from typing import Any, NamedTuple, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, wrap_non_picklable_objects

from covey.arrays import Floats, Indices

TIMED = 64
"""How many pairs are timed: few enough to cost little, and enough to even out a slow one."""
WORTH_IT = 0.5
"""Seconds of work from which processes are worth their while: starting them takes about as long."""
BATCH_SECONDS = 0.1
"""How long a worker computes before it answers: often enough for a progress bar, and a hundred times longer than it
takes to hand a batch over."""

_at_hand: tuple[str, Any] = ("", None)
"""A worker keeps the caller that it read last."""

_complained_of: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""Similarities that a warning was about, by identity: the clusters of one fit share theirs."""


class OneProcessWarning(UserWarning):
    """A similarity cannot be sent to other processes, so that one process does all the work."""


class UnsendableError(Exception):
    """A caller cannot be written by this process, or cannot be read by a worker."""


class Answer(NamedTuple):
    """What a worker sends back: the values of its batch, or the error that stands in their place."""

    values: Floats
    error: Exception | None = None
    cause: bytes | None = None
    """The error's cause, if it can be sent: an exception of the user's own may be of any kind."""
    story: str = ""
    """How the cause came about, in the worker's words."""


class Caller(Protocol):
    """What processes can be asked to do: compute the values of pairs of objects."""

    similarity: Any

    def __call__(self, i: Indices, j: Indices) -> Floats: ...


class Pool:
    """Lets several processes work for a caller.

    Attributes
    ----------
    n_under_way : int
        How many values of the call under way the workers have sent back.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_under_way = 0
        self._n_jobs = n_jobs
        self._seconds: float | None = None  # of one pair
        self._path: str | None = None

    def call(self, caller: Caller, i: Indices, j: Indices) -> Floats:
        """caller(i, j), computed by several processes if that is worth their while. Always pass the same caller."""
        n_processes = effective_n_jobs(self._n_jobs)
        if n_processes == 1:
            return caller(i, j)
        start = time.perf_counter()
        first = caller(i[:TIMED], j[:TIMED]) if self._seconds is None else np.empty(0)
        if first.size:
            self._seconds = (time.perf_counter() - start) / first.size
        i, j = i[first.size :], j[first.size :]
        seconds = self._seconds or 0.0
        if seconds * i.size <= WORTH_IT:
            return np.concatenate([first, caller(i, j)])
        size = min(math.ceil(BATCH_SECONDS / seconds), -(-i.size // n_processes))
        try:
            return np.concatenate([first, *self._share_out(caller, i, j, size, n_processes)])
        except UnsendableError as error:
            self._n_jobs = 1
            _complain(caller.similarity, error)
            return np.concatenate([first, caller(i, j)])
        finally:
            self.n_under_way = 0

    def _share_out(self, caller: Caller, i: Indices, j: Indices, size: int, n_processes: int) -> list[Floats]:
        path = self._file(caller)
        answers = Parallel(n_jobs=n_processes, return_as="generator")(
            delayed(_work)(path, i[start : start + size], j[start : start + size]) for start in range(0, i.size, size)
        )
        parts, failures = [], []
        for answer in answers:  # all of them: a call left behind would go on
            parts.append(answer.values)
            self.n_under_way += answer.values.size
            failures += [] if answer.error is None else [answer]
        for failure in failures:
            assert failure.error is not None
            raise failure.error from _cause(failure)
        return parts

    def _file(self, caller: Caller) -> str:
        if self._path is None:
            handle, self._path = tempfile.mkstemp(prefix="covey-")
            weakref.finalize(self, os.unlink, self._path)
            with os.fdopen(handle, "wb") as file:
                try:
                    pickle.dump(_sendable(caller), file)
                except Exception as error:  # whatever the user's objects raise when they are asked for their state
                    raise UnsendableError(_in_one_line(error)) from error
        return self._path


def _sendable(value: Any) -> Any:
    """Lambdas and classes of the user's own script travel by value."""
    return wrap_non_picklable_objects(value, keep_wrapper=False)


def _complain(similarity: Any, error: UnsendableError) -> None:
    if id(similarity) in _complained_of:
        return
    _complained_of[id(similarity)] = similarity
    warnings.warn(
        f"{similarity!r} or its objects cannot be sent to other processes, so that one process computes all of it; "
        f"define what it uses at the top of a module, or pass n_jobs=1. The reason was {error}.",
        OneProcessWarning,
        stacklevel=2,
    )


def _work(path: str, i: Indices, j: Indices) -> Answer:
    global _at_hand
    try:
        if _at_hand[0] != path:
            with open(path, "rb") as file:
                _at_hand = (path, pickle.load(file))
    except Exception as error:  # whatever the user's objects raise when they are made again
        return Answer(np.empty(0), UnsendableError(_in_one_line(error)))
    try:
        return Answer(_at_hand[1](i, j))
    except (RuntimeError, TypeError) as error:
        return _failure(error)


def _failure(error: Exception) -> Answer:
    if error.__cause__ is None:
        return Answer(np.empty(0), error)
    story = "".join(traceback.format_exception(error.__cause__))
    try:
        cause = pickle.dumps(_sendable(error.__cause__))
    except Exception:  # it holds something that cannot be sent
        cause = None
    return Answer(np.empty(0), error, cause, story)


def _cause(answer: Answer) -> BaseException | None:
    """The cause of an answer's error; where it cannot be made again, one that tells its story."""
    if not answer.story:
        return None
    try:
        cause = pickle.loads(answer.cause or b"")
    except Exception:  # its class may want other arguments than it keeps
        cause = None
    return cause if isinstance(cause, BaseException) else RuntimeError(answer.story)


def _in_one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())
