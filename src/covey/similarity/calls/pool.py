"""Processes for Python functions that hold the interpreter lock, so that threads cannot speed them up.

1. The first pairs are timed: `TIMED` of them, or as many as take `WORTH_IT` seconds. Processes are used only if the
   remaining work takes longer than that.
2. The caller, which holds the objects and the function, travels to each worker once: by a file on this machine, or as
   the result of a task on a Dask cluster.
3. The pairs are shared out in batches of about `BATCH_SECONDS`, so that sending them costs next to nothing.
4. If the caller cannot be written or read, a warning says so once, and this process does all the work.

A worker answers with the values of its batch, or with the error that a single process would have raised and the values
before it. The values and their order are those of a single process. Each batch is handed on as soon as those before it
are there, and after an error also those that other workers have finished meanwhile. Evaluations are counted by the
space that uses the pool.
"""

import math
from collections.abc import Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from covey.arrays import Indices
from covey.exceptions import UnpicklableSimilarityWarning
from covey.runtime.executor import reaches_other_machines
from covey.runtime.interruptible import Steps
from covey.runtime.workers import LOST, Outcome, Shared, UnsendableError, attempt, has_arrived
from covey.similarity.calls.callers import CalledPart, Caller, answer
from covey.similarity.run import Run

TIMED = 64
"""How many pairs are timed. A smaller number would be more sensitive to a single slow pair, and a larger one would keep
the processes waiting."""
WORTH_IT = 0.5
"""How many seconds of work must remain before processes are used, because starting them takes time, too."""
BATCH_SECONDS = 0.1
"""How many seconds a worker computes before it answers. Longer batches would make the progress bar jump, and shorter
ones would be sent more often."""


class Pool:
    """Lets several processes work for a caller in a run."""

    def __init__(self, n_jobs: int | None, run: Run) -> None:
        self._n_jobs, self._run = n_jobs, run
        self._steps: Steps | None = None
        self._shared: Shared | None = None

    def parts(self, caller: Caller, i: Indices, j: Indices) -> Iterator[tuple[int, CalledPart]]:
        """Yield what the caller yields, computed by several processes if that is faster, and where each part begins.

        The parts follow each other. Only if an error ends the work, parts with gaps before them may come ahead of it.
        Every call on one pool must pass the same caller.
        """
        if self._steps is None:
            self._steps = Steps(1, caller.unit)
        if not reaches_other_machines(self._n_jobs) and effective_n_jobs(self._n_jobs) == 1:
            yield from self._here(caller, i, j, 0)
            return
        n_done = 0
        for step in self._steps.over(i.size):
            if self._is_worth_it(i.size - step.start):
                break
            yield from placed(caller, i, j, step)
            n_done = step.stop
        if n_done == i.size:
            return
        try:
            for start, part in self._run_in_workers(caller, i, j, n_done, self._steps.seconds / self._steps.n_done):
                yield start, part
                n_done = start + part[0].size
        except UnsendableError as error:
            self._n_jobs = 1
            warn_unsendable(self._run, caller.similarity, error)
            yield from self._here(caller, i, j, n_done)
        except BaseException:
            self._shared = None  # removes its file now, and not together with the pool
            raise

    def _is_worth_it(self, n_left: int) -> bool:
        """Return whether this many pairs are worth other processes. As long as few pairs were timed, none are."""
        assert self._steps is not None
        n_timed, seconds = self._steps.n_done, self._steps.seconds
        return (n_timed >= TIMED or seconds > WORTH_IT) and seconds / n_timed * n_left > WORTH_IT

    def _here(self, caller: Caller, i: Indices, j: Indices, n_done: int) -> Iterator[tuple[int, CalledPart]]:
        """Let this process do what is left, in short steps."""
        assert self._steps is not None
        for step in self._steps.over(i.size - n_done):
            yield from placed(caller, i, j, slice(n_done + step.start, n_done + step.stop))

    def _run_in_workers(
        self, caller: Caller, i: Indices, j: Indices, n_done: int, seconds: float
    ) -> Iterator[tuple[int, CalledPart]]:
        """Let the workers compute what is left, in batches of pairs which take this many seconds each.

        After a failure no further batches are sent. Those that are under way are waited for, because the workers would
        go on with them. Their parts are yielded before the error is raised, unless it is that nothing can be sent,
        after which this process does all that is left.
        """
        if self._shared is None:
            self._shared = Shared(caller, elsewhere=reaches_other_machines())
        n_processes = effective_n_jobs(self._n_jobs)  # Dask's scheduler is asked for it, so only now
        # A function of many pairs gets the same pairs in each call as in one process. Its values may depend on them in
        # the last bits, as those of matrix products do.
        size = min(math.ceil(BATCH_SECONDS / seconds), -(-(i.size - n_done) // n_processes))
        size = -(-size // caller.unit) * caller.unit
        batches = [slice(start, min(start + size, i.size)) for start in range(n_done, i.size, size)]
        failures: list[Outcome] = []
        late: list[tuple[int, CalledPart]] = []
        parcel = self._shared.parcel
        outcomes = Parallel(n_jobs=n_processes, return_as="generator")(
            delayed(_work)(parcel, (i[batch], j[batch])) for batch in batches if not failures
        )
        for batch, outcome in zip(batches, outcomes, strict=False):
            if outcome.lost and not failures:
                yield from placed(caller, i, j, batch)
            elif outcome.failed:
                failures.append(outcome)
            elif not outcome.lost:
                parts, ending = outcome.value
                placed_parts = [(batch.start, part) for part in parts]
                if failures:
                    late += placed_parts
                else:
                    yield from placed_parts
                if ending.failed:
                    failures.append(ending)
        if failures:
            try:
                failures[0].result()
            except UnsendableError:
                raise
            except Exception:
                yield from late
                raise


def placed(caller: Caller, i: Indices, j: Indices, pairs: slice) -> Iterator[tuple[int, CalledPart]]:
    """Evaluate a slice of the pairs in this process, and yield each part with the start of the slice."""
    for part in caller.parts(i[pairs], j[pairs]):
        yield pairs.start, part


def warn_unsendable(run: Run, similarity: Any, error: UnsendableError) -> None:
    """Warn once in a run that its similarity cannot be sent."""
    run.warn_once(
        "unsendable",
        UnpicklableSimilarityWarning,
        f"{similarity!r} or its objects cannot be sent to other processes, so that one process computes all of it; "
        f"define what it uses at the top of a module, or pass n_jobs=1. The reason was {error}.",
    )


def _work(parcel: Any, pairs: tuple[Indices, Indices]) -> Outcome:
    """Compute a batch in a worker.

    The pairs are one tuple, because joblib would scatter larger arrays on a Dask cluster, where they would be lost with
    a worker.
    """
    return attempt(lambda: answer(parcel.open(), *pairs)) if has_arrived(parcel) else LOST
