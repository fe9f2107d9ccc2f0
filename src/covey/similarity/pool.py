"""Processes for Python functions that hold the interpreter lock, so that threads cannot speed them up.

1. The first pairs are timed. Processes are used only if the remaining work takes longer than `WORTH_IT`.
2. The caller, which holds the objects and the function, travels to each worker once: by a file on this machine, or as
   the result of a task on a Dask cluster.
3. The pairs are shared out in batches of about `BATCH_SECONDS`, so that sending them costs next to nothing.
4. If the caller cannot be written or read, a warning says so once, and this process does all the work.

A worker answers with the values of its batch, or with the error that a single process would have raised. The values and
their order are those of a single process. Evaluations are counted by the space that uses the pool.
"""

import math
import time
import warnings
import weakref
from typing import Any, Protocol

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from covey.arrays import Floats, Indices
from covey.runtime.executor import reaches_other_machines
from covey.runtime.workers import LOST, Outcome, Shared, UnsendableError, attempt, has_arrived

TIMED = 64
"""How many pairs are timed. A smaller number would be more sensitive to a single slow pair, and a larger one would keep
the processes waiting. The value comes from no recorded measurement."""
WORTH_IT = 0.5
"""How many seconds of work must remain before processes are used, because starting them takes time, too. The value
comes from no recorded measurement."""
BATCH_SECONDS = 0.1
"""How many seconds a worker computes before it answers. Longer batches would make the progress bar jump, and shorter
ones would be sent more often. The value comes from no recorded measurement."""

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
        self._shared: Shared | None = None

    def call(self, caller: Caller, i: Indices, j: Indices) -> Floats:
        """Return ``caller(i, j)``, computed by several processes if that is faster.

        Every call on one pool must pass the same caller.
        """
        if not reaches_other_machines(self._n_jobs) and effective_n_jobs(self._n_jobs) == 1:
            return caller(i, j)
        start = time.perf_counter()
        first = caller(i[:TIMED], j[:TIMED]) if self._seconds is None else np.empty(0)
        if first.size:
            self._seconds = (time.perf_counter() - start) / first.size
        i, j = i[first.size :], j[first.size :]
        seconds = self._seconds or 0.0
        if seconds * i.size <= WORTH_IT:
            return np.concatenate([first, caller(i, j)])
        try:
            return np.concatenate([first, *self._share_out(caller, i, j, seconds)])
        except UnsendableError as error:
            self._n_jobs = 1
            warn_once(caller.similarity, error)
            return np.concatenate([first, caller(i, j)])
        finally:
            self.n_under_way = 0

    def _share_out(self, caller: Caller, i: Indices, j: Indices, seconds: float) -> list[Floats]:
        """Let the workers compute batches of pairs, which take so many seconds each, and return the values in order."""
        if self._shared is None:
            self._shared = Shared(caller, elsewhere=reaches_other_machines())
        n_processes = effective_n_jobs(self._n_jobs)  # Dask's scheduler is asked for it, so only now
        size = min(math.ceil(BATCH_SECONDS / seconds), -(-i.size // n_processes))
        batches = [slice(start, start + size) for start in range(0, i.size, size)]
        outcomes = Parallel(n_jobs=n_processes, return_as="generator")(
            delayed(_work)(self._shared.parcel, (i[batch], j[batch])) for batch in batches
        )
        parts, failures = [], []
        # This waits for all outcomes, because workers would go on with batches that nobody waits for.
        for batch, outcome in zip(batches, outcomes, strict=True):
            if outcome.failed:
                failures.append(outcome)
            else:
                parts.append(caller(i[batch], j[batch]) if outcome.lost else outcome.value)
                self.n_under_way += parts[-1].size
        return failures[0].result() if failures else parts


def warn_once(similarity: Any, error: UnsendableError) -> None:
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


def _work(parcel: Any, pairs: tuple[Indices, Indices]) -> Outcome:
    """Compute a batch in a worker.

    The pairs are one tuple, because joblib would scatter larger arrays on a Dask cluster, where they would be lost with
    a worker.
    """
    return attempt(lambda: parcel.open()(*pairs)) if has_arrived(parcel) else LOST
