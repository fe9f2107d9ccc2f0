"""What each method selects on Fashion-MNIST, how well it classifies, and what it costs.

Run with ``COVEY_DATA=folder python -m benchmarks.quality`` (about twenty minutes of one core). What depends on a seed
is measured with five of them. It prints its tables and writes benchmarks/QUALITY.md:

methods    share selected, quality on the official test set, evaluations and time of each selector
recall     how many true neighbors NN-Descent finds in each class
smallest   how close greedy picking and refining come to the lower bound
"""

import os
import platform
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.metrics import precision_score, recall_score

import covey
from benchmarks.data import fashion_mnist
from benchmarks.spread import mean_and_spread

RESULTS = Path(__file__).with_name("QUALITY.md")
SEEDS = range(5)
KS = (5, 10, 15)


def cpu_seconds():
    """Seconds that this process and those that it has started and ended have computed."""
    return sum(os.times()[:4])


def scores(selector, data):
    """A fitted classifier, and its share selected, macro precision and recall, scan rate and seconds of the fit."""
    X, y, queries, truth = data
    start = cpu_seconds()
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    seconds = cpu_seconds() - start
    guess = model.predict(queries)
    precision, recall = (score(truth, guess, average="macro") for score in (precision_score, recall_score))
    fitted = model.selector_
    return model, (fitted.sample_indices_.size / len(X), precision, recall, fitted.scan_rate_, seconds)


def selectors():
    """Every method by its name, with each of the seeds if something in it is random."""
    for k in KS:
        yield f"CRS, k = {k}, exact", [covey.CRS(k, graph="exact", n_jobs=1)]
        yield (
            f"CRS, k = {k}, nn-descent",
            [covey.CRS(k, graph="nn-descent", random_state=seed, n_jobs=1) for seed in SEEDS],
        )
        yield f"CRS, k = {k}, exact, refined", [covey.CRS(k, graph="exact", refine=True, n_jobs=1)]
    for name, one_shot in (("delta-medoids at the homogeneity", False), ("delta-medoids, one shot", True)):
        yield name, [covey.DeltaMedoids(one_shot=one_shot, random_state=seed, n_jobs=1) for seed in SEEDS]
    yield "DS3, budget 3", [covey.DS3(n_jobs=1)]
    yield "DS3, alpha 0.01", [covey.DS3(alpha=0.01, n_jobs=1)]


def row(name, runs, told="") -> str:
    """One row of the table of methods: means, and the standard deviation of the quality if there are several runs."""
    selected, _, _, scanned, seconds = np.mean(runs, axis=0)
    precision, recall = (mean_and_spread([run[at] for run in runs]) for at in (1, 2))
    return f"| {name} | {selected:.2%} | {precision} | {recall} | {scanned:.4f} | {seconds:.1f} | {told} |"


def methods(data) -> Iterator[str]:
    """The table of all methods."""
    yield "| method | selected | precision | recall | scan rate | fit, CPU s | by class, and what else it reports |"
    yield "|---|---|---|---|---|---|---|"
    for name, tried in selectors():
        runs = [scores(selector, data) for selector in tried]
        fits = [model.selector_ for model, _ in runs]
        shares = [p.indices.size / p.members.size for fitted in fits for p in fitted.prototypes_.values()]
        told = f"{min(shares):.2%} to {max(shares):.2%}"
        if hasattr(fits[0], "duality_gap_"):
            told += f"; duality gap {fits[0].duality_gap_:.0e}"
        if hasattr(fits[0], "stopped_by_"):
            rounds = sorted(fitted.n_iter_ for fitted in fits)
            ends = sorted({end for fitted in fits for end in fitted.stopped_by_.values()})
            told += f"; {rounds[0]} to {rounds[-1]} iterations, ended by {', '.join(ends)}"
        yield row(name, [measured for _, measured in runs], told)
        if name.endswith("nn-descent"):
            sizes = {label: p.indices.size for label, p in fits[0].prototypes_.items()}
            random = [scores(covey.RandomSelector(n=sizes, random_state=seed), data)[1] for seed in SEEDS]
            yield row("random, as many of each class", random)
    yield row("all objects", [scores(covey.KeepAll(), data)[1]])


def recall(data) -> Iterator[str]:
    """Recall and scan rate of NN-Descent in each class against the exact graph."""
    X, y, *_ = data
    yield "| k | recall, mean of the classes | lowest to highest | scan rate | lowest to highest |"
    yield "|---|---|---|---|---|"
    for k in KS:
        found = []  # by class and seed
        for label in np.unique(y):
            members = X[y == label]
            exact = covey.neighbor_graph(members, k, method="exact", n_jobs=2)
            graphs = [
                covey.neighbor_graph(members, k, method="nn-descent", random_state=seed, n_jobs=2) for seed in SEEDS
            ]
            found.append([(hit_rate(each, exact), each.n_evaluations / exact.n_evaluations) for each in graphs])
        hits, scanned = np.moveaxis(np.array(found), 2, 0)
        yield (
            f"| {k} | {mean_and_spread(hits.mean(axis=0))} | {hits.min():.3f} to {hits.max():.3f} "
            f"| {scanned.mean():.4f} | {scanned.min():.4f} to {scanned.max():.4f} |"
        )


def hit_rate(graph, exact):
    """The share of the entries of a graph that are exact neighbors."""
    return np.mean([np.isin(a, b).mean() for a, b in zip(graph.indices, exact.indices, strict=True)])


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
        "Precision and recall are macro means on the 10 000 test images. A scan rate of 1 is all pairs. Where "
        f"something is random, figures are means over the {len(SEEDS)} seeds {SEEDS[0]} to {SEEDS[-1]}, and ± is their "
        "standard deviation; rows without ± have nothing random in them. Times are CPU seconds of one thread.",
    ),
    "Recall of NN-Descent": (
        recall,
        "Ten classes of 6 000 images; recall is the share of the exact neighbors, ± the standard deviation over the "
        "same seeds. Lowest and highest are of all classes and seeds.",
    ),
    "How small it could be": (smallest, "Means over the ten classes, on exact graphs, at a coverage of 0.95."),
}


def main():
    data = fashion_mnist()
    text = (
        "# Quality, evaluations and size on Fashion-MNIST\n\n"
        "Written by `python -m benchmarks.quality`: 60 000 images in ten classes, cosine, Python "
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
