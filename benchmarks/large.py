"""Neighbor graphs of large data beside pynndescent, and how they grow: ``make bench-large``.

Run with ``python -m benchmarks.large`` (about half an hour on two cores); it prints each row and writes
benchmarks/LARGE.md. Words after it choose the rows whose names hold one of them; nothing is written then.

All graphs have 15 neighbors under cosine and are made by two threads. Recall is that of 500 rows, whose true neighbors
are computed here, and counts any of equally similar neighbors. Where the recall of pynndescent is below .9, its lists
get longer until it is not. Where that of covey is more than .01 below it, covey is asked for more. Both libraries have
compiled all before.
"""

import os
import platform
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.extmath import row_norms
from threadpoolctl import threadpool_limits

import covey
from benchmarks import data
from covey import datasets

K = 15
ROWS = 500
LONG = 3.0
"""What takes longer than this, in seconds, is measured once; the rest three times, by turns."""
LEAST = 0.9
EQUAL = 0.01
"""Recalls that differ by no more than this are equal. If that of covey is lower, it is asked for more."""
RESULTS = Path(__file__).with_name("LARGE.md")


def latent(n: int, width: int = 64) -> Any:
    """Rows of 12 latent dimensions."""
    rng = np.random.default_rng(0)
    inner, outer = rng.standard_normal((n, 12), dtype=np.float32), rng.standard_normal((12, width), dtype=np.float32)
    rows = np.tanh(inner @ outer / 3)
    rows += 0.05 * rng.standard_normal((n, width), dtype=np.float32)
    return rows


def blobs(n: int) -> Any:
    """Rows around 100 centers in 64 dimensions."""
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((100, 64), dtype=np.float32)
    rows = rng.standard_normal((n, 64), dtype=np.float32)
    rows += centers[rng.integers(0, 100, n)]
    return rows


