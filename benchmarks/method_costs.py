"""Seconds of the methods of `covey compare` beside the pairs that they are expected to go through.

``python -m benchmarks.method_costs`` prints a table for blobs of several sizes: how long a fold of each method takes,
its answers included, how many pairs `covey.cli.compare.methods.expected_pairs` expects it to go through, and the ranks
of both.
Under a time limit the methods are tried in the order of the second rank.

In three runs on a machine that others used, too, 13 to 20 of 36 ranks were the expected ones, 30 to 33 were off by at
most one, and none by more than three. Off by most was that of all objects, which are compared by matrix products.
"""

import time
from collections import Counter

import numpy as np
from sklearn.datasets import make_blobs

from covey.classifier import NearestPrototypeClassifier
from covey.cli.compare.methods import CHOICES, CURVES, choose_methods, expected_pairs

FOLDS = 5
SIZES = ((600, 3), (1600, 10), (1600, 3), (5000, 50), (5000, 10), (10_000, 10))
"""How many objects there are, and in how many clusters."""


def seconds_of_folds(n: int, n_clusters: int) -> dict[str, tuple[float, float]]:
    """Return for each method the processor time of a fold and the pairs that are expected."""
    X, y = make_blobs(n, 16, centers=n_clusters, cluster_std=6, random_state=0)
    is_query = np.arange(n) % FOLDS == 0
    sizes = np.bincount(y).tolist()
    found = {}
    for name, method in choose_methods([*CURVES, *CHOICES], [10]).by_name.items():
        start = time.process_time()
        fitted = NearestPrototypeClassifier(method.make("euclidean", 0, 1)).fit(X[~is_query], y[~is_query])
        fitted.predict(X[is_query])
        found[name] = time.process_time() - start, expected_pairs(method.curve or name, sizes, FOLDS)
    return found


def main() -> None:
    seconds_of_folds(200, 2)  # compiles
    print("| objects | clusters | method | seconds | expected pairs | rank | expected rank |")
    print("|---|---|---|---|---|---|---|")
    off = Counter[int]()
    for n, n_clusters in SIZES:
        found = seconds_of_folds(n, n_clusters)
        by_time, by_pairs = (sorted(found, key=lambda name, at=at: found[name][at]) for at in (0, 1))
        for name in by_pairs:
            seconds, pairs = found[name]
            ranks = by_time.index(name) + 1, by_pairs.index(name) + 1
            off[abs(ranks[0] - ranks[1])] += 1
            print(f"| {n} | {n_clusters} | {name} | {seconds:.3f} | {pairs:.2g} | {ranks[0]} | {ranks[1]} |")
    print(f"How many ranks were off by how much: {dict(sorted(off.items()))}")


if __name__ == "__main__":
    main()
