"""Stopping work that takes too long, in the way in which Ctrl-C stops it."""

import math
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class TimeUpError(KeyboardInterrupt):
    """The time is up. What is running must stop as if the user had pressed Ctrl-C."""


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise TimeUpError in what follows once this many seconds have passed.

    Only the main thread of a process can be stopped so, and not on Windows; elsewhere this does nothing.
    """
    can_stop = hasattr(signal, "setitimer") and threading.current_thread() is threading.main_thread()
    if not can_stop or math.isinf(seconds):
        yield
        return

    def stop(*_: Any) -> None:
        raise TimeUpError

    before = signal.signal(signal.SIGALRM, stop)
    try:
        signal.setitimer(signal.ITIMER_REAL, seconds)
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:  # the time may be up just before the line above
            signal.signal(signal.SIGALRM, before)
