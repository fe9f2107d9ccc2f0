"""
How k changes the selection
===========================

``n_neighbors`` is the parameter to turn first. An object is covered if a representative is among its k most similar
others, so that a larger k lets each representative cover more, and fewer are needed. This page turns k on points that
one can see, and then on images, where the price shows.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import StratifiedKFold

import covey

# %%
# On a spiral
# -----------
# The points of one cluster lie on a spiral. With a small k the representatives follow it closely; with a large one they
# begin to cover across the gap between two turns.

points, arms = covey.datasets.make_spirals(600, noise=0.02, random_state=0)
figure, axes = plt.subplots(1, 4, figsize=(12, 3.4), layout="constrained")
spiral = points[arms == arms[0]]
for axis, k in zip(axes, (3, 10, 30, 100), strict=True):
    (prototype,) = covey.CRS(k, similarity="euclidean", threshold=None).fit(spiral).prototypes_.values()
    covered = prototype.covered_by >= 0
    lines = np.stack([spiral[prototype.members[covered]], spiral[prototype.covered_by[covered]]])
    axis.plot(*lines.transpose(2, 0, 1), color="#0072b2", linewidth=0.5, alpha=0.6)
    axis.scatter(*spiral.T, s=4, color="gray")
    axis.scatter(*spiral[prototype.indices].T, s=45, color="#d55e00", edgecolors="black", zorder=3)
    axis.set_title(f"k = {k}: {prototype.indices.size} of {len(spiral)}")
    axis.set(xticks=[], yticks=[], aspect="equal")
plt.show()

# %%
# On images
# ---------
# Handwritten digits, five folds. The left curve is the size of the selection, the right one what the nearest
# representative gets right, with one standard error of the five folds. The dashed line is the nearest of all images.

X, y = load_digits(return_X_y=True)
folds = list(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))


def measure(selector):
    """The share that is selected and the share of right answers, in each fold."""
    found = []
    for learned, asked in folds:
        model = covey.NearestPrototypeClassifier(selector).fit(X[learned], y[learned])
        found.append((model.selector_.sample_indices_.size / learned.size, model.score(X[asked], y[asked])))
    return np.array(found)


tried = (2, 3, 5, 10, 15, 20, 30, 50, 80)
results = {k: measure(covey.CRS(k, random_state=0)) for k in tried}
everything = measure(covey.KeepAll()).mean(axis=0)[1]
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
left.plot(tried, [100 * results[k][:, 0].mean() for k in tried], marker="o", color="#0072b2")
left.set(xlabel="k", ylabel="selected, % of all images", xscale="log", yscale="log")
mean = np.array([results[k][:, 1].mean() for k in tried])
error = np.array([results[k][:, 1].std(ddof=1) / np.sqrt(len(folds)) for k in tried])
left.set_yticks([2, 5, 10, 20], ["2", "5", "10", "20"])
right.errorbar(tried, mean, error, marker="o", capsize=3, color="#d55e00", label="CRS")
right.axhline(everything, color="gray", linestyle="--", label="all images")
right.set(xlabel="k", ylabel="right answers", xscale="log")
right.legend()
for axis in (left, right):
    axis.set_xticks(tried, [str(k) for k in tried])
    axis.minorticks_off()
    axis.grid(alpha=0.3)
plt.show()
for k in tried:
    share, score = results[k].mean(axis=0)
    print(f"k = {k:<3} selects {share:6.1%} and gets {score:.1%} right; all images get {everything:.1%} right")

# %%
# There is no best k. There is a size that one can afford, and a loss that one accepts.
#
# What to try next
# ----------------
# - ``n_neighbors="auto"`` follows the size of each cluster, and ``size=0.02`` asks for a share of all objects instead.
# - ``GridSearchCV(covey.NearestPrototypeClassifier(covey.CRS()), {"selector__n_neighbors": [5, 10, 20]})`` asks your
#   data; ``covey compare`` does it on the command line.
