"""What CRS selects on Fashion-MNIST, how well it classifies, and what NN-Descent saves.

Run with ``COVEY_DATA=folder python -m benchmarks.quality`` (about two minutes on two cores).
"""

import time

import numpy as np
from sklearn.metrics import precision_score, recall_score

import covey
from tests.data import fashion_mnist


def scores(selector, data):
    """Share selected, macro precision and recall on the official test set, scan rate, seconds of the fit."""
    X, y, queries, truth = data
    start = time.perf_counter()
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    seconds = time.perf_counter() - start
    guess = model.predict(queries)
    precision, recall = (score(truth, guess, average="macro") for score in (precision_score, recall_score))
    return model, (
        model.selector_.sample_indices_.size / len(X),
        precision,
        recall,
        model.selector_.scan_rate_,
        seconds,
    )


def neighbor_recall(data, k):
    """Recall and scan rate of NN-Descent in each class against the exact graph."""
    X, y, *_ = data
    found = []
    for label in np.unique(y):
        members = X[y == label]
        exact = covey.neighbor_graph(members, k, method="exact")
        graph = covey.neighbor_graph(members, k, method="nn-descent", random_state=0)
        hits = [np.isin(a, b).mean() for a, b in zip(graph.indices, exact.indices, strict=True)]
        found.append((np.mean(hits), graph.n_evaluations / exact.n_evaluations))
    return np.array(found)


def main():
    data = fashion_mnist()
    row = "{:<24}{:>10.2%}{:>11.3f}{:>8.3f}{:>11.3f}{:>8.1f} s"
    print(f"{'':<24}{'selected':>10}{'precision':>11}{'recall':>8}{'scan rate':>11}{'fit':>8}")
    for k in (5, 10, 15):
        for graph in ("exact", "nn-descent"):
            model, measured = scores(covey.CRS(k, graph=graph, random_state=0, n_jobs=-1), data)
            print(row.format(f"CRS k = {k}, {graph}", *measured))
        sizes = {label: p.indices.size for label, p in model.selector_.prototypes_.items()}
        random = [scores(covey.RandomSelector(n=sizes, random_state=seed), data)[1] for seed in range(5)]
        print(row.format("random, as many", *np.mean(random, axis=0)))
    print(row.format("all objects", *scores(covey.KeepAll(), data)[1]))
    for k in (5, 10, 15):
        recall, scanned = neighbor_recall(data, k).T
        print(
            f"NN-Descent, k = {k}, ten classes of 6 000: recall {recall.mean():.3f} ({recall.min():.3f} to "
            f"{recall.max():.3f}), scan rate {scanned.mean():.4f} ({scanned.min():.4f} to {scanned.max():.4f})"
        )


if __name__ == "__main__":
    main()
