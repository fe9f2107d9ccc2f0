"""python -m tests.same_answers --old TREE [--new TREE] [--problems N] [--commands] [--show NUMBER]"""

import argparse
import json
import os
import random
import re
import select
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.same_answers.renames import LEFT_OUT, renewed

ROOT = Path(__file__).parents[2]
SECONDS = 300
"""How long an answer may take; the first ones compile functions."""
EXAMPLES = 3
LONGEST = 700


class Tree:
    """A worker of one source tree, started when it is first asked and again if it has ended."""

    def __init__(self, path):
        self.path, self.process = Path(path).resolve(), None

    def start(self):
        python = self.path / ".venv" / "bin" / "python"
        environment = os.environ | {
            "PYTHONPATH": f"{self.path / 'src'}:{ROOT}",
            "PYTHONHASHSEED": "0",
            "COLUMNS": "120",
            "NO_COLOR": "1",
            "SCIPY_ARRAY_API": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self.process = subprocess.Popen(
            [str(python) if python.exists() else sys.executable, "-m", "tests.same_answers.worker"],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, request):
        if self.process is None:
            self.start()
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def answer(self):
        """Return the next answer; if none comes, that, and end the worker."""
        in_time = select.select([self.process.stdout], [], [], SECONDS)[0]
        line = self.process.stdout.readline() if in_time else ""
        if line:
            return json.loads(line)
        self.process.kill()
        code = self.process.wait()
        self.process = None
        return {"call": "?", "end": "no answer in time" if not in_time else f"the worker ended with {code}"}

    def close(self):
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()


class Differences:
    """What differs, by kind: the call, the part of the answer, and how the two values differ."""

    def __init__(self):
        self.n_cases, self.n_different, self.calls = 0, 0, defaultdict(int)
        self.kinds = defaultdict(list)

    def add(self, name, old, new):
        """Compare the answers to a case."""
        self.n_cases += 1
        self.calls[new["call"]] += 1
        here = {}
        for path, values in differing(renewed_all(old), renewed_all(new)):
            if LEFT_OUT.search(path):
                continue
            here.setdefault(re.sub(r"[\[.][\d]+\]?", "", path).split("  ")[0], (path, values))
        self.n_different += bool(here)
        for part, (path, values) in here.items():
            shape = tuple(re.sub(r"\d+", "#", str(value))[:80] for value in values) if is_words(values) else ()
            self.kinds[new["call"], part, shape].append((name, path, values, new.get("what", "")))

    def __str__(self):
        lines = [f"{self.n_cases} cases, {self.n_different} differ."]
        lines += [f"  {count} {call}" for call, count in sorted(self.calls.items())]
        for (call, part, _), cases in sorted(self.kinds.items(), key=lambda item: -len(item[1])):
            lines += ["", f"{len(cases)} x {call}: {part}"]
            for name, path, (old, new), what in cases[:EXAMPLES]:
                lines += [f"  case {name}  {what[:LONGEST]}", f"    at  {path}"]
                lines += [f"    old {shortened(old)}", f"    new {shortened(new)}"]
        return "\n".join(lines)


def is_words(values):
    return all(isinstance(value, str | None) for value in values) and any(" " in (value or "") for value in values)


def shortened(value):
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."


def renewed_all(answer):
    return json.loads(renewed(json.dumps(answer)))


def differing(old, new, path=""):
    """Yield the paths at which two answers differ, with both values. The description is not compared."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys([*old, *new]):
            if key not in ("what", "call"):
                yield from differing(old.get(key), new.get(key), f"{path}.{key}" if path else key)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for at, (a, b) in enumerate(zip(old, new, strict=True)):
            yield from differing(a, b, f"{path}[{at}]")
    elif isinstance(old, list) and isinstance(new, list):
        yield path, ([part for part in old if part not in new], [part for part in new if part not in old])
    elif old != new:
        yield path, (old, new)


def compare(trees, requests, differences):
    """Ask the trees the same things at the same time."""
    for name, request in requests:
        for tree in trees:
            tree.ask(request)
        differences.add(name, *[tree.answer() for tree in trees])
        if differences.n_cases % 200 == 0:
            print(f"{differences.n_cases} cases, {differences.n_different} differ", flush=True)


def main(arguments=None):
    """Compare, and print what differs; 1 if anything does, else 0."""
    asked = parser().parse_args(arguments)
    differences = Differences()
    if asked.show is not None:
        trees = [Tree(asked.old), Tree(asked.new)]
        compare(trees, requests_of(asked, [asked.show]), differences)
    else:
        numbers = range(asked.first, asked.first + asked.problems) if not asked.commands else None
        requests = list(requests_of(asked, numbers))
        if asked.sample is not None:
            requests = random.Random(0).sample(requests, min(asked.sample, len(requests)))
        with ThreadPoolExecutor(asked.pairs) as pool:
            shares = [requests[at :: asked.pairs] for at in range(asked.pairs)]
            pairs = [[Tree(asked.old), Tree(asked.new)] for _ in shares]
            list(pool.map(compare, pairs, shares, [differences] * len(shares)))
        for pair in pairs:
            for tree in pair:
                tree.close()
    print(differences)
    return int(differences.n_different > 0)


def requests_of(asked, numbers):
    """Yield the name of each case and what the workers are asked."""
    if not asked.commands:
        yield from ((str(number), int(number)) for number in numbers)
        return
    from tests.same_answers import commands

    for name, case in commands.cases(asked.random):
        if numbers is None or name in numbers:
            yield name, case


def parser():
    parser = argparse.ArgumentParser(prog="python -m tests.same_answers", description=__doc__)
    parser.add_argument("--old", required=True, help="the tree to compare with")
    parser.add_argument("--new", default=ROOT, help="the tree to compare, by default this one")
    parser.add_argument("--problems", type=int, default=1000, help="how many problems (default: %(default)s)")
    parser.add_argument("--first", type=int, default=0, help="the number of the first problem")
    parser.add_argument("--commands", action="store_true", help="run command lines instead of problems")
    parser.add_argument("--random", type=int, default=200, help="how many random command lines beside the listed ones")
    parser.add_argument("--sample", type=int, help="so many of the command lines, drawn at random")
    parser.add_argument("--pairs", type=int, default=1, help="how many pairs of workers there are")
    parser.add_argument("--show", help="compare only the case of this name")
    return parser


if __name__ == "__main__":
    sys.exit(main())
