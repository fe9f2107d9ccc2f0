"""covey beside its peers: every figure is a ratio of medians over alternating runs in one process.

``make bench`` runs it (about fifteen minutes on two cores; COVEY_DATA names the data sets' folder), prints each figure
as it comes and writes benchmarks/RESULTS.md."""

import importlib.metadata
import os
import platform
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.metrics import precision_score, recall_score
from threadpoolctl import threadpool_limits

import covey
from benchmarks import data
from covey import datasets

RUNS = 5
PEERS = ("numpy", "scipy", "scikit-learn", "numba", "pynndescent", "kmedoids", "apricot-select", "rapidfuzz")


@dataclass(frozen=True)
class Figure:
    work: str
    yardstick: str
    goal: str
    ratio: float
    remark: str

    def row(self) -> str:
        return f"| {self.work} | {self.yardstick} | {self.goal} | **{self.ratio:.2f} x** | {self.remark} |"


def seconds(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def alternate(*functions: Callable[[], Any]) -> list[float]:
    """Median seconds of each, run by turns."""
    times = [[seconds(function) for function in functions] for _ in range(RUNS)]
    return [median(column) for column in zip(*times, strict=True)]


def recall(indices: Any, truth: Any) -> float:
    return float(np.mean([np.isin(a, b).mean() for a, b in zip(indices, truth, strict=True)]))


def fashion() -> tuple[Any, Any, Any, Any]:
    X, y, queries, truth = data.fashion_mnist()
    return X.astype(np.float32), y, queries.astype(np.float32), truth


def exact_graph() -> list[Figure]:
    X, y, *_ = fashion()
    classes = [np.ascontiguousarray(X[y == label]) for label in range(10)]

    def graphs(n_jobs: int) -> Callable[[], Any]:
        return lambda: [covey.neighbor_graph(Z, 15, method="exact", n_jobs=n_jobs) for Z in classes]

    def one_core() -> None:
        with threadpool_limits(1):
            graphs(1)()

    ours, theirs, one = alternate(graphs(2), lambda: [Z @ Z.T for Z in classes], one_core)
    return [
        Figure(
            "exact graph of the ten Fashion-MNIST classes, k = 15",
            "the matrix products `X @ X.T` alone",
            "<= 1.3 x",
            ours / theirs,
            f"{ours:.2f} s, {theirs:.2f} s",
        ),
        Figure(
            "exact graph, two threads",
            "one core, matrix products included",
            "<= 0.59 x",
            ours / one,
            f"{ours:.2f} s, {one:.2f} s",
        ),
    ]


def descent_dense() -> list[Figure]:
    from pynndescent import NNDescent

    X = fashion()[0]
    control = np.random.default_rng(0).choice(len(X), 2000, replace=False)
    scores = X[control] @ X.T / np.linalg.norm(X, axis=1)
    scores[np.arange(control.size), control] = -np.inf
    truth = np.argpartition(-scores, 15, axis=1)[:, :15]
    found = {}

    def peer() -> None:
        index = NNDescent(X, metric="cosine", n_neighbors=16, random_state=0, n_jobs=2)
        found["pynndescent"] = index.neighbor_graph[0][control, 1:]

    scaled = X / np.float32(255)  # no whole numbers: bytes only bound their products

    def ours(name: str, rows: Any, n_jobs: int) -> Callable[[], None]:
        def run() -> None:
            graph = covey.neighbor_graph(
                rows, 15, method=covey.NNDescent(sample_rate=1.0), random_state=0, n_jobs=n_jobs
            )
            found[name] = graph.indices[control]

        return run

    peer()  # compiles
    ours("whole", X, 2)()
    ours("scaled", scaled, 2)()
    two, one, floats, theirs = alternate(ours("whole", X, 2), ours("whole", X, 1), ours("scaled", scaled, 2), peer)
    shares = {name: f"{recall(indices, truth):.3f}" for name, indices in found.items()}
    return [
        Figure(
            f"NN-Descent graph of 60 000 Fashion-MNIST rows, k = 15, {rows}",
            "pynndescent, warm",
            "<= 1.0 x",
            seconds / theirs,
            f"{seconds:.2f} s, {theirs:.2f} s; recall covey {shares[name]}, pynndescent {shares['pynndescent']}",
        )
        for name, rows, seconds in (("whole", "pixels 0 to 255", two), ("scaled", "scaled to 0 to 1", floats))
    ] + [
        Figure("NN-Descent, two threads", "one thread", "<= 0.59 x", two / one, f"{two:.2f} s, {one:.2f} s"),
    ]


def first_call() -> list[Figure]:
    prepare = "import numpy as np; X = np.random.default_rng(0).random((2000, 64), dtype=np.float32)\n"
    scripts = {
        "covey": prepare + "import covey; covey.neighbor_graph(X, 15, method='nn-descent')",
        "pynndescent": prepare + "import pynndescent; pynndescent.NNDescent(X, metric='cosine').neighbor_graph",
    }

    def fresh(name: str) -> Callable[[], Any]:
        def run() -> None:
            with tempfile.TemporaryDirectory() as cache:
                environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
                subprocess.run([sys.executable, "-W", "ignore", "-c", scripts[name]], check=True, env=environment)

        return run

    ours, theirs = alternate(fresh("covey"), fresh("pynndescent"))
    return [
        Figure(
            "first ever call: fresh process, empty compile cache, graph of 2 000 rows",
            "pynndescent likewise",
            "<= 0.2 x",
            ours / theirs,
            f"{ours:.1f} s, {theirs:.1f} s",
        )
    ]


def descent_csr() -> list[Figure]:
    import scipy.sparse as sp
    from pynndescent import NNDescent

    X = sp.vstack([datasets.load_20newsgroups(subset).data for subset in ("train", "test")], format="csr")
    start = time.perf_counter()
    truth = covey.neighbor_graph(X, 15, n_jobs=2).indices  # "auto" is exact here
    exact = time.perf_counter() - start
    found = {}

    def peer() -> None:
        index = NNDescent(X, metric="cosine", n_neighbors=16, random_state=0, n_jobs=2)
        found["pynndescent"] = index.neighbor_graph[0][:, 1:]

    def ours() -> None:
        found["covey"] = covey.neighbor_graph(X, 15, method="nn-descent", random_state=0, n_jobs=2).indices

    mine, theirs = alternate(ours, peer)  # the peer compiles in its first run, which no median of five is
    shares = {name: recall(indices, truth) for name, indices in found.items()}
    return [
        Figure(
            "NN-Descent graph of 18 846 newsgroup texts, TF-IDF in CSR, k = 15",
            "pynndescent on the same CSR, warm",
            "<= 1.0 x",
            mine / theirs,
            f"{mine:.1f} s, {theirs:.1f} s; recall covey {shares['covey']:.3f}, pynndescent "
            f"{shares['pynndescent']:.3f}; covey's method='auto', exact, took {exact:.1f} s in one run",
        )
    ]


def callable_similarity() -> list[Figure]:
    from rapidfuzz.fuzz import ratio

    names = data.surnames()[0]
    rng = np.random.default_rng(0)
    pairs = [(names[i], names[j]) for i, j in rng.integers(0, len(names), (1_000_000, 2))]
    evaluations = []

    def bare() -> None:
        for a, b in pairs:
            ratio(a, b)

    def ours() -> None:
        evaluations.append(covey.CRS(10, similarity=ratio, random_state=0).fit(names).n_evaluations_)

    ours()
    fit, calls = alternate(ours, bare)
    cost = calls / len(pairs) * evaluations[-1]
    return [
        Figure(
            "whole fit with a plain Python callable (rapidfuzz ratio, 20 050 names, k = 10)",
            "its evaluations x the bare cost of one call",
            "<= 1.25 x",
            fit / cost,
            f"{fit:.2f} s, {evaluations[-1]} evaluations at {calls / len(pairs) * 1e9:.0f} ns",
        )
    ]


def crs_fit() -> list[Figure]:
    import kmedoids
    from apricot import FacilityLocationSelection

    X, y, queries, truth = fashion()
    model = covey.NearestPrototypeClassifier(covey.CRS(10, n_jobs=2, random_state=0)).fit(X, y)
    chosen: dict[str, list[Any]] = {"kmedoids": [], "apricot": []}
    times: dict[str, list[float]] = {"covey": [], "kmedoids": [], "apricot": []}
    for label in range(10):  # ten classes are ten alternating runs
        members = np.flatnonzero(y == label)
        Z = X[members] / np.linalg.norm(X[members], axis=1, keepdims=True)
        size = model.selector_.prototypes_[label].indices.size

        def medoids(Z: Any = Z, size: int = size) -> Any:
            return kmedoids.fasterpam(1 - Z @ Z.T, size, random_state=0).medoids

        def facilities(Z: Any = Z, size: int = size) -> Any:
            selection = FacilityLocationSelection(size, metric="precomputed", optimizer="lazy")
            return selection.fit((Z @ Z.T).astype(np.float64)).ranking

        times["covey"].append(seconds(lambda Z=Z: covey.CRS(10, n_jobs=2, random_state=0).fit(Z)))  # type: ignore[misc]
        for name, select in (("kmedoids", medoids), ("apricot", facilities)):
            start = time.perf_counter()
            picked = select()
            times[name].append(time.perf_counter() - start)
            chosen[name].append(members[np.asarray(picked, dtype=np.intp)])
    quality = {"covey": scores(model.predict(queries), truth)}
    for name, rows in chosen.items():
        few = np.concatenate(rows)
        other = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X[few], y[few])
        quality[name] = scores(other.predict(queries), truth)
    return [
        Figure(
            "`CRS.fit` on the ten Fashion-MNIST classes, k = 10",
            f"{name} with as many representatives",
            "<= 0.3 x",
            median(times["covey"]) / median(times[name]),
            f"{sum(times['covey']):.1f} s, {sum(times[name]):.1f} s in all; precision/recall {quality['covey']}, "
            f"{quality[name]}",
        )
        for name in ("kmedoids", "apricot")
    ]


