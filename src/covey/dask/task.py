"""What a worker does around every task: it reports evaluations and warnings, and ends what was cancelled."""

from collections.abc import Callable
from concurrent.futures import CancelledError
from typing import Any

from covey.runtime.libraries import require
from covey.similarity.calls.failures import heard_by
from covey.similarity.space import Space


def same(value: Any) -> Any:
    return value


def counted(topics: tuple[str, str], function: Callable[..., Any], *args: Any) -> Any:
    """Call a function, and report the evaluations of its result, and its warnings."""
    worker, (counts, messages) = require("distributed", "dask").get_worker(), topics
    with heard_by(lambda category, message: worker.log_event(messages, (category.__name__, message))):
        result = function(*args)
    worker.log_event(counts, int(result.n_evaluations))
    return result


def cancellable(space: Space) -> Space:
    """Let a space end the present task of this worker with an error once the task has been cancelled.

    Dask itself does not stop what a thread has begun.
    """
    distributed = require("distributed", "dask")
    try:
        worker = distributed.get_worker()
    except ValueError:  # this process is not a worker
        return space
    key = worker.get_current_task()

    def stop_if_cancelled() -> None:
        task = worker.state.tasks.get(key)
        if task is None or task.state == "cancelled":
            raise CancelledError(f"The task {key!r} was cancelled.")

    space.evaluations.interrupt_by(stop_if_cancelled)
    return space
