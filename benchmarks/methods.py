"""The other methods beside CRS on Fashion-MNIST, and how close CRS comes to the smallest possible prototype.

Run with ``COVEY_DATA=folder python -m benchmarks.methods`` (about ten minutes on two cores).
"""

import time

import numpy as np

import covey
from benchmarks.quality import scores
from tests.data import fashion_mnist


def compare(data):
    """Each method at its defaults."""
    row = "{:<34}{:>10.2%}{:>11.3f}{:>8.3f}{:>11.3f}{:>8.1f} s"
    print(f"{'':<34}{'selected':>10}{'precision':>11}{'recall':>8}{'scan rate':>11}{'fit':>8}")
    methods = {
        "delta-medoids at the homogeneity": covey.DeltaMedoids(random_state=0, n_jobs=2),
        "delta-medoids, one shot": covey.DeltaMedoids(one_shot=True, random_state=0, n_jobs=2),
        "DS3, budget 3": covey.DS3(n_jobs=2),
        "DS3, alpha 0.01": covey.DS3(alpha=0.01, n_jobs=2),
        "random, 5 %": covey.RandomSelector(random_state=0),
    }
    for name, selector in methods.items():
        model, measured = scores(selector, data)
        print(row.format(name, *measured), end="")
        fitted = model.selector_
        shares = [p.indices.size / p.members.size for p in fitted.prototypes_.values()]
        print(f"   by class {min(shares):.2%} to {max(shares):.2%}", end="")
        if hasattr(fitted, "duality_gap_"):
            print(f", duality gap {fitted.duality_gap_:.1e}", end="")
        if hasattr(fitted, "stopped_by_"):
            print(f", {fitted.n_iter_} iterations, ended by {sorted(set(fitted.stopped_by_.values()))}", end="")
        print(flush=True)


def refinement(data):
    """Greedy, refined and lower bound, with what refining does to the classifier."""
    X, y, *_ = data
    for k in (5, 10, 15):
        greedy, refined = (
            scores(covey.CRS(k, graph="exact", refine=refine, random_state=0, n_jobs=2), data)
            for refine in (False, True)
        )
        sizes = {"greedy": [], "refined": [], "bound": []}
        seconds = []
        for label in np.unique(y):
            prototype = greedy[0].selector_.prototypes_[label]
            graph = covey.neighbor_graph(X[y == label], k, method="exact", n_jobs=2)
            start = time.perf_counter()
            sizes["bound"].append(covey.cover_lower_bound(graph, 0.95, prototype.threshold))
            seconds.append(time.perf_counter() - start)
            sizes["greedy"].append(prototype.indices.size)
            sizes["refined"].append(refined[0].selector_.prototypes_[label].indices.size)
        means = {name: np.mean(values) for name, values in sizes.items()}
        saved = 1 - np.array(sizes["refined"]) / np.array(sizes["greedy"])
        print(
            f"k = {k:>2}: greedy {means['greedy']:.0f}, refined {means['refined']:.0f} ({saved.mean():.1%} smaller, "
            f"{saved.min():.1%} to {saved.max():.1%}), lower bound {means['bound']:.0f} in {np.median(seconds):.1f} s; "
            f"precision/recall {greedy[1][1]:.3f}/{greedy[1][2]:.3f} greedy, {refined[1][1]:.3f}/{refined[1][2]:.3f} "
            f"refined; fit {greedy[1][4]:.1f} s and {refined[1][4]:.1f} s"
        )
        for name, values in sizes.items():
            print(f"    {name:<8}", *(f"{value:>5}" for value in values), flush=True)


def main():
    data = fashion_mnist()
    refinement(data)
    compare(data)


if __name__ == "__main__":
    main()
