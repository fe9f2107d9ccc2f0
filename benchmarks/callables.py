"""What a function's neighbor graph costs: evaluations and recall of NN-Descent where each score is a call.

Run with ``COVEY_DATA=folder python -m benchmarks.callables`` (about five minutes of one core). It prints one row for
each seed: surnames under rapidfuzz' ratio, and the ten classes of Fashion-MNIST under cosine, which is fast here, but
counts the same evaluations as a function would. At the end it says how long a fit takes beside its calls alone. Words
of the form NAME=VALUE change a constant of `covey.graph.descent`, so that choices can be compared:
``python -m benchmarks.callables names REVERSED_IF_COSTLY=1``.
Recall counts any of equally similar neighbors; that of surnames is measured on 1 000 of them.
"""

import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from rapidfuzz import process
from rapidfuzz.fuzz import ratio

import covey
from benchmarks import data
from covey import datasets
from covey.graph import descent

K = 10
SEEDS = (0, 1, 2)


def surnames() -> tuple[str, Any, Any, Any, Any]:
    names = list(dict.fromkeys(data.surnames()[0]))
    rows = np.random.default_rng(5).choice(len(names), 1000, replace=False)
    scores = process.cdist([names[row] for row in rows], names, scorer=ratio, dtype=np.float64)
    scores[np.arange(rows.size), rows] = -1
    return "surnames", names, ratio, rows, np.partition(scores, -K, axis=1)[:, -K]


def classes() -> Iterator[tuple[str, Any, Any, Any, Any]]:
    X, y = datasets.load_fashion_mnist("train", return_X_y=True)
    for label in range(10):
        members = X[y == label].astype(np.float32)
        exact = covey.neighbor_graph(members, K, method="exact", n_jobs=2)
        yield f"Fashion-MNIST, class {label}", members, "cosine", np.arange(len(members)), exact.similarities[:, -1]


def plain(a: str, b: str) -> float:
    """Return rapidfuzz' ratio, from a function of Python's own."""
    return float(ratio(a, b))


def fit_beside_calls(names: list[str]) -> str:
    """Compare fits of `CRS` with nothing but as many calls of the function, by turns; say the median ratio."""
    ratios = []
    for seed in SEEDS:
        start = time.process_time()
        selector = covey.CRS(K, similarity=plain, random_state=seed).fit(names)
        fit = time.process_time() - start
        rng = np.random.default_rng(seed)
        pairs = rng.integers(len(names), size=(selector.n_evaluations_, 2)).tolist()
        start = time.process_time()
        for i, j in pairs:
            plain(names[i], names[j])
        ratios.append(fit / (time.process_time() - start))
    return f"A fit of CRS on {len(names):,} surnames takes {np.median(ratios):.2f} x the time of its calls alone."


def main() -> None:
    for word in sys.argv[1:]:
        if "=" in word:
            name, value = word.split("=")
            setattr(descent, name, type(getattr(descent, name))(float(value)))
    problems = [surnames()] if "classes" not in sys.argv else []
    problems += list(classes()) if "names" not in sys.argv else []
    print("| objects | seed | evaluations | scan rate | recall | estimated | CPU s |\n|---|---|---|---|---|---|---|")
    for name, objects, similarity, rows, worst in problems:
        for seed in SEEDS:
            start = time.process_time()
            graph = covey.neighbor_graph(objects, K, similarity, "nn-descent", random_state=seed)
            seconds = time.process_time() - start
            recall = float(np.mean(graph.similarities[rows] >= worst[:, None]))
            rate = graph.n_evaluations / (len(objects) * (len(objects) - 1) / 2)
            estimated = graph.estimated_recall
            assert estimated is not None
            print(
                f"| {name} | {seed} | {graph.n_evaluations:,} | {rate:.4f} | {recall:.3f} "
                f"| {estimated.value:.3f} | {seconds:.1f} |",
                flush=True,
            )
        if name == "surnames":
            beside = fit_beside_calls(objects)
    if "classes" not in sys.argv:
        print(f"\n{beside}")


if __name__ == "__main__":
    main()
