"""Ctrl-C ends a fit in any phase, with a clear state. `benchmarks/interrupts.py` has all phases, and measures them.

Ctrl-C ends a command with one line and exit code 130, at any moment. `benchmarks/interrupted_commands.py` tries random
moments.
"""

import os
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from benchmarks.interrupts import interrupt
from covey.cli import interrupts
from covey.cli.select import command as select
from covey.cli.select import local_fit, output
from covey.runtime.interruptible import Interrupt, stop_if_abandoned
from covey.storage import atomic
from tests.cli.commands import iris


@pytest.mark.parametrize(
    ("phase", "delay"),
    [
        ("exact", 0.3),
        ("lower bound", 0.2),
        pytest.param("lower bound", 1.5, marks=pytest.mark.minutes),
        pytest.param("DS3 ADMM", 0.3, marks=pytest.mark.minutes),
        ("processes", 1.0),
    ],
)
@pytest.mark.skipif(sys.platform != "linux", reason="what is left behind is read from /proc")
def test_an_interrupt_leaves_nothing_behind(phase, delay):
    """Threads, processes and files are gone, the estimator is as before, and a new fit has the same answer."""
    told = interrupt(phase, delay)
    assert "ended" in told, told
    assert told["left"] == {}


windows_has_no_ctrl_c = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send Ctrl-C to a single process"
)

STOPPED = "covey: stopped; nothing was written; run the same command again.\n"


def interrupted(function):
    """The function, with an interrupt before its first line."""

    def call(*args, **kwargs):
        signal.raise_signal(signal.SIGINT)
        return function(*args, **kwargs)

    return call


def interrupted_afterwards(function):
    """The function, with an interrupt when its work is done."""

    def call(*args, **kwargs):
        function(*args, **kwargs)
        signal.raise_signal(signal.SIGINT)

    return call


def swallowing(function):
    """The function, after an interrupt that was swallowed."""

    def call(*args, **kwargs):
        with suppress(BaseException):  # as some libraries do
            signal.raise_signal(signal.SIGINT)
        return function(*args, **kwargs)

    return call


def misreporting(function):
    """What does not get to its work, and reports an interrupt as an error of another kind."""

    def call(*args, **kwargs):
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("initialization failed") from None

    return call


@pytest.mark.parametrize(
    ("module", "name", "by", "words", "files"),
    [
        (select, "check_outputs", interrupted, "covey: stopped.\n", []),
        (local_fit, "load_and_fit", interrupted, STOPPED, []),
        (local_fit, "load_and_fit", misreporting, STOPPED, []),
        (local_fit, "load_and_fit", swallowing, STOPPED, []),
        (output, "write_outputs", swallowing, STOPPED, []),
        (atomic, "_finish", interrupted, STOPPED, []),
        (atomic, "_finish", swallowing, STOPPED, []),
        (atomic, "sync_folder", interrupted, "covey: stopped; m was written; {force}.\n", ["m"]),
        (output, "write", interrupted, "covey: stopped; m was written; {force}.\n", ["m"]),
        (
            output,
            "write",
            interrupted_afterwards,
            "covey: stopped; m, few.csv were written; {force}.\n",
            ["few.csv", "m"],
        ),
        (output, "summarise", interrupted, "covey: stopped; m, few.csv were written.\n", ["few.csv", "m"]),
        (output, "say", swallowing, "covey: stopped; m, few.csv were written.\n", ["few.csv", "m"]),
    ],
)
def test_the_one_line_of_an_interrupted_command_tells_the_truth_about_files(
    run, monkeypatch, module, name, by, words, files
):
    """Wherever the interrupt comes, whatever a library makes of it; what is there is whole, and nothing else is."""
    iris().to_csv("iris.csv", index=False)
    assert run("select", "iris.csv", "-l", "species", "-m", "m", "-o", "few.csv", "-q")[0] == 0
    complete = {name: Path(name).read_bytes() for name in ("few.csv", "m")}
    for made in complete:
        Path(made).unlink()
    monkeypatch.setattr(module, name, by(getattr(module, name)))
    code, out, err = run("select", "iris.csv", "-l", "species", "-m", "m", "-o", "few.csv")
    told = [line for line in err.splitlines(keepends=True) if line.startswith("covey: stopped")]
    assert (code, out, told) == (130, "", [words.format(force=interrupts.WITH_FORCE)])
    assert sorted(os.listdir()) == sorted([*files, "iris.csv"])
    assert all(Path(name).read_bytes() == complete[name] for name in files)


