"""Commands on damaged files: each must do its work, or end with exit code 1 and one line that names the file.

The commands run in this process, as `covey.__main__.main` does. All that they print must hold no sign that a terminal
obeys, and a command that fails must leave no file behind.
"""

import contextlib
import os
import re
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np

from tests.attack import _commands, tables
from tests.attack._commands import Scenario
from tests.attack._outcomes import FaultError, tally
from tests.cli.commands import run_here

PLACE = re.compile(r"\b(line|row|column|columns|byte|bytes|member|array|page|sheet|shape|position)s? ")
"""Words that say where in a file something is wrong."""
MOST_LETTERS = 1000
"""How long the line of an error may be. A value of a file that is named in it must be cut."""


def attack(rng: np.random.Generator, n_cases: int) -> Counter[str]:
    """Run so many commands and count the outcomes."""
    return tally(case, rng, n_cases)


def case(rng: np.random.Generator) -> str:
    """Run a command on files of which one is damaged, and say how it ended."""
    scenario = _commands.scenario(rng)
    damaged = str(rng.choice(list(scenario.files))) if rng.random() < 0.3 else next(iter(scenario.files))
    quiet = ("-q",) if rng.random() < 0.7 else ()
    words = (*scenario.words, *quiet)
    words += () if scenario.words[0] == "compare" else ("-o", scenario.writes)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        standard = b""
        for name, content in scenario.files.items():
            made = _damaged(rng, name, content) if name == damaged and rng.random() < 0.97 else packed(name, content)
            if name == "-":
                standard = made
            else:
                Path(name).write_bytes(made)
        if scenario.model is not None:
            Path("model").write_bytes(model(scenario.model))
            words += ("--model", "model")
        before = set(os.listdir())
        code, out, err = run_here(words, standard)
        return _judged(words, damaged, scenario, bool(quiet), (code, out, err), set(os.listdir()) - before)


def _judged(words, damaged: str, scenario: Scenario, quiet: bool, ended, made) -> str:
    """The name of the outcome; FaultError if it is none of those that are allowed."""
    code, out, err = ended
    told = ["covey " + " ".join(words), f"damaged: {damaged}", f"exit code {code}", repr(err[-1500:])]
    lines = err.splitlines()
    if bad := next((sign for sign in out + err if not sign.isprintable() and sign != "\n"), None):
        raise FaultError(f"{bad!r} is printed", *told)
    if code not in (0, 1):
        raise FaultError(f"exit code {code} for a damaged file", *told)
    if code == 0:
        if quiet and err:
            raise FaultError("something is said in spite of --quiet", *told)
        if scenario.writes not in made:
            raise FaultError("nothing is written", *told)
        return f"{words[0]}: done"
    if made:
        raise FaultError(f"{' and '.join(sorted(made))} is left after an error", *told)
    if not lines or not all(line.startswith("covey: ") for line in lines) or (quiet and len(lines) > 1):
        raise FaultError("the error is not one line", *told)
    last = lines[-1]
    if not any(("standard input" if name == "-" else name) in last for name in scenario.files):
        raise FaultError("the error names no file", *told)
    if "allocate" in last or "MemoryError" in last:
        raise FaultError("the memory did not suffice", *told)
    if len(last) > MOST_LETTERS:
        raise FaultError("the line is too long", *told)
    return f"{words[0]}: refused" + (" with a place" if PLACE.search(last) else "")


def packed(name: str, content: bytes) -> bytes:
    """The content as a file of this name holds it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, name)
        tables.write_packed(path, content)
        return path.read_bytes()


def _damaged(rng: np.random.Generator, name: str, content: bytes) -> bytes:
    """A damaged file: its content is damaged before it is packed, or its bytes are afterwards."""
    inside = rng.random() < 0.7
    if inside and content[:2] == b"PK":
        return tables.mutate_members(rng, content)
    if inside:
        return packed(name, tables.mutate(rng, content))
    return tables.mutate(rng, packed(name, content))


@cache
def model(name: str) -> bytes:
    """A model of the objects that the table of all commands holds."""
    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        if name in _commands.SELECTIONS:
            rows = _commands.frame(rng)
            while len(rows) < 12:
                rows = _commands.frame(rng)
            rows.to_csv("data.csv", index=False)
            words = ("data.csv", *_commands.SELECTIONS[name][0])
        else:
            files = {"hosts": "zeek.log", "dense": "dense.npz", "sparse": "sparse.npz"}
            Path(files[name]).write_bytes(tables.BUILDERS[files[name]](rng))
            words = (files[name], *(("--hosts",) if name == "hosts" else ()))
        code, _, err = run_here(
            ("select", *words, "-k", "2", "-j", "1", "-q", "-o", "out", "--out-format", _rows(name), "-m", "model")
        )
        if code:
            raise ValueError(f"no model of {name} could be made: {err}")
        return Path("model").read_bytes()


def _rows(name: str) -> str:
    return "npz" if name in ("dense", "sparse") else "csv"
