"""How commands are started and asked for help, and that wrong usage is answered before anything is computed."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from covey.cli.app import app
from covey.cli.compare.methods import CHOICES, CURVES
from covey.cli.compare.options import METHODS
from covey.cli.similarity_option import OF_ROWS, OF_TABLES, OF_TEXTS
from covey.cli.typer_dataclasses import typer
from covey.similarity.measures import similarity_names
from tests.cli.commands import iris, on_a_terminal, one_line, run_here

COMMANDS = ["select", "classify", "compare", "inspect", "demo", "reproduce"]
HEAVY = ("numpy", "scipy", "pandas", "sklearn", "numba", "pyarrow", "dask", "distributed", "matplotlib")
PROBE = f"""
import contextlib, io, json, sys
from covey.__main__ import main

answers = []
for words in json.loads(sys.argv[1]):
    sys.argv = ["covey", *words]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            code = stop.code or 0
    answers.append([code, err.getvalue(), [name for name in {HEAVY} if name in sys.modules]])
print(json.dumps(answers))
"""
"""Run commands one after the other; print for each its exit code, standard error, and what is imported by then."""
WRONG = {
    "unknown command": (["nonsense"], 2),
    "no argument": (["select"], 2),
    "unknown option": (["select", "iris.csv", "--nonsense"], 2),
    "wrong type": (["select", "iris.csv", "--coverage", "much"], 2),
    "no number of neighbors": (["select", "iris.csv", "-k", "many"], 2),
    "unknown similarity": (["select", "iris.csv", "-s", "cosin"], 2),
    "similarity of texts": (["select", "iris.csv", "-s", "osa"], 2),
    "excluding options": (["select", "iris.csv", "--text", "name", "--features", "petal_width"], 2),
    "size without sharpening": (["select", "iris.csv", "--size", "5"], 2),
    "shards without a cluster": (["select", "iris.csv", "--shard-size", "5"], 2),
    "not on a cluster": (["select", "iris.csv", "--dask", "local", "--sharpen"], 2),
    "no such file": (["select", "absent.csv"], 1),
    "no second file": (["select", "iris.csv", "absent.parquet"], 1),
    "no such format": (["select", "module.py"], 1),
    "no file matches": (["select", "*.parquet"], 1),
    "output is there": (["select", "iris.csv", "-o", "iris.csv"], 1),
    "model is there": (["select", "iris.csv", "-o", "few.csv", "-m", "iris.csv"], 1),
    "unknown picture": (["select", "iris.csv", "-o", "few.csv", "--picture", "map.doc"], 2),
    "no such file of a function": (["select", "iris.csv", "-s", "absent.py:near"], 1),
    "two outputs to standard output": (["select", "iris.csv", "-m", "-"], 2),
    "no model": (["classify", "iris.csv"], 2),
    "no such model": (["classify", "iris.csv", "-m", "absent"], 1),
    "two inputs from standard input": (["classify", "-", "-m", "-"], 2),
    "no bar": (["classify", "iris.csv", "-m", "iris.csv", "--reject", "low"], 2),
    "answers are there": (["classify", "iris.csv", "-m", "iris.csv", "-o", "iris.csv"], 1),
    "unknown method": (["compare", "iris.csv", "--methods", "crs,magic"], 2),
    "no k": (["compare", "iris.csv", "-k", ","], 2),
    "report is there": (["compare", "iris.csv", "--html", "iris.csv"], 1),
    "no such model to inspect": (["inspect", "absent"], 1),
    "output of nothing": (["inspect", "iris.csv", "-o", "few.csv"], 2),
    "no number of seeds": (["reproduce", "--seeds", "many"], 2),
}


HELP = [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)]


def imported_by(*lines):
    """Run commands in a process that has imported nothing before."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, json.dumps(lines)], capture_output=True, text=True, check=True, timeout=120
    )
    return json.loads(done.stdout)


def test_wrong_usage_and_help_are_answered_before_anything_is_imported_that_computes(folder):
    iris().to_csv("iris.csv", index=False)
    Path("module.py").write_text("")
    wrong = imported_by(*(line for line, _ in WRONG.values()))
    for (name, (_, expected)), (code, err, imported) in zip(WRONG.items(), wrong, strict=True):
        assert (name, code, imported) == (name, expected, [])
        assert err.strip()
        assert "Traceback" not in err
    for line, (code, _, imported) in zip(HELP, imported_by(*HELP), strict=True):
        assert (line, code, imported) == (line, 0, [])