def scores(guess: Any, truth: Any) -> str:
    return f"{precision_score(truth, guess, average='macro'):.3f}/{recall_score(truth, guess, average='macro'):.3f}"


def coverage() -> list[Figure]:
    rng = np.random.default_rng(0)
    n, k = 1_000_000, 15
    indices = rng.integers(0, n, (n, k), dtype=np.int32)
    similarities = np.sort(rng.random((n, k)), axis=1)[:, ::-1].copy()
    graph = covey.NeighborGraph(indices, similarities)
    covey.cover(covey.NeighborGraph(indices[:99] % 99, similarities[:99]))  # compiles
    ours, theirs = alternate(lambda: covey.cover(graph), lambda: np.sort(similarities, axis=None))
    return [
        Figure(
            "greedy coverage of a graph of 1 000 000 objects, 15 neighbors each",
            "sorting its edges once with NumPy",
            "<= 5 x",
            ours / theirs,
            f"{ours:.2f} s, {theirs:.2f} s",
        )
    ]


def predict() -> list[Figure]:
    from sklearn.neighbors import KNeighborsClassifier

    X, y, queries, _ = fashion()
    model = covey.NearestPrototypeClassifier(covey.CRS(10, n_jobs=2, random_state=0)).fit(X, y)
    peer = KNeighborsClassifier(1, algorithm="brute", metric="cosine", n_jobs=2).fit(X, y)
    ours, part = alternate(lambda: model.predict(queries), lambda: peer.predict(queries[:2000]))
    theirs = 5 * part  # brute force takes its time for each query alike
    return [
        Figure(
            "`predict` on 10 000 Fashion-MNIST images with the k = 10 prototype",
            "scikit-learn's brute-force 1-NN on all 60 000",
            "<= 0.1 x",
            ours / theirs,
            f"{ours:.2f} s, {theirs:.2f} s",
        )
    ]


