"""Whether tests that start processes, send signals or wait give the same result every time: ``make steady``.

Such tests depend on how the machine shares its time, and one that fails once in thirty runs is found by nobody who runs
it once. They have the mark `processes`. Most get it from what they do, so that none is forgotten:
`does_more_than_compute` reads the source of a test, of its fixtures, and of the tests' own functions that these call.
Where it is the library that starts processes, the test has a mark of its own.

``python -m tests.steady --times 30 --busy 2 -n 2`` runs them 30 times beside two processes that never rest, and says
how often each has failed. All other words are options of pytest.
"""

import argparse
import inspect
import re
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager
from functools import cache

MORE = re.compile(
    r"\bsubprocess\.|\bPopen\b|\bmultiprocessing\b|\bos\.(fork|kill|killpg)\b|\bsignal\.|\bpty\."
    r"|\bsleep\(|\bwait\(|\bThread\(|\bBarrier\(|\bLocalCluster\(|\bClient\(|\bwebdriver\b"
)
"""What the source of such a test has, and that of one which only computes has not."""


def does_more_than_compute(item):
    """Say whether a test starts processes, sends signals or waits."""
    fixtures = (made.func for found in item._fixtureinfo.name2fixturedefs.values() for made in found)
    used = [item.function, *(made for made in fixtures if (made.__module__ or "").startswith("tests"))]
    return any(_does_more(inspect.unwrap(function)) for function in used if not _is_for_all(function))


def _is_for_all(function):
    """Say whether this is a fixture that every test has."""
    return function.__module__ == "tests.conftest" and function.__name__ in ("clean_folder", "names_of_similarities")


@cache
def _does_more(function):
    """Say whether a function does, or one of the tests' own functions and texts of programs that it names."""
    seen, waiting = set(), [function]
    while waiting:
        found = waiting.pop()
        if found in seen:
            continue
        seen.add(found)
        if MORE.search(found if isinstance(found, str) else inspect.getsource(found)):
            return True
        if inspect.isfunction(found):
            named = [inspect.unwrap(value) for value in _named(found) if callable(value) or isinstance(value, str)]
            waiting += [value for value in named if isinstance(value, str) or _is_ours(value)]
    return False


def _named(function):
    """The values of the global names that a function uses."""
    names = re.findall(r"(?<![\w.])[A-Za-z_]\w*", inspect.getsource(function))
    return [function.__globals__[name] for name in dict.fromkeys(names) if name in function.__globals__]


def _is_ours(value):
    is_code = inspect.isfunction(value) or inspect.isclass(value)
    return is_code and (value.__module__ or "").split(".")[0] in ("tests", "benchmarks")


@contextmanager
def busy(n):
    """Let this many processes compute without a rest."""
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def run(options):
    """Run the tests once: whether all went well, the names of those that failed, and all that pytest has said."""
    command = [sys.executable, "-m", "pytest", "-m", "processes and not minutes", "-q", "-rfE", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = re.findall(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return done.returncode == 0, failed, done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--times", type=int, default=30, help="how often the tests are run")
    parser.add_argument("--busy", type=int, default=0, help="how many processes compute beside them")
    asked, options = parser.parse_known_args()
    failures, n_bad = Counter(), 0
    with busy(asked.busy):
        for number in range(1, asked.times + 1):
            began = time.monotonic()
            went_well, failed, said = run(options)
            failures.update(failed)
            n_bad += not went_well
            told = said.strip().splitlines()[-1]
            print(f"run {number} of {asked.times}, {time.monotonic() - began:.0f} s: {told}", flush=True)
            if not went_well:
                print(said, flush=True)
    print(f"{asked.times - n_bad} of {asked.times} runs beside {asked.busy} busy processes went well.")
    for name, count in failures.most_common():
        print(f"{count} of {asked.times} times: {name}")
    return int(n_bad > 0)


if __name__ == "__main__":
    raise SystemExit(main())
