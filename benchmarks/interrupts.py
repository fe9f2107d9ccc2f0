"""How soon Ctrl-C ends each phase: ``python -m benchmarks.interrupts [--times 5] [PHASE ...]``.

Every phase runs in a process of its own. The process says when the phase begins, and gets SIGINT a random time later.
Printed are the longest time until KeyboardInterrupt has reached the caller, and what was left behind: threads, child
processes, files in the folder for temporary files, a changed estimator, or another answer of a fit after the interrupt.
"""

import argparse
import importlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LATEST = 0.5
"""The most seconds from the beginning of a phase to the interrupt. Every phase takes longer than this."""
HANGS = 60
"""After how many seconds a process that was interrupted is said to hang. No phase takes so long to end, even on a
machine that is busy with other work."""


@dataclass(frozen=True)
class Phase:
    """A phase: where it begins, and what work has it.

    Attributes
    ----------
    begins : str
        The module and the name of the function whose first call begins the phase.
    work : callable
        Does the work on about n objects. It returns an estimator that is to be fitted, and how to do so.
    n : int
        How many objects make the phase take longer than `LATEST`.
    latest : float
        The most seconds from the beginning of the phase to the interrupt.
    """

    begins: str
    work: Callable[[int], tuple[Any, Callable[[], Any]]]
    n: int
    latest: float = LATEST


def rows(n: int, width: int = 32) -> Any:
    """Rows around 20 centers."""
    rng = np.random.default_rng(n)
    centers = 2 * rng.standard_normal((20, width))
    return (centers[rng.integers(0, 20, n)] + rng.standard_normal((n, width))).astype(np.float32)


def slow(a: str, b: str) -> float:
    """A similarity in plain Python that takes about a millisecond."""
    return 1 / (1 + sum((ord(x) - ord(y)) ** 2 for x, y in zip(40 * a, 40 * b, strict=False)))


def texts(n: int, length: int) -> list[str]:
    """Random texts of four letters."""
    rng = np.random.default_rng(n)
    return ["".join(letters) for letters in np.array(list("acgt"))[rng.integers(0, 4, (n, length))]]


def selecting(selector: Callable[[], Any], data: Callable[[int], Any], labels: int = 1) -> Any:
    """The work of fitting a selector to data, with this many labels."""

    def work(n: int) -> tuple[Any, Callable[[], Any]]:
        estimator, X = selector(), data(n)
        return estimator, lambda: estimator.fit(X, np.arange(n) % labels).sample_indices_

    return work


def crs(**parameters: Any) -> Callable[[], Any]:
    """A CRS with these parameters on two threads."""

    def make() -> Any:
        import covey

        return covey.CRS(random_state=0, n_jobs=2, **parameters)

    return make


def other(name: str, **parameters: Any) -> Callable[[], Any]:
    """Another selector with these parameters."""

    def make() -> Any:
        import covey

        return getattr(covey, name)(**parameters)

    return make


def compiled() -> Any:
    """A CRS under a compiled similarity that takes about 0.1 ms a pair."""
    from numba import njit

    @njit(nogil=True)
    def similarity(x: Any, y: Any) -> float:
        total = 0.0
        for _ in range(2000):
            for c in range(x.size):
                total += abs(x[c] - y[c])
        return 1 / (1 + total)

    return crs(similarity=similarity, graph="exact")()


