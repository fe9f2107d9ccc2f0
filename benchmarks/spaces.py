"""Recall and scan rate of NN-Descent in many kinds of space, beside a start from the pivot forest alone.

Run with ``python -m benchmarks.spaces`` (about five minutes on two cores); it prints each row and writes
benchmarks/SPACES.md. Words after it choose the rows whose names hold one of them; nothing is written then. Rows that
need real data sets are left out unless COVEY_DATA names their folder. Recall compares similarities: a neighbor counts
as found if it is at least as similar as the true k-th, so that equally similar objects are interchangeable.
"""

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import numpy as np
import scipy.sparse as sp

import covey
from benchmarks import data
from covey import datasets
from covey.graph import descent as _descent

K = 10
SEEDS = (0, 1)
RESULTS = Path(__file__).with_name("SPACES.md")
TITLE = f"""# NN-Descent in many kinds of space

Written by `python -m benchmarks.spaces`: {K} neighbors, `method="nn-descent"`, two seeds, of which the lower recall and
the larger scan rate are shown. "Forest" is the same descent with landmarks switched off. Recall counts any of equally
similar neighbors.

| space | recall | scan rate | recall, forest | scan rate, forest |
|---|---|---|---|---|
"""


@dataclass(frozen=True)
class Case:
    """Objects and a similarity, made when they are needed."""

    name: str
    make: Callable[[np.random.Generator], tuple[Any, Any]]


@numba.njit
def inverse_distance(x, y):
    return 1 / (1 + abs(x[0] - y[0]))


@numba.njit
def on_a_circle(x, y):
    apart = abs(x[0] - y[0])
    return 1 - min(apart, 1 - apart)


@numba.njit
def near_on_earth(x, y):
    """exp(-kilometres / 1000) of two (latitude, longitude) in degrees, along the great circle."""
    a, b = np.radians(x[0]), np.radians(y[0])
    part = np.sin((a - b) / 2) ** 2 + np.cos(a) * np.cos(b) * np.sin(np.radians(x[1] - y[1]) / 2) ** 2
    return np.exp(-12.742 * np.arcsin(min(1.0, np.sqrt(part))))


