"""Processes for a function that may hang, or that may end its process.

Python cannot stop a function that does not return, but it can end a process. So the function is called in processes of
its own, one pair at a time, or one batch if it takes batches.

1. Each process unpickles the caller and says that it is ready. How long this takes does not matter.
2. It is sent a few calls at a time. The time of a call begins when the answer to the call before it has arrived.
3. A process that exceeds the time, or that dies, is replaced. The other calls that it was sent go to other processes.
   The call itself has failed. If it was one of a batch, and the work goes on in spite of failures, the two halves of
   the batch are tried instead, down to single pairs.

The values are yielded in the order of the pairs, so that they are those of a single process.
"""

import queue
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from operator import itemgetter

import numpy as np
from joblib import effective_n_jobs

from covey.arrays import Indices
from covey.runtime.processes import WorkerProcess
from covey.runtime.workers import FileParcel, Outcome, Shared, UnsendableError
from covey.similarity.calls.callers import CalledPart, Caller, answer

CALLS_AHEAD = 16
"""How many calls a process is sent at a time, so that it need not wait for the next one. Sending and receiving a call
takes about 40 microseconds."""

PAIRS_AHEAD = 2048
"""How many pairs these calls have at most, if there is more than one. A pair takes 8 bytes, and a pipe of Linux holds
64 KiB, so that sending never has to wait for a process that hangs."""
LONGEST_WAIT = 3600.0
"""How many seconds one wait takes at most, because systems do not wait for any number of seconds."""

Calls = deque[slice]
"""Calls as the positions of their pairs."""


class Worker:
    """A process that calls the function, and the calls that it was sent.

    Attributes
    ----------
    calls : deque of slice
        The calls that it has not answered yet.
    deadline : float or None
        Until when it must have answered the first of them.
    n_to_come : int
        How many answers are to come before it is ready: that it has read the caller, and the answer to a call without
        pairs, which compiles what has to be compiled.
    """

    def __init__(self, parcel: FileParcel, arrived: "queue.SimpleQueue[tuple[Worker, Outcome | None]]") -> None:
        self.process = WorkerProcess(parcel)
        self.calls: Calls = deque()
        self.deadline: float | None = None
        self.n_to_come = 2
        threading.Thread(target=self._listen, args=(arrived,), daemon=True).start()
        nothing = np.empty(0, dtype=np.int32)
        self.process.send((nothing, nothing))

    @property
    def ready(self) -> bool:
        """Whether the time of calls counts."""
        return self.n_to_come == 0

    def _listen(self, arrived: "queue.SimpleQueue[tuple[Worker, Outcome | None]]") -> None:
        """Hand on what the process answers, and None when it has ended."""
        for outcome in self.process.answers():
            arrived.put((self, outcome))
        arrived.put((self, None))


