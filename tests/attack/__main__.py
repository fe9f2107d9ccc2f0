"""`python -m tests.attack [MODULE ...] [--cases N] [--seed S]`, or `MODULE --case NUMBER` to repeat one case."""

import argparse
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module

import numpy as np

from tests.attack import _runner

CASES = 2000
LINES, WIDTH = 20, 300
"""How much of an example is shown; repeating its case shows all of it."""
PER_SEED = 10**9
"""The case numbers of a seed begin at so many times the seed, so that seeds share no case."""


def main(arguments=None):
    """Run the attacks that are asked for; 1 if there is a fault, else 0."""
    asked = parser().parse_args(arguments)
    modules = asked.modules or _runner.names()
    if asked.case is not None:
        return repeat(modules, asked.case)
    first = asked.seed * PER_SEED
    reports = []
    with ThreadPoolExecutor(asked.processes) as pool:
        for report in pool.map(lambda name: _runner.run(name, first, asked.cases), modules):
            print(f"{report.name} is done, with {len(report.faults)} kinds of faults.", flush=True)
            reports.append(report)
    print(table(reports))
    print(examples(reports))
    return int(any(report.faults for report in reports))


def parser():
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help=f"by default all: {', '.join(_runner.names())}")
    parser.add_argument("--cases", type=int, default=CASES, help="how many cases of each module (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other seeds give other cases (default: %(default)s)")
    parser.add_argument("--processes", type=int, default=2, help="how many modules run at a time")
    parser.add_argument("--case", type=int, help="the number of a single case to repeat in this process")
    return parser


def repeat(modules, case):
    """Run one case of each module here, where a debugger can follow it."""
    outcomes = {
        f"{name}: {outcome}"
        for name in modules
        for outcome in import_module(f"tests.attack.{name}").attack(np.random.default_rng(case), 1)
    }
    print("\n".join(sorted(outcomes)))
    return int(any(": WRONG" in outcome for outcome in outcomes))


def table(reports):
    """All outcomes, one line each."""
    rows = [("attack", "cases", "outcome")]
    for report in reports:
        rows += [(report.name, str(times), outcome) for outcome, times in sorted(report.outcomes.items())]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{name:{widths[0]}}  {times:>{widths[1]}}  {outcome}" for name, times, outcome in rows)


def examples(reports):
    """The first example of each fault and how to repeat it."""
    lines = []
    for report in reports:
        for title, (case, description) in sorted(report.examples.items()):
            lines += ["", f"{report.name}: {title}", f"  python -m tests.attack {report.name} --case {case}"]
            lines += [f"  {shortened(line)}" for line in description.splitlines()[:LINES]]
    return "\n".join(lines) if lines else "\nNo fault was found."


def shortened(line):
    return line if len(line) <= WIDTH else f"{line[:WIDTH]} ..."


if __name__ == "__main__":
    sys.exit(main())
