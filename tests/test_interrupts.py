"""Ctrl-C ends a fit in any phase, with a clear state. `benchmarks/interrupts.py` has all phases, and measures them."""

import signal
import subprocess
import sys
import time

import pytest

from benchmarks.interrupts import interrupt


@pytest.mark.parametrize(
    ("phase", "delay"),
    [("exact", 0.3), ("lower bound", 0.2), ("lower bound", 1.5), ("DS3 ADMM", 0.3), ("processes", 1.0)],
)
@pytest.mark.skipif(sys.platform != "linux", reason="what is left behind is read from /proc")
def test_an_interrupt_leaves_nothing_behind(phase, delay):
    """Threads, processes and files are gone, the estimator is as before, and a new fit has the same answer."""
    told = interrupt(phase, delay)
    assert "ended" in told, told
    assert told["left"] == {}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows cannot send Ctrl-C to a single process")
def test_an_interrupted_command_ends_with_code_130_and_in_one_line(tmp_path):
    path = tmp_path / "many.csv"
    path.write_text("a,b\n" + "".join(f"{row % 97},{row % 89}\n" for row in range(300_000)))
    program = (
        "import covey.cli.select, sys; from covey import __main__; "
        "sys.argv = ['covey', 'select', sys.argv[1]]; print('begins', flush=True); __main__.main()"
    )
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert len(errors.splitlines()) <= 1, errors
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]
