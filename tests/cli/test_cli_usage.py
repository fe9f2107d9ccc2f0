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
from tests.cli.commands import iris, on_a_terminal, one_line

COMMANDS = ["select", "classify", "compare", "inspect", "demo", "reproduce"]
HEAVY = ("numpy", "scipy", "pandas", "sklearn", "numba", "pyarrow", "dask", "distributed", "matplotlib")
PROBE = (
    "import atexit, json, sys; from covey.__main__ import main; sys.argv[0] = 'covey'; "
    f"atexit.register(lambda: open('imported', 'w').write(json.dumps([m for m in {HEAVY} if m in sys.modules]))); "
    "main()"
)
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


def imported_by(*args):
    """Run a command in a process of its own: exit code, standard error, and the libraries that it has imported."""
    done = subprocess.run([sys.executable, "-c", PROBE, *args], capture_output=True, text=True, check=False)
    return done.returncode, done.stderr, json.loads(Path("imported").read_text())


@pytest.mark.parametrize("name", WRONG)
def test_wrong_usage_is_answered_before_anything_is_imported_that_computes(name, folder):
    iris().to_csv("iris.csv", index=False)
    Path("module.py").write_text("")
    args, expected = WRONG[name]
    code, err, imported = imported_by(*args)
    assert (code, imported) == (expected, [])
    assert err.strip()
    assert "Traceback" not in err


@pytest.mark.parametrize("args", [["--help"], ["--version"], *([name, "--help"] for name in COMMANDS)])
def test_help_imports_nothing_that_computes(args, folder):
    assert imported_by(*args)[::2] == (0, [])


def test_the_probe_sees_what_a_command_imports(folder):
    """Otherwise the tests above could not fail."""
    iris().to_csv("iris.csv", index=False)
    code, _, imported = imported_by("select", "iris.csv", "-o", "few.csv")
    assert code == 0
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
    assert "One of auto, exact, nn-descent." in out


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


def piped_bytes(*args, **options):
    return subprocess.run([sys.executable, "-m", "covey", *args], capture_output=True, check=False, **options)


def test_a_model_goes_through_a_pipe(run):
    iris().to_csv("iris.csv", index=False)
    assert run("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m")[0] == 0
    through = piped_bytes("select", "iris.csv", "-l", "species", "-o", "few2.csv", "-m", "-")
    assert through.returncode == 0
    assert Path("few.csv").read_bytes() == Path("few2.csv").read_bytes()
    assert b"rows selected" in through.stderr
    answers = piped_bytes("classify", "iris.csv", "-m", "-", input=through.stdout)
    assert (answers.returncode, answers.stdout.decode()) == run("classify", "iris.csv", "-m", "m")[:2]
    shown = piped_bytes("inspect", "-", input=through.stdout)
    assert (shown.returncode, shown.stdout.decode()) == run("inspect", "m")[:2]


def test_standard_input_that_is_no_model_is_refused_by_name(folder):
    iris().to_csv("iris.csv", index=False)
    for args in (["inspect", "-"], ["classify", "iris.csv", "-m", "-"]):
        done = piped_bytes(*args, input=b"no model")
        assert done.returncode == 1
        assert "'<stdin>' is no model, but another kind of file" in one_line(done.stderr.decode())


def test_a_model_is_not_written_to_a_terminal(folder):
    iris().to_csv("iris.csv", index=False)
    command = [sys.executable, "-m", "covey", "select", str(folder / "iris.csv"), "-o", "few.csv", "-m", "-"]
    assert "a model is not a text to look at" in on_a_terminal(command, code=2)
