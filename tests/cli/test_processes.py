"""The commands as processes: pipes, memory, signals, a terminal, missing libraries."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import covey
from covey.runtime import progress
from covey.runtime.libraries import remedy
from tests.cli.commands import COVEY, conn_log, iris, on_a_terminal, piped, run_here


def test_pipes_are_read_and_written_and_may_be_closed_early(folder):
    """Standard input and output, and a reader that leaves early: no stack trace, no progress."""
    iris().to_csv("iris.csv", index=False)
    big = pd.concat([iris()] * 200)
    big.to_csv("big.csv", index=False)
    done = piped("select", "-", "-l", "species", "--model", "m", input=Path("iris.csv").read_text())
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) > 5
    assert "\x1b" not in done.stderr
    command = f"{' '.join(COVEY)} classify - --model m < big.csv | head -2"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert len(done.stdout.splitlines()) == 2
    assert "Traceback" not in done.stderr
    code, _, err = run_here(["classify", "-", "--model", "m"], b'{"sepal_length": 1}\n')
    assert (code, "pass --format jsonl" in err) == (1, True)
    command = f"{' '.join(COVEY)} select big.csv -l species -k 2 --model n | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("sepal_length")
    assert "Traceback" not in done.stderr
    assert Path("n").exists()  # although nobody has read all rows
    assert run_here(["classify", "iris.csv", "--model", "m", "-q"])[2] == ""


PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


@pytest.mark.minutes
def test_ten_times_the_rows_are_classified_in_bounded_memory(folder):
    """Ten times the rows, which take 60 MB as a table, must not take more than a few blocks' worth of memory more."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 1000, (20_000, 4))
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 0] > X[:, 1], "left", "right"))
    frame.iloc[:3000].to_csv("train.csv", index=False)
    text = frame.to_csv(index=False)
    header, _, body = text.partition("\n")
    Path("small.csv").write_text(text)
    with Path("large.csv").open("w") as file:
        file.write(header + "\n")
        file.writelines(body for _ in range(10))
    assert run_here(["select", "train.csv", "-l", "kind", "-o", "few.csv", "--model", "m"])[0] == 0
    peaks = {}
    for name in ("small", "large"):
        command = [*COVEY, "classify", f"{name}.csv", "--model", "m", "-o", f"{name}.out.csv", "-q"]
        done = subprocess.run([sys.executable, "-c", PEAK, *command], capture_output=True, text=True, check=True)
        code, peak = map(int, done.stdout.split())
        assert code == 0
        peaks[name] = peak / 1024
    answers = pd.read_csv("large.out.csv")
    np.testing.assert_array_equal(answers["covey_row"], np.arange(200_000))
    once = covey.load("m").predict(frame[list("abcd")])
    np.testing.assert_array_equal(answers["covey_label"], np.tile(once, 10))
    assert peaks["large"] - peaks["small"] < 25, peaks


INTERRUPTED = """
import sys, time
from covey.__main__ import start
from covey.experiments.paper.report import METHODS
from covey.experiments.specs import SelectorFactory
from covey.cli.compare import methods

n_fits, most = 0, int(sys.argv[1])

def counted(k):
    def make(*args):
        global n_fits
        n_fits += 1
        if n_fits > most:
            print("waits", flush=True)
            time.sleep(3600)
        return METHODS["CRS-k5"].make(*args)
    return SelectorFactory(make)

methods.crs = counted
sys.argv = ["covey", "compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", "3,5,10", "--html", "r.html",
            "-s", "cosine", "--folds", "2", "-j", "1"]
start()
"""


