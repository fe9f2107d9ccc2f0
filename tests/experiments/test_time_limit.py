"""Fits within a limit of time: whole groups or none, what is recorded counts, and a slow fit is stopped."""

import math
import signal
import threading
import time
from contextlib import contextmanager

import pytest

import covey
from covey.experiments import runner
from covey.experiments.records import Trial, read_records
from covey.experiments.runner import Completion, TimeUpError, at_most, run_within
from covey.experiments.specs import Problem, SelectorFactory, Split


def split(seed, data_home):
    return Split(*covey.datasets.make_spirals(20, random_state=seed), *covey.datasets.make_spirals(20, random_state=9))


class Slow(covey.KeepAll):
    """Takes a second."""

    def fit(self, X, y=None):
        time.sleep(1.0)
        return super().fit(X, y)


PROBLEMS = {"p": Problem(split, similarity="euclidean")}
METHODS = {
    "fast": SelectorFactory(lambda s, seed, n_jobs: covey.KeepAll(similarity=s)),
    "slow": SelectorFactory(lambda s, seed, n_jobs: Slow(similarity=s)),
    "other": SelectorFactory(lambda s, seed, n_jobs: covey.KeepAll(similarity=s)),
}
DONE, BEGUN, NOT_BEGUN = Completion
GROUPS = [[Trial("p", name, seed) for seed in range(3)] for name in METHODS]


def within(folder, seconds):
    return run_within(folder, GROUPS, time.monotonic() + seconds, problems=PROBLEMS, methods=METHODS, verbose=0)


def test_without_an_end_all_groups_are_done(tmp_path):
    assert within(tmp_path, math.inf) == [DONE, DONE, DONE]
    assert {record.trial for record in read_records(tmp_path)} == {fit for group in GROUPS for fit in group}


def test_a_group_that_is_too_slow_is_left_out_and_the_next_is_tried(tmp_path, monkeypatch):
    """A clock that only a slow fit moves: after its first seed, the two others would take longer than there is time."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    assert within(tmp_path, 2.5) == [DONE, BEGUN, DONE]
    recorded = {record.trial for record in read_records(tmp_path)}
    assert Trial("p", "slow", 0) in recorded
    assert Trial("p", "slow", 1) not in recorded
    assert within(tmp_path, 2.5) == [DONE, DONE, DONE]  # the first seed is recorded, and the other two fit in


def test_what_is_recorded_counts_even_if_there_is_no_time(tmp_path):
    assert within(tmp_path, 0) == [NOT_BEGUN, NOT_BEGUN, NOT_BEGUN]
    within(tmp_path, math.inf)
    assert within(tmp_path, 0) == [DONE, DONE, DONE]


needs_alarms = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no alarms")


@needs_alarms
def test_a_single_fit_that_does_not_end_is_stopped(tmp_path, monkeypatch):
    waits = threading.Event()
    monkeypatch.setattr(time, "sleep", lambda seconds: waits.wait(600))
    assert within(tmp_path, 4.0) == [DONE, BEGUN, DONE]


def test_groups_of_the_kind_of_one_that_took_too_long_are_not_begun(tmp_path, monkeypatch):
    """Their time is left to the others. What is recorded of them counts nevertheless."""
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    methods = METHODS | {"also slow": METHODS["slow"]}
    groups = [[Trial("p", name, seed) for seed in range(3)] for name in ("slow", "also slow", "fast")]
    options = {"kinds": ["slow", "slow", "fast"], "problems": PROBLEMS, "methods": methods, "verbose": 0}
    assert run_within(tmp_path, groups, now[0] + 2.5, **options) == [BEGUN, NOT_BEGUN, DONE]
    assert now[0] == 1.0
    assert run_within(tmp_path, groups, now[0] + 2.0, **options) == [DONE, NOT_BEGUN, DONE]
    assert run_within(tmp_path, groups, math.inf, **options) == [DONE, DONE, DONE]


def test_a_slow_group_gets_half_of_the_time_and_its_fits_share_it(tmp_path, monkeypatch):
    """The last group may take all that is left. The clock stands still, so that nothing is used up."""
    allowed = []

    @contextmanager
    def noted(seconds):
        allowed.append(seconds)
        yield

    monkeypatch.setattr(runner, "at_most", noted)
    monkeypatch.setattr(time, "monotonic", lambda: 0.0)
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    assert within(tmp_path, 60.0) == [DONE, DONE, DONE]
    assert allowed == [10, 15, 30, 10, 15, 30, 20, 30, 60]


@needs_alarms
def test_the_alarm_is_over_when_the_work_is():
    before = signal.getsignal(signal.SIGALRM)
    with pytest.raises(TimeUpError), at_most(0.01):
        threading.Event().wait(600)
    with at_most(600):
        pass
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGALRM) is before


def test_threads_other_than_the_main_one_are_not_stopped():
    done = []

    def work():
        with at_most(0.001):
            threading.Event().wait(0.05)
            done.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [True]