def tight(n: int) -> Any:
    """Clusters of about 20 rows in 32 dimensions."""
    rng = np.random.default_rng(0)
    centers = rng.standard_normal((n // 20, 32), dtype=np.float32)
    return centers[rng.integers(0, n // 20, n)] + 0.05 * rng.standard_normal((n, 32), dtype=np.float32)


def uniform(n: int) -> Any:
    """Rows without structure in 32 dimensions."""
    return np.random.default_rng(0).random((n, 32), dtype=np.float32)


def random_csr(n: int) -> Any:
    """Sparse rows without structure: 20 of 1 000 columns."""
    rng = np.random.default_rng(0)
    columns = rng.integers(0, 1000, (n, 20)).ravel()
    return sp.csr_array((rng.random(20 * n), (np.repeat(np.arange(n), 20), columns)), shape=(n, 1000))


def fashion(n: int) -> Any:
    return data.fashion_mnist()[0].astype(np.float32)[:n]


def newsgroups(n: int) -> Any:
    parts = [datasets.load_20newsgroups(subset).data for subset in ("train", "test")]
    return sp.vstack(parts, format="csr")[:n]


CASES: list[tuple[str, Callable[[int], Any], int, str]] = [
    ("Fashion-MNIST", fashion, 60_000, "<= .7 x"),
    ("latent 12 in 64 dimensions", latent, 100_000, ""),
    ("latent 12 in 64 dimensions", latent, 300_000, "<= 1.1 x"),
    ("latent 12 in 64 dimensions", latent, 1_000_000, "<= .6 x"),
    ("100 blobs in 64 dimensions", blobs, 100_000, ""),
    ("100 blobs in 64 dimensions", blobs, 300_000, "<= .6 x"),
    ("100 blobs in 64 dimensions", blobs, 1_000_000, "<= .6 x"),
    ("tight clusters of 20 in 32 dimensions", tight, 100_000, ""),
    ("tight clusters of 20 in 32 dimensions", tight, 300_000, "<= .8 x"),
    ("tight clusters of 20 in 32 dimensions", tight, 1_000_000, ""),
    ("uniform in 32 dimensions", uniform, 100_000, ""),
    ("uniform in 32 dimensions", uniform, 300_000, "<= 1.0 x"),
    ("20 Newsgroups, TF-IDF in CSR", newsgroups, 18_846, "<= .4 x"),
]
"""Name, maker, number of rows, and the goal for the time beside that of pynndescent."""


class Truth:
    """The similarity of the K-th nearest other of some rows."""

    def __init__(self, X: Any) -> None:
        self.rows = np.sort(np.random.default_rng(1).choice(X.shape[0], min(ROWS, X.shape[0]), replace=False))
        lengths = row_norms(X)
        self._unit = sp.diags_array(1 / np.maximum(lengths, 1e-30)) @ X if sp.issparse(X) else X / lengths[:, None]
        self.last = np.empty(self.rows.size)
        for at, row in enumerate(self.rows):
            similarities = self._similarities(row)
            similarities[row] = -np.inf
            self.last[at] = np.partition(similarities, -K)[-K]

    def _similarities(self, row: int, others: Any = slice(None)) -> Any:
        products = self._unit[others] @ self._unit[[row]].T
        return np.asarray(products.toarray() if sp.issparse(products) else products, dtype=float).ravel()

    def recall(self, indices: Any) -> float:
        found = [
            (self._similarities(row, indices[row, :K][indices[row, :K] >= 0]) >= last - 1e-6).sum() / K
            for row, last in zip(self.rows, self.last, strict=True)
        ]
        return float(np.mean(found))


def timed(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    found = function()
    return time.perf_counter() - start, found


def alternate(*functions: Callable[[], Any]) -> list[tuple[float, Any]]:
    """The median seconds of each, run by turns, and what each has returned. What takes long is run once."""
    first = [timed(function) for function in functions]
    if max(seconds for seconds, _ in first) > LONG:
        return first
    again = [[timed(function)[0] for function in functions] for _ in range(2)]
    return [(median([one[0], *times]), one[1]) for one, *times in zip(first, *again, strict=True)]


def ours(X: Any, method: str = "auto", n_jobs: int = 2, recall: float = 0.95) -> Any:
    return covey.neighbor_graph(X, K, method=method, recall=recall, random_state=0, n_jobs=n_jobs)


def theirs(X: Any, n_neighbors: int) -> Any:
    from pynndescent import NNDescent

    index = NNDescent(X, metric="cosine", n_neighbors=n_neighbors + 1, random_state=0, n_jobs=2)
    return index.neighbor_graph[0][:, 1:]


def beside_peer(name: str, make: Callable[[int], Any], n: int, goal: str) -> str:
    X = make(n)
    truth, longer = Truth(X), K
    (own, graph), (peer, lists) = alternate(lambda: ours(X), lambda: theirs(X, longer))
    while truth.recall(lists) < LEAST and longer < 8 * K:
        longer = round(1.5 * longer)
        peer, lists = timed(partial(theirs, X, longer))
    wanted = truth.recall(lists) - EQUAL
    if truth.recall(graph.indices) < wanted:
        own, graph = timed(partial(ours, X, recall=wanted))
    estimate = graph.estimated_recall
    return (
        f"| {name} | {n:,} | {goal} | **{own / peer:.2f} x** | {own:.1f} s | {truth.recall(graph.indices):.3f}, "
        f"estimated {'exact' if estimate is None else f'{estimate.value:.3f}'} | {peer:.1f} s | "
        f"{truth.recall(lists):.3f}{'' if longer == K else f', {longer} neighbors'} | {own / n * 1e6:.0f} us | "
        f"{graph.n_evaluations / n:,.0f} |"
    )


def beside_exact(name: str, X: Any) -> str:
    (own, graph), (exact, _) = alternate(lambda: ours(X), lambda: ours(X, "exact"))
    recall = "" if sp.issparse(X) and X.shape[0] > 200_000 else f"{Truth(X).recall(graph.indices):.3f}"
    ratio = f"**{own / exact:.2f} x**"
    return f"| {name} | {X.shape[0]:,} | {ratio} | {own:.1f} s, {graph.method} | {recall} | {exact:.1f} s |"


def threads(n: int) -> str:
    """Compare two threads with one. Products would use all cores even with one, if nothing held them back."""
    X = latent(n)

    def alone() -> Any:
        with threadpool_limits(1, "blas"):
            return ours(X, n_jobs=1)

    (two, _), (one, _) = alternate(lambda: ours(X, n_jobs=2), alone)
    return f"Two threads take **{two / one:.2f}** of the time of one ({two:.1f} s, {one:.1f} s) on {n:,} latent rows."


def memory(n: int) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.one_fit", str(n)], capture_output=True, text=True, check=True
    )
    seconds, peak = (float(value) for value in done.stdout.split())
    return f"`CRS.fit` of {n:,} x 64 rows takes {seconds:.1f} s and, beyond the data, **{peak:.2f} GiB** at its peak."


REPORT = """# Large graphs

Written by `make bench-large` in {minutes:.0f} minutes on {cores} cores, Python {python}, covey {version}: {k}
neighbors, cosine, two threads. A ratio below 1 means that covey took less.

| data | rows | goal | ratio | covey | recall | pynndescent | its recall | covey, a row | evaluations, a row |
|---|---|---|---|---|---|---|---|---|---|
{peers}

Beside the exact graph:

| data | rows | ratio | covey, "auto" | recall | exact |
|---|---|---|---|---|---|
{exact}

{threads}

{memory}
"""


def main(words: list[str]) -> None:
    warnings.simplefilter("ignore")
    start = time.perf_counter()
    small = latent(12_000)
    for method in ("groups", "nn-descent", "exact"):
        ours(latent(60_000) if method == "groups" else small, method)
    theirs(small, K)
    ours(newsgroups(4000), "exact")
    theirs(newsgroups(4000), K)
    rows: dict[str, list[str]] = {"peers": [], "exact": [], "threads": [], "memory": []}

    def add(part: str, name: str, measure: Callable[[], str]) -> None:
        if not words or any(word in name for word in words):
            rows[part].append(measure())
            print(rows[part][-1], flush=True)

    for case in CASES:
        add("peers", f"{case[0]} {case[2]}", lambda case=case: beside_peer(*case))
    for name, make, sizes in (
        ("random CSR rows, 20 of 1 000 columns", random_csr, (30_000, 100_000)),
        ("latent 12 in 64 dimensions", latent, (12_000, 30_000)),
        ("uniform in 32 dimensions", uniform, (12_000, 30_000)),
        ("Fashion-MNIST", fashion, (12_000, 60_000)),
    ):
        for n in sizes:
            add("exact", f"exact {name} {n}", lambda name=name, make=make, n=n: beside_exact(name, make(n)))
    add("threads", "threads", lambda: threads(1_000_000))
    add("memory", "memory", lambda: memory(1_000_000))
    if words:
        return
    RESULTS.write_text(
        REPORT.format(
            minutes=(time.perf_counter() - start) / 60,
            cores=os.cpu_count(),
            python=platform.python_version(),
            version=covey.__version__,
            k=K,
            **{part: "\n".join(lines) for part, lines in rows.items()},
        ),
        encoding="utf-8",
    )


if __name__ == "__main__":
    main(sys.argv[1:])