def on_graph(function: Callable[[Any], Any]) -> Any:
    """The work of a function of a random graph of ten neighbors."""

    def work(n: int) -> tuple[Any, Callable[[], Any]]:
        import scipy.sparse as sp

        rng = np.random.default_rng(n)
        columns = np.sort((np.arange(n)[:, None] + rng.integers(1, 2 + n // 2, (n, 10))) % n, axis=1)
        graph = sp.csr_array((rng.random(10 * n), columns.ravel(), np.arange(0, 10 * n + 1, 10)), shape=(n, n))
        graph.sum_duplicates()
        return None, lambda: function(graph)

    return work


def cover(graph: Any) -> Any:
    """Cover a graph, and refine the cover."""
    import covey

    return covey.cover(graph, refine=True).indices


def bound(graph: Any) -> Any:
    """The lower bound of a graph's cover."""
    import covey

    return np.array([covey.cover_lower_bound(graph)])


def communities(graph: Any) -> Any:
    """The communities of a graph."""
    import covey

    return covey.find_clusters(None, graph=graph).labels


def dense_places(graph: Any) -> Any:
    """The dense places of a graph."""
    import covey

    return covey.find_clusters(None, "hdbscan", graph=graph).labels


def predicting(n: int) -> tuple[Any, Callable[[], Any]]:
    """Predict many queries."""
    import covey

    X = rows(min(n, 4000))
    classifier = covey.NearestPrototypeClassifier(covey.CRS(5, random_state=0, n_jobs=2)).fit(X, np.arange(len(X)) % 5)
    queries = rows(n)
    return None, lambda: classifier.predict(queries)


def threshold_graph(n: int) -> tuple[Any, Callable[[], Any]]:
    """The graph of all pairs above a low threshold, which are half of all."""
    import covey

    X = rows(n)
    return None, lambda: covey.threshold_graph(X, 0.0, n_jobs=2).indices


DS3 = {"similarity": "euclidean"}
PHASES = {
    "forest": Phase("covey.graph.descent:plant_forest", selecting(crs(graph="nn-descent"), rows), 100_000),
    "join": Phase("covey.graph.descent:Descent._join", selecting(crs(graph="nn-descent"), rows), 100_000),
    "recall": Phase("covey.graph.recall:RandomPairs._draw", selecting(crs(graph="nn-descent"), rows), 30_000),
    "landmarks": Phase(
        "covey.graph.descent:start_from_landmarks", selecting(crs(graph="nn-descent"), lambda n: rows(n, 512)), 10_000
    ),
    "exact": Phase("covey.graph.exact:_NearestSearch.tile", selecting(crs(graph="exact"), rows), 40_000),
    "wide rows": Phase(
        "covey.graph.exact:_NearestSearch.tile", selecting(crs(graph="exact"), lambda n: rows(n, 20_000)), 4_000
    ),
    "long strings": Phase(
        "covey.graph.exact:_NearestSearch.tile",
        selecting(crs(graph="exact", similarity="levenshtein"), lambda n: texts(n, 1000)),
        3_000,
    ),
    "compiled similarity": Phase("covey.graph.exact:_NearestSearch.tile", selecting(compiled, rows), 2_000),
    "Python similarity": Phase(
        "covey.similarity.space:Space.score", selecting(crs(similarity=slow), lambda n: texts(n, 8)), 300
    ),
    "processes": Phase(
        "covey.similarity.calls.pool:Pool._run_in_workers",
        selecting(crs(similarity=slow), lambda n: texts(n, 80)),
        1_000,
        3.0,
    ),
    "threshold graph": Phase("covey.graph.threshold:edges_above", threshold_graph, 12_000, 3.0),
    "greedy coverage": Phase("covey.coverage.cover:pick", on_graph(cover), 1_000_000),
    "refining": Phase("covey.coverage.cover:improve", on_graph(cover), 1_000_000),
    "lower bound": Phase("covey.coverage.lower_bound:_multipliers", on_graph(bound), 400_000, 3.0),
    "DS3 costs": Phase("covey.selectors.ds3:dissimilarities", selecting(other("DS3", budget=20, **DS3), rows), 5_000),
    "DS3 swaps": Phase(
        "covey.selectors.ds3.facility:local_search", selecting(other("DS3", budget=20, **DS3), rows), 5_000
    ),
    "DS3 bound": Phase(
        "covey.selectors.ds3.facility:_raise_bound", selecting(other("DS3", budget=20, **DS3), rows), 5_000
    ),
    "DS3 programs": Phase(
        "covey.selectors.ds3.facility:_linear_program", selecting(other("DS3", budget=20, **DS3), rows), 3_000
    ),
    "DS3 ADMM": Phase(
        "covey.selectors.ds3.admm:solve",
        selecting(other("DS3", alpha=0.1, p=2, tol=1e-9, **DS3), rows),
        3_000,
    ),
    "DeltaMedoids": Phase("covey.selectors.delta_medoids:iterations", selecting(other("DeltaMedoids"), rows), 5_000),
    "Sharpened": Phase(
        "covey.selectors.sharpened:Sharpened._sharpen",
        selecting(lambda: other("Sharpened", selector=crs()(), random_state=0)(), rows, 5),
        30_000,
    ),
    "communities": Phase("covey.graph.clusters.communities:_move", on_graph(communities), 300_000),
    "HDBSCAN": Phase("covey.graph.clusters.search:density_clusters", on_graph(dense_places), 60_000, 2.0),
    "predict": Phase("covey.classifier:nearest", predicting, 400_000),
}


def child(name: str, n: int) -> None:
    """Run a phase in this process, and print what an interrupt has left behind."""
    phase = PHASES[name]
    small = max(n // 100, 40)
    before = phase.work(small)[1]()
    estimator, work = phase.work(n)
    state = None if estimator is None else dict(vars(estimator))
    threads = set(threading.enumerate())
    announce(phase.begins)
    try:
        work()
        print(json.dumps({"finished": True}), flush=True)
        return
    except KeyboardInterrupt:
        ended = time.monotonic()
    while time.monotonic() < ended + 1 and set(threading.enumerate()) - threads:
        time.sleep(0.01)  # that which feeds a queue of multiprocessing ends a little later than its processes
    left = {
        "threads": [thread.name for thread in threading.enumerate() if thread not in threads],
        "children": children(),
        "files": [path for path in os.listdir(tempfile.gettempdir()) if path.startswith("covey-")],
        "changed": [] if estimator is None else [key for key in vars(estimator) if key not in state],
        "other answer": [] if np.array_equal(before, phase.work(small)[1]()) else [small],
    }
    print(json.dumps({"ended": ended, "left": {what: found for what, found in left.items() if found}}), flush=True)


def announce(begins: str) -> None:
    """Let the first call of a function print a line."""
    module, path = begins.split(":")
    *owners, name = path.split(".")
    owner = importlib.import_module(module)
    for part in owners:
        owner = getattr(owner, part)
    function = getattr(owner, name)
    lock = threading.Lock()

    def announced(*args: Any, **kwargs: Any) -> Any:
        if lock.acquire(blocking=False):  # the first call keeps it
            print("begins", flush=True)
        return function(*args, **kwargs)

    setattr(owner, name, announced)


def children() -> list[str]:
    """The commands of this process's children. The one that keeps track of joblib's semaphores is not a worker."""
    found = []
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rpartition(")")[2].split()
            command = (status.parent / "cmdline").read_bytes().replace(b"\0", b" ").decode()
        except OSError:  # it has ended meanwhile
            continue
        if int(fields[1]) == os.getpid() and fields[0] != "Z" and "resource_tracker" not in command:
            found.append(command)
    return found


def interrupt(name: str, delay: float, n: int | None = None) -> dict[str, Any]:
    """Interrupt a phase this many seconds after it has begun; what the process reports, and the seconds it took."""
    command = [sys.executable, "-m", "benchmarks.interrupts", "--child", name, str(n or PHASES[name].n)]
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "TMPDIR": folder}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            try:
                if "begins" not in process.stdout.readline():
                    return {"failed": "The phase never began."}
                time.sleep(delay)
                sent = time.monotonic()
                process.send_signal(signal.SIGINT)
                report = process.communicate(timeout=HANGS)[0].splitlines()
            finally:
                process.kill()
    told: dict[str, Any] = json.loads(report[-1]) if report else {"failed": "The process has died."}
    if "ended" in told:
        told["seconds"] = told["ended"] - sent
    return told


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--child", nargs=2)
    parser.add_argument("phases", nargs="*", default=list(PHASES))
    options = parser.parse_args()
    if options.child:
        return child(options.child[0], int(options.child[1]))
    for name in options.phases:
        told = [interrupt(name, random.uniform(0, PHASES[name].latest)) for _ in range(options.times)]
        seconds = [one["seconds"] for one in told if "seconds" in one]
        longest = f"{max(seconds):.2f} s" if seconds else "never"
        left = [one["left"] for one in told if one.get("left")] + [one for one in told if "ended" not in one]
        print(f"{name:20} {len(seconds)} of {options.times} interrupted, longest {longest} {left or ''}", flush=True)
    return None


if __name__ == "__main__":
    main()
