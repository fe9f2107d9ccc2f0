"""Lets a process that fits a selector with a checkpoint be killed again and again, and says what was lost.

``python -m tests.selectors.killed FOLDER`` fits each selector once without a checkpoint. It then starts the same fit
with a checkpoint in a child process, which counts its evaluations in shared memory, kills it by SIGKILL at a random
moment, and compares how many pairs the child has evaluated with how many have reached the file. After `KILLS` kills,
the fit goes on undisturbed. The children are made by `fork`, so that covey has to be imported only once.
"""

import json
import mmap
import os
import signal
import struct
import sys
import time

import numpy as np

import covey
from covey.runtime import interruptible
from covey.similarity.checkpoint import PAIR, PAIRS
from covey.storage.journal import Journal

KILLS = 13
"""How often the fit of each selector is killed. With four selectors these are 52 moments."""
SECONDS = 50e-6
"""How long an evaluation takes."""
X = np.random.default_rng(0).permutation(150).tolist()
Y = [number % 3 for number in X]
counter = mmap.mmap(-1, 8)
"""How many evaluations the present child has made."""


def nearness(a, b):
    return 1 / (1 + abs(a - b))


def slow(a, b):
    (n,) = struct.unpack_from("<q", counter)
    struct.pack_into("<q", counter, 0, n + 1)
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end:
        pass
    return nearness(a, b)


SELECTORS = {
    "crs": covey.CRS(4, graph="nn-descent", similarity=slow, random_state=0),
    "delta-medoids": covey.DeltaMedoids(similarity=slow, random_state=0),
    "ds3": covey.DS3(similarity=slow),
    "sharpened": covey.Sharpened(covey.CRS(4, similarity=slow), n_neighbors=5, random_state=0),
}


def kept(path):
    """Return how many pairs a file holds, and how many its largest block has."""
    if not os.path.exists(path):
        return 0, 0
    with Journal(path) as journal:
        sizes = [len(content) // PAIR.itemsize for kind, content in journal.blocks() if kind == PAIRS]
    return sum(sizes), max(sizes, default=0)


def outcome(selector):
    found = [[p.indices.tolist(), p.covered_by.tolist(), p.homogeneity] for p in selector.prototypes_.values()]
    return [found, selector.n_evaluations_]


def report(name, path):
    """Kill the fit of a selector again and again, and say what was lost."""
    rng = np.random.default_rng(len(name))
    interruptible.SECONDS = 0.002  # so that many moments lie between two writes, and many within one
    selector = SELECTORS[name]
    began = time.perf_counter()
    expected = outcome(selector.fit(X, Y))
    seconds = time.perf_counter() - began
    n_kills, most_repeated = 0, 0
    while n_kills < KILLS:
        before, _ = kept(path)
        struct.pack_into("<q", counter, 0, 0)
        child = os.fork()
        if child == 0:
            selector.set_params(checkpoint=path).fit(X, Y)
            os._exit(0)
        time.sleep(rng.random() * 2 * seconds / KILLS)
        os.kill(child, signal.SIGKILL)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0:  # it was faster; begin anew with the kills
            os.unlink(path)
            continue
        n_kills += 1
        (evaluated,) = struct.unpack_from("<q", counter)
        most_repeated = max(most_repeated, evaluated - (kept(path)[0] - before))
    selector.set_params(checkpoint=path).fit(X, Y)
    return {
        "n_kills": n_kills,
        "found": outcome(selector),
        "expected": expected,
        "most_repeated": most_repeated,
        "largest_batch": 2 * kept(path)[1],  # a step may be twice as large as the one before, which was written
        "n_asked_again": 5 + 5 * 4,  # when the file is opened, and by the checks of three classes and of all
    }


if __name__ == "__main__":
    print(json.dumps({name: report(name, os.path.join(sys.argv[1], name)) for name in SELECTORS}))
