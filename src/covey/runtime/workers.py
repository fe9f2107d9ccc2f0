"""Work for other processes: how values get there, and how errors come back.

joblib runs the tasks. Which processes do so is decided by its active backend, which a user chooses by
``joblib.parallel_config``. The processes of joblib's own backends are on this machine. Those of any other backend, such
as "dask", may be on other machines: they do not see the files of this one, and one of them may be lost at any time.
"""

import os
import pickle
import sys
import tempfile
import threading
import traceback
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from joblib import wrap_non_picklable_objects
from joblib.parallel import get_active_backend

from covey.runtime.file_errors import system_errors_of
from covey.runtime.wording import one_line

_last_read: tuple[str, Any] = ("", None)
"""The path and the content of the file that this worker has read last."""


class UnsendableError(Exception):
    """A value cannot be written by this process, or cannot be read by a worker."""


class Parcel:
    """A pickled value, which is unpickled when it is first opened."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __reduce__(self) -> Any:
        return Parcel, (self._content,)

    def __sizeof__(self) -> int:
        return len(self._content)  # Dask asks for it when it decides what to keep in memory

    def open(self) -> Any:
        return self._value

    @cached_property
    def _value(self) -> Any:
        return unpacked(self._content)


class FileParcel:
    """A pickled value in a file of this machine. A worker keeps only the value that it has opened last."""

    def __init__(self, path: str) -> None:
        self.path = path

    def open(self) -> Any:
        global _last_read
        path, value = _last_read
        if path != self.path:
            with open(self.path, "rb") as file:
                value = unpacked(file.read())
            _last_read = self.path, value
        return value


class Shared:
    """A value that many tasks need, and that travels once to each worker instead of once for each task.

    - On this machine it is written to a file, which is removed along with this object.
    - On a Dask cluster it is the result of a task. Dask hands results on from worker to worker, and repeats the task if
      the workers that hold its result are lost. Data that were scattered would be lost with them.
    - On any other backend it is sent along with each task.

    Parameters
    ----------
    value : object
        The value.
    elsewhere : bool
        Whether the workers of the active backend may be on other machines.

    Attributes
    ----------
    parcel : object
        What to pass to tasks. They get it as an object whose `open` returns the value. See `has_arrived`.
    """

    def __init__(self, value: Any, *, elsewhere: bool) -> None:
        content = packed(value)
        client = getattr(get_active_backend()[0], "client", None)
        self.parcel: Any
        if not elsewhere:
            self.parcel = FileParcel(self._write(content))
        elif client is not None:
            with large_tasks():
                self.parcel = client.submit(Parcel, content, key=f"covey-shared-{uuid4().hex}")
        else:
            self.parcel = Parcel(content)

    def _write(self, content: bytes) -> str:
        path = Path(tempfile.gettempdir(), f"covey-{uuid4().hex}")
        # It is removed in any case, even if Ctrl-C comes as soon as the file is there.
        weakref.finalize(self, path.unlink, missing_ok=True)
        with system_errors_of(path), open(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "wb") as file:
            file.write(content)
        return str(path)


class Recorder:
    """Records the warnings that the current thread gives inside ``with recorder() as warnings``, each message once.

    Python can record warnings only for the whole process, while tasks may overlap in several threads of a worker. So
    recording goes on from when the first of them enters until the last one has left. The warnings of threads that have
    not entered are shown as before.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._thread = threading.local()

    @contextmanager
    def __call__(self) -> Iterator[dict[str, Warning]]:
        with self._lock:
            if self._n_inside == 0:
                self._before = warnings.catch_warnings()
                self._before.__enter__()
                self._show = warnings.showwarning
                warnings.simplefilter("always")
                warnings.showwarning = self._record
            self._n_inside += 1
        recorded: dict[str, Warning] = {}
        self._thread.recorded = recorded
        try:
            yield recorded
        finally:
            self._thread.recorded = None
            with self._lock:
                self._n_inside -= 1
                if self._n_inside == 0:
                    self._before.__exit__(None, None, None)

    def _record(self, message: Any, *where: Any, **options: Any) -> None:
        recorded = getattr(self._thread, "recorded", None)
        if recorded is None:
            self._show(message, *where, **options)
        else:
            recorded.setdefault(one_line(message, named=True, longest=None), message)


recorder = Recorder()
"""The one instance that all tasks share, because the filters of warnings belong to the process."""


