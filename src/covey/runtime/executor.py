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


LARGEST_KEPT = (32 << 20) - (1 << 16)
"""How many bytes `keep_freed_blocks` asks for. glibc adapts to freed blocks of up to 32 MiB, what it adds to a block
included."""


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

    Threads are a matter of this machine. So a joblib backend that reaches other machines, such as "dask", changes
    nothing about these numbers, while ``joblib.parallel_config(n_jobs=4)`` makes None mean 4.

    A task may itself ask an executor to run further tasks. These run one after the other in the thread of that task,
    because all threads are busy already.
    """

    _within = threading.local()

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.n_jobs = n_jobs

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task], *, products: bool = False) -> list[Result]:
        """Return ``[function(task) for task in tasks]``.

        If `products` says that the tasks compute matrix products, each product keeps to one thread, and the memory of
        one product is kept for the next.
        """
        if products:
            keep_freed_blocks()
        n_threads = self._n_threads()
        if n_threads == 1:
            return [function(task) for task in tasks]

        def work(task: Task) -> Result:
            self._within.a_task = True
            return function(task)

        with one_blas_thread if products else nullcontext(), ThreadPoolExecutor(n_threads) as threads:
            return list(threads.map(work, tasks))

    def in_batches(
        self, function: Callable[[Any, Any], NDArray[Any]], i: NDArray[Any], j: NDArray[Any], fewest: int = BATCH
    ) -> NDArray[Any]:
        """Return ``function(i, j)``, which yields a number for each pair. It is computed batch by batch.

        All threads get a batch, unless it would have less than `fewest` pairs.
        """
        size = min(BATCH, max(fewest, -(-i.size // self._n_threads())))
        batches = [slice(start, start + size) for start in range(0, i.size, size)]
        values = self.run(lambda batch: function(i[batch], j[batch]), batches)
        return np.concatenate(values) if values else np.empty(0)

    def _n_threads(self) -> int:
        return 1 if getattr(self._within, "a_task", False) else n_threads(self.n_jobs)


def keep_freed_blocks() -> None:
    """Let the C library keep the memory of large arrays that are freed, so that the next ones can have it.

    By default glibc returns blocks of more than 128 KiB to the system, which has to clear and map every page of the
    next one. It stops doing so for blocks up to the size of the largest one that was freed, and keeps up to twice that
    size in reserve. So it is enough to free one large block, of which no page is ever touched. In an exact graph of
    20 000 fingerprints, which makes some 600 arrays of 4 and 8 MB one after the other, this saved the system 1.8 s
    of work beside 2.1 s of calculation (measured once, by hand). Other C libraries take no notice.
    """
    np.empty(LARGEST_KEPT, dtype=np.uint8)


def reaches_other_machines(n_jobs: int | None = None) -> bool:
    """Say whether joblib's active backend has workers that may be on other machines, and `n_jobs` lets them work.

    As in joblib, ``n_jobs=1`` means that no other process does anything, whatever the backend is. All backends that
    joblib itself has work on this machine, except "dask".
    """
    if n_jobs == 1:
        return False
    from joblib.parallel import (
        LokyBackend,
        MultiprocessingBackend,
        SequentialBackend,
        ThreadingBackend,
        get_active_backend,
    )

    here = LokyBackend, MultiprocessingBackend, SequentialBackend, ThreadingBackend
    return not isinstance(get_active_backend()[0], here)


def n_threads(n_jobs: int | None) -> int:
    """Return how many threads of this process `n_jobs` allows.

    This is the number that joblib gives for a backend of this machine. The cores of other machines play no part: under
    a backend that reaches these, None means 1, because each core of each machine may have a task of its own, and -1
    means all cores of this machine.
    """
    from joblib.parallel import ThreadingBackend, effective_n_jobs

    if reaches_other_machines(n_jobs):
        return int(ThreadingBackend().effective_n_jobs(1 if n_jobs is None else n_jobs))
    return int(effective_n_jobs(n_jobs))


def share_out(n: int, most: int) -> int:
    """Return how many of n objects make one task.

    There are at least eight tasks if each of them still gets 32 objects, and no task gets more than `most`. The number
    of threads plays no part, so that the tasks are the same on every machine.
    """
    return min(most, max(32, -(-n // 8)))
