"""Threads for independent tasks.

An `Executor` runs tasks on as many threads as `n_jobs` allows. No task may depend on another one, and the order in
which tasks finish must not matter. Then the result is the same for any number of threads.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 1 << 15
"""How many pairs make one task. Smaller tasks would be handed over more often, and larger ones would leave threads idle
at the end. The value comes from no recorded measurement."""


class OneBlasThread:
    """Limits matrix products to one thread each inside ``with``.

    The number of BLAS threads is a property of the whole process, while fits in several threads may overlap in any
    order. So the limit holds from when the first of them enters until the last one has left. A separate thread sets and
    lifts it, because threadpoolctl lets only the thread that has set a limit lift it.
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
    """Set the limit, say that it is `in_force`, and lift it when it is `over`."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1, "blas"):
            in_force.set()
            over.wait()
    finally:
        in_force.set()  # if setting the limit failed, nobody must wait for it


one_blas_thread = OneBlasThread()
"""The one instance that all executors share, because the limit belongs to the process."""


class Executor:
    """Runs independent tasks on `n_jobs` threads. As in joblib, None means 1 and -1 means all cores.

    A task may itself ask an executor to run further tasks. These run one after the other in the thread of that task,
    because all threads are busy already.
    """

    _within = threading.local()

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.n_jobs = n_jobs

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task], *, products: bool = False) -> list[Result]:
        """Return ``[function(task) for task in tasks]``.

        If `products` says that the tasks compute matrix products, each product keeps to one thread.
        """
        n_threads = self._n_threads()
        if n_threads == 1:
            return [function(task) for task in tasks]

        def work(task: Task) -> Result:
            self._within.a_task = True
            return function(task)

        with one_blas_thread if products else nullcontext(), ThreadPoolExecutor(n_threads) as threads:
            return list(threads.map(work, tasks))

    def in_batches(
        self, function: Callable[[Any, Any], NDArray[Any]], i: NDArray[Any], j: NDArray[Any]
    ) -> NDArray[Any]:
        """Return ``function(i, j)``, which yields a number for each pair. It is computed batch by batch."""
        batches = [slice(start, start + BATCH) for start in range(0, i.size, BATCH)]
        values = self.run(lambda batch: function(i[batch], j[batch]), batches)
        return np.concatenate(values) if values else np.empty(0)

    def _n_threads(self) -> int:
        from joblib import effective_n_jobs

        return 1 if getattr(self._within, "a_task", False) else effective_n_jobs(self.n_jobs)


def share_out(n: int, most: int) -> int:
    """Return how many of n objects make one task.

    There are at least eight tasks if each of them still gets 32 objects, and no task gets more than `most`. The number
    of threads plays no part, so that the tasks are the same on every machine.
    """
    return min(most, max(32, -(-n // 8)))