def growth() -> list[Figure]:
    measured: dict[int, list[tuple[float, float]]] = {10**4: [], 10**5: [], 10**6: []}
    for run in range(RUNS):
        for n, results in measured.items():
            if n < 10**6 or run == 0:
                done = subprocess.run(
                    [sys.executable, "-m", "benchmarks.one_fit", str(n)], capture_output=True, text=True, check=True
                )
                results.append(tuple(float(value) for value in done.stdout.split()))
    microseconds = {n: median(t for t, _ in results) / n * 1e6 for n, results in measured.items()}
    memory = measured[10**6][0][1]
    spelled = ", ".join(f"{value:.0f} us at {n:.0e}" for n, value in microseconds.items())
    return [
        Figure(
            f"time per object, {n:.0e} x 64, k = 15",
            "at 1e+04",
            "<= 3 x",
            microseconds[n] / microseconds[10**4],
            spelled + ("; one run" if n == 10**6 else ""),
        )
        for n in (10**5, 10**6)
    ] + [
        Figure(
            "peak memory of a fit on 1 000 000 x 64 float32, k = 15, beyond the data and the imports",
            "1 GiB",
            "<= 1 x",
            memory,
            f"{memory:.2f} GiB; one run",
        )
    ]


def evaluations() -> str:
    """Scan rate and recall of NN-Descent on four kinds of data: no clock, so one run each."""
    import numba
    from rapidfuzz.fuzz import ratio

    @numba.njit
    def warping(x, y):  # type: ignore[no-untyped-def]
        n = x.size
        costs = np.full((n + 1, n + 1), np.inf)
        costs[0, 0] = 0
        for i in range(1, n + 1):
            for j in range(max(1, i - n // 5), min(n, i + n // 5) + 1):
                step = min(costs[i - 1, j], costs[i, j - 1], costs[i - 1, j - 1])
                costs[i, j] = abs(x[i - 1] - y[j - 1]) + step
        return costs[n, n]

    X, y, *_ = fashion()
    cases = {f"Fashion-MNIST class {label}, cosine": (X[y == label], "cosine") for label in range(10)}
    names = list(dict.fromkeys(data.surnames()[0]))
    cases["6 000 surnames, edit ratio"] = (names[::3][:6000], ratio)
    cases["1 330 sites, cosine of tracker profiles"] = (datasets.load_whotracksme().data, "cosine")
    cases["442 leaf outlines, time warping"] = (data.leaves()[:, ::4], covey.from_distance(warping))
    lines = ["| data | k | scan rate | recall | estimated recall |", "|---|---|---|---|---|"]
    for name, (objects, similarity) in cases.items():
        exact = covey.neighbor_graph(objects, 15, similarity, "exact", n_jobs=2)
        for k in (10, 15):
            graph = covey.neighbor_graph(objects, k, similarity, "nn-descent", random_state=0, n_jobs=2)
            at_least = exact.similarities[:, k - 1 : k] - 1e-12  # of equally similar ones any will do
            share, guess = np.mean(graph.similarities >= at_least), graph.estimated_recall
            assert guess is not None
            scanned = graph.n_evaluations / exact.n_evaluations
            estimate = f"{guess.value:.2f} ({guess.low:.2f} to {guess.high:.2f})"
            line = f"| {name} | {k} | {scanned:.4f} | {share:.3f} | {estimate} |"
            print(line, flush=True)
            lines.append(line)
    return "\n".join(lines)


def packed_bits() -> list[Figure]:
    from benchmarks.fingerprints import figures

    return [Figure(*figure) for figure in figures(alternate)]


def cluster() -> list[Figure]:
    """Two workers of a Dask cluster on this machine beside one; a single run of each."""
    from benchmarks.on_dask import throughput

    return [
        Figure(f"covey.dask.CRS, two workers: {name}", "one worker", "", b / a, f"{b:.1f} s, {a:.1f} s; {rates}")
        for name, a, b, rates in throughput()
    ]


MEASURES = (
    exact_graph,
    packed_bits,
    descent_dense,
    descent_csr,
    callable_similarity,
    crs_fit,
    coverage,
    predict,
    growth,
    cluster,
    first_call,
)

REPORT = """# covey compared with its peers

Written by `make bench` in {minutes:.0f} minutes on {cores} cores, Python {python}; {versions}. A ratio below 1 means
that covey took less. Goals were set before; some are missed. Medians of {runs} alternating runs, unless the row says
otherwise; times are covey's, then the yardstick's.

| work | yardstick, same run | goal | ratio | measured |
|---|---|---|---|---|
{figures}

## Evaluations

NN-Descent against the exact graph. Recall counts any of equally similar neighbors; its estimate comes from pairs drawn
at random, whose evaluations are in the scan rate.

{evaluations}
"""


def main() -> None:
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    rows = []
    for measure in MEASURES:
        for figure in measure():
            rows.append(figure.row())
            print(rows[-1], flush=True)
    report = REPORT.format(
        evaluations=evaluations(),
        figures="\n".join(rows),
        minutes=(time.perf_counter() - start) / 60,
        cores=os.cpu_count(),
        python=platform.python_version(),
        versions=", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("covey", *PEERS)),
        runs=RUNS,
    )
    Path(__file__).with_name("RESULTS.md").write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
