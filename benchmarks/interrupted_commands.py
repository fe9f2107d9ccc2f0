"""Ctrl-C at any moment of a command: ``python -m benchmarks.interrupted_commands [--times 100] [--seed 0] [NAME ...]``.

Every command is run once without an interrupt, and then as often as asked, each time with an interrupt after a random
delay between 0 and a little more than the time of the first run. Printed is how often the command

- has stopped: exit code 130, one line more than it had said until then, and no file but those that are whole;
- was done: exit code 0 and all of its output, because the interrupt came too late;
- had not begun: Python was still starting and had not run the first lines of covey, so that it has ended by the signal
  or by an error of its own, which nobody but Python can change; and the latest delay of these.

Anything else is a fault: it is printed in full, and makes the exit code 1. As a terminal does, every second interrupt
reaches all processes of the command instead of the first one alone.
"""

import argparse
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

LATE = 0.05
"""How many seconds longer than the undisturbed command the longest delay is."""
FIRST_LINES = re.compile(r"^ *File .*/covey/(__init__|__main__|cli/startup)\.py.*\n.*covey.*\n", re.MULTILINE)
"""Lines of a traceback that come before `heed_interrupts` is called."""
VARYING = re.compile(r'base64,[^"]*|(less than )?[0-9]+([.][0-9]+)?')
"""What differs from run to run in a report: the seconds that methods took, and the pictures of them."""
HANGS = 60
"""After how many seconds a command that was interrupted is said to hang."""
SLOW = """
def alike(a, b):
    return 1 / (1 + sum(abs(a["a"] - b["a"]) for _ in range(2000)) / 2000)
"""
COMMANDS = {
    "help": "--help",
    "select": "select rows.csv -l kind -o few.csv -m model --picture map.html",
    "classify": "classify many.csv -m made -o answers.csv --scores scores.json",
    "inspect": "inspect made",
    "compare": "compare rows.csv -l kind -k 3,5 --methods crs,random --folds 2 -s cosine --html report.html",
    "processes": "select rows.csv -s slow.py:alike -j 2 -o few.csv",
}
"""Command lines by name. The last one lets several processes call a function."""
MADE = "select rows.csv -l kind -o nothing.csv -m made -q"
"""The command that makes the model."""


@dataclass(frozen=True)
class Ended:
    """How a command has ended: its exit code, what it has printed, and what files there are now."""

    code: int
    out: str
    err: str
    files: dict[str, str]
    left: tuple[str, ...] = ()
    """Which processes of it are still there."""
    had_ended: bool = False
    """Whether it had ended before the interrupt was sent."""

    def judge(self, whole: "Ended") -> str:
        """Return what has happened, compared with the command that nothing has disturbed."""
        if self.left:
            return f"fault: processes are left: {self.left}"
        if self.code == 0 and (self.out, self.files) == (whole.out, whole.files):
            return "done" if self.had_ended else "done meanwhile"
        if self.code in (-signal.SIGINT, 1) and not self.files and "covey" not in FIRST_LINES.sub("", self.err):
            return "not begun"
        *before, last = self.err.splitlines() or [""]
        if self.code != 130 or before != whole.err.splitlines()[: len(before)] or not last.startswith("covey: stopped"):
            return "fault: not one line and 130"
        if "nothing was written" in self.err and self.files:
            return "fault: something was written"
        return "stopped" if self.files.items() <= whole.files.items() else "fault: half files"


def prepare(folder: Path) -> None:
    """Write the tables that the commands read, and a model."""
    rng = random.Random(0)
    rows = [
        f"{kind},{','.join(f'{rng.gauss(at, 1):.3f}' for _ in range(4))}\n"
        for at, kind in enumerate("xyz")
        for _ in range(60)
    ]
    (folder / "rows.csv").write_text("kind,a,b,c,d\n" + "".join(rows))
    (folder / "many.csv").write_text("kind,a,b,c,d\n" + "".join(100 * rows))
    (folder / "slow.py").write_text(SLOW)
    subprocess.run([*covey(), *MADE.split()], cwd=folder, check=True)
    (folder / "nothing.csv").unlink()


def covey() -> list[str]:
    """The command, as a user starts it."""
    return [sys.executable, "-m", "covey"]


def run(words: list[str], inputs: Path, delay: float | None, everybody: bool = False) -> Ended:
    """Run a command in a copy of the folder of inputs, interrupted after a delay unless that is None."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "here")
        shutil.copytree(inputs, folder)
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        with subprocess.Popen([*covey(), *words], cwd=folder, start_new_session=True, **pipes) as process:
            had_ended = False
            try:
                if delay is not None:
                    time.sleep(delay)
                    had_ended = process.poll() is not None
                    (os.killpg if everybody and not had_ended else send)(process.pid, signal.SIGINT)
                out, err = process.communicate(timeout=HANGS)
            except subprocess.TimeoutExpired:
                out, err = "", "it hangs"
            finally:
                left = end_left(process.pid)
        files = {path.name: masked(path.read_bytes().decode("latin-1")) for path in folder.iterdir() if path.is_file()}
    known = {path.name for path in inputs.iterdir()}
    return Ended(
        process.returncode,
        masked(out),
        err,
        {name: content for name, content in files.items() if name not in known},
        left=left,
        had_ended=had_ended,
    )


def masked(text: str) -> str:
    """Return a text without what differs from run to run."""
    return VARYING.sub("0", text)


def send(pid: int, number: int) -> None:
    """Send a signal to a process of which it is unknown whether it has ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)


def end_left(group: int) -> tuple[str, ...]:
    """End the processes of a group that are left a second after its first has ended, and return their commands."""
    until = time.monotonic() + 1
    while (left := members(group)) and time.monotonic() < until:
        time.sleep(0.01)
    if left:
        os.killpg(group, signal.SIGKILL)
    return left


def members(group: int) -> tuple[str, ...]:
    """Return the commands of the processes of this group, without those that have ended and were not waited for."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            state, _, member_of = status.read_text().rpartition(")")[2].split()[:3]
            if int(member_of) == group and state != "Z":
                found.append((status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode())
    return tuple(found)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("commands", nargs="*", default=list(COMMANDS))
    options = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # shells let what runs in the background ignore Ctrl-C
    rng = random.Random(options.seed)
    n_faults = 0
    with tempfile.TemporaryDirectory() as folder:
        prepare(Path(folder))
        for name in options.commands:
            words = COMMANDS[name].split()
            run(words, Path(folder), None)  # compiles what is compiled once
            began = time.monotonic()
            whole = run(words, Path(folder), None)
            seconds = time.monotonic() - began
            assert whole.code == 0, whole.err
            found, latest = Counter(), 0.0
            for at in range(options.times):
                delay = rng.uniform(0, seconds + LATE)
                ended = run(words, Path(folder), delay, everybody=at % 2 == 1)
                verdict = ended.judge(whole)
                found[verdict] += 1
                if verdict == "not begun":
                    latest = max(latest, delay)
                if verdict.startswith("fault"):
                    n_faults += 1
                    print(f"{name} after {delay:.3f} s, {verdict}: {ended.code} {ended.err} {list(ended.files)}")
            counts = ", ".join(f"{count} {verdict}" for verdict, count in sorted(found.items()))
            print(f"{name:10} {seconds:.2f} s: {counts}; not begun until {latest:.3f} s", flush=True)
    return int(n_faults > 0)


if __name__ == "__main__":
    raise SystemExit(main())