def test_the_probe_sees_what_a_command_imports(folder):
    """Otherwise the test above could not fail."""
    iris().to_csv("iris.csv", index=False)
    [[code, _, before], [_, _, imported]] = imported_by(["--help"], ["select", "iris.csv", "-k", "2", "-o", "few.csv"])
    assert (code, before) == (0, [])
    assert {"numpy", "pandas"} <= set(imported)


def test_the_package_runs_as_the_command(folder):
    done = subprocess.run([sys.executable, "-m", "covey", "select"], capture_output=True, text=True, check=False)
    assert (done.returncode, "Missing argument" in done.stderr) == (2, True)
    done = subprocess.run([sys.executable, "-m", "covey", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("covey ")


def test_names_that_are_known_before_numpy_is_imported_are_those_of_the_tables():
    assert sorted([*OF_ROWS, *OF_TABLES, *OF_TEXTS, "precomputed"]) == similarity_names()
    assert sorted(METHODS) == sorted([*CURVES, *CHOICES])


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_says_what_values_are_and_leaves_out_types_that_say_nothing(run, monkeypatch, command, width):
    monkeypatch.setenv("COLUMNS", str(width))
    code, out, _ = run(*command, "--help")
    assert code == 0
    assert not re.search(r"<(bool|str|int|float|list|path)", out)
    assert "x<=" not in out
    assert "x>=" not in out
    assert max(map(len, out.splitlines())) <= width


def test_choices_are_listed_in_the_text_of_an_option(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = run("select", "--help")[1]
    assert "<name>" in out
    assert "One of auto, exact, nn-descent, groups." in out


def test_panels_come_in_the_order_of_what_is_looked_for_first(run):
    out = run("select", "--help")[1]
    shown = re.findall(r"^╭─ (.+?) ─", out, re.MULTILINE)
    assert shown == [
        "Arguments",
        "Options",
        "How rows are selected",
        "What else is written",
        "What the objects are",
        "How the file is read",
        "How it runs",
        "Work that takes long",
        "On a cluster of machines",
    ]


def test_formats_that_are_only_read_are_not_offered_for_writing(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    line = next(line for line in run("select", "--help")[1].splitlines() if "--out-format" in line)
    assert "csv, tsv, jsonl, parquet, npz, svmlight." in line
    assert "xlsx" not in line


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["select", "iris.csv", "--coverage", "7"], "must be from 0 to 1, got 7.0."),
        (["select", "iris.csv", "--coverage", "-1"], "must be from 0 to 1, got -1.0."),
        (["compare", "iris.csv", "--folds", "1"], "must be at least 2, got 1."),
    ],
)
def test_numbers_beyond_their_limits_are_refused_in_words(run, args, message):
    iris().to_csv("iris.csv", index=False)
    code, _, err = run(*args)
    assert code == 2
    assert message in err


def test_flags_of_typer_itself_have_no_value(run):
    commands = typer.main.get_command(app).commands
    assert all(run(name, "--help")[0] == 0 for name in commands)
    assert "--help" in run("--help")[1]
    assert "<bool>" not in run("--help")[1]


# Models on standard output and standard input


def test_a_model_goes_through_a_pipe(folder):
    iris().to_csv("iris.csv", index=False)
    assert run_here(["select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m", "-q"])[0] == 0
    done = subprocess.run(
        [sys.executable, "-m", "covey", "select", "iris.csv", "-l", "species", "-o", "few2.csv", "-m", "-"],
        capture_output=True,
        check=True,
    )
    assert done.stdout == Path("m").read_bytes()
    assert Path("few.csv").read_bytes() == Path("few2.csv").read_bytes()
    assert b"rows selected" in done.stderr
    for words in (["classify", "iris.csv", "-m"], ["inspect"]):
        answer = run_here([*words, "m"])
        assert answer[0] == 0
        assert run_here([*words, "-"], done.stdout)[:2] == answer[:2]


def test_standard_input_that_is_no_model_is_refused_by_name(folder):
    iris().to_csv("iris.csv", index=False)
    for words in (["inspect", "-"], ["classify", "iris.csv", "-m", "-"]):
        code, _, err = run_here(words, b"no model")
        assert (code, "is not a model, but another kind of file" in one_line(err)) == (1, True)


def test_a_model_is_not_written_to_a_terminal(folder):
    iris().to_csv("iris.csv", index=False)
    command = [sys.executable, "-m", "covey", "select", str(folder / "iris.csv"), "-o", "few.csv", "-m", "-"]
    assert "a model is not a text to look at" in on_a_terminal(command, code=2)
