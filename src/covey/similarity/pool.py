"""Processes for Python functions that hold the interpreter lock, so that threads cannot speed them up.

1. The first pairs are timed. Processes are used only if the remaining work takes longer than `WORTH_IT`.
2. The caller, which holds the objects and the function, is written to a file once. Each worker reads the file when it
   first needs it.
3. The pairs are shared out in batches of about `BATCH_SECONDS`, so that sending them costs next to nothing.
4. If the caller cannot be written or read, a warning says so once, and this process does all the work.

A worker answers with the values of its batch, or with the error that a single process would have raised. The values and
their order are those of a single process. Evaluations are counted by the space that uses the pool.
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
"""How many pairs are timed. A smaller number would be more sensitive to a single slow pair, and a larger one would keep
the processes waiting. The value comes from no recorded measurement."""
WORTH_IT = 0.5
"""How many seconds of work must remain before processes are used, because starting them takes time, too. The value
comes from no recorded measurement."""
BATCH_SECONDS = 0.1
"""How many seconds a worker computes before it answers. Longer batches would make the progress bar jump, and shorter
ones would be sent more often. The value comes from no recorded measurement."""

_last_read: tuple[str, Any] = ("", None)
"""The path and the content of the file that this worker has read last."""

_warned_about: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
"""The similarities that a warning was given for, by identity. All clusters of a fit share one similarity, so that it is
given only once."""


class OneProcessWarning(UserWarning):
    """A similarity cannot be sent to other processes, so that one process does all the work.

    The warning is given once for each similarity. Define the function and the classes of the objects at the top of a
    module that other processes can import, or pass ``n_jobs=1``.

    Examples
    --------
    >>> import warnings
    >>> import covey
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", covey.OneProcessWarning)
    ...     selector = covey.CRS(2, similarity=lambda a, b: 1 / (1 + abs(a - b)), n_jobs=2).fit([1, 2, 3])
    >>> selector.sample_indices_
    array([1])
    """


class UnsendableError(Exception):
    """A caller cannot be written by this process, or cannot be read by a worker."""


class Answer(NamedTuple):
    """What a worker sends back: the values of its batch, or an error."""

    values: Floats
    error: Exception | None = None
    cause: bytes | None = None
    """The pickled cause of the error, or None if it cannot be pickled. It is pickled apart, because it may be an
    exception of any class."""
    traceback: str = ""
    """The traceback of the cause as text."""


class Caller(Protocol):
    """What a pool needs of a caller: it computes the values of pairs of objects."""

    similarity: Any

    def __call__(self, i: Indices, j: Indices) -> Floats:
        """Return the values of the pairs."""
        ...


class Pool:
    """Lets several processes work for a caller.

    Attributes
    ----------
    n_under_way : int
        How many values of the current call the workers have sent back.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self.n_under_way = 0
        self._n_jobs = n_jobs
        self._seconds: float | None = None  # how long one pair takes
        self._path: str | None = None

    def call(self, caller: Caller, i: Indices, j: Indices) -> Floats:
        """Return ``caller(i, j)``, computed by several processes if that is faster.

        Every call on one pool must pass the same caller.
        """
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
            _warn_once(caller.similarity, error)
            return np.concatenate([first, caller(i, j)])
        finally:
            self.n_under_way = 0

    def _share_out(self, caller: Caller, i: Indices, j: Indices, size: int, n_processes: int) -> list[Floats]:
        """Let the workers compute batches of the given size, and return their values in order."""
        path = self._file(caller)
        answers = Parallel(n_jobs=n_processes, return_as="generator")(
            delayed(_work)(path, i[start : start + size], j[start : start + size]) for start in range(0, i.size, size)
        )
        parts, failures = [], []
        for answer in answers:  # waits for all of them, because workers would go on with batches that nobody waits for
            parts.append(answer.values)
            self.n_under_way += answer.values.size
            failures += [] if answer.error is None else [answer]
        for failure in failures:
            assert failure.error is not None
            raise failure.error from _cause(failure)
        return parts

    def _file(self, caller: Caller) -> str:
        """Return the path of the file that holds the caller.

        The file is written by the first call, and removed along with the pool.
        """
        if self._path is None:
            handle, self._path = tempfile.mkstemp(prefix="covey-")
            weakref.finalize(self, os.unlink, self._path)
            with os.fdopen(handle, "wb") as file:
                try:
                    pickle.dump(_sendable(caller), file)
                except Exception as error:  # pickling the user's objects may raise anything
                    raise UnsendableError(_in_one_line(error)) from error
        return self._path


def _sendable(value: Any) -> Any:
    """Wrap a value so that lambdas and classes of the user's own script are sent as a whole instead of by name."""
    return wrap_non_picklable_objects(value, keep_wrapper=False)


def _warn_once(similarity: Any, error: UnsendableError) -> None:
    """Warn once for each similarity that it cannot be sent."""
    if id(similarity) in _warned_about:
        return
    _warned_about[id(similarity)] = similarity
    warnings.warn(
        f"{similarity!r} or its objects cannot be sent to other processes, so that one process computes all of it; "
        f"define what it uses at the top of a module, or pass n_jobs=1. The reason was {error}.",
        OneProcessWarning,
        stacklevel=2,
    )


def _work(path: str, i: Indices, j: Indices) -> Answer:
    """Compute a batch in a worker."""
    global _last_read
    try:
        if _last_read[0] != path:
            with open(path, "rb") as file:
                _last_read = (path, pickle.load(file))
    except Exception as error:  # unpickling the user's objects may raise anything
        return Answer(np.empty(0), UnsendableError(_in_one_line(error)))
    try:
        return Answer(_last_read[1](i, j))
    except (RuntimeError, TypeError) as error:
        return _failure(error)


def _failure(error: Exception) -> Answer:
    """Return the answer for an error, with its cause."""
    if error.__cause__ is None:
        return Answer(np.empty(0), error)
    text = "".join(traceback.format_exception(error.__cause__))
    try:
        cause = pickle.dumps(_sendable(error.__cause__))
    except Exception:  # the cause holds something that cannot be pickled
        cause = None
    return Answer(np.empty(0), error, cause, text)


def _cause(answer: Answer) -> BaseException | None:
    """Return the cause of an answer's error. If it cannot be unpickled, return an error with its traceback as text."""
    if not answer.traceback:
        return None
    try:
        cause = pickle.loads(answer.cause or b"")
    except Exception:  # its class may need other arguments than were pickled
        cause = None
    return cause if isinstance(cause, BaseException) else RuntimeError(answer.traceback)


def _in_one_line(error: Exception) -> str:
    """Describe an error in one line."""
    return " ".join(f"{type(error).__name__}: {error}".split())
