"""Ctrl-C while the command is being imported, when nothing is at stake: the process ends at once.

Until `heed_interrupts` is called, Ctrl-C is Python's own affair, which ends by the signal and shows the lines of code
that were under way. So this module imports only what the interpreter has loaded already: `_signal` is the compiled part
of `signal`, which takes milliseconds to make its enumerations. `interrupts.py` describes all phases of a process.
"""

import _signal as signal  # type: ignore[import-not-found]
import os

EXIT_CODE = 130
"""What shells report of a program that Ctrl-C has ended: 128 and the number of the signal, which is 2."""


def heed_interrupts() -> None:
    """Let Ctrl-C end this process with the exit code. Whoever has chosen to ignore it, or to handle it, still does."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)


def end_at_once(*_: object) -> None:
    """Say that the command was stopped, and end the process."""
    try:
        os.write(2, b"\ncovey: stopped.\n" if os.isatty(2) else b"covey: stopped.\n")  # below the ^C of a terminal
    finally:
        os._exit(EXIT_CODE)
