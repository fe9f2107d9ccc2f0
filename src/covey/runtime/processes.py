"""A process that answers questions, and that may be killed if it takes too long for one.

``python -m covey.runtime.processes PATH`` unpickles a function from a file and says that it is ready. It then reads
tuples of arguments from its standard input, calls the function, and writes an `Outcome` for each. Every message is
pickled and stands behind its length. The process ends when its input does, and on Linux with the thread that has
started it, so that none is left when the process that asks has died.
`covey.similarity.calls.timeouts` starts such processes.

Messages between two processes of the same user: pickled values, each behind its length.

A call in a process of its own, for libraries that cannot be interrupted.

A library may compute for minutes in compiled code without a look at Ctrl-C, and offer no way to stop it. A thread that
runs it could not be ended either. A process can be ended at any time.

The process gets the function and its arguments by a pipe, so that no file is left if it is ended. It takes no notice of
Ctrl-C itself, which a terminal sends to all processes. It ends as soon as the pipe breaks.
"""

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, TypeVar

from covey.runtime.workers import FileParcel, attempt

LENGTH = struct.Struct("<Q")
"""How the length of a message is written."""


def write_message(stream: BinaryIO, message: Any) -> None:
    """Write a message, and leave nothing of it in this process."""
    content = pickle.dumps(message)
    stream.write(LENGTH.pack(len(content)) + content)
    stream.flush()


def read_message(stream: BinaryIO) -> Any:
    """Read a message. Raise EOFError if the other side has ended."""
    header = stream.read(LENGTH.size)
    content = stream.read(LENGTH.unpack(header)[0]) if len(header) == LENGTH.size else b""
    if len(header) < LENGTH.size or len(content) < LENGTH.unpack(header)[0]:
        raise EOFError
    return pickle.loads(content)


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


Result = TypeVar("Result")

PROGRAM = """
import pickle, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
sys.path[:] = pickle.load(sys.stdin.buffer)
function, args, kwargs = pickle.load(sys.stdin.buffer)
pickle.dump(function(*args, **kwargs), sys.stdout.buffer)
"""


def call_apart(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Return ``function(*args, **kwargs)``, computed by another process.

    The function must be at the top of a module. If another process cannot be had, or has failed, this one computes it:
    it then raises the errors of the function, but cannot be interrupted.
    """
    answer = b""
    with suppress(OSError):
        answer = _answer(pickle.dumps(sys.path) + pickle.dumps((function, args, kwargs)))
    if not answer:
        return function(*args, **kwargs)
    result: Result = pickle.loads(answer)
    return result


def _answer(question: bytes) -> bytes:
    """Return what the other process has written, or nothing if it has failed."""
    if not sys.executable or getattr(sys, "frozen", False):  # this program is not Python itself
        return b""
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **pipes) as process:
        try:
            answer = process.communicate(question)[0]
        finally:
            process.kill()  # this does nothing if the process has ended
            process.wait()
        return answer if process.returncode == 0 else b""
