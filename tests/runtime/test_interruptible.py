"""Long work is done in steps, between which it can be ended."""

import signal
import threading

import pytest

from covey.runtime import interruptible
from covey.runtime.executor import Executor
from covey.runtime.interruptible import in_steps, stop_if_abandoned


@pytest.fixture
def clock(monkeypatch):
    """A clock that only tests move."""

    class Clock:
        now = 0.0

    monkeypatch.setattr(interruptible.time, "perf_counter", lambda: Clock.now)
    return Clock


def sizes_of_steps(n, clock, seconds_a_piece):
    parts = []

    def work(part):
        parts.append(part)
        clock.now += seconds_a_piece * (part.stop - part.start)

    in_steps(n, work, size=4)
    assert [number for part in parts for number in range(part.start, part.stop)] == list(range(n))
    return [part.stop - part.start for part in parts]


def test_steps_get_larger_until_each_takes_a_tenth_of_a_second(clock):
    assert sizes_of_steps(100, clock, 0.01) == [4, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8]


def test_steps_get_smaller_where_the_work_is_slow_but_never_empty(clock):
    assert sizes_of_steps(10, clock, 1.0) == [4, 2, 1, 1, 1, 1]


def test_no_work_takes_no_step(clock):
    assert sizes_of_steps(0, clock, 1.0) == []


def test_an_interrupt_ends_the_tasks_at_their_next_step_and_the_threads_with_them():
    ended, together = [], threading.Barrier(2, timeout=30)

    def endless(number):
        together.wait()
        if number == 0:
            signal.raise_signal(signal.SIGINT)  # the main thread gets it, which waits for the tasks
        try:
            while True:
                stop_if_abandoned()
        finally:
            ended.append(number)

    with pytest.raises(KeyboardInterrupt):
        Executor(2).run(endless, range(8))
    assert sorted(ended) == [0, 1]
    assert [thread.name for thread in threading.enumerate() if thread.name == "covey"] == []


def test_tasks_within_a_task_end_with_it():
    def outer(number):
        signal.raise_signal(signal.SIGINT)
        while True:
            Executor(1).run(lambda task: task, range(3))

    with pytest.raises(KeyboardInterrupt):
        Executor(2).run(outer, range(2))


def test_the_first_task_that_fails_in_order_gives_the_error():
    together = threading.Barrier(2, timeout=30)

    def fail(number):
        together.wait()
        raise KeyError(number)

    with pytest.raises(KeyError, match="0"):
        Executor(2).run(fail, range(2))
