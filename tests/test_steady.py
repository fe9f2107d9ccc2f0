"""Which tests `make steady` runs many times, and what it says of those that fail at times."""

import sys
import time
from types import SimpleNamespace

from tests import steady
from tests.cli.commands import on_a_terminal

PROGRAM = "import signal\nsignal.raise_signal(2)"


def item(function, *fixtures):
    """What pytest knows of a test."""
    return SimpleNamespace(
        function=function,
        _fixtureinfo=SimpleNamespace(
            name2fixturedefs={made.__name__: [SimpleNamespace(func=made)] for made in fixtures}
        ),
    )


def computes():
    return len([1, 2]).bit_length()


def sleeps():
    time.sleep(0)


def calls_what_sleeps():
    return sleeps


def names_a_program():
    return PROGRAM


def calls_what_starts_a_process_elsewhere():
    return on_a_terminal


def test_tests_that_start_processes_send_signals_or_wait_are_told_from_those_that_compute():
    for function in (sleeps, calls_what_sleeps, names_a_program, calls_what_starts_a_process_elsewhere):
        assert steady.does_more_than_compute(item(function))
        assert steady.does_more_than_compute(item(computes, function))
    assert not steady.does_more_than_compute(item(computes))
    assert not steady.does_more_than_compute(item(computes, computes))


def test_failures_are_counted_by_test_over_all_runs(monkeypatch, capsys):
    runs = iter([(True, [], "3 passed"), (False, ["a::b", "a::c"], "2 failed"), (False, ["a::c"], "1 failed")])
    monkeypatch.setattr(steady, "run", lambda options: next(runs))
    monkeypatch.setattr(sys, "argv", ["steady", "--times", "3", "-n", "0"])
    assert steady.main() == 1
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "1 of 3 runs beside 0 busy processes went well.",
        "2 of 3 times: a::c",
        "1 of 3 times: a::b",
    ]
