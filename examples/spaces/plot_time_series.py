"""
Time series: gestures under dynamic time warping
================================================

A sensor records how a hand moves. People make the same gesture at different speeds, so that two recordings have to be
stretched onto each other before they are compared. That is dynamic time warping (DTW). It obeys no triangle
inequality, which rules out much of what is built for vectors, and one comparison is expensive. covey needs neither
vectors nor a metric, and every comparison that it saves counts.

`aeon <https://www.aeon-toolkit.org>`_ brings the distance, compiled by numba, and also the data: in GunPoint, a person
either draws a gun from a holster and points it, or points with the finger (Ratanamahatana and Keogh, 2004).

``pip install aeon`` installs it, best into an environment of its own, because it asks for older versions of other
libraries.
"""

# %%
import numpy as np
from aeon.datasets import load_gunpoint
from aeon.distances import dtw_distance
from matplotlib import pyplot as plt
from numba import njit

import covey

X, y = load_gunpoint(split="test")
queries, truth = load_gunpoint(split="train")
X, queries = X[:, 0], queries[:, 0]  # one channel: the height of the hand, 150 moments
y, truth = (np.where(labels == "1", "gun", "finger") for labels in (y, truth))
print(f"{len(X)} recordings to learn from, {len(queries)} to classify")

# %%
# A compiled function of two rows is all that it takes. covey calls it from compiled code, without Python in between.
# A similarity is larger for what is closer, so that the distance is turned round. The path may stray by a tenth of the
# series from the diagonal.


@njit
def likeness(a, b):
    return 1 / (1 + dtw_distance(a, b, 0.1))


model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10, similarity=likeness)).fit(X, y)
everything = covey.NearestPrototypeClassifier(covey.KeepAll(similarity=likeness)).fit(X, y)
print(f"{model.selector_.sample_indices_.size} representatives: {model.score(queries, truth):.1%} right")
print(f"all {len(X)} recordings: {everything.score(queries, truth):.1%} right, at {len(X)} comparisons for each answer")

# %%
# What the representatives look like
# ----------------------------------
# Each panel shows one representative as a thick line, and the recordings that it covers behind it.

prototypes = model.selector_.prototypes_
width = max(prototype.indices.size for prototype in prototypes.values())
figure, axes = plt.subplots(
    len(prototypes), width, figsize=(1.5 * width, 3.2), sharex=True, sharey=True, layout="constrained"
)
for line, (label, prototype), color in zip(axes, prototypes.items(), ("#0072b2", "#d55e00"), strict=True):
    line[0].set_ylabel(label)
    for axis in line[prototype.indices.size :]:
        axis.set_axis_off()
    for axis, row in zip(line, prototype.indices, strict=False):
        covered = prototype.members[prototype.covered_by == row]
        axis.plot(X[covered].T, color=color, alpha=0.25, linewidth=0.7)
        axis.plot(X[row], color="black", linewidth=1.8)
        axis.set_title(f"covers {covered.size}", fontsize=9)
        axis.set(xticks=[], yticks=[])
plt.show()

# %%
# Does the warping help?
# ----------------------
# The same selection with the plain Euclidean distance, which compares moment by moment:

plain = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10, similarity="euclidean")).fit(X, y)
print(f"Euclidean: {plain.selector_.sample_indices_.size} representatives, {plain.score(queries, truth):.1%} right")

# %%
# What is the answer based on?
# ----------------------------
# The evidence for an answer is a recording. These are three new recordings, each with the representative that decided.

found = model.explain(queries)
shown = np.argsort(found.margins)[[0, len(queries) // 2, -1]]
figure, axes = plt.subplots(1, 3, figsize=(9, 2.4), sharey=True, layout="constrained")
for axis, query, title in zip(axes, shown, ("the closest call", "an ordinary one", "the clearest"), strict=True):
    axis.plot(queries[query], color="#009e73", linewidth=2, label="new recording")
    axis.plot(X[found.representatives[query]], color="black", linewidth=1, label="representative")
    axis.set_title(f"{title}: {found.labels[query]}, is {truth[query]}", fontsize=10)
    axis.set(xticks=[], yticks=[])
axes[0].legend(fontsize=8)
plt.show()

# %%
# What to try next
# ----------------
# - Other distances of aeon (``msm_distance``, ``twe_distance``, ``erp_distance``) are compiled, too: exchange one line.
# - Series of different lengths do not fit into one array. Pass a list of arrays and the plain function
#   ``covey.from_distance(dtw_distance)``.
# - ``covey.CRS(..., graph="nn-descent")`` compares only a share of all pairs. ``selector.scan_rate_`` tells how many.
