"""
Coverage and threshold
======================

Two parameters decide who counts as covered. ``coverage`` is the share of a cluster that must have a representative;
below 1, outliers are left out. ``threshold`` is a similarity: edges to neighbors that are less similar are dropped, so
that no object is represented by an unlike one. By default it is the *homogeneity*, the mean similarity of all pairs.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt

import covey

rng = np.random.default_rng(0)
X = np.concatenate(
    [
        rng.normal((0, 0), 0.5, size=(150, 2)),
        rng.normal((3.2, 0.6), (0.9, 0.4), size=(120, 2)),
        rng.uniform((-2, -2.2), (6, 3), size=(30, 2)),
    ]
)


def draw(axis, title, **parameters):
    """Fit a selector and draw who covers whom; crosses are objects that nothing covers."""
    (prototype,) = covey.CRS(similarity="euclidean", **parameters).fit(X).prototypes_.values()
    covered = prototype.covered_by >= 0
    lines = np.stack([X[prototype.members[covered]], X[prototype.covered_by[covered]]])
    axis.plot(*lines.transpose(2, 0, 1), color="#0072b2", linewidth=0.5, alpha=0.6)
    axis.scatter(*X.T, s=5, color="gray")
    axis.scatter(*X[~covered].T, s=30, marker="x", color="black")
    axis.scatter(*X[prototype.indices].T, s=50, color="#d55e00", edgecolors="black", zorder=3)
    axis.set_title(f"{title}\n{prototype.indices.size} representatives cover {prototype.coverage:.1%}", fontsize=10)
    axis.set(xticks=[], yticks=[], aspect="equal")


# %%
# Coverage: the last few percent are the expensive ones
# -----------------------------------------------------
# Two dense groups and thirty strays. The first representatives stand in the dense groups. To cover the last strays,
# each needs a representative that covers hardly anyone else.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for axis, coverage in zip(axes, (0.7, 0.95, 1.0), strict=True):
    draw(axis, f"coverage = {coverage}", n_neighbors=20, coverage=coverage)
plt.show()

# %%
# The curve of the whole selection shows where the bend is.

figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
covey.displays.CoverageDisplay.from_estimator(covey.CRS(20, coverage=1.0, similarity="euclidean").fit(X)).plot(axes)
axes.get_legend().remove()
plt.show()

# %%
# Threshold: how unlike may a representative be?
# ----------------------------------------------
# The similarity is 1 / (1 + distance). Without a threshold, a stray counts as covered by whoever is nearest, however
# far away that is. A higher threshold makes strays orphans, who can only represent themselves. With
# ``on_orphan="outlier"`` they stay uncovered, which the crosses show.

print(covey.homogeneity(X, "euclidean", random_state=0))
figure, axes = plt.subplots(2, 2, figsize=(9, 6.6), layout="constrained")
draw(axes[0, 0], "threshold = None", n_neighbors=20, threshold=None, coverage=1)
draw(axes[0, 1], 'threshold = "homogeneity"', n_neighbors=20, coverage=1)
draw(axes[1, 0], "threshold = .7", n_neighbors=20, threshold=0.7, coverage=1)
draw(
    axes[1, 1], 'threshold = .7, on_orphan = "outlier"', n_neighbors=20, threshold=0.7, coverage=1, on_orphan="outlier"
)
plt.show()

# %%
# The threshold alone
# -------------------
# With ``n_neighbors=None`` the threshold alone decides: everyone within it counts as a neighbor. Then a dense group
# needs no more representatives than a thin one of the same extent.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
for axis, threshold in zip(axes, (0.4, 0.5, 0.6), strict=True):
    draw(axis, f"n_neighbors = None, threshold = {threshold}", n_neighbors=None, threshold=threshold, coverage=1)
plt.show()

# %%
# What to try next
# ----------------
# - :doc:`plot_lower_bound` asks how few could do.
# - :doc:`plot_rejection` uses the thresholds of the clusters to say "I do not know".
