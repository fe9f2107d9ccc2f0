"""How long classification takes: `predict` and `explain` of 10 000 queries with 20 classes, in three forms of data.

``python -m benchmarks.classification`` prints the median seconds of alternating runs, and what `explain` costs beside
`predict`. The data are synthetic, so that the figures need no files: Gaussian blobs as dense rows; and sparse profiles,
whose keys follow a Zipf law as words do, as CSR rows and as dicts.
"""

import time
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp

import covey

N_CLASSES, N_PER_CLASS, N_QUERIES = 20, 300, 10_000
WIDTH, VOCABULARY, WORDS = 64, 5_000, 60
RUNS = 5


def blobs(rng: np.random.Generator, labels: Any) -> Any:
    """Dense rows around a center for each class."""
    centers = np.random.default_rng(1).normal(size=(N_CLASSES, WIDTH))
    return (centers[labels] + rng.normal(scale=1.5, size=(labels.size, WIDTH))).astype(np.float32)


def profiles(rng: np.random.Generator, labels: Any) -> list[dict[str, float]]:
    """Dicts of word counts; each class has its own order of frequent words."""
    orders = [np.random.default_rng(label).permutation(VOCABULARY) for label in range(N_CLASSES)]
    drawn = []
    for label in labels:
        ranks = np.minimum(rng.zipf(1.3, size=WORDS), VOCABULARY) - 1
        words, counts = np.unique(orders[label][ranks], return_counts=True)
        drawn.append({f"word{word}": float(count) for word, count in zip(words, counts, strict=True)})
    return drawn


def as_csr(rows: list[dict[str, float]]) -> sp.csr_array:
    """Dicts of words as CSR rows over the whole vocabulary."""
    starts = np.cumsum([0] + [len(row) for row in rows])
    columns = np.array([int(word[4:]) for row in rows for word in row])
    values = np.array([count for row in rows for count in row.values()])
    return sp.csr_array((values, columns, starts), shape=(len(rows), VOCABULARY))


def seconds(function: Any, *arguments: Any) -> float:
    start = time.perf_counter()
    function(*arguments)
    return time.perf_counter() - start


def main() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(N_CLASSES), N_PER_CLASS)
    asked = rng.integers(N_CLASSES, size=N_QUERIES)
    dicts, queries = profiles(rng, labels), profiles(rng, asked)
    forms = {
        "dense rows": (blobs(rng, labels), blobs(rng, asked)),
        "CSR rows": (as_csr(dicts), as_csr(queries)),
        "dict profiles": (dicts, queries),
    }
    for form, (X, Q) in forms.items():
        model = covey.NearestPrototypeClassifier(covey.CRS(10, random_state=0)).fit(X, labels)
        model.predict(Q[:50]), model.explain(Q[:50])  # compile first
        times = [(seconds(model.predict, Q), seconds(model.explain, Q)) for _ in range(RUNS)]
        predict, explain = (median(column) for column in zip(*times, strict=True))
        n = model.selector_.sample_indices_.size
        print(
            f"{form}: {n} representatives, predict {predict:.3f} s, explain {explain:.3f} s, {explain / predict:.2f} x"
        )


if __name__ == "__main__":
    main()
