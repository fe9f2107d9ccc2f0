"""What each method selects on Fashion-MNIST, how well it classifies, and what it costs.

Run with ``COVEY_DATA=folder python -m benchmarks.quality`` (about ten minutes on two cores). It prints its tables and
writes benchmarks/QUALITY.md:

methods    share selected, quality on the official test set, evaluations and time of each selector
recall     how many true neighbors NN-Descent finds in each class
smallest   how close greedy picking and refining come to the lower bound
"""

import platform
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import precision_score, recall_score

import covey
from tests.data import fashion_mnist

RESULTS = Path(__file__).with_name("QUALITY.md")
SEEDS = 5
KS = (5, 10, 15)


def scores(selector, data):
    """A fitted classifier, and its share selected, macro precision and recall, scan rate and seconds of the fit."""
    X, y, queries, truth = data
    start = time.perf_counter()
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    seconds = time.perf_counter() - start
    guess = model.predict(queries)
    precision, recall = (score(truth, guess, average="macro") for score in (precision_score, recall_score))
    fitted = model.selector_
    return model, (fitted.sample_indices_.size / len(X), precision, recall, fitted.scan_rate_, seconds)


def selectors():
    """Every method by its name. Two threads, so that a table from another machine can be compared."""
    for k in KS:
        for graph in ("exact", "nn-descent"):
            yield f"CRS, k = {k}, {graph}", covey.CRS(k, graph=graph, random_state=0, n_jobs=2)
        yield f"CRS, k = {k}, exact, refined", covey.CRS(k, graph="exact", refine=True, random_state=0, n_jobs=2)
    yield "delta-medoids at the homogeneity", covey.DeltaMedoids(random_state=0, n_jobs=2)
    yield "delta-medoids, one shot", covey.DeltaMedoids(one_shot=True, random_state=0, n_jobs=2)
    yield "DS3, budget 3", covey.DS3(n_jobs=2)
    yield "DS3, alpha 0.01", covey.DS3(alpha=0.01, n_jobs=2)


def methods(data) -> Iterator[str]:
    """The table of all methods."""
    row = "| {} | {:.2%} | {:.3f} | {:.3f} | {:.4f} | {:.1f} | {} |".format
    yield "| method | selected | precision | recall | scan rate | fit, s | by class, and what else it reports |"
    yield "|---|---|---|---|---|---|---|"
    for name, selector in selectors():
        model, measured = scores(selector, data)
        fitted = model.selector_
        shares = [p.indices.size / p.members.size for p in fitted.prototypes_.values()]
        told = f"{min(shares):.2%} to {max(shares):.2%}"
        if hasattr(fitted, "duality_gap_"):
            told += f"; duality gap {fitted.duality_gap_:.0e}"
        if hasattr(fitted, "stopped_by_"):
            told += f"; {fitted.n_iter_} iterations, ended by {', '.join(sorted(set(fitted.stopped_by_.values())))}"
        yield row(name, *measured, told)
        if name.endswith("nn-descent"):
            sizes = {label: p.indices.size for label, p in fitted.prototypes_.items()}
            random = [scores(covey.RandomSelector(n=sizes, random_state=seed), data)[1] for seed in range(SEEDS)]
            yield row("random, as many of each class", *np.mean(random, axis=0), f"mean of {SEEDS} seeds")
    yield row("all objects", *scores(covey.KeepAll(), data)[1], "")


def recall(data) -> Iterator[str]:
    """Recall and scan rate of NN-Descent in each class against the exact graph."""
    X, y, *_ = data
    yield "| k | recall, mean of the classes | lowest to highest | scan rate | lowest to highest |"
    yield "|---|---|---|---|---|"
    for k in KS:
        found = []
        for label in np.unique(y):
            members = X[y == label]
            exact = covey.neighbor_graph(members, k, method="exact", n_jobs=2)
            graph = covey.neighbor_graph(members, k, method="nn-descent", random_state=0, n_jobs=2)
            hits = [np.isin(a, b).mean() for a, b in zip(graph.indices, exact.indices, strict=True)]
            found.append((np.mean(hits), graph.n_evaluations / exact.n_evaluations))
        hits, scanned = np.array(found).T
        yield (
            f"| {k} | {hits.mean():.3f} | {hits.min():.3f} to {hits.max():.3f} "
            f"| {scanned.mean():.4f} | {scanned.min():.4f} to {scanned.max():.4f} |"
        )


def smallest(data) -> Iterator[str]:
    """Sizes of prototypes by greedy picking and by refining, and the lower bound of any prototype."""
    X, y, *_ = data
    yield "| k | greedy | refined | smaller by | lower bound | below greedy by | seconds of a bound |"
    yield "|---|---|---|---|---|---|---|"
    for k in KS:
        found, seconds = [], []
        for label in np.unique(y):
            graph = covey.neighbor_graph(X[y == label], k, method="exact", n_jobs=2)
            threshold = covey.homogeneity(X[y == label]).value
            greedy, refined = (covey.cover(graph, 0.95, threshold, refine=refine) for refine in (False, True))
            start = time.perf_counter()
            bound = covey.cover_lower_bound(graph, 0.95, threshold)
            seconds.append(time.perf_counter() - start)
            found.append((greedy.indices.size, refined.indices.size, bound))
        sizes = np.array(found)
        saved, below = (1 - sizes[:, 1:] / sizes[:, :1]).T
        greedy, refined, bound = sizes.mean(axis=0)
        yield (
            f"| {k} | {greedy:.0f} | {refined:.0f} | {saved.mean():.1%} ({saved.min():.1%} to {saved.max():.1%}) "
            f"| {bound:.0f} | {below.mean():.1%} | {np.median(seconds):.1f} |"
        )


PARTS = {
    "Methods": (
        methods,
        "Precision and recall are macro means on the 10 000 test images. A scan rate of 1 is all pairs.",
    ),
    "Recall of NN-Descent": (recall, "Ten classes of 6 000 images; recall is the share of the exact neighbors."),
    "How small it could be": (smallest, "Means over the ten classes, on exact graphs, at a coverage of 0.95."),
}


def main():
    data = fashion_mnist()
    text = (
        "# Quality, evaluations and size on Fashion-MNIST\n\n"
        "Written by `python -m benchmarks.quality`: 60 000 images in ten classes, cosine, two threads, Python "
        f"{platform.python_version()}, covey {covey.__version__}.\n"
    )
    for title, (part, note) in PARTS.items():
        text += f"\n## {title}\n\n{note}\n\n"
        for line in part(data):
            print(line, flush=True)
            text += f"{line}\n"
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
