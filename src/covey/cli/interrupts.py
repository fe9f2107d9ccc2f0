"""Ctrl-C stops a command with exit code 130 and one line, at any moment.

Python turns Ctrl-C into a KeyboardInterrupt, at any line. That alone is not enough:

- Nothing catches it while libraries are being imported, or while the interpreter ends.
- A library may report an error of its own instead (an import of one that was made with pybind11 raises ImportError), or
  swallow it.
- A second one would break off the cleaning up after the first.
- CPython remembers a KeyboardInterrupt that has left the ``exec`` of a text, by which dataclasses are made. At the end
  of ``python -m`` it then lets the signal kill the process, although the KeyboardInterrupt was caught.

So the process of a command has three phases, each with a handler of the signal.

1. While the command is being imported, an interrupt ends the process at once (`startup.py`).
2. Inside `interruptible`, an interrupt is noted, and KeyboardInterrupt is raised. If a library swallows it, the next
   step of the work raises it again (`runtime/interruptible.py`), and so does the end of the next file
   (`storage/atomic.py`). If something else is raised instead, the note tells that it was an interrupt.
3. After that, an interrupt is only noted. `leave` does what the interpreter does at its end, and then ends the process
   with the exit code that the note asks for, without another step.

A further interrupt within `PATIENCE` seconds is the same wish as the first, and changes nothing. A later one stops what
hangs in the second phase, and ends the process in the third.

What no phase covers is the start of the interpreter, before it has run the first lines of covey.
"""

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Never

from covey.cli.startup import EXIT_CODE, end_at_once
from covey.runtime.interruptible import Interrupt

WITH_FORCE = "run the same command again with --force"
"""What to do if a command that writes several files was stopped when some were in their places."""
PATIENCE = 2.0
"""How many seconds pass before a further Ctrl-C breaks off the cleaning up. This is how soon the work itself stops
(`runtime/interruptible.py`)."""


class LastWords:
    """What is said of the work when Ctrl-C has stopped it, and when the work began."""

    what_then = ""
    again = ""
    since = 0.0
    said = False


def say_nothing_else() -> None:
    """After an interrupt, report no errors that were not handled: they have come of it."""
    sys.unraisablehook = _unless_interrupted(sys.unraisablehook)
    threading.excepthook = _unless_interrupted(threading.excepthook)


def _unless_interrupted(hook: Callable[[Any], Any]) -> Callable[[Any], None]:
    def quietly(error: Any) -> None:
        if Interrupt.at is None:
            hook(error)

    return quietly


def interruptible(work: Callable[[], int]) -> int:
    """Return the exit code of some work, in which Ctrl-C raises KeyboardInterrupt.

    Whoever has chosen to ignore Ctrl-C, or to handle it, still does.
    """
    Interrupt.at = None
    LastWords.what_then, LastWords.again, LastWords.since, LastWords.said = "", "", time.monotonic(), False
    if not _is_heeded_by(signal.default_int_handler, end_at_once):
        return work()
    code = EXIT_CODE
    try:
        try:
            signal.signal(signal.SIGINT, _note_and_raise)
            code = work()
        finally:
            signal.signal(signal.SIGINT, _note)
    except KeyboardInterrupt:
        pass  # it has left the exit code as it was
    return code


@contextmanager
def restoring_handler() -> Iterator[None]:
    """Let Ctrl-C do afterwards what it has done before."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        Interrupt.at = None
        if _is_heeded_by(_note):
            signal.signal(signal.SIGINT, before)


@contextmanager
def unfinished(what_then: str, again: str = "") -> Iterator[None]:
    """Set what is said of the work if Ctrl-C stops it inside ``with``.

    If files of this command are in their places already, they are named instead, followed by `again`, unless that is
    empty.
    """
    LastWords.what_then, LastWords.again = what_then, again
    yield
    LastWords.what_then = LastWords.again = ""


def verdict(code: int) -> int:
    """Return the exit code of the command, and say in one line if Ctrl-C has stopped it."""
    if Interrupt.at is None and code != EXIT_CODE:
        return code
    if not LastWords.said:
        LastWords.said = True
        from covey.cli.terminal import say

        with suppress(OSError, ValueError, AttributeError):  # standard error is closed
            if sys.stderr.isatty():
                print(file=sys.stderr)  # a new line below the ^C that the terminal shows
            say(f"covey: stopped{_what_became()}.")
    return EXIT_CODE


def _what_became() -> str:
    from covey.runtime.wording import some_of
    from covey.storage.atomic import files_in_place

    files = files_in_place(LastWords.since)
    written = f"; {some_of(files)} {'was' if len(files) == 1 else 'were'} written" if files else ""
    if not LastWords.what_then:
        return written
    return f"{written}; {LastWords.again}" if written and LastWords.again else f"; {LastWords.what_then}"


def leave(code: int) -> Never:
    """End this process with this exit code, or with that of an interrupt which has come until now.

    Threads and exit functions have their turn, as whenever an interpreter ends; `multiprocessing` ends its processes by
    the same calls. What an interrupt has left in the middle is collected, which removes temporary files.
    """
    import atexit
    import gc

    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        if Interrupt.at is not None:
            gc.collect()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError, AttributeError):  # its reader has left, it is closed, or there is none
                stream.flush()
        os._exit(verdict(code))


def _is_heeded_by(*handlers: Any) -> bool:
    """Return whether one of these handles Ctrl-C, and this thread may set another one."""
    return threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGINT) in handlers


def _note_and_raise(*_: object) -> None:
    if _is_another():
        raise KeyboardInterrupt


def _note(*_: object) -> None:
    is_first = Interrupt.at is None
    if not _is_another() or is_first:
        return
    if LastWords.said:
        os._exit(EXIT_CODE)
    end_at_once()


def _is_another() -> bool:
    """Note an interrupt and return True, unless it comes within `PATIENCE` seconds of the last one."""
    now = time.monotonic()
    if Interrupt.at is not None and now < Interrupt.at + PATIENCE:
        return False
    Interrupt.at = now
    return True
