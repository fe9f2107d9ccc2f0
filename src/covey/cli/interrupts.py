"""Ctrl-C stops a command with exit code 130, whatever was under way.

Python turns Ctrl-C into a KeyboardInterrupt, at whatever line it is. If this is the first line of a compiled library
that is just being imported, then the library may report an ImportError instead (those made with pybind11 do). So
`remember_interrupts` notes that there was an interrupt, and an error that follows one counts as the interrupt.
"""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Never

from covey.cli.terminal import say

EXIT_CODE = 130
"""What shells report of a program that Ctrl-C has ended: 128 and the number of the signal, which is 2."""


class Interrupted:
    """Whether the user has pressed Ctrl-C."""

    yes = False


def remember_interrupts() -> None:
    """Let `is_interrupt` know of Ctrl-C from now on. Whoever has chosen to ignore it, or to handle it, still does."""
    Interrupted.yes = False
    in_main_thread = threading.current_thread() is threading.main_thread()  # others must not set handlers
    if in_main_thread and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _note_interrupt)


def _note_interrupt(number: int, frame: FrameType | None) -> Never:
    Interrupted.yes = True
    raise KeyboardInterrupt


def is_interrupt(error: BaseException) -> bool:
    """Say whether an error is an interrupt, or what some library has made of one."""
    return isinstance(error, KeyboardInterrupt) or (Interrupted.yes and isinstance(error, Exception))


@contextmanager
def unfinished(what_then: str) -> Iterator[None]:
    """Say what has become of the work when Ctrl-C stops it."""
    try:
        yield
    except BaseException as error:
        if not is_interrupt(error):
            raise
        if sys.stderr.isatty():
            print(file=sys.stderr)  # a new line below the ^C that the terminal shows
        say(f"covey: stopped; {what_then}")
        raise KeyboardInterrupt from error
