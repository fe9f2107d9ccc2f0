"""The process in which an attack runs: `python -m tests.attack._worker MODULE FIRST LAST MEMORY PIPE`.

It writes one JSON line to the pipe before each case, and one with the outcomes after it. So whoever reads the pipe
knows which case was under way when this process died.
"""

import json
import os
import resource
import sys
from importlib import import_module

import numpy as np


def work(name, first, last, memory, pipe):
    """Run the cases `first` to `last` of a module with so many bytes of memory at most."""
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    attack = import_module(name).attack
    with os.fdopen(pipe, "w", buffering=1) as told:
        for case in range(first, last + 1):
            print(json.dumps({"case": case, "outcomes": None}), file=told)
            outcomes = attack(np.random.default_rng(case), 1)
            print(json.dumps({"case": case, "outcomes": dict(outcomes)}), file=told)


if __name__ == "__main__":
    work(sys.argv[1], *map(int, sys.argv[2:]))
