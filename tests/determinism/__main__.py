"""Compare each setting alone, and all other types of processors that can be imitated, with a plain process.

    python -m tests.determinism [n]

n is the number of objects of each case, 120 by default. It prints how many results were compared and which differ.
Processors need real data in the folder named by COVEY_DATA.
"""

import os
import sys

from tests.determinism.settings import OTHER_PROCESSORS, SAME_BYTES, differences, results

SIZES = {"images": 1000, "distances": 1000, "texts": 1000, "surnames": 1000}


def main(n):
    failed = False
    plain = results({"n": n})
    for name, (settings, environment) in SAME_BYTES.items():
        differing = differences(plain, results({"n": n, **settings}, environment))
        print(f"{name}: {len(plain)} results, {len(differing)} differ", *differing[:10], sep="\n  ", flush=True)
        failed |= bool(differing)
    if os.environ.get("COVEY_DATA"):
        failed |= compare_processors()
    return failed


def compare_processors():
    """Say whether any pick differs on a processor of another type."""
    failed = False
    plain = results(SIZES, module="real")
    for name, environment in OTHER_PROCESSORS.items():
        found = results(SIZES, environment, module="real")
        picks = differences(plain["picks"], found["picks"])
        scores = differences(plain["scores"], found["scores"])
        print(f"{name}: {len(plain['picks'])} lists of picks and answers, {len(picks)} differ", *picks, sep="\n  ")
        print(f"  {len(scores)} of {len(plain['scores'])} arrays of similarities differ in some bits", flush=True)
        failed |= bool(picks)
    return failed


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 120))
