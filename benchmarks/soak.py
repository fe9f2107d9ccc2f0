"""Many fits and predictions at once: ``python -m benchmarks.soak [--cases 300] [--seed 0]``.

1. A process of its own runs every case alone, and writes down a digest of each answer.
2. Another process, whose memory is capped, runs the same cases from four threads at once.
3. No answer may differ, and neither memory, threads, file handles nor temporary files may grow.

A case is a random kind of objects and similarity, a random selector, a random number of objects, and a classifier that
answers queries, some of them after it was saved and loaded.
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numba import njit

import covey

THREADS = 4
"""How many threads run cases at once."""
CAP = 2 << 30
"""How many bytes of address space the process may take beyond what it takes when the threads begin. The cases need a
small part of that; a case that would copy everything for every thread would not get it."""
LARGEST = 1200
"""The most objects of a case."""
ALLOWED = {"MiB": 48, "threads": 0, "handles": 0, "files": 0}
"""By how much the least that was seen in the last quarter may exceed the least of the second one. Memory that the C
library keeps for the next array differs between runs, because threads overlap differently."""


def overlap(a: Any, b: Any) -> float:
    """A similarity of two sets in plain Python."""
    return len(a & b) / max(len(a | b), 1)


def closeness(A: Any, B: Any) -> Any:
    """A similarity of many pairs of rows at once."""
    return 1 / (1 + np.abs(np.asarray(A) - np.asarray(B)).sum(axis=1))


@njit(nogil=True)
def compiled_closeness(x, y):  # type: ignore[no-untyped-def]
    """A similarity that numba compiles."""
    total = 0.0
    for c in range(x.size):
        total += abs(x[c] - y[c])
    return 1 / (1 + total)


BATCHED = covey.batched(closeness)


def mixed_frame(rng: np.random.Generator, n: int) -> Any:
    """A frame of numbers and categories, some of them missing."""
    import pandas as pd

    numbers = rng.random(n).round(2)
    numbers[rng.random(n) < 0.1] = np.nan
    return pd.DataFrame(
        {"size": numbers, "color": rng.choice(["red", "green", "blue"], n), "n": rng.integers(9, size=n)}
    )


def sets(rng: np.random.Generator, n: int) -> list[Any]:
    """Sets of a few out of 40 words."""
    return [frozenset(rng.integers(40, size=rng.integers(1, 12)).tolist()) for _ in range(n)]


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Words of three to nine letters."""
    return ["".join(rng.choice(list("abcdef"), rng.integers(3, 10))) for _ in range(n)]


def square(X: Any) -> Any:
    """The matrix of the cosines of rows."""
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    return unit @ unit.T


