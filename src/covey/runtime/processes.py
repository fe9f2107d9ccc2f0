"""A worker process: it answers calls of one function, and may be ended at any time.

Python can stop neither a function that does not return, nor a library that computes for minutes in compiled code
without a look at Ctrl-C. It can end a process. `WorkerProcess` starts one and talks to it. `call_apart` uses one for a
single call; `covey.similarity.calls.timeouts` keeps several.

The process runs ``python -m covey.runtime.processes``. Every message on its standard streams is pickled and stands
behind its length:

1. It reads the import path of the process that has started it, and a parcel with the function. It answers with an
   `Outcome` that says whether the parcel could be opened.
2. It reads tuples of arguments, and answers each with the `Outcome` of the call.
3. It ends when its input does, and on Linux with the thread that has started it, so that none is left when the process
   that asks has died. It takes no notice of Ctrl-C itself, which a terminal sends to all processes.
"""

import os
import pickle
import queue
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, BinaryIO, TypeVar

from covey.runtime.workers import FileParcel, Outcome, Parcel, UnsendableError, attempt, packed

Result = TypeVar("Result")

LENGTH = struct.Struct("<Q")
"""How the length of a message is written."""
PARENT_DEATH_SIGNAL = 1
"""The number that Linux has given to this option of `prctl`."""


class WorkerProcess:
    """A process that answers calls of the function in a parcel. It starts at once, and answers first that it is ready.

    Parameters
    ----------
    parcel : Parcel or FileParcel
        Holds the function.
    stderr : int, optional
        Where the process writes what the function prints, as `subprocess.Popen` takes it.
    """

    def __init__(self, parcel: Parcel | FileParcel, stderr: int | None = None) -> None:
        if not sys.executable or getattr(sys, "frozen", False):
            raise OSError("this program is not Python itself, so that it cannot start Python")
        command = [sys.executable, "-m", "covey.runtime.processes"]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr)
        self.send(sys.path)
        self.send(parcel)

    def send(self, message: Any) -> None:
        """Send the arguments of a call. If the process has died, this is noticed by the missing answer."""
        assert self._process.stdin is not None
        with suppress(OSError):
            write_message(self._process.stdin, message)  # type: ignore[arg-type]

    def answers(self) -> Iterator[Outcome]:
        """Wait for the answers, and yield them in the order of the calls until the process has ended."""
        assert self._process.stdout is not None
        with suppress(EOFError, OSError, ValueError):  # the stream may be closed in the middle of a message
            while True:
                yield read_message(self._process.stdout)  # type: ignore[arg-type]

    @property
    def has_ended(self) -> bool:
        """Whether the process has ended by itself."""
        return self._process.poll() is not None

    def exit_code(self) -> int:
        """Wait for the end of the process, and return its exit code."""
        return self._process.wait()

    def end(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):
                stream.close()  # type: ignore[union-attr]


def call_apart(function: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
    """Return ``function(*args, **kwargs)``, computed by another process.

    If another process cannot be had, or has failed, this one computes it: it then raises the errors of the function,
    but cannot be interrupted.
    """
    with suppress(OSError, UnsendableError):
        process = WorkerProcess(Parcel(packed(partial(function, *args, **kwargs))), stderr=subprocess.DEVNULL)
        try:
            process.send(())
            outcomes = list(zip(range(2), process.answers(), strict=False))
        finally:
            process.end()
        if len(outcomes) == 2 and not any(outcome.failed for _, outcome in outcomes):
            result: Result = outcomes[1][1].value
            return result
    return function(*args, **kwargs)


def write_message(stream: BinaryIO, message: Any) -> None:
    """Write a message and flush."""
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


def main() -> None:
    """Answer calls. What the function prints goes to the standard error stream."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _end_with_parent()
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    sys.path[:] = read_message(sys.stdin.buffer)
    parcel = read_message(sys.stdin.buffer)
    opened = attempt(parcel.open)
    write_message(answers, opened._replace(value=None))
    calls: queue.SimpleQueue[Any] = queue.SimpleQueue()
    threading.Thread(target=_read_calls, args=(sys.stdin.buffer, calls), daemon=True).start()
    while True:
        arguments = calls.get()
        write_message(answers, attempt(lambda arguments=arguments: opened.value(*arguments)))  # type: ignore[misc]


def _end_with_parent() -> None:
    """Let Linux kill this process when the thread that has started it ends, even if a call never lets go of Python."""
    with suppress(OSError, AttributeError):
        import ctypes

        ctypes.CDLL(None).prctl(PARENT_DEATH_SIGNAL, signal.SIGKILL)


def _read_calls(stream: BinaryIO, calls: "queue.SimpleQueue[Any]") -> None:
    """Read the arguments of calls until the process that asks has ended, and then end this one."""
    try:
        while True:
            calls.put(read_message(stream))
    except EOFError:
        os._exit(0)


if __name__ == "__main__":
    main()
