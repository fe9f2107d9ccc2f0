"""A few cases of every attack, and the harness that runs them: crashes, hangs and floods of memory are attributed."""

from fractions import Fraction

import pytest

from tests import reference
from tests.attack import __main__ as command
from tests.attack import _runner

CASES = 16
MORE_CASES = {"checkpoints": 80}
"""Attacks whose cases take only milliseconds, and of which more are therefore run."""


@pytest.mark.parametrize("name", _runner.names())
def test_no_case_ends_wrong(name):
    n_cases = MORE_CASES.get(name, CASES)
    report = _runner.run(name, 0, n_cases)
    assert not report.faults, command.examples([report])
    assert sum(report.outcomes.values()) == n_cases


@pytest.fixture
def attack_with(tmp_path, monkeypatch):
    """Run ten cases of an attack that does this in case 3; every other case ends well."""
    monkeypatch.setenv("PYTHONPATH", str(tmp_path), prepend=":")

    def run(deed, **limits):
        (tmp_path / "made_up.py").write_text(
            "import collections, os, signal\n"
            "import numpy as np\n"
            "bad = np.random.default_rng(3).integers(10**9)\n"
            "def attack(rng, n_cases):\n"
            "    assert n_cases == 1\n"
            "    if rng.integers(10**9) == bad:\n"
            f"        {deed}\n"
            "    return collections.Counter(['fine'])\n"
        )
        return _runner.run("made up", 0, 10, module="made_up", **limits)

    return run


@pytest.mark.parametrize(
    ("deed", "outcome"),
    [
        ("return collections.Counter(['WRONG answer'])", "WRONG answer"),
        ("os.kill(os.getpid(), signal.SIGSEGV)", "WRONG the process ended by SIGSEGV"),
        ("os._exit(7)", "WRONG the process ended with exit code 7"),
        ("np.ones(1 << 40, dtype=bool)", "WRONG the process ended with exit code 1"),
        ("signal.pause()", "WRONG no answer within 2 seconds"),
    ],
)
def test_a_fault_is_attributed_to_its_case_and_the_others_go_on(attack_with, deed, outcome):
    report = attack_with(deed, seconds=2)
    assert report.outcomes == {"fine": 9, outcome: 1}
    assert report.faults == [outcome]
    assert report.examples[outcome][0] == 3


def test_a_module_that_always_dies_is_given_up(attack_with, monkeypatch):
    monkeypatch.setattr(_runner, "MOST_DEATHS", 2)
    report = attack_with("pass\n    os._exit(1)")
    assert report.outcomes["WRONG the process ended with exit code 1"] == 2
    assert report.outcomes["WRONG the worker died 2 times, the other cases were not run"] == 8


def test_one_case_can_be_repeated(capsys):
    assert command.main(["problems", "--case", "5"]) == 0
    first = capsys.readouterr().out
    assert command.main(["problems", "--case", "5"]) == 0
    assert capsys.readouterr().out == first
    assert first.startswith("problems: right")


@pytest.mark.parametrize("scale", [1, 2.0**-60, 2.0**60])
def test_floats_are_read_as_the_fractions_they_were_rounded_from(scale):
    assert reference.on_paper(1 / 3 * scale) == Fraction(1, 3) * Fraction(scale)
    assert reference.on_paper(0.1 * scale) + reference.on_paper(0.2 * scale) == reference.on_paper(0.3 * scale)
    root = 2.0**0.5 * scale
    assert reference.on_paper(root) == Fraction(root)
