"""Threads over independent tasks whose results commute."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 1 << 15
"""How many pairs make a task."""


class OneBlasThread:
    """Keeps matrix products to one thread each inside ``with``.

    The number of BLAS threads belongs to the whole process, while fits in several threads overlap in any order. So the
    limit stands from when the first of them enters until the last has left. A thread of its own sets and lifts it,
    since threadpoolctl lets no other thread lift a limit than the one that has set it.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0

    def __enter__(self) -> None:
        with self._lock:
            if self._n_inside == 0:
                in_force, self._over = threading.Event(), threading.Event()
                self._holder = threading.Thread(target=_limit_blas, args=(in_force, self._over), daemon=True)
                self._holder.start()
                in_force.wait()
            self._n_inside += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                self._over.set()
                self._holder.join()


def _limit_blas(in_force: threading.Event, over: threading.Event) -> None:
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1, "blas"):
            in_force.set()
            over.wait()
    finally:
        in_force.set()  # nobody waits for a limit that could not be set


one_blas_thread = OneBlasThread()


def run(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    n_jobs: int | None,
    threaded: bool,
    products: bool = False,
) -> list[Result]:
    """[function(task) for each task], on `n_jobs` threads (as joblib counts them) where `threaded` allows.

    If tasks make matrix `products`, these keep to one thread each.
    """
    from joblib import effective_n_jobs

    n_threads = effective_n_jobs(n_jobs) if threaded else 1
    if n_threads == 1:
        return [function(task) for task in tasks]
    with one_blas_thread if products else nullcontext(), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, tasks))


def share_out(n: int, most: int) -> int:
    """How many of n objects make a task: at least eight tasks if they are worth it, whatever the number of threads."""
    return min(most, max(32, -(-n // 8)))


def in_batches(
    function: Callable[[Indices, Indices], Floats], i: Indices, j: Indices, n_jobs: int | None, threaded: bool
) -> Floats:
    """function(i, j), which yields a number a pair, made of batches."""
    batches = [slice(at, at + BATCH) for at in range(0, i.size, BATCH)]
    values = run(lambda batch: function(i[batch], j[batch]), batches, n_jobs, threaded)
    return np.concatenate(values) if values else np.empty(0)