def has_arrived(parcel: Any) -> bool:
    """Return whether a worker has got a parcel, and not the future of one.

    Dask puts the result of a task into the place of its future. A task that was repeated because a worker was lost has
    been seen to get the future itself.
    """
    return hasattr(parcel, "open")


class Outcome(NamedTuple):
    """What a worker sends back: a value, or an error. It can always be unpickled. See also `LOST`."""

    value: Any
    error: bytes | None = None
    """The pickled error."""
    brief: str = ""
    """The error in one line, for one that cannot be pickled."""
    cause: bytes | None = None
    """The pickled cause of the error."""
    traceback: str = ""
    """The traceback of the cause as a string. It is empty if the error has no cause."""
    warnings: tuple[bytes, ...] = ()
    """The warnings that the work has given, each pickled."""

    @property
    def failed(self) -> bool:
        return bool(self.brief)

    @property
    def lost(self) -> bool:
        """Whether the work was not done, because its parcel has not arrived. Whoever gets this does it instead."""
        return self.value is None and not self.failed

    def result(self) -> Any:
        """Give the warnings again, and return the value or raise the error with its cause.

        If the error or its cause is an exception that cannot be pickled, a RuntimeError that describes it takes its
        place.
        """
        for warning in map(_exception, self.warnings):
            if isinstance(warning, Warning):
                warnings.warn(warning, stacklevel=2)
        if not self.failed:
            return self.value
        error = _exception(self.error) or RuntimeError(self.brief)
        raise error from (_exception(self.cause) or RuntimeError(self.traceback)) if self.traceback else None


LOST = Outcome(None)
"""The outcome of a task whose parcel has not arrived."""


def attempt(work: Callable[[], Any], *, recorded: bool = False) -> Outcome:
    """Do some work in a worker. Its warnings are `recorded`, or else shown by the worker."""
    recording: AbstractContextManager[dict[str, Warning]] = recorder() if recorded else nullcontext({})
    with recording as messages:
        try:
            outcome = Outcome(work())
        except Exception as error:
            cause = error.__cause__
            text = "" if cause is None else "".join(traceback.format_exception(cause))
            outcome = Outcome(
                None, _packed_or_none(error), one_line(error, named=True, longest=None), _packed_or_none(cause), text
            )
    contents = map(_packed_or_none, messages.values())
    return outcome._replace(warnings=tuple(content for content in contents if content is not None))


def packed(value: Any) -> bytes:
    """Pickle a value. Lambdas and classes of the user's script are sent as a whole instead of by name."""
    try:
        return pickle.dumps(wrap_non_picklable_objects(value, keep_wrapper=False))
    except Exception as error:  # pickling the user's objects may raise anything
        raise UnsendableError(one_line(error, named=True, longest=None)) from error


def unpacked(content: bytes) -> Any:
    """Unpickle a value."""
    try:
        return pickle.loads(content)
    except Exception as error:  # unpickling the user's objects may raise anything
        raise UnsendableError(one_line(error, named=True, longest=None)) from error


def end_idle_processes() -> None:
    """End the processes of joblib's own pool on this machine, unless they are at work for somebody else.

    joblib keeps them for five minutes after their last task, so that the next one need not start them again. After
    Ctrl-C there is no next one.
    """
    loky = sys.modules.get("joblib.externals.loky.reusable_executor")  # without it, no processes were started
    executor = getattr(loky, "_executor", None)
    if executor is not None and not getattr(executor, "_pending_work_items", True):
        executor.shutdown(wait=True, kill_workers=True)


@contextmanager
def large_tasks() -> Iterator[None]:
    """Let Dask take large tasks without its advice to put data into futures, which holds for data of several tasks."""
    dask = sys.modules.get("dask")  # another backend needs no Dask
    setting = {"distributed.admin.large-graph-warning-threshold": "1 TiB"}
    with nullcontext() if dask is None else dask.config.set(setting):
        yield


def _packed_or_none(error: BaseException | None) -> bytes | None:
    try:
        return None if error is None else packed(error)
    except UnsendableError:
        return None


def _exception(content: bytes | None) -> BaseException | None:
    """Unpickle an exception. Return None if its class needs other arguments than were pickled."""
    try:
        error = None if content is None else unpacked(content)
    except UnsendableError:
        return None
    return error if isinstance(error, BaseException) else None