KINDS: dict[str, tuple[Any, Callable[[np.random.Generator, int], Any]]] = {
    "dense": ("cosine", lambda rng, n: rng.standard_normal((n, 16))),
    "float32": ("euclidean", lambda rng, n: rng.random((n, 40), dtype=np.float32)),
    "CSR": ("cosine", lambda rng, n: sp.random_array((n, 200), density=0.05, format="csr", rng=rng)),
    "strings": ("levenshtein", words),
    "sets": ("jaccard", sets),
    "dicts": ("cosine", lambda rng, n: [{str(key): 1.0 + key for key in one} for one in sets(rng, n)]),
    "mixed": ("gower", mixed_frame),
    "bits": ("jaccard", lambda rng, n: covey.PackedBits(np.packbits(rng.random((n, 128)) < 0.2, axis=1))),
    "callable": (overlap, lambda rng, n: sets(rng, n // 4)),
    "batched": (BATCHED, lambda rng, n: rng.random((n, 8))),
    "compiled": (compiled_closeness, lambda rng, n: rng.random((n, 8))),
    "precomputed": ("precomputed", lambda rng, n: square(rng.random((n, 8)))),
}


def selectors(rng: np.random.Generator, similarity: Any, n_jobs: int) -> Any:
    """A random selector."""
    shared = {"similarity": similarity, "n_jobs": n_jobs}
    crs = covey.CRS(int(rng.integers(2, 12)), random_state=0, **shared)
    return [
        crs,
        covey.CRS(int(rng.integers(2, 12)), graph="nn-descent", random_state=0, **shared),
        covey.CRS(None, random_state=0, refine=True, **shared),
        covey.Sharpened(crs, random_state=0, n_jobs=n_jobs, max_rounds=2),
        covey.DeltaMedoids(random_state=0, **shared),
        covey.DS3(budget=3, **shared),
        covey.RandomSelector(0.1, similarity=similarity, random_state=0),
        covey.KeepAll(similarity=similarity),
    ][rng.integers(8)]


def run_case(number: int, seed: int, folder: str) -> str:
    """Run one case, and return a digest of all its answers."""
    rng = np.random.default_rng([seed, number])
    kind = list(KINDS)[number % len(KINDS)]
    similarity, make = KINDS[kind]
    X = make(rng, int(np.exp(rng.uniform(np.log(40), np.log(LARGEST)))))
    n = X.shape[0] if hasattr(X, "shape") else len(X)
    y = rng.integers(0, 3, n)
    selector = selectors(rng, similarity, 1 if kind in ("callable", "batched") else int(rng.integers(1, 3)))
    if isinstance(selector, covey.DS3 | covey.Sharpened | covey.DeltaMedoids):
        keep = np.arange(min(n, 250))
        X, y = taken(X, keep, kind), y[keep]
    rejects = [None, "calibrated", 0.1, *["threshold"] * isinstance(selector, covey.CRS)]  # others have no threshold
    classifier = covey.NearestPrototypeClassifier(selector, reject=rejects[rng.integers(len(rejects))]).fit(X, y)
    queries = X if kind == "precomputed" else taken(X, np.arange(len(y))[:: rng.integers(1, 4)], kind)
    if rng.random() < 0.3:
        path = Path(folder, f"{number}-{threading.get_ident()}.covey")
        covey.save(classifier, path)
        named = isinstance(similarity, str)
        classifier = covey.load(path) if named else covey.load(path, similarity=similarity)
        path.unlink()
    found = classifier.selector_
    answers = [found.sample_indices_, [found.n_evaluations_], classifier.predict(queries)]
    return hashlib.sha256(b"".join(np.asarray(answer).tobytes() for answer in answers)).hexdigest()


def taken(X: Any, rows: Any, kind: str) -> Any:
    """Some of the objects, in the same form."""
    if kind == "precomputed":
        return X[np.ix_(rows, rows)]
    if kind == "mixed":
        return X.iloc[rows]
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


class Sample(NamedTuple):
    """What the process takes at one moment."""

    MiB: float
    threads: int
    handles: int
    files: int


def sample(folder: str, n_others: int) -> Sample:
    """Take a sample. The threads that run cases, and what they hold at the moment, are part of it."""
    with open("/proc/self/statm") as file:
        resident = int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    handles = len(os.listdir("/proc/self/fd"))
    return Sample(resident, threading.active_count() - n_others, handles, len(os.listdir(folder)))


def soak(cases: int, seed: int, folder: str) -> tuple[list[str], list[Sample]]:
    """Run all cases from several threads under a cap of memory; their digests, and a sample after each case."""
    import resource

    for number in range(len(KINDS)):  # what is loaded and compiled once is no growth
        run_case(number, seed + 1, folder)
    with open("/proc/self/statm") as file:
        size = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (size + CAP, size + CAP))
    samples: list[Sample] = []
    n_others = threading.active_count()

    def run(number: int) -> str:
        digest = run_case(number, seed, folder)
        samples.append(sample(folder, n_others))
        return digest

    with ThreadPoolExecutor(THREADS) as threads:
        digests = list(threads.map(run, range(cases)))
    samples.append(sample(folder, n_others))
    return digests, samples


def growth(samples: list[Sample]) -> dict[str, float]:
    """By how much the least of the last quarter exceeds the least of the second one.

    The least counts, because what single cases take for a moment differs by far.
    """
    quarter = len(samples) // 4
    second, last = np.array(samples[quarter : 2 * quarter]), np.array(samples[-quarter:])
    return dict(zip(Sample._fields, (last.min(axis=0) - second.min(axis=0)).tolist(), strict=True))


def report(cases: int, seed: int) -> dict[str, Any]:
    """Run all cases alone and then at once, in two processes; what differs, and what has grown."""
    answers, environment = [], dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        environment["TMPDIR"] = folder
        for how in ("--alone", "--at-once"):
            command = [sys.executable, "-m", "benchmarks.soak", how, "--cases", str(cases), "--seed", str(seed)]
            answers.append(json.loads(subprocess.check_output(command, env=environment)))
        left = os.listdir(folder)
    alone, at_once = answers
    different = [at for at in range(cases) if alone["digests"][at] != at_once["digests"][at]]
    return {"different": different, "left": left, **at_once, "digests": len(set(at_once["digests"]))}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--alone", action="store_true")
    parser.add_argument("--at-once", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        if options.alone:
            print(json.dumps({"digests": [run_case(at, options.seed, folder) for at in range(options.cases)]}))
        elif options.at_once:
            digests, samples = soak(options.cases, options.seed, folder)
            times = {"seconds": time.monotonic() - began, "processor seconds": time.process_time()}
            print(json.dumps({"digests": digests, "grown": growth(samples), "end": samples[-1]._asdict(), **times}))
        else:
            print(json.dumps(report(options.cases, options.seed), indent=1))


if __name__ == "__main__":
    main()
