"""The curves behind the page *How to choose*: what each parameter and each method does to size, quality and cost.

Run with ``COVEY_DATA=folder python -m benchmarks.choosing`` (about half an hour on one core). It writes
benchmarks/choosing.csv, which docs/choosing.md draws. Words after it choose experiments by name, and only their
rows are replaced. Data sets that are not at hand are left out.

No time is measured. What is recorded is the same on every machine: the share of objects selected, the macro mean of F1
on objects that were held out, and the evaluations. Multiply the evaluations by what one costs you.
"""

import csv
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import covey
from benchmarks.data import fashion_mnist
from benchmarks.small_sets import names_by_language

RESULTS = Path(__file__).with_suffix(".csv")
SEEDS = (0, 1, 2, 3, 4)
"""Each seed divides the objects anew into those that are represented and those that are classified."""


@dataclass(frozen=True)
class Row:
    """What one fit has come to; a number that an experiment does not measure is left empty."""

    experiment: str
    data: str
    setting: str
    seed: int
    n_objects: int
    selected: float | str = ""
    f1: float | str = ""
    evaluations_per_object: float | str = ""
    scan_rate: float | str = ""
    recall: float | str = ""


def digits() -> tuple[Any, Any, str]:
    return (*load_digits(return_X_y=True), "cosine")


def images() -> tuple[Any, Any, str]:
    """6 000 images of Fashion-MNIST, 600 of each class."""
    X, y, *_ = fashion_mnist()
    X, _, y, _ = train_test_split(X, y, train_size=6_000, stratify=y, random_state=0)
    return X, y, "cosine"


def posts() -> tuple[Any, Any, str]:
    """The training posts of 20 Newsgroups as rows of TF-IDF."""
    return (*covey.datasets.load_20newsgroups("train", return_X_y=True), "cosine")


def surnames() -> tuple[Any, Any, str]:
    return names_by_language(4_000)


SETS: dict[str, Callable[[], tuple[Any, Any, str]]] = {
    "digits": digits,
    "Fashion-MNIST": images,
    "20 Newsgroups": posts,
    "surnames": surnames,
}


def available() -> dict[str, tuple[Any, Any, str]]:
    """The data sets that are at hand."""
    found = {}
    for name, make in SETS.items():
        try:
            found[name] = make()
        except FileNotFoundError as error:
            print(f"{name} is left out: {error}", file=sys.stderr)
    return found


def fit(experiment: str, data: str, setting: Any, selector: Any, X: Any, y: Any, seed: int) -> Row:
    """Represent three fifths of the objects, and classify the others."""
    rows = np.arange(len(y))
    kept, asked = train_test_split(rows, test_size=0.4, stratify=y, random_state=seed)
    model = covey.NearestPrototypeClassifier(selector).fit(take(X, kept), y[kept])
    score = f1_score(y[asked], model.predict(take(X, asked)), average="macro")
    fitted = model.selector_
    return Row(
        experiment,
        data,
        str(setting),
        seed,
        kept.size,
        round(fitted.sample_indices_.size / kept.size, 5),
        round(score, 4),
        round(fitted.n_evaluations_ / kept.size, 2),
        round(fitted.scan_rate_, 5),
    )


def take(X: Any, rows: Any) -> Any:
    return [X[row] for row in rows] if isinstance(X, list) else X[rows]


Trials = Iterator[tuple[Any, Any]]
"""Settings and the selectors that have them."""


def neighbors(similarity: str, X: Any, y: Any) -> Trials:
    for k in (1, 2, 3, 5, 7, 10, 15, 20, 30, 50):
        yield k, covey.CRS(k, similarity=similarity, random_state=0)


def coverages(similarity: str, X: Any, y: Any) -> Trials:
    for share in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0):
        yield share, covey.CRS(10, coverage=share, similarity=similarity, random_state=0)


def thresholds(similarity: str, X: Any, y: Any) -> Trials:
    """No threshold, the homogeneity, and similarities that only this many percent of the edges at k = 10 reach."""
    yield "none", covey.CRS(10, threshold=None, similarity=similarity, random_state=0)
    yield "homogeneity", covey.CRS(10, similarity=similarity, random_state=0)
    edges = [
        covey.neighbor_graph(take(X, np.flatnonzero(y == label)), 10, similarity, "exact").similarities.ravel()
        for label in np.unique(y)
    ]
    edges = np.concatenate([found[np.isfinite(found)] for found in edges])
    for percent in (90, 75, 50, 25, 10, 5):
        bar = float(np.quantile(edges, 1 - percent / 100))
        yield percent, covey.CRS(10, threshold=bar, similarity=similarity, random_state=0)


