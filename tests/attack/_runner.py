"""Runs attacks in processes of their own, so that a crash, a hang or a flood of memory is one more outcome.

1. A worker process runs the cases of one module one after the other and says which one it begins.
2. If it dies or falls silent, the case under way is at fault. A new worker goes on with the next case.
3. After `MOST_DEATHS` deaths the module is given up.
"""

import contextlib
import json
import os
import pkgutil
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import tests.attack

ROOT = Path(__file__).parents[2]
MEMORY = 3 << 30
"""Bytes of address space for each worker: an honest small case needs a tenth of it."""
SECONDS = 60
"""How long a case may take; the slowest honest one compiles functions, which takes some seconds on a busy machine."""
MOST_DEATHS = 25


@dataclass
class Report:
    """What became of the cases of one module."""

    name: str
    outcomes: Counter = field(default_factory=Counter)
    """How often each outcome occurred, by its first line."""
    examples: dict = field(default_factory=dict)
    """For each fault the number of the first case that shows it, and the lines that describe it."""

    def add(self, case, outcome, times=1):
        title, _, description = outcome.partition("\n")
        self.outcomes[title] += times
        if title.startswith("WRONG"):
            self.examples.setdefault(title, (case, description))

    @property
    def faults(self):
        return [title for title in self.outcomes if title.startswith("WRONG")]


def names():
    """The attacks that there are."""
    return sorted(module.name for module in pkgutil.iter_modules(tests.attack.__path__) if module.name[0] != "_")


def run(name, first, n_cases, *, module=None, memory=MEMORY, seconds=SECONDS):
    """The report on so many cases of an attack, by number from `first` on; `module` is it, if not of this package."""
    module = f"{tests.attack.__name__}.{name}" if module is None else module
    report, case, last = Report(name), first, first + n_cases - 1
    for _ in range(MOST_DEATHS):
        case = run_worker(report, module, case, last, memory, seconds) + 1
        if case > last:
            return report
    report.add(case, f"WRONG the worker died {MOST_DEATHS} times, the other cases were not run", last - case + 1)
    return report


def run_worker(report, module, first, last, memory, seconds):
    """Run one worker as far as it gets and add the outcomes to the report; the last case that it has begun."""
    reading, writing = os.pipe()
    arguments = [module, *map(str, (first, last, memory, writing))]
    with tempfile.TemporaryFile() as errors, open(reading, "rb", buffering=0) as told:
        worker = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", "tests.attack._worker", *arguments],
            cwd=ROOT,
            pass_fds=[writing],
            stdout=subprocess.DEVNULL,
            stderr=errors,
            start_new_session=True,
        )
        os.close(writing)
        case, under_way, line = first, True, b""
        while (under_way or case < last) and (line := next_line(told, seconds)):
            message = json.loads(line)
            case, under_way = message["case"], message["outcomes"] is None
            for outcome, times in (message["outcomes"] or {}).items():
                report.add(case, outcome, times)
        code = end(worker, 0 if line is None else seconds)
        if under_way:
            report.add(case, death(code, line is None, seconds, errors))
    return case


def next_line(told, seconds):
    """The next line of the pipe, empty at its end; None if none comes in time."""
    return told.readline() if select.select([told], [], [], seconds)[0] else None


def end(worker, seconds):
    """Let the worker end by itself for so long, then kill it and all processes of its session; its exit code."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        worker.wait(seconds)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(worker.pid, signal.SIGKILL)
    return worker.wait()


def death(code, silent, seconds, errors):
    """The outcome of a case that has ended its worker, with the last lines that the worker has written."""
    if silent:
        return f"WRONG no answer within {seconds} seconds"
    errors.seek(0)
    lines = errors.read().decode(errors="replace").splitlines()[-20:]
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    return "\n".join([f"WRONG the process ended {how}", *lines])
