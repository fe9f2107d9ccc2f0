"""
One picture a selector
======================

All selectors of covey on the same points. A large dot is a representative, and thin lines lead from each object to the
one that covers it. The shade behind the points is the answer of the nearest representative, so that its border is the
border of the nearest-prototype rule. The titles give the number of representatives, and the share of 4 000 new points
that get the right class.
"""

# %%
# The data are two half-moons with so much noise that they overlap, so that no classifier can be perfect.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_moons

import covey

X, y = make_moons(400, noise=0.25, random_state=0)
queries, truth = make_moons(4000, noise=0.25, random_state=1)
COLORS = ("#0072b2", "#d55e00")  # blue and vermilion of Okabe and Ito, which color-blind readers can tell apart

crs = covey.CRS(n_neighbors=20, similarity="euclidean")
selectors = {
    "CRS, k = 20": crs,
    "CRS, refined": covey.CRS(n_neighbors=20, refine=True, similarity="euclidean"),
    "CRS, all within a distance of .5": covey.CRS(None, threshold=1 / 1.5, coverage=1, similarity="euclidean"),
    "Sharpened CRS": covey.Sharpened(crs, random_state=0),
    "DeltaMedoids": covey.DeltaMedoids(similarity="euclidean", random_state=0),
    "DS3, budget 6": covey.DS3(budget=6, similarity="euclidean"),
    "RandomSelector": covey.RandomSelector(0.05, similarity="euclidean", random_state=0),
    "KeepAll": covey.KeepAll(similarity="euclidean"),
}

# %%
# The pictures
# ------------

figure, axes = plt.subplots(4, 2, figsize=(10, 15), sharex=True, sharey=True, layout="constrained")
across, up = np.meshgrid(np.linspace(-1.9, 2.9, 240), np.linspace(-1.4, 1.9, 170))
for axis, (name, selector) in zip(axes.flat, selectors.items(), strict=True):
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    answers = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axis.contourf(across, up, answers, levels=[-0.5, 0.5, 1.5], colors=COLORS, alpha=0.15)
    axis.contour(across, up, answers, levels=[0.5], colors="black", linewidths=0.8)
    for prototype, color in zip(model.selector_.prototypes_.values(), COLORS, strict=True):
        covered = prototype.covered_by >= 0
        lines = np.stack([X[prototype.members[covered]], X[prototype.covered_by[covered]]])
        axis.plot(*lines.transpose(2, 0, 1), color=color, linewidth=0.4, alpha=0.6)
        axis.scatter(*X[prototype.members].T, s=5, color=color, linewidths=0)
        size = 12 if name == "KeepAll" else 80
        axis.scatter(*X[prototype.indices].T, s=size, color=color, edgecolors="black", linewidths=0.8, zorder=3)
    share = model.score(queries, truth)
    axis.set_title(f"{name}: {model.selector_.sample_indices_.size} of {len(X)}, {share:.1%} right", fontsize=11)
    axis.set(xticks=[], yticks=[], xlim=(-1.9, 2.9), ylim=(-1.4, 1.9))
plt.show()

# %%
# What to look at
# ---------------
# - **CRS** spreads its representatives over each class for itself, and covers 95 % of it. Objects that are left over
#   have no line. *Refined*, it needs fewer for the same coverage.
# - **CRS with a threshold and no k** gives everyone a representative within a fixed distance. Dense and thin places get
#   equally many, and a stray point in the midst of the other class gets one of its own. That is right for covering and
#   wrong for telling classes apart: it errs most of all.
# - **Sharpened** has as many as CRS, and moves them to where the two classes meet.
# - **DeltaMedoids** covers within a similarity, too, but at the homogeneity, which is generous here.
# - **DS3** solves an optimisation over all pairs. It has the sum of similarities in mind rather than coverage, which
#   suits round heaps of points like these.
# - **RandomSelector** is what every method has to beat. It covers no others, so that there are no lines.
# - **KeepAll** is the nearest neighbor among all points. Its border has an island around every stray point, so that
#   it errs more often than a good selection.
#
# One draw of points proves little; the table repeats the same with ten draws. Differences of half a percent are within
# the noise of these draws.

scores = {name: [] for name in selectors}
for seed in range(10):
    points, labels = make_moons(400, noise=0.25, random_state=100 + seed)
    for name, selector in selectors.items():
        model = covey.NearestPrototypeClassifier(selector).fit(points, labels)
        scores[name].append((model.selector_.sample_indices_.size, model.score(queries, truth)))
for name, found in scores.items():
    size, share = np.mean(found, axis=0)
    print(
        f"{name:<33} {size:6.1f} representatives, {share:.1%} right (standard deviation {np.std(found, axis=0)[1]:.1%})"
    )

# %%
# What to try next
# ----------------
# - The same comparison on your own table: ``covey compare table.csv --label class --html report.html``.
# - :doc:`plot_sharpening` shows what sharpening does step by step, and :doc:`plot_neighbors` what k does.
