"""Threads for independent tasks.

An `Executor` runs tasks on as many threads as `n_jobs` allows. No task may depend on another one, and the order in
which tasks finish must not matter. Then the result is the same for any number of threads.

If Ctrl-C interrupts the thread that waits for the tasks, no further task begins, those that have begun stop at the next
step (`interruptible.py`), and the threads are gone before the interrupt is raised again.
"""

import ctypes
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from covey.runtime.interruptible import FEW, Steps, stop_if_abandoned, working_under, works_for_another

Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 1 << 15
"""How many pairs make one task. Smaller tasks would be handed over more often, and larger ones would leave threads idle
at the end."""

LARGEST_KEPT = (32 << 20) - (1 << 16)
"""How many bytes `keep_freed_blocks` asks for. glibc adapts to freed blocks of up to 32 MiB, what it adds to a block
included."""

LOOK = 0.1
"""How many seconds pass before a thread that waits for others looks for an interrupt. Linux and macOS wake it up at
once, but Windows does not."""


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
        in_force.set()  # even if the limit could not be set, so that no thread waits for it forever


one_blas_thread = OneBlasThread()
"""The one instance that all executors share, because the limit belongs to the process."""


class Executor:
    """Runs independent tasks on `n_jobs` threads. As in joblib, None means 1 and -1 means all cores.

    Threads are a matter of this machine. So a joblib backend that reaches other machines, such as "dask", changes
    nothing about these numbers, while ``joblib.parallel_config(n_jobs=4)`` makes None mean 4.

    A task may itself ask an executor to run further tasks. These run one after the other in the thread of that task,
    because all threads are busy already.
    """

    def __init__(self, n_jobs: int | None = 1) -> None:
        self.n_jobs = n_jobs
        self._step = FEW  # how many pairs the next step has; experience changes it

    def run(self, function: Callable[[Task], Result], tasks: Iterable[Task], *, products: bool = False) -> list[Result]:
        """Return ``[function(task) for task in tasks]``.

        If `products` says that the tasks compute matrix products, each product keeps to one thread, and the memory of
        one product is kept for the next.
        """
        if products:
            keep_freed_blocks()
        most = self._n_threads()
        if most > 1:
            return _on_threads(function, list(tasks), most, products=products)
        results = []
        for task in tasks:
            stop_if_abandoned()  # this thread may itself work for another one
            results.append(function(task))
        return results

    def in_batches(
        self,
        function: Callable[[Any, Any], NDArray[Any]],
        i: NDArray[Any],
        j: NDArray[Any],
        *,
        fewest: int = BATCH,
        count: Callable[[int], object] | None = None,
    ) -> NDArray[Any]:
        """Return ``function(i, j)``, which yields a number for each pair. It is computed batch by batch.

        All threads get a batch, unless it would have less than `fewest` pairs. `count` is told how many pairs were
        computed, step by step.
        """
        n = self._n_threads()
        size = min(BATCH, max(fewest, -(-i.size // n)))
        if n == 1 or i.size <= size:
            return self._in_steps(function, i, j, count)
        batches = [slice(start, start + size) for start in range(0, i.size, size)]
        return np.concatenate(self.run(lambda batch: self._in_steps(function, i[batch], j[batch], count), batches))

    def _in_steps(
        self,
        function: Callable[[Any, Any], NDArray[Any]],
        i: NDArray[Any],
        j: NDArray[Any],
        count: Callable[[int], object] | None,
    ) -> NDArray[Any]:
        """Compute a batch in this thread, in steps that Ctrl-C can end."""
        parts, steps = [], Steps(self._step)
        for part in steps.over(i.size):
            parts.append(function(i[part], j[part]))
            if count is not None:
                count(parts[-1].size)
        self._step = min(steps.size, BATCH)
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])

    def _n_threads(self) -> int:
        return 1 if works_for_another() else n_threads(self.n_jobs)


def _on_threads(function: Callable[[Task], Result], tasks: Sequence[Task], n: int, *, products: bool) -> list[Result]:
    """Run tasks on n threads. Raise the error of the first task that has failed.

    An interrupt reaches only the thread that waits. So what must be undone in any case, such as the limit for matrix
    products, is done in the threads that work. The pool of `concurrent.futures` makes a fit of 5 000 objects, which
    asks for threads 300 times, 20 % slower, and forgets a thread that is interrupted while it begins.
    """
    waiting = deque(enumerate(tasks))
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}
    abandoned = threading.Event()

    def take_tasks(done: threading.Event) -> None:
        try:
            with working_under(abandoned), one_blas_thread if products else nullcontext():
                while not errors and not abandoned.is_set():
                    try:
                        number, task = waiting.popleft()
                    except IndexError:
                        return
                    try:
                        results[number] = function(task)
                    except BaseException as error:
                        errors[number] = error
        finally:
            done.set()

    threads: list[tuple[threading.Thread, threading.Event]] = []
    try:
        for _ in range(min(n, len(tasks))):
            done = threading.Event()
            threads.append((threading.Thread(target=take_tasks, args=(done,), name="covey", daemon=True), done))
            threads[-1][0].start()
        _wait_for(threads)
    except BaseException:
        abandoned.set()
        _wait_for(threads)
        raise
    if errors:
        error = errors[min(errors)]
        errors.clear()
        try:
            raise error
        finally:
            del error  # it refers to this frame, and the frame to it
    return [results[number] for number in range(len(tasks))]


def _wait_for(threads: Iterable[tuple[threading.Thread, threading.Event]]) -> None:
    """Wait for all threads that have begun, each of which says when it is done.

    Python up to 3.12 takes a thread for ended if `join` was interrupted, so that `join` comes after the waiting.
    """
    for thread, done in threads:
        if thread.ident is not None:  # an interrupt may have come before it began
            while not done.wait(LOOK):
                pass
            thread.join()


def keep_freed_blocks() -> None:
    """Let the C library keep the memory of large arrays that are freed, so that the next ones can have it.

    By default glibc returns blocks of more than 128 KiB to the system, which has to clear and map every page of the
    next one. It stops doing so for blocks up to the size of the largest one that was freed, and keeps up to twice that
    size in reserve. So it is enough to free one large block, of which no page is ever touched. In an exact graph of
    20 000 rows with 256 columns, this avoids 98 % of 113 000 page faults, which took 6 % of the time. Other C libraries
    take no notice.
    """
    np.empty(LARGEST_KEPT, dtype=np.uint8)


def give_back_freed_blocks() -> None:
    """Let the C library give the memory of arrays that are freed back to the system, where it can.

    It is what `keep_freed_blocks` has kept, and what lay between arrays that were in use for longer. After a threshold
    graph of 15 000 objects, whose 25 million entries take 300 MB, this was up to 150 MB.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None  # musl has none
    if trim is not None:
        trim(0)


def reaches_other_machines(n_jobs: int | None = None) -> bool:
    """Return whether joblib's active backend has workers that may be on other machines, and `n_jobs` lets them work.

    As in joblib, ``n_jobs=1`` means that no other process does anything under any backend. All backends that
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
