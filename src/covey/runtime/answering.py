"""A process that answers questions, and that may be killed if it takes too long for one.

``python -m covey.runtime.answering PATH`` unpickles a function from a file and says that it is ready. It then reads
tuples of arguments from its standard input, calls the function, and writes an `Outcome` for each. Every message is
pickled and stands behind its length. The process ends when its input does, and on Linux with the thread that has
started it, so that none is left when the process that asks has died. `covey.similarity.timed` starts such processes.
"""

import os
import queue
import signal
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO

from covey.runtime.messages import read_message, write_message
from covey.runtime.workers import FileParcel, attempt

PARENT_DEATH_SIGNAL = 1
"""The number that Linux has given to this option of `prctl`."""


def _read_questions(stream: BinaryIO, questions: "queue.SimpleQueue[Any]") -> None:
    """Read questions until the process that asks has ended, and then end this one."""
    try:
        while True:
            questions.put(read_message(stream))
    except EOFError:
        os._exit(0)


def _end_with_parent() -> None:
    """Let Linux kill this process when the thread that has started it ends, even if a call never lets go of Python."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def main(path: str) -> None:
    """Answer all questions. What the function prints goes to the standard error stream."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever asks is interrupted, and ends this process
    _end_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path[:] = read_message(sys.stdin.buffer)
    opened = attempt(lambda: FileParcel(path).open())
    write_message(answers, opened._replace(value=None))
    questions: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_questions, args=(sys.stdin.buffer, questions), daemon=True).start()
    while True:
        arguments = questions.get()
        write_message(answers, attempt(lambda arguments=arguments: opened.value(*arguments)))  # type: ignore[misc]


if __name__ == "__main__":
    main(sys.argv[1])
