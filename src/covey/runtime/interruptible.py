"""Long work in short steps, so that Ctrl-C ends it soon, and so that little is lost if something stops it.

Python looks for an interrupt only between two instructions of its own. While compiled code runs, it does not look at
all. So work that takes long in compiled code is done in steps. `Steps` measures how long they take, and makes them
larger or smaller until each takes about a tenth of a second. What is computed must not depend on the steps. A step is
also what a progress bar waits for, and what a checkpoint writes at a time.

Only the main thread gets an interrupt. A thread that works for it has a flag, and between two steps it stops if the
flag is set. A library that the main thread calls may swallow an interrupt. The command `covey` takes note of it, so
that all threads stop at the next step.
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

MANY = 1 << 17
"""The size of the first step for work that is known to take 20 ns to 200 ns a piece, such as entering a pair into a
list. Such a step takes milliseconds, and most calls take one step."""

_thread = threading.local()


class Interrupt:
    """When Ctrl-C was pressed, in a process that takes note of it. Only `covey.cli.interrupts` does."""

    at: float | None = None


@contextmanager
def working_under(abandoned: threading.Event) -> Iterator[None]:
    """Let this thread work for another one, which sets the flag when the work is abandoned."""
    _thread.abandoned = abandoned
    try:
        yield
    finally:
        _thread.abandoned = None


def works_for_another() -> bool:
    """Return whether this thread works for another one."""
    return getattr(_thread, "abandoned", None) is not None


def stop_if_abandoned() -> None:
    """Raise KeyboardInterrupt if this process, or the thread that this one works for, was interrupted."""
    abandoned = getattr(_thread, "abandoned", None)
    if Interrupt.at is not None or (abandoned is not None and abandoned.is_set()):
        raise KeyboardInterrupt


class Steps:
    """Divides work into steps, and remembers how large a step may be.

    Parameters
    ----------
    size : int
        The size of the first step.
    unit : int
        Every step but the last has a multiple of this size.

    Attributes
    ----------
    n_done : int
        How many pieces all steps had so far.
    seconds : float
        How long all of them took.
    """

    def __init__(self, size: int = FEW, unit: int = 1) -> None:
        self.size, self._unit = max(size, unit), unit
        self.n_done, self.seconds = 0, 0.0

    def over(self, n: int) -> Iterator[slice]:
        """Yield consecutive parts of ``range(n)``. A step takes as long as it takes until the next one is asked for."""
        start = 0
        while start < n:
            stop_if_abandoned()
            stop, began = min(start + self.size, n), time.perf_counter()
            yield slice(start, stop)
            seconds = time.perf_counter() - began
            self.n_done, self.seconds = self.n_done + stop - start, self.seconds + seconds
            if seconds > SECONDS:
                self.size = max(self.size // 2 // self._unit, 1) * self._unit
            elif seconds < SECONDS / 2 and stop - start == self.size:
                self.size *= 2
            start = stop


def in_steps(n: int, work: Callable[[slice], object], size: int = FEW) -> int:
    """Call ``work(slice(start, stop))`` for consecutive parts of ``range(n)``; the first one has this size.

    Return the size that the next step would have had, at which the next work of the same kind can begin.
    """
    steps = Steps(size)
    for part in steps.over(n):
        work(part)
    return steps.size