@numba.njit
def warped(x, y):
    """1 / (1 + dynamic time warping distance) within a band of a tenth."""
    n, band = x.size, max(1, x.size // 10)
    before = np.full(n + 1, np.inf)
    before[0] = 0
    for i in range(1, n + 1):
        now = np.full(n + 1, np.inf)
        for j in range(max(1, i - band), min(n, i + band) + 1):
            now[j] = (x[i - 1] - y[j - 1]) ** 2 + min(before[j], now[j - 1], before[j - 1])
        before = now
    return 1 / (1 + np.sqrt(before[n]))


@numba.njit
def inner_product(x, y):
    return np.dot(x, y)


@numba.njit
def contained(x, y):
    """What share of x lies in y: not symmetric."""
    return np.minimum(x, y).sum() / x.sum()


@numba.njit
def divergence(x, y):
    """1 / (1 + the Kullback-Leibler divergence of y from x): not symmetric."""
    return 1 / (1 + max((x * np.log(x / y)).sum(), 0.0))


@numba.njit
def common_branches(x, y):
    """How many branches two leaves of a tree share on the way down from its root, as a share of its depth."""
    n = 0
    while n < x.size and x[n] == y[n]:
        n += 1
    return n / x.size


def common_prefix(a: str, b: str) -> float:
    n = 0
    while n < len(a) and a[n] == b[n]:
        n += 1
    return n / len(a)


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Words made of few syllables, each with a misspelling or two."""
    syllables = [str(rng.choice(list("bcdfgklmnprst"))) + str(rng.choice(list("aeiou"))) for _ in range(40)]
    stems = ["".join(rng.choice(syllables, rng.integers(2, 6))) for _ in range(n // 10)]
    found = []
    for _ in range(n):
        letters = list(stems[rng.integers(len(stems))])
        for _ in range(rng.integers(0, 3)):
            letters[rng.integers(len(letters))] = str(rng.choice(list("abcdefghijklmnopqrstuvwxyz")))
        found.append("".join(letters))
    return found


def walks(rng: np.random.Generator, n: int) -> Any:
    """Time series around a few shapes."""
    shapes = np.cumsum(rng.normal(size=(8, 60)), axis=1)
    return shapes[rng.integers(8, size=n)] + np.cumsum(rng.normal(size=(n, 60)) / 4, axis=1)


def fingerprints(rng: np.random.Generator, n: int) -> Any:
    """Random sets, some small and some large: hardly any structure."""
    return rng.random((n, 200)) < 0.1 * rng.random((n, 1)) + 0.02


def letters(rng: np.random.Generator, n: int) -> list[str]:
    return ["".join(word) for word in rng.choice(list("abc"), (n, 9))]


def places(rng: np.random.Generator, n: int) -> Any:
    return np.column_stack([rng.normal(30, 20, n), rng.uniform(-180, 180, n)])


def blobs(rng: np.random.Generator, n: int, width: int, centers: int) -> Any:
    return 4 * rng.normal(size=(centers, width))[rng.integers(centers, size=n)] + rng.normal(size=(n, width))


def one_hot(rng: np.random.Generator, n: int, groups: int) -> Any:
    return np.eye(groups, dtype=np.float32)[rng.integers(groups, size=n)]


def noise(rng: np.random.Generator, n: int) -> Any:
    """Similarities without any structure: only looking at all pairs finds neighbors."""
    values = np.triu(rng.random((n, n)), 1)
    return values + values.T + np.eye(n)


def tight(rng: np.random.Generator, clusters: int, size: int) -> Any:
    """Clusters that lie far apart, each hardly larger than a list."""
    centers = np.repeat(rng.normal(size=(clusters, 16)), size, axis=0)
    return centers + 0.02 * rng.normal(size=centers.shape)


def of_all_lengths(rng: np.random.Generator, n: int) -> Any:
    """Rows whose lengths follow a power law: under the inner product, the longest are near to very many others."""
    return rng.normal(size=(n, 10)) * (1 + rng.pareto(2.5, (n, 1)))


def short_sets(rng: np.random.Generator, n: int) -> list[set[int]]:
    """Sets of a few tags, of which some are common and most are rare."""
    return [set(np.minimum(rng.zipf(1.3, rng.integers(2, 8)), 2000).tolist()) for _ in range(n)]


def kmers(rng: np.random.Generator, n: int) -> Any:
    """How often each of the 256 words of four letters occurs in reads of 150 letters of 200 genomes, with errors."""
    genomes = rng.integers(0, 4, (200, 600))
    starts = rng.integers(0, 450, n)
    reads = np.array([genomes[g, s : s + 150] for g, s in zip(rng.integers(200, size=n), starts, strict=True)])
    reads = np.where(rng.random(reads.shape) < 0.02, rng.integers(0, 4, reads.shape), reads)
    codes = reads[:, :-3] * 64 + reads[:, 1:-2] * 16 + reads[:, 2:-1] * 4 + reads[:, 3:]
    return np.array([np.bincount(row, minlength=256) for row in codes]).astype(np.float32)


def sparse_rows(rng: np.random.Generator, n: int) -> Any:
    """Positive numbers in 20 of 1 000 columns, drawn at random: hardly any structure."""
    columns = np.argsort(rng.random((n, 1000)), axis=1)[:, :20]
    return sp.csr_array((rng.random(20 * n), (np.repeat(np.arange(n), 20), columns.ravel())), shape=(n, 1000))


def a_class(label: int) -> Callable[[np.random.Generator], tuple[Any, Any]]:
    def make(rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = datasets.load_fashion_mnist("train", return_X_y=True)
        return X[y == label].astype(np.float32), "cosine"

    return make


manhattan = covey.from_distance("manhattan")
containment = covey.Similarity(contained, symmetric=False)
kullback_leibler = covey.Similarity(divergence, symmetric=False)
CASES = [
    Case("uniform 1-d, manhattan, 8 000", lambda rng: (rng.random((8000, 1)), manhattan)),
    Case("uniform 1-d, compiled 1 / (1 + d), 5 000", lambda rng: (rng.random((5000, 1)), inverse_distance)),
    Case("ages in whole years, compiled, 9 000", lambda rng: (rng.integers(0, 100, (9000, 1)) * 1.0, inverse_distance)),
    Case("ages in days, compiled, 9 000", lambda rng: (rng.gamma(4, 10, (9000, 1)), inverse_distance)),
    Case("circle, compiled, 30 000", lambda rng: (rng.random((30000, 1)), on_a_circle)),
    Case("places on earth, exp(-km / 1000), 5 000", lambda rng: (places(rng, 5000), near_on_earth)),
    Case("uniform 2-d, manhattan, 1 000", lambda rng: (rng.random((1000, 2)), manhattan)),
    Case("uniform 2-d, manhattan, 30 000", lambda rng: (rng.random((30000, 2)), manhattan)),
    Case("simplex of 3, ruzicka, 1 000", lambda rng: (rng.dirichlet(np.ones(3), 1000), "ruzicka")),
    Case("simplex of 10, ruzicka, 5 000", lambda rng: (rng.dirichlet(np.ones(10), 5000), "ruzicka")),
    Case("one-hot, 10 groups, ruzicka, 2 000", lambda rng: (one_hot(rng, 2000, 10), "ruzicka")),
    Case("one-hot, 100 groups, hamming, 3 000", lambda rng: (one_hot(rng, 3000, 100), "hamming")),
    Case("one-hot, 300 groups, compiled, 4 000", lambda rng: (one_hot(rng, 4000, 300), inner_product)),
    Case("200 points, 25 copies each, manhattan", lambda rng: (np.tile(rng.random((200, 3)), (25, 1)), manhattan)),
    Case("chain of steps, manhattan, 6 000", lambda rng: (rng.permutation(6000)[:, None] ** 1.5, manhattan)),
    Case("20 blobs in 16-d, manhattan, 6 000", lambda rng: (blobs(rng, 6000, 16, 20), manhattan)),
    Case("5 blobs in 40-d, euclidean, 3 000", lambda rng: (blobs(rng, 3000, 40, 5), "euclidean")),
    Case("uniform 8-d, manhattan, 10 000", lambda rng: (rng.random((10000, 8)), manhattan)),
    Case("normal 20-d, cosine, 5 000", lambda rng: (rng.normal(size=(5000, 20)), "cosine")),
    Case("normal 20-d, inner product, compiled, 4 000", lambda rng: (rng.normal(size=(4000, 20)), inner_product)),
    Case("misspelled words, levenshtein, 4 000", lambda rng: (words(rng, 4000), "levenshtein")),
    Case("words, common prefix, 2 000", lambda rng: (letters(rng, 2000), common_prefix)),
    Case("time series, warping, 1 000", lambda rng: (walks(rng, 1000), warped)),
    Case("random fingerprints, jaccard, 3 000", lambda rng: (fingerprints(rng, 3000), "jaccard")),
    Case("network hosts as profiles, cosine", lambda rng: (datasets.make_network_hosts(random_state=0).data, "cosine")),
    Case("containment, not symmetric, 2 000", lambda rng: (rng.gamma(0.3, size=(2000, 12)) + 1e-6, containment)),
    Case("2 000 tight clusters of 10, manhattan", lambda rng: (tight(rng, 2000, 10), manhattan)),
    Case("lengths of a power law, inner product, 4 000", lambda rng: (of_all_lengths(rng, 4000), inner_product)),
    Case("leaves of a tree, compiled, 5 000", lambda rng: (rng.integers(0, 3, (5000, 9)) * 1.0, common_branches)),
    Case("short sets, jaccard, 5 000", lambda rng: (short_sets(rng, 5000), "jaccard")),
    Case(
        "Kullback-Leibler, not symmetric, 3 000",
        lambda rng: (rng.dirichlet(np.full(10, 0.5), 3000) + 1e-4, kullback_leibler),
    ),
    Case("DNA words of 4 letters, cosine, 6 000", lambda rng: (kmers(rng, 6000), "cosine")),
    Case("sparse positive rows, cosine, 4 000", lambda rng: (sparse_rows(rng, 4000), "cosine")),
    Case("all equally similar, 600", lambda rng: (np.ones((600, 600)), "precomputed")),
    Case("noise, 500", lambda rng: (noise(rng, 500), "precomputed")),
    Case("Fashion-MNIST, sandals, cosine", a_class(5)),
    Case("Fashion-MNIST, shirts, cosine", a_class(6)),
    Case("surnames, levenshtein", lambda rng: (sorted(set(data.surnames()[0])), "levenshtein")),
]


def measure(case: Case, seed: int) -> list[tuple[float, float]]:
    """(recall, scan rate) as NN-Descent does it, and with landmarks switched off."""
    objects, similarity = case.make(np.random.default_rng(seed))
    exact = covey.neighbor_graph(objects, K, similarity, "exact", n_jobs=-1)
    found = []
    for few in (_descent.FEW, sys.maxsize):
        with mock.patch.object(_descent, "FEW", few):
            graph = covey.neighbor_graph(objects, K, similarity, "nn-descent", random_state=seed, n_jobs=-1)
        recall = float(np.mean(graph.similarities >= exact.similarities[:, -1:]))
        found.append((recall, graph.n_evaluations / exact.n_evaluations))
    return found


def row(case: Case) -> str:
    """The worst of all seeds."""
    runs = [measure(case, seed) for seed in SEEDS]
    worst = [(min(recall for recall, _ in way), max(rate for _, rate in way)) for way in zip(*runs, strict=True)]
    return f"| {case.name} | " + " | ".join(f"{recall:.3f} | {rate:.4f}" for recall, rate in worst) + " |"


def main() -> None:
    chosen, rows = sys.argv[1:], []
    for case in CASES:
        if chosen and not any(word in case.name for word in chosen):
            continue
        try:
            rows.append(row(case))
        except FileNotFoundError as error:
            print(f"{case.name} is left out: {error}")
            continue
        print(rows[-1], flush=True)
    if not chosen and os.environ.get("COVEY_DATA"):
        RESULTS.write_text(TITLE + "\n".join(rows) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
