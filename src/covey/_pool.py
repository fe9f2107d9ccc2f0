"""Processes for callables that hold the interpreter lock.

1. Time the first pairs. Processes are worth their while only if the work left is longer than `WORTH_IT`.
2. Write the space (objects and function) to a file, once; each worker reads it when it first meets it.
3. Share out the pairs in batches of about `BATCH_SECONDS`, so that handing them over costs next to nothing.

A worker answers with its batch's values, or with the error and its cause, which lose their link on the way back. The
values are those of one process, in the same order; evaluations are counted by the caller.
"""

import math
import os
import pickle
import tempfile
import time
import weakref
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs, wrap_non_picklable_objects
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

TIMED = 64
WORTH_IT = 0.5
BATCH_SECONDS = 0.1

_at_hand: tuple[str, Any] = ("", None)
"""A worker keeps the space that it read last."""


class Pool:
    """Calls a space's own function in several processes.

    It belongs to its space but does not hold it, so that the file goes when the space does.
    """

    def __init__(self, n_jobs: int | None) -> None:
        self._n_jobs = n_jobs
        self._seconds: float | None = None  # of one pair
        self._path: str | None = None

    def call(self, space: Any, i: Indices, j: Indices) -> Floats:
        n_processes = effective_n_jobs(self._n_jobs)
        if n_processes == 1:
            return space._call(i, j)
        start = time.perf_counter()
        first = space._call(i[:TIMED], j[:TIMED]) if self._seconds is None else np.empty(0)
        if first.size:
            self._seconds = (time.perf_counter() - start) / first.size
        i, j = i[first.size :], j[first.size :]
        seconds = self._seconds or 0.0
        if seconds * i.size <= WORTH_IT:
            return np.concatenate([first, space._call(i, j)])
        size = min(math.ceil(BATCH_SECONDS / seconds), -(-i.size // n_processes))
        return np.concatenate([first, *self._share_out(space, i, j, size, n_processes)])

    def _share_out(self, space: Any, i: Indices, j: Indices, size: int, n_processes: int) -> list[Floats]:
        path = self._file(space)
        answers = Parallel(n_jobs=n_processes, return_as="generator")(
            delayed(_work)(path, i[at : at + size], j[at : at + size]) for at in range(0, i.size, size)
        )
        parts, failures = [], []
        for values, error, cause in answers:  # all of them: a call left behind would go on
            parts.append(values)
            space._under_way += values.size
            failures += [] if error is None else [(error, cause)]
        for error, cause in failures:
            raise error from cause
        return parts

    def _file(self, space: Any) -> str:
        if self._path is None:
            handle, self._path = tempfile.mkstemp(prefix="covey-")
            weakref.finalize(self, os.unlink, self._path)
            with os.fdopen(handle, "wb") as file:
                # Lambdas and classes of the user's own script travel by value.
                pickle.dump(wrap_non_picklable_objects(space, keep_wrapper=False), file)
        return self._path


def _work(path: str, i: Indices, j: Indices) -> tuple[Floats, Exception | None, BaseException | None]:
    global _at_hand
    if _at_hand[0] != path:
        with open(path, "rb") as file:
            _at_hand = (path, pickle.load(file))
    try:
        return _at_hand[1]._call(i, j), None, None
    except (RuntimeError, TypeError) as error:
        return np.empty(0), error, error.__cause__