class TimedPool:
    """Lets processes work for a caller, and ends those that take longer than `timeout` seconds for one call."""

    def __init__(self, n_jobs: int | None, timeout: float) -> None:
        self._n_jobs, self._timeout = n_jobs, timeout
        self._shared: Shared | None = None
        self._workers: list[Worker] = []
        self._arrived: queue.SimpleQueue[tuple[Worker, Outcome | None]] = queue.SimpleQueue()
        weakref.finalize(self, _stop, self._workers)

    def parts(self, caller: Caller, i: Indices, j: Indices) -> Iterator[tuple[int, CalledPart]]:
        """Yield what the caller yields, and where each part begins.

        The parts follow each other. Only if something ends the work, be it an error or Ctrl-C, the parts that have
        arrived with gaps before them come ahead of it. Every call on one pool must pass the same caller.
        """
        if self._shared is None:
            self._shared = _shared(caller)
        waiting: Calls = deque(slice(at, min(at + caller.unit, i.size)) for at in range(0, i.size, caller.unit))
        done: dict[int, CalledPart] = {}  # the parts that have arrived, by their first pairs
        start = 0
        try:
            while start < i.size:
                try:
                    self._hand_out(waiting, i, j)
                    self._receive(caller, waiting, i, j, done)
                except BaseException:
                    self._take_arrived(done)
                    yield from sorted(done.items(), key=itemgetter(0))
                    raise
                while start in done:
                    part = done.pop(start)
                    yield start, part
                    start += part[0].size
        except BaseException:
            _stop(self._workers)  # they may be at work on calls whose answers are not wanted any more
            self._shared = None  # removes its file now, and not together with the pool
            raise

    def _hand_out(self, waiting: Calls, i: Indices, j: Indices) -> None:
        """Start processes as long as there is work for them, and send calls to those that have none left."""
        assert self._shared is not None
        for worker in [each for each in self._workers if not each.calls and each.process.has_ended]:
            self._workers.remove(worker)  # it has ended while it had nothing to do
            _stop([worker])
        while len(self._workers) < min(effective_n_jobs(self._n_jobs), len(waiting)):
            self._workers.append(Worker(self._shared.parcel, self._arrived))
        for worker in self._workers:
            if worker.ready and not worker.calls and waiting:
                worker.deadline = time.monotonic() + self._timeout
                n_pairs = waiting[0].stop - waiting[0].start
                ahead = max(1, min(CALLS_AHEAD, PAIRS_AHEAD // n_pairs))
                for _ in range(min(ahead, -(-len(waiting) // len(self._workers)))):
                    worker.calls.append(waiting.popleft())
                    worker.process.send((i[worker.calls[-1]], j[worker.calls[-1]]))

    def _receive(self, caller: Caller, waiting: Calls, i: Indices, j: Indices, done: dict[int, CalledPart]) -> None:
        """Wait for the next answer, or for the next deadline, and note the parts that are done."""
        deadlines = [worker.deadline for worker in self._workers if worker.deadline is not None]
        seconds = min(max(min(deadlines) - time.monotonic(), 0.0), LONGEST_WAIT) if deadlines else None
        try:
            worker, outcome = self._arrived.get(timeout=seconds)
        except queue.Empty:
            for worker in [late for late in self._workers if late.deadline and late.deadline <= time.monotonic()]:
                what = f"took longer than timeout={self._timeout:g} seconds"
                self._replace(worker, what, waiting, caller, i, j, done)
            return
        if worker not in self._workers:  # the last words of one that was replaced
            return
        if outcome is None:
            code = worker.process.exit_code()
            self._replace(worker, f"ended its process with exit code {code}", waiting, caller, i, j, done)
        elif not worker.ready:
            worker.n_to_come -= 1
            if outcome.failed:
                outcome.result()
        else:
            call = worker.calls.popleft()
            worker.deadline = time.monotonic() + self._timeout if worker.calls else None
            parts, ending = outcome.result()
            done.update((call.start, part) for part in parts)
            ending.result()

    def _take_arrived(self, done: dict[int, CalledPart]) -> None:
        """Note the parts of all answers that have arrived, and of no others."""
        with suppress(queue.Empty):
            while True:
                worker, outcome = self._arrived.get_nowait()
                if worker in self._workers and worker.calls and outcome is not None and not outcome.failed:
                    call = worker.calls.popleft()
                    done.update((call.start, part) for part in outcome.value.parts)

    def _replace(
        self,
        worker: Worker,
        what: str,
        waiting: Calls,
        caller: Caller,
        i: Indices,
        j: Indices,
        done: dict[int, CalledPart],
    ) -> None:
        """End a process. The call that it was working on has failed, and its other calls wait for another process."""
        self._workers.remove(worker)
        _stop([worker])
        if not worker.calls:
            if worker.ready:
                return  # it had nothing to do
            raise RuntimeError(f"A process that should call the similarity {what} before it was ready.")
        call = worker.calls.popleft()
        waiting.extendleft(reversed(worker.calls))
        first = caller.names(int(i[call.start]), int(j[call.start]))
        if not caller.goes_on:
            pairs = "" if call.stop - call.start == 1 else f", in a batch of {call.stop - call.start} pairs,"
            raise RuntimeError(f"The similarity of {first}{pairs} {what}.")
        if call.stop - call.start == 1:
            done[call.start] = np.array([np.nan]), [f"That of {first} {what}."]
        else:
            middle = (call.start + call.stop) // 2
            waiting.extendleft([slice(middle, call.stop), slice(call.start, middle)])


def _shared(caller: Caller) -> Shared:
    """Write the caller into a file, from which the processes read it."""
    try:
        return Shared(partial(answer, caller), elsewhere=False)
    except UnsendableError as error:
        raise ValueError(
            f"timeout needs a similarity and objects that can be sent to other processes, but this failed with {error};"
            " define what they use at the top of a module, or pass timeout=None."
        ) from error


def _stop(workers: list[Worker]) -> None:
    """End processes at once, and forget them."""
    for worker in workers:
        worker.process.end()
    workers.clear()
