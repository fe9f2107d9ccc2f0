"""Work at the command line that is stopped, or whose function fails."""

import re
import subprocess
import sys
from itertools import count
from pathlib import Path

import pytest

NUMBERS = count()  # of modules, because Python keeps those that it has imported

MINE = """
import time

def slow(a, b):
    with open("calls", "a") as file:
        file.write("x")
    return 1 / (1 + abs(a["a"] - b["a"]))

def failing(a, b):
    if {a["a"], b["a"]} == {3, 7}:
        raise ValueError("no \\x1b[31mservice")
    return 1 / (1 + abs(a["a"] - b["a"]))

def hanging(a, b):
    if {a["a"], b["a"]} == {3, 7}:
        time.sleep(3600)
    return 1 / (1 + abs(a["a"] - b["a"]))
"""


@pytest.fixture
def mine(folder):
    """The name of a module with functions."""
    name = f"precautions_{next(NUMBERS)}.py"
    Path(name).write_text(MINE)
    return name


@pytest.fixture
def table(folder):
    Path("t.csv").write_text("a\n" + "\n".join(map(str, range(60))) + "\n")
    return ["select", "t.csv", "--force", "-o", "few.csv", "-s"]


def n_calls():
    n = len(Path("calls").read_text())
    Path("calls").unlink()
    return n


def counts(err):
    """The numbers that a command with a checkpoint tells: evaluated, taken, new, repeated, kept and asked again."""
    told = re.search(
        r"; ([\d,]+) similarities evaluated\.\n(?:.*\n)*?"
        r"Of these evaluations, ([\d,]+) were taken from the checkpoint, ([\d,]+) are new in it, "
        r"and ([\d,]+) were of pairs that it held already\.\n"
        r"([\d,]+) pairs are kept in the checkpoint now(?:; (\d) of them were asked again before)?\.\n",
        err,
    )
    return tuple(int((number or "0").replace(",", "")) for number in told.groups())


def test_a_checkpoint_serves_the_same_command_and_others(run, table, mine):
    code, _, err = run(*table, f"{mine}:slow", "--checkpoint", "kept")
    assert code == 0
    first, few = n_calls(), Path("few.csv").read_text()
    evaluated, taken, new, repeated, kept, again = counts(err)
    assert (taken, new + repeated, kept, again) == (0, evaluated, new, 0)
    assert first == evaluated
    code, _, err = run(*table, f"{mine}:slow", "--checkpoint", "kept")
    assert code == 0
    assert counts(err) == (evaluated, evaluated - 3, 0, 3, kept, 5)  # the spot check asks three pairs again
    assert n_calls() == 3 + 5
    assert Path("few.csv").read_text() == few
    assert run(*table, f"{mine}:slow", "--checkpoint", "kept", "-k", "3")[0] == 0
    assert n_calls() <= 10


@pytest.mark.parametrize("method", ["crs", "sharpened", "delta-medoids", "ds3"])
def test_every_method_that_evaluates_takes_a_checkpoint(run, folder, method):
    Path("t.csv").write_text("a,b\n" + "\n".join(f"{number},{number % 2}" for number in range(40)) + "\n")
    command = ["select", "t.csv", "--force", "-o", "few.csv", "--label", "b", "--features", "a", "-s", "euclidean"]
    for is_second in (False, True):
        code, _, err = run(*command, "--method", method, "--checkpoint", "kept")
        assert code == 0, err
        assert ("\n380 of these evaluations were taken from the checkpoint" in err) is is_second


def test_a_checkpoint_of_something_else_is_refused_in_one_line(run, table, mine):
    run(*table, f"{mine}:slow", "--checkpoint", "kept")
    for command in ([f"{mine}:failing"], ["euclidean"]):
        code, _, err = run(*table, *command, "--checkpoint", "kept", "-q")
        assert code == 1
        [line] = [line for line in err.splitlines() if "identifier" not in line]
        assert line.startswith("covey: checkpoint must be of the same similarity, but ")


def told_by(*arguments):
    """What a command says that succeeds, in a process of its own, because warnings are errors here."""
    command = [sys.executable, "-m", "covey", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stderr


def test_a_failing_function_ends_the_command_or_is_told_in_one_line(run, table, mine):
    code, _, err = run(*table, f"{mine}:failing")
    assert code == 1
    assert "of object 3 and object 7 raised ValueError: no " in err
    assert "\x1b" not in err
    err = told_by(*table, f"{mine}:failing", "--on-error", "lowest")
    assert (
        "covey: The similarity failed for 1 pair, which counts as least similar. That of object 3 and object 7" in err
    )
    assert "\x1b" not in err


def test_a_hanging_function_is_ended(table, mine):
    err = told_by(*table, f"{mine}:hanging", "--timeout", "0.5", "--on-error", "lowest")
    assert "object 3 and object 7 took longer than timeout=0.5 seconds" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--timeout", "0"], "--timeout must be a number of seconds above 0, got 0."),
        (["--timeout", "nan"], "--timeout must be a number of seconds above 0, got nan."),
        (["--method", "random", "-n", "3", "--checkpoint", "kept"], "are for methods that evaluate similarities"),
        (["--dask", "local", "--timeout", "3"], "--on-error and --timeout need one process"),
        (["--cluster", "auto", "--checkpoint", "kept"], "are about the selection and not about --cluster"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_the_work(run, table, mine, options, message):
    code, _, err = run(*table, f"{mine}:slow", *options)
    assert code == 2
    assert message in " ".join(err.split())
    assert not Path("calls").exists()
