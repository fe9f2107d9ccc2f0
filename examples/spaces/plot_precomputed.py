"""
A precomputed matrix: clinics, and ways that are longer uphill
==============================================================

Sometimes there is nothing but a table of how far everything is from everything: travel times, ratings, the output of a
simulation. covey takes such a matrix as it is. It need not be symmetric. Here a district has 150 villages between
hills, and walking uphill takes longer than walking down. Where should there be clinics, so that no one walks for
more than 45 minutes?
"""

# %%
# The district is made up. A way of one kilometer takes 12 minutes, and each 100 meters up take 10 minutes more
# (Naismith's rule).

import numpy as np
from matplotlib import pyplot as plt
from scipy.spatial.distance import cdist

import covey

rng = np.random.default_rng(3)
villages = rng.uniform(0, 20, size=(150, 2))


def height(x, y):
    """The height of the ground in meters: three hills."""
    hills = ((6, 14, 500, 3.0), (14, 12, 700, 3.5), (10, 4, 400, 2.5))
    return sum(top * np.exp(-((x - a) ** 2 + (y - b) ** 2) / (2 * wide**2)) for a, b, top, wide in hills)


level = height(*villages.T)
climb = np.maximum(level[None, :] - level[:, None], 0)  # from the village of the row to that of the column
minutes = 12 * cdist(villages, villages) + climb / 10
print(f"From village 0 to village 1: {minutes[0, 1]:.0f} minutes, and back: {minutes[1, 0]:.0f} minutes.")

# %%
# Patients walk to the clinic
# ---------------------------
# ``from_distance("precomputed", how="negative")`` says that the matrix holds distances, and turns 45 minutes into a
# similarity of -45. A village is covered by a clinic if the way *from the village to the clinic* is short enough: the
# row of the matrix is where one starts. ``n_neighbors=None`` counts every village within the threshold, and
# ``coverage=1`` leaves no one out.

task = {
    "n_neighbors": None,
    "threshold": -45,
    "coverage": 1,
    "gain": "count",
    "refine": True,
    "similarity": covey.from_distance("precomputed", how="negative"),
}
walk = covey.CRS(**task).fit(minutes)
print(f"{walk.sample_indices_.size} clinics, if patients walk to them")

# %%
# The doctor walks to the patients
# --------------------------------
# Transposed, the same matrix answers another question: how many doctors are needed, if the doctor has to be with the
# patient after 45 minutes? Now higher places are better ones. If one made the matrix symmetric, as many methods
# demand, both answers would be wrong.

visit = covey.CRS(**task).fit(minutes.T)
mean = covey.CRS(**task).fit((minutes + minutes.T) / 2)
reached = minutes[:, mean.sample_indices_].min(axis=1) <= 45
print(f"{visit.sample_indices_.size} doctors, if they walk to the patients")
print(
    f"{mean.sample_indices_.size} clinics by the mean of both ways, and {np.sum(~reached)} villages would walk too far"
)

# %%
# Lines lead from each village to its clinic, and light ground is high. The clinics lie lower than the doctors' homes.

figure, axes = plt.subplots(1, 2, figsize=(10, 5), sharex=True, sharey=True, layout="constrained")
across, up = np.meshgrid(np.linspace(0, 20, 200), np.linspace(0, 20, 200))
for axis, selector, title in zip(
    axes, (walk, visit), ("Patients walk to a clinic", "Doctors walk to patients"), strict=True
):
    axis.contourf(across, up, height(across, up), levels=12, cmap="YlGn_r", alpha=0.6)
    (prototype,) = selector.prototypes_.values()
    for member, by in zip(prototype.members, prototype.covered_by, strict=True):
        axis.plot(*villages[[member, by]].T, color="black", linewidth=0.6)
    axis.scatter(*villages.T, s=14, color="black", zorder=2)
    axis.scatter(*villages[prototype.indices].T, s=170, marker="*", color="#d55e00", edgecolors="black", zorder=3)
    axis.set_title(f"{title}: {prototype.indices.size}, mean height {level[prototype.indices].mean():.0f} m")
    axis.set(xticks=[], yticks=[])
plt.show()

# %%
# How good is that?
# -----------------
# Finding the smallest number is a hard problem. The lower bound tells how far the answer can be from it at most.

graph = covey.threshold_graph(minutes, -45, similarity=covey.from_distance("precomputed", how="negative"))
print(
    f"{walk.sample_indices_.size} clinics were found, and fewer than {covey.cover_lower_bound(graph, 1.0)} cannot do."
)

# %%
# What to try next
# ----------------
# - ``size=8`` asks where eight clinics serve most, and ``fit(minutes, sample_weight=people)`` counts people instead of
#   villages. ``include=[12, 40]`` keeps the clinics that exist.
# - A matrix of similarities goes in with ``similarity="precomputed"``. A sparse one is another matter, see
#   :doc:`plot_scored_pairs`.
# - On the command line a distance d counts as 1 / (1 + d), so that 45 minutes are .0217: ``covey select minutes.npy
#   --distances -k all --threshold 0.0217 --coverage 1 --refine -o clinics.npz``.
