"""Long work in short steps, so that Ctrl-C ends it soon.

Python looks for an interrupt only between two instructions of its own. While compiled code runs, it does not look at
all. So whatever takes long in compiled code is done in steps: `in_steps` measures how long they take, and makes them
larger or smaller until each takes about a tenth of a second. What is computed must not depend on the steps.

Only the main thread gets an interrupt. A thread that works for it has to be told: `working_under` gives it a flag, and
between two steps it stops if the flag is set.
"""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS = 0.1
"""How long a step may take, about. The promise is that Ctrl-C ends the work within two seconds. A step that suddenly
gets ten times slower, because objects differ in size or the machine is busy, still keeps it."""

FEW = 256
"""The size of the first step, if nothing is known about how long it takes. A step of this size is short even if a
single pair takes a millisecond, and no burden if it takes nanoseconds, because sizes double."""

_thread = threading.local()


@contextmanager
def working_under(abandoned: threading.Event) -> Iterator[None]:
    """Let this thread work for another one, which sets the flag when the work is abandoned."""
    _thread.abandoned = abandoned
    try:
        yield
    finally:
        _thread.abandoned = None


def works_for_another() -> bool:
    """Say whether this thread works for another one."""
    return getattr(_thread, "abandoned", None) is not None


def stop_if_abandoned() -> None:
    """Raise KeyboardInterrupt if the thread that this one works for was interrupted."""
    abandoned = getattr(_thread, "abandoned", None)
    if abandoned is not None and abandoned.is_set():
        raise KeyboardInterrupt


def in_steps(n: int, work: Callable[[slice], object], size: int = FEW) -> int:
    """Call ``work(slice(start, stop))`` for consecutive parts of ``range(n)``; the first one has this size.

    Return the size that the next step would have had, at which the next work of the same kind can begin.
    """
    start = 0
    while start < n:
        stop_if_abandoned()
        stop, began = min(start + size, n), time.perf_counter()
        work(slice(start, stop))
        seconds = time.perf_counter() - began
        if seconds > SECONDS:
            size = max(size // 2, 1)
        elif seconds < SECONDS / 2 and stop - start == size:
            size *= 2
        start = stop
    return size