def methods(similarity: str, X: Any, y: Any) -> Trials:
    """Each method with its defaults, and three that can be told how many: 2, 5 and 10 percent."""
    common = {"similarity": similarity}
    seeded = {**common, "random_state": 0}
    yield "CRS", covey.CRS(10, **seeded)
    yield "CRS, NN-Descent", covey.CRS(10, graph="nn-descent", **seeded)
    yield "CRS, refined", covey.CRS(10, refine=True, **seeded)
    yield "delta-medoids", covey.DeltaMedoids(**seeded)
    yield "DS3", covey.DS3(3, **common)
    yield "all objects", covey.KeepAll(**common)
    for share in (0.02, 0.05, 0.1):
        yield f"random {share}", covey.RandomSelector(share, **seeded)
        yield f"CRS {share}", covey.CRS(10, size=share, **seeded)
        inner = covey.CRS(10, **seeded)
        yield f"sharpened {share}", covey.Sharpened(inner, size=share, random_state=0)
        yield f"sharpened, listed {share}", covey.Sharpened(inner, size=share, margins="listed", random_state=0)


def similarities(similarity: str, X: Any, y: Any) -> Trials:
    strings = ("levenshtein", "indel", "osa", "jaro-winkler")
    numbers = ("cosine", "euclidean", "dot", "ruzicka")
    for name in strings if isinstance(X, list) else numbers:
        yield name, covey.CRS(10, similarity=name, random_state=0)


EXPERIMENTS: dict[str, Callable[[str, Any, Any], Trials]] = {
    "neighbors": neighbors,
    "coverage": coverages,
    "threshold": thresholds,
    "method": methods,
    "similarity": similarities,
}


def graphs(name: str, X: Any, similarity: str) -> Iterator[Row]:
    """What the neighbor graph of one cluster of n objects costs by NN-Descent, and what it finds."""
    n = 250
    while n <= len(X):
        for seed in SEEDS:
            rows = np.random.default_rng(seed).permutation(len(X))[:n]
            exact = covey.neighbor_graph(take(X, rows), 10, similarity, "exact")
            found = covey.neighbor_graph(take(X, rows), 10, similarity, "nn-descent", random_state=seed)
            reached = found.similarities >= exact.similarities[:, -1:]  # any of equally similar neighbors counts
            rate = found.n_evaluations / (n * (n - 1) / 2)
            cost = round(found.n_evaluations / n, 2)
            yield Row("graph", name, str(n), seed, n, "", "", cost, round(rate, 5), round(reached.mean(), 4))
        n *= 2


def measure(chosen: list[str]) -> Iterator[Row]:
    sets = available()
    for experiment, trials in EXPERIMENTS.items():
        for name, (X, y, similarity) in sets.items() if experiment in chosen else ():
            for setting, selector in trials(similarity, X, y):
                for seed in SEEDS:
                    yield fit(experiment, name, setting, selector, X, y, seed)
    if "graph" in chosen:
        X, *_ = fashion_mnist()
        yield from graphs("Fashion-MNIST", X[:16_000], "cosine")
        names, _, similarity = names_by_language()
        yield from graphs("surnames", names[:16_000], similarity)


def main() -> None:
    names = [*EXPERIMENTS, "graph"]
    chosen = sys.argv[1:] or names
    if unknown := set(chosen) - set(names):
        raise SystemExit(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(names)}")
    kept: list[dict[str, Any]] = []
    if RESULTS.exists():
        with RESULTS.open(encoding="utf-8", newline="") as file:
            kept = [row for row in csv.DictReader(file) if row["experiment"] not in chosen]
    for row in measure(chosen):
        print(*(value for value in asdict(row).values() if value != ""), flush=True)
        kept.append(asdict(row))
    kept.sort(key=lambda row: names.index(row["experiment"]))  # stable: within an experiment the order stays
    with RESULTS.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(kept)


if __name__ == "__main__":
    main()
