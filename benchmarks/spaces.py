"""Recall and scan rate of NN-Descent in many kinds of space, beside a start from the pivot forest alone.

Run with ``python -m benchmarks.spaces`` (a few minutes on two cores); it writes benchmarks/SPACES.md. Rows that need
real data sets are left out unless COVEY_DATA names their folder. Recall compares similarities: a neighbor counts as
found if it is at least as similar as the true k-th, so that equally similar objects are interchangeable.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numba
import numpy as np

import covey
from covey import _descent, datasets
from tests import data

K = 10
SEEDS = (0, 1)
CHECKED = 1000
"""In larger sets the true neighbors of so many objects are found, not those of all."""


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


def common_prefix(a: str, b: str) -> float:
    n = 0
    while n < len(a) and a[n] == b[n]:
        n += 1
    return n / len(a)


def words(rng: np.random.Generator, n: int) -> list[str]:
    """Words made of few syllables, each with a misspelling or two."""
    syllables = ["".join(rng.choice(list("bcdfgklmnprst"), 1)) + "".join(rng.choice(list("aeiou"), 1)) for _ in range(40)]
    stems = ["".join(rng.choice(syllables, rng.integers(2, 6))) for _ in range(n // 10)]
    found = []
    for _ in range(n):
        letters = list(stems[rng.integers(len(stems))])
        for _ in range(rng.integers(0, 3)):
            letters[rng.integers(len(letters))] = str(rng.choice(list("abcdefghijklmnopqrstuvwxyz")))
        found.append("".join(letters))
    return found


def edit_similarity(a: str, b: str) -> float:
    from rapidfuzz.distance import Levenshtein

    return Levenshtein.normalized_similarity(a, b)


def walks(rng: np.random.Generator, n: int) -> Any:
    """Time series around a few shapes."""
    shapes = np.cumsum(rng.normal(size=(8, 60)), axis=1)
    return shapes[rng.integers(8, size=n)] + np.cumsum(rng.normal(size=(n, 60)) / 4, axis=1)


def blobs(rng: np.random.Generator, n: int, width: int, centers: int) -> Any:
    return 4 * rng.normal(size=(centers, width))[rng.integers(centers, size=n)] + rng.normal(size=(n, width))


def one_hot(rng: np.random.Generator, n: int, groups: int) -> Any:
    return np.eye(groups, dtype=np.float32)[rng.integers(groups, size=n)]


def noise(rng: np.random.Generator, n: int) -> Any:
    """Similarities without any structure: only looking at all pairs finds neighbors."""
    values = np.triu(rng.random((n, n)), 1)
    return values + values.T + np.eye(n)


def a_class(label: int) -> Callable[[np.random.Generator], tuple[Any, Any]]:
    def make(rng: np.random.Generator) -> tuple[Any, Any]:
        X, y = datasets.load_fashion_mnist("train", return_X_y=True)
        return X[y == label].astype(np.float32), "cosine"

    return make


manhattan = covey.from_distance("manhattan")
CASES = [
    Case("uniform 1-d, manhattan, 8 000", lambda rng: (rng.random((8000, 1)), manhattan)),
    Case("uniform 1-d, compiled 1 / (1 + d), 5 000", lambda rng: (rng.random((5000, 1)), inverse_distance)),
    Case("ages in whole years, compiled, 9 000", lambda rng: (rng.integers(0, 100, (9000, 1)) * 1.0, inverse_distance)),
    Case("ages in days, compiled, 9 000", lambda rng: (rng.gamma(4, 10, (9000, 1)), inverse_distance)),
    Case("circle, compiled, 30 000", lambda rng: (rng.random((30000, 1)), on_a_circle)),
    Case(
        "places on earth, exp(-km / 1000), 5 000",
        lambda rng: (np.column_stack([rng.normal(30, 20, 5000), rng.uniform(-180, 180, 5000)]), near_on_earth),
    ),
    Case("uniform 2-d, manhattan, 1 000", lambda rng: (rng.random((1000, 2)), manhattan)),
    Case("uniform 2-d, manhattan, 30 000", lambda rng: (rng.random((30000, 2)), manhattan)),
    Case("simplex of 3, ruzicka, 1 000", lambda rng: (rng.dirichlet(np.ones(3), 1000), "ruzicka")),
    Case("simplex of 10, ruzicka, 5 000", lambda rng: (rng.dirichlet(np.ones(10), 5000), "ruzicka")),
    Case("one-hot, 10 groups, ruzicka, 2 000", lambda rng: (one_hot(rng, 2000, 10), "ruzicka")),
    Case("one-hot, 100 groups, hamming, 3 000", lambda rng: (one_hot(rng, 3000, 100), "hamming")),
    Case("one-hot, 300 groups, compiled, 4 000", lambda rng: (one_hot(rng, 4000, 300), inner_product)),
    Case("200 points, 25 copies each, manhattan, 5 000", lambda rng: (rng.random((200, 3))[np.arange(5000) % 200], manhattan)),
    Case("chain of steps, manhattan, 6 000", lambda rng: (rng.permutation(6000)[:, None] ** 1.5, manhattan)),
    Case("20 blobs in 16-d, manhattan, 6 000", lambda rng: (blobs(rng, 6000, 16, 20), manhattan)),
    Case("5 blobs in 40-d, euclidean, 3 000", lambda rng: (blobs(rng, 3000, 40, 5), "euclidean")),
    Case("uniform 8-d, manhattan, 10 000", lambda rng: (rng.random((10000, 8)), manhattan)),
    Case("normal 20-d, cosine, 5 000", lambda rng: (rng.normal(size=(5000, 20)), "cosine")),
    Case("normal 20-d, inner product, compiled, 4 000", lambda rng: (rng.normal(size=(4000, 20)), inner_product)),
    Case("misspelled words, edit distance, 4 000", lambda rng: (words(rng, 4000), edit_similarity)),
    Case("words, common prefix, 2 000", lambda rng: (["".join(w) for w in rng.choice(list("abc"), (2000, 9))], common_prefix)),
    Case("time series, warping, 1 000", lambda rng: (walks(rng, 1000), warped)),
    Case("random fingerprints, jaccard, 3 000", lambda rng: (rng.random((3000, 200)) < 0.1 * rng.random((3000, 1)) + 0.02, "jaccard")),
    Case("network hosts as profiles, cosine", lambda rng: (datasets.make_network_hosts(random_state=0).data, "cosine")),
    Case(
        "containment, not symmetric, 2 000",
        lambda rng: (rng.gamma(0.3, size=(2000, 12)) + 1e-6, covey.Similarity(contained, symmetric=False)),
    ),
    Case("all equally similar, 600", lambda rng: (np.ones((600, 600)), "precomputed")),
    Case("noise, 500", lambda rng: (noise(rng, 500), "precomputed")),
    Case("sandals, cosine", a_class(5)),
    Case("shirts, cosine", a_class(6)),
    Case("surnames, edit distance", lambda rng: (sorted(set(data.surnames()[0])), edit_similarity)),
]


def recall(graph: covey.NeighborGraph, exact: covey.NeighborGraph) -> float:
    """The share of listed neighbors that are at least as similar as the true last one."""
    return float(np.mean(graph.similarities >= exact.similarities[:, -1:]))


def truth(objects: Any, similarity: Any) -> tuple[Any, Any]:
    """Rows to check, and the true similarity of the K-th neighbor of each."""
    exact = covey.neighbor_graph(objects, K, similarity, "exact", n_jobs=-1)
    return exact.similarities[:, -1:]


def measure(case: Case, seed: int) -> dict[str, tuple[float, float]] | None:
    """(recall, scan rate) as NN-Descent does it, and started from the forest alone; None where data is missing."""
    try:
        objects, similarity = case.make(np.random.default_rng(seed))
    except FileNotFoundError:
        return None
    last = truth(objects, similarity)
    n = len(last)
    symmetric = getattr(similarity, "symmetric", True)
    found = {}
    for start, few in (("as it is", _descent.FEW), ("forest", sys.maxsize)):
        with mock.patch.object(_descent, "FEW", few):
            graph = covey.neighbor_graph(objects, K, similarity, "nn-descent", random_state=seed, n_jobs=-1)
        share = graph.n_evaluations / (n * (n - 1) / (2 if symmetric else 1))
        found[start] = float(np.mean(graph.similarities >= last)), share, graph.estimated_recall
    return found


def main() -> None:
    chosen = sys.argv[1:]
    for case in CASES:
        if chosen and not any(word in case.name for word in chosen):
            continue
        for seed in SEEDS:
            found = measure(case, seed)
            if found is None:
                continue
            a, b = found["as it is"], found["forest"]
            print(f"{case.name:<48} {seed} {a[0]:.3f} {a[1]:.4f} | {b[0]:.3f} {b[1]:.4f}  est {a[2].value:.2f}" + ("  <<<" if a[0] < min(.95, 1) or a[0] < b[0]-.01 else ""), flush=True)


if __name__ == "__main__":
    main()
