"""Where the driver talks to a Dask cluster: tasks are submitted, waited for, and given up if anything goes wrong.

Nothing is pinned to a worker and nothing is scattered. All that a task needs is an argument of the task, so that Dask
can run it again anywhere if a worker is lost. No task keeps anything on its worker.
"""

import warnings
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, Self
from uuid import uuid4
from weakref import WeakSet

import numpy as np

from covey import exceptions
from covey.dask.task import counted, same
from covey.runtime.libraries import require
from covey.runtime.progress import Bar, progress
from covey.runtime.workers import large_tasks

REPORTS = 100
"""How many tasks report under the same topic. The scheduler keeps the last 1000 reports of each topic, unless it was
configured otherwise, so that each task may be repeated nine times before a report is lost."""


def ambient_client(client: Any = None) -> Any:
    """Return the client, or the one that the program has started, if None is given."""
    distributed = require("distributed", "dask")
    if client is None:
        try:
            client = distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "There is no Dask cluster to work on; start one by dask.distributed.Client(), or pass client=."
            ) from error
    if not isinstance(client, distributed.Client):
        raise TypeError(f"client must be a dask.distributed.Client or None, got {type(client).__name__}.")
    if client.asynchronous:
        raise TypeError("client must not be asynchronous, because fit waits for the cluster; pass Client(...).")
    return client


class Engine:
    """Runs the tasks of one fit. Use it by ``with``: after an error inside, all tasks that are left are given up.

    Parameters
    ----------
    client : distributed.Client
        The client of the cluster.
    title : str
        What the progress bar is called.
    shown : bool
        Whether progress is shown: as a bar on a terminal, and as Dask's own in a notebook.
    """

    def __init__(self, client: Any, title: str, *, shown: bool = False) -> None:
        self.client, self._shown = client, shown
        self._bar: Bar = progress(title, None, "tasks", shown=shown and not _in_notebook())
        self._topic = f"covey-{uuid4().hex}"
        self._numbers = count()
        self._what = ""
        self._n_counted = 0
        self._futures: WeakSet[Any] = WeakSet()

    def __enter__(self) -> Self:
        self._bar.__enter__()
        return self

    def __exit__(self, kind: Any, *error: Any) -> None:
        self._bar.__exit__(kind, *error)
        if kind is None and self._n_counted:
            messages = [tuple(event) for _, event in self.client.get_events(f"{self._topic}-warnings") or ()]
            if messages:
                name, message = min(messages)
                warnings.warn(message, getattr(exceptions, name), stacklevel=2)
        if kind is not None:
            # The method `cancel` of the client would also cancel tasks that depend on these and whose futures are gone
            # already. The scheduler of Dask takes that for an error and drops the client with all of the user's data.
            for future in list(self._futures):
                future.release()

    def submit(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Let a worker call a function, and return the future of its result. Arguments may be futures themselves."""
        with large_tasks():
            future = self.client.submit(function, *args, key=f"{name}-{self._topic}-{next(self._numbers)}", pure=False)
        self._futures.add(future)
        return future

    def submit_value(self, name: str, value: Any) -> Any:
        """Return the future of a value, which travels once for all tasks that need it and is not lost with a worker."""
        return self.submit(name, same, value)

    def submit_counted(self, name: str, function: Callable[..., Any], *args: Any) -> Any:
        """Submit a function whose result has the attribute `n_evaluations`, which is reported when it has finished.

        The reports show afterwards how many evaluations were repeated because a worker was lost.
        """
        topics = f"{self._topic}-{self._n_counted // REPORTS}", f"{self._topic}-warnings"
        self._n_counted += 1
        return self.submit(name, partial(counted, topics, function), *args)

    def compute(self, delayed: Sequence[Any]) -> list[Any]:
        """Let workers compute delayed objects, and return the futures of their values.

        After an error they are not given up: they may be data that the user has persisted and still needs.
        """
        return list(self.client.compute(list(delayed)))

    def gather(self, what: str, futures: Sequence[Any]) -> list[Any]:
        """Wait for tasks and fetch their results. Raise the error of the first task that has failed."""
        futures = list(futures)
        distributed = require("distributed", "dask")
        self._bar.note(what)
        if self._shown and what != self._what and _in_notebook():
            distributed.progress(futures, notebook=True)
        self._what = what
        try:
            for future in distributed.as_completed(futures):
                self._bar.advance()
                if future.status != "finished":
                    future.result()
            return list(self.client.gather(futures))
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"The task {what!r} was given up, because several workers died while they ran it; they have probably "
                "run out of memory, so that a smaller shard_size or larger workers may help."
            ) from error

    def n_reported(self) -> int:
        """Return how many evaluations all tasks have reported, repeated ones included."""
        topics = [f"{self._topic}-{number}" for number in range(-(-self._n_counted // REPORTS))]
        return sum(int(report) for topic in topics for _, report in self.client.get_events(topic) or ())


def lazy_rows(future: Any, function: Any, n: int, *args: Any) -> Any:
    """Return a dask array of n rows of X that a function makes of the result of a task."""
    delayed = require("dask", "dask").delayed(function, pure=True)(future, *args)
    return require("dask.array", "dask").from_delayed(delayed, (n,), np.intp)


def _in_notebook() -> bool:
    return bool(require("distributed.utils", "dask").is_kernel())
