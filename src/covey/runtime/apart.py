"""A call in a process of its own, for libraries that cannot be interrupted.

A library may compute for minutes in compiled code without a look at Ctrl-C, and offer no way to stop it. A thread that
runs it could not be ended either. A process can be ended at any time.

The process gets the function and its arguments by a pipe, so that no file is left if it is ended. It takes no notice of
Ctrl-C itself, which a terminal sends to all processes. It ends as soon as the pipe breaks.
"""

import pickle
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

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
