"""
Evaluations: what a selection costs
===================================

When one comparison of two objects takes a millisecond or a second, nothing counts but how many there are. All pairs of
n objects grow with the square of n. NN-Descent, which looks for neighbors among the neighbors of neighbors, needs far
fewer when there are many objects. covey counts each evaluation, and this page shows the counts.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

import covey

# %%
# Counts by number of objects
# ---------------------------
# The objects are points in ten dimensions, around eight centers. ``estimated_recall`` is the share of the true
# neighbors that the search has found, which it estimates itself.

rng = np.random.default_rng(0)
centers = 3 * rng.normal(size=(8, 10))
sizes = (500, 1000, 2000, 4000, 8000)
counts, shares = [], []
for n in sizes:
    X = centers[rng.integers(8, size=n)] + rng.normal(size=(n, 10))
    graph = covey.neighbor_graph(X, 10, similarity="euclidean", method="nn-descent", random_state=0)
    counts.append(graph.n_evaluations)
    shares.append(graph.n_evaluations / (n * (n - 1) / 2))
    print(
        f"n = {n:>5}: {graph.n_evaluations:>9,} evaluations, {shares[-1]:6.1%} of all pairs, {graph.estimated_recall}"
    )

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
left.plot(sizes, [n * (n - 1) / 2 for n in sizes], color="gray", linestyle="--", label="all pairs")
left.plot(sizes, counts, marker="o", color="#0072b2", label="NN-Descent")
left.set(xlabel="objects", ylabel="evaluations", xscale="log", yscale="log")
left.legend()
right.plot(sizes, shares, marker="o", color="#0072b2")
right.set(xlabel="objects", ylabel="share of all pairs", xscale="log", ylim=(0, None))
for axis in (left, right):
    axis.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
plt.show()

# %%
# Does the selection suffer?
# --------------------------
# An approximate graph misses some neighbors. The selection hardly notices:

y = rng.integers(4, size=8000)
X = 3 * rng.normal(size=(4, 10))[y] + 2 * rng.normal(size=(8000, 10))
for method in ("exact", "nn-descent"):
    selector = covey.CRS(10, similarity="euclidean", graph=method, random_state=0)
    model = covey.NearestPrototypeClassifier(selector).fit(X[:6000], y[:6000])
    print(
        f"{method:<11} {model.selector_.sample_indices_.size} representatives, scan rate "
        f"{model.selector_.scan_rate_:.1%}, {model.score(X[6000:], y[6000:]):.1%} right"
    )

# %%
# For named similarities, which are compiled, the exact graph is often faster all the same, and ``graph="auto"`` knows.
# Few evaluations pay off when each one is expensive.
#
# What to try next
# ----------------
# - ``covey.CRS(checkpoint="file")`` keeps each evaluation of a custom function, also for later fits.
# - ``covey.dask`` does the same work on many machines: :doc:`plot_dask`.