def test_ctrl_c_keeps_what_was_finished(folder):
    """The comparison takes six fits. The first run waits in the third one, and the second run makes four."""
    iris().to_csv("iris.csv", index=False)
    command = [sys.executable, "-c", INTERRUPTED]
    with subprocess.Popen([*command, "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "waits\n"
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert err.endswith("covey: stopped; what was finished is kept; run the same command again to go on.\n")
    assert "Traceback" not in err
    assert not Path("r.html").exists()
    (kept,) = folder.glob(".r-*/**/records.jsonl")
    assert len(kept.read_text().splitlines()) == 2
    done = subprocess.run([*command, "4"], capture_output=True, text=True, timeout=120, check=True)
    assert "Recommended" in done.stdout
    assert sorted(os.listdir()) == ["iris.csv", "r.html"]


def test_ctrl_c_leaves_no_half_file(folder):
    """The command waits for the rest of its input, so that it has begun a file when the interrupt comes."""
    iris().to_csv("iris.csv", index=False)
    assert run_here(["select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m"])[0] == 0
    command = [*COVEY, "classify", "-", "-m", "m", "-o", "out.csv"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        process.stdin.write("sepal_length,sepal_width,petal_length,petal_width\n5,3,1,0.2\n")
        process.stdin.flush()
        while not list(folder.glob(".*out.csv")):
            assert process.poll() is None, process.stderr.read()
            time.sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (130, "covey: stopped; nothing was written; run the same command again.\n")
    assert sorted(os.listdir()) == ["few.csv", "iris.csv", "m"]


SLOW = "import time\n\ndef slow(a, b):\n    time.sleep(2e-5)\n    return 1 / (1 + abs(a['a'] - b['a']))\n"


AT_ONCE = """
import sys
from covey.runtime import progress
from covey.__main__ import start
progress.DELAY = 0
sys.argv = ["covey", "select", *sys.argv[1:], "-o", "few.csv", "-f"]
start()
"""


def test_a_bar_is_drawn_on_a_terminal_only_and_only_for_long_work(folder, monkeypatch):
    Path("slow_for_a_bar.py").write_text(SLOW)
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.random(80)}).to_csv("t.csv", index=False)
    command = [sys.executable, "-c", AT_ONCE, "t.csv", "-s", "slow_for_a_bar:slow", "--graph", "exact", "-j", "1"]
    assert re.search(r"CRS .* evaluations .*/s .*left .*cluster 'all', 1 of 1", on_a_terminal(command))
    assert "CRS" not in on_a_terminal([*command, "-q"])
    later = AT_ONCE.replace("DELAY = 0", "DELAY = 3600")
    assert "CRS" not in on_a_terminal([sys.executable, "-c", later, *command[3:]])  # short work needs no bar
    monkeypatch.setattr(progress, "DELAY", 0)
    code, _, err = run_here(
        ["select", "t.csv", "-s", "slow_for_a_bar:slow", "--graph", "exact", "-j", "1", "-o", "few.csv", "-f"]
    )
    assert (code, "CRS" in err) == (0, False)  # no terminal, no bar


def test_a_missing_extra_names_the_command(folder):
    code = "import sys; sys.modules['typer'] = None; from covey.__main__ import start; start()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"covey: this needs typer, which is not installed; {remedy('cli')}\n"
    code = "import sys; sys.modules['pandas'] = None; from covey.cli.files.reading import read; read('x.csv')"
    Path("x.csv").write_text("a\n1\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"this needs pandas, which is not installed; {remedy('cli')}" in done.stderr


def test_the_shell_completes_commands():
    env = os.environ | {"_COVEY_COMPLETE": "complete_bash", "COMP_WORDS": "covey sel", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['covey']; from covey.__main__ import start; start()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=False)
    assert "select" in done.stdout


def test_a_bar_is_drawn_while_a_file_is_read(folder):
    """It is drawn once more after the file is closed."""
    pd.concat([iris()] * 300).to_csv("t.csv", index=False)
    Path("conn.log").write_text(conn_log() * 500)
    for options in (("t.csv", "-l", "species", "-k", "2"), ("conn.log", "--hosts")):
        shown = on_a_terminal([sys.executable, "-c", AT_ONCE, *options])
        assert re.search(r"reading .* MB", shown)
        assert "rows selected" in shown
        assert "Error" not in shown
