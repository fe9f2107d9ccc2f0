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

import covey
from covey.runtime.extras import remedy
from tests.cli.commands import COVEY, conn_log, iris, on_a_terminal, piped


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
    done = piped("classify", "-", "--model", "m", input='{"sepal_length": 1}\n')
    assert (done.returncode, "pass --format jsonl" in done.stderr) == (1, True)
    command = f"{' '.join(COVEY)} select big.csv -l species -k 2 --model n | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.startswith("sepal_length")
    assert "Traceback" not in done.stderr
    assert Path("n").exists()  # although nobody has read all rows
    assert piped("classify", "iris.csv", "--model", "m", "-q").stderr == ""


PEAK = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL).returncode
print(code, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


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
    assert piped("select", "train.csv", "-l", "kind", "-o", "few.csv", "--model", "m").returncode == 0
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
from covey import experiments
from covey import __main__ as cli
from covey.experiments import Method, METHODS
from covey.cli import comparison

def slowly(k):
    def make(*args):
        time.sleep(0.3)
        return METHODS["CRS-k5"].make(*args)
    return Method(make)

comparison.crs = slowly
sys.argv = ["covey", "compare", "iris.csv", "-l", "species", "--methods", "crs", "-k", "3,5,10", "--html", "r.html"]
cli.main()
"""


def test_ctrl_c_keeps_what_was_finished(folder):
    iris().to_csv("iris.csv", index=False)
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED], stderr=subprocess.PIPE, text=True)
    for _ in range(600):
        time.sleep(0.05)
        kept = list(folder.glob(".r-*/records.jsonl"))
        if kept and len(kept[0].read_text().splitlines()) >= 2:
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; what was finished is kept; run the same command again to go on." in err
    assert "Traceback" not in err
    assert not Path("r.html").exists()
    before = kept[0].read_text()
    done = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, timeout=60, check=True)
    assert "Recommended" in done.stdout
    assert len(before.splitlines()) >= 2
    assert sorted(os.listdir()) == ["iris.csv", "r.html"]


def test_ctrl_c_leaves_no_half_file(folder):
    pd.concat([iris()] * 2000).to_csv("big.csv", index=False)
    iris().to_csv("iris.csv", index=False)
    assert piped("select", "iris.csv", "-l", "species", "-o", "few.csv", "-m", "m").returncode == 0
    process = subprocess.Popen(
        [*COVEY, "classify", "big.csv", "-m", "m", "-o", "out.csv"], stderr=subprocess.PIPE, text=True
    )
    for _ in range(600):
        time.sleep(0.01)
        if list(folder.glob(".*out.csv")):
            break
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "stopped; nothing was written" in err
    assert sorted(os.listdir()) == ["big.csv", "few.csv", "iris.csv", "m"]


SLOW = "import time\n\ndef slow(a, b):\n    time.sleep(2e-5)\n    return 1 / (1 + abs(a['a'] - b['a']))\n"


AT_ONCE = """
import sys
from covey.runtime import progress
from covey import __main__ as cli
progress.DELAY = 0
sys.argv = ["covey", "select", *sys.argv[1:], "-o", "few.csv", "-f"]
cli.main()
"""


def test_a_bar_is_drawn_on_a_terminal_only_and_only_for_long_work(folder):
    Path("mine.py").write_text(SLOW)
    rng = np.random.default_rng(0)
    pd.DataFrame({"a": rng.random(130)}).to_csv("t.csv", index=False)
    command = [sys.executable, "-c", AT_ONCE, "t.csv", "-s", "mine:slow", "--graph", "exact", "-j", "1"]
    assert re.search(r"CRS .* evaluations .*/s .*left .*cluster 'all', 1 of 1", on_a_terminal(command))
    assert "CRS" not in on_a_terminal([*command, "-q"])
    assert "CRS" not in subprocess.run(command, capture_output=True, text=True, check=True).stderr
    # short work needs no bar
    assert "CRS" not in on_a_terminal([*COVEY, "select", "t.csv", "--similarity", "euclidean", "-o", "few.csv", "-f"])


def test_a_missing_extra_names_the_command(folder):
    code = "import sys; sys.modules['typer'] = None; import covey.__main__"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"covey: this needs typer, which is not installed; {remedy('cli')}\n"
    code = "import sys; sys.modules['pandas'] = None; from covey.cli.files.reading import read; read('x.csv')"
    Path("x.csv").write_text("a\n1\n")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert f"this needs pandas, which is not installed; {remedy('cli')}" in done.stderr


def test_the_shell_completes_commands():
    env = os.environ | {"_COVEY_COMPLETE": "complete_bash", "COMP_WORDS": "covey sel", "COMP_CWORD": "1"}
    code = "import sys; sys.argv = ['covey']; from covey.__main__ import main; main()"
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
