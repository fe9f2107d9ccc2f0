"""Lines of progress where no bar can be drawn: whole lines, not too many, and none for short work."""

import logging
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from covey.runtime import progress as module
from covey.runtime.progress import Bar, LoggedLines, progress

LINE = re.compile(r"CRS, cluster 'all', 1 of 1: [\d,]+ evaluations(, \d+ %)?, 0:\d\d:\d\d(, about 0:\d\d:\d\d left)?")


@pytest.fixture
def lines(monkeypatch, caplog):
    """The lines that were logged so far; a hundredth of a second lies between two of them."""
    monkeypatch.setattr(module, "INTERVAL", 0.01)
    monkeypatch.setattr(LoggedLines, "_last_line", -1.0)
    caplog.set_level(logging.INFO, "covey.progress")
    return lambda: [record.getMessage() for record in caplog.records if record.name == "covey.progress"]


def wait_for(condition):
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("this has waited for ten seconds")


def test_a_line_says_what_is_done_of_what_and_how_long_it_takes(monkeypatch):
    bar = LoggedLines("CRS", None, "evaluations")
    monkeypatch.setattr(bar, "_start", time.monotonic() - 30)
    bar.watch(lambda: (1_200_000, 2_400_000))
    bar.note("cluster 'a', 3 of 10")
    assert bar.line() == "CRS, cluster 'a', 3 of 10: 1,200,000 evaluations, 50 %, 0:00:30, about 0:00:30 left"
    bar.watch(lambda: (7, None))
    bar.note("")
    assert bar.line() == "CRS: 7 evaluations, 0:00:30"
    bar.watch(lambda: (11, 10))
    assert bar.line() == "CRS: 11 evaluations, 100 %, 0:00:30, about 0:00:00 left"


def test_work_in_which_nothing_is_counted_says_only_how_long_it_takes(monkeypatch):
    bar = LoggedLines("drawing", None, None)
    monkeypatch.setattr(bar, "_start", time.monotonic() - 20)
    assert bar.line() == "drawing: 0:00:20"


def test_lines_are_logged_while_the_work_goes_on_and_not_afterwards(lines):
    with progress("work", 10, "things") as bar:
        bar.advance(3)
        wait_for(lambda: sum(line.startswith("work: 3 things, 30 %, ") for line in lines()) >= 2)
    n_lines = len(lines())
    time.sleep(0.05)
    assert len(lines()) == n_lines
    assert not [thread for thread in threading.enumerate() if thread is bar._thread]


def test_several_at_once_log_no_more_lines_than_one(lines, monkeypatch):
    """Each would have logged its first line after a hundredth of a second, but the next line is due in an hour."""
    with progress("one", None, "things"):
        wait_for(lines)
        with LoggedLines._lock:  # no line is being logged
            monkeypatch.setattr(LoggedLines, "_last_line", time.monotonic() + 3600)
            n_lines = len(lines())
        with progress("two", None, "things"), progress("three", None, "things"):
            time.sleep(0.1)
    assert len(lines()) == n_lines


def test_short_work_logs_nothing(caplog):
    caplog.set_level(logging.INFO)
    with progress("work", 10, "things") as bar:
        bar.advance(10)
    assert isinstance(bar, LoggedLines)
    assert caplog.records == []


def test_who_asks_for_nothing_gets_nothing():
    assert type(progress("work", 10, "things", shown=False)) is Bar


def test_numbers_that_fail_do_not_stop_the_work(lines):
    with progress("work", None, "things") as bar:
        bar.watch(lambda: 1 / 0)
        time.sleep(0.05)
        bar.watch(lambda: (1, 2))
        wait_for(lines)
    assert lines()[0].startswith("work: 1 things, 50 %")


SLOW = "import time\n\ndef slow(a, b):\n    time.sleep(2e-4)\n    return 1 / (1 + abs(a['a'] - b['a']))\n"
OFTEN = """
import sys
from covey.runtime import progress
from covey import __main__ as cli
progress.INTERVAL = 0.05
for quiet in ([], ["-q"]):
    sys.argv = ["covey", "select", "t.csv", "-s", "mine.py:slow", "--graph", "exact", "-j", "1", "-o", "few.csv", "-f"]
    sys.argv += quiet
    try:
        cli.main()
    except SystemExit as end:
        assert not end.code
    print("--", file=sys.stderr)
"""
FIT = """
import sys
import covey, mine
from covey.runtime import progress
progress.INTERVAL = 0.05
for verbose in (0, 1):
    covey.CRS(5, similarity=mine.slow, graph="exact", verbose=verbose).fit([{"a": at} for at in range(80)])
    print("--", file=sys.stderr)
"""


def test_the_command_line_writes_whole_lines_to_what_is_no_terminal(folder):
    Path("mine.py").write_text(SLOW)
    Path("t.csv").write_text("a\n" + "\n".join(map(str, range(80))) + "\n")
    done = subprocess.run([sys.executable, "-c", OFTEN], capture_output=True, text=True, check=True)
    lines, quiet, end = done.stderr.split("--\n")
    reports = [line for line in lines.splitlines() if "evaluations, " in line]
    assert reports
    assert all(LINE.fullmatch(line.removeprefix("covey: ")) for line in reports)
    assert "\r" not in done.stderr
    assert "\x1b" not in done.stderr
    assert done.stdout == ""
    assert quiet == end == ""


def test_the_library_writes_lines_to_standard_error_if_logging_is_not_set_up(folder):
    Path("mine.py").write_text(SLOW)
    done = subprocess.run([sys.executable, "-c", FIT], capture_output=True, text=True, check=True)
    silent, lines, end = done.stderr.split("--\n")
    assert any(re.match(r"CRS, cluster 0, 1 of 1: [\d,]+ evaluations, ", line) for line in lines.splitlines())
    assert silent == end == ""
