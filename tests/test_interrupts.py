"""Ctrl-C ends a fit in any phase, with a clear state. `benchmarks/interrupts.py` has all phases, and measures them."""

import signal
import subprocess
import sys
import time

import numpy as np
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


windows_has_no_ctrl_c = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows cannot send Ctrl-C to a single process"
)

DURING_A_FIT = """
import sys
import numpy as np
import covey
from covey import __main__

covey.CRS().fit(np.eye(5))  # loads what is compiled, so that the interrupt meets the fit itself

def fit_and_say_so(self, *args, **kwargs):
    print("begins", flush=True)
    return type(self).plain_fit(self, *args, **kwargs)

covey.CRS.plain_fit, covey.CRS.fit = covey.CRS.fit, fit_and_say_so
sys.argv = ["covey", "select", sys.argv[1]]
__main__.main()
"""

DURING_AN_IMPORT = """
import sys, time
from covey import __main__

def import_slowly(*args):
    # What compiled libraries do whose first line is interrupted.
    print("begins", flush=True)
    try:
        time.sleep(60)
    except KeyboardInterrupt:
        raise ImportError("initialization failed") from None

sys.modules["{module}"].{function} = import_slowly
sys.argv = ["covey", "select", sys.argv[1]]
__main__.main()
"""

BEFORE_THE_COMMAND = """
import sys, time
from covey import __main__

def start_slowly():
    print("begins", flush=True)
    time.sleep(60)

__main__.app = start_slowly
__main__.main()
"""


STOPPED = "covey: stopped; nothing was written; run the same command again.\n"


@windows_has_no_ctrl_c
@pytest.mark.parametrize(
    ("program", "last_words"),
    [
        (DURING_A_FIT, STOPPED),
        (DURING_AN_IMPORT.format(module="covey.__main__", function="app"), ""),
        (DURING_AN_IMPORT.format(module="covey.cli.select", function="_here"), STOPPED),
        (BEFORE_THE_COMMAND, ""),
    ],
    ids=["fit", "import", "import in a command", "start"],
)
def test_an_interrupted_command_ends_with_code_130_and_in_one_line(tmp_path, program, last_words):
    """Wherever the interrupt comes, and even if a library makes an error of its own of it."""
    path = tmp_path / "many.csv"
    rows = np.random.default_rng(0).integers(0, 1000, (60_000, 6))  # a fit of these takes seconds
    path.write_text("a,b,c,d,e,f\n" + "".join(f"{','.join(map(str, row))}\n" for row in rows.tolist()))
    command = [sys.executable, "-c", program, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "begins\n"
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, last_words)
    assert [path.name for path in tmp_path.iterdir()] == ["many.csv"]