def test_after_a_command_ctrl_c_does_what_it_did_before(run, monkeypatch):
    monkeypatch.setattr(select, "check_outputs", interrupted(select.check_outputs))
    Path("t.csv").write_text("a\n1\n")
    assert run("select", "t.csv")[0] == 130
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    stop_if_abandoned()  # the interrupt is over
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_command_that_ignores_ctrl_c_goes_on_ignoring_it(run, monkeypatch):
    iris().to_csv("iris.csv", index=False)
    monkeypatch.setattr(output, "write", interrupted(output.write))
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert run("select", "iris.csv", "-l", "species", "-o", "few.csv")[0] == 0
    finally:
        signal.signal(signal.SIGINT, before)
    assert Path("few.csv").exists()


@pytest.mark.parametrize(("patience", "left"), [(3600, ["cleaned up"]), (0, [])])
def test_a_second_interrupt_breaks_off_the_cleaning_up_only_if_that_takes_long(monkeypatch, patience, left):
    monkeypatch.setattr(interrupts, "PATIENCE", patience)
    done = []

    def work():
        try:
            signal.raise_signal(signal.SIGINT)
        finally:
            signal.raise_signal(signal.SIGINT)
            done.append("cleaned up")

    with interrupts.restoring_handler():
        assert interrupts.interruptible(work) == 130
    assert done == left


def test_an_interrupt_after_the_work_changes_its_exit_code_only(capsys):
    with interrupts.restoring_handler():
        assert interrupts.interruptible(lambda: 0) == 0
        signal.raise_signal(signal.SIGINT)
        assert interrupts.verdict(0) == 130
        assert interrupts.verdict(0) == 130
    assert capsys.readouterr().err == "covey: stopped.\n"
    assert Interrupt.at is None


INTERRUPTS = "import atexit, signal, sys\ninterrupt = lambda: signal.raise_signal(signal.SIGINT)\n"
AT_THE_EXIT = (
    INTERRUPTS
    + """
atexit.register(interrupt)

def near(a, b):
    return -abs(a["a"] - b["a"])
"""
)
IN_A_TEXT = (
    INTERRUPTS
    + """
def near(a, b):
    exec("signal.raise_signal(signal.SIGINT)")
"""
)
WHILE_FREED = (
    INTERRUPTS
    + """
class Interrupting:
    def __del__(self):
        interrupt()

def near(a, b):
    Interrupting()
    return -abs(a["a"] - b["a"])
"""
)


@windows_has_no_ctrl_c
@pytest.mark.parametrize(
    ("similarity", "words", "files"),
    [
        (AT_THE_EXIT, "covey: stopped; few.csv was written.\n", ["few.csv"]),
        (IN_A_TEXT, STOPPED, []),
        (WHILE_FREED, STOPPED, []),
    ],
    ids=["at the exit", "in a text that is executed", "while an object is freed"],
)
def test_an_interrupted_process_ends_with_code_130_and_in_one_line(folder, similarity, words, files):
    Path("mine.py").write_text(similarity)
    Path("t.csv").write_text("a\n" + "".join(f"{number}\n" for number in range(20)))
    command = [sys.executable, "-m", "covey", "select", "t.csv", "-s", "mine.py:near", "-j", "1", "-o", "few.csv", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", words)
    assert sorted(os.listdir()) == sorted([*files, "mine.py", "t.csv"])


@windows_has_no_ctrl_c
def test_an_interrupt_while_libraries_are_imported_ends_with_code_130_and_in_one_line(folder):
    Path("typer.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)\n")
    for program in (("-m", "covey"), ("-c", "from covey.__main__ import start; start()")):
        done = subprocess.run([sys.executable, *program, "--help"], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (130, "", "covey: stopped.\n")


DURING_A_FIT = """
import sys
import numpy as np
import covey
from covey.__main__ import start

covey.CRS().fit(np.eye(5))  # loads what is compiled, so that the interrupt meets the fit itself

def fit_and_say_so(self, *args, **kwargs):
    print("begins", flush=True)
    return type(self).plain_fit(self, *args, **kwargs)

covey.CRS.plain_fit, covey.CRS.fit = covey.CRS.fit, fit_and_say_so
sys.argv = ["covey", "select", sys.argv[1]]
start()
"""


@windows_has_no_ctrl_c
def test_a_signal_from_outside_stops_a_fit_with_code_130_and_in_one_line(tmp_path):
    path = tmp_path / "many.csv"
    rows = np.random.default_rng(0).integers(0, 1000, (60_000, 6))  # a fit of these takes seconds
    path.write_text("a,b,c,d,e,f\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows.tolist()))
    command = [sys.executable, "-c", DURING_A_FIT, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, STOPPED)
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]
