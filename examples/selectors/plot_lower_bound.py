"""
Fewer, and how few it could be
==============================

To find the smallest set that covers everybody is a hard problem, and greedy picking comes close. ``refine=True`` looks
for a smaller set afterwards. `covey.cover_lower_bound` proves how many are needed at least, so that one knows how far
the answer can be from the best.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits

import covey

X, y = load_digits(return_X_y=True)

# %%
# The three numbers
# -----------------
# The graph is computed once, and covered in two ways. The truth lies between the bound and the refined cover.

print("  k   greedy  refined  at least")
found = []
for k in (3, 5, 10, 15, 20, 30):
    graph = covey.neighbor_graph(X, k, random_state=0)
    greedy, refined = (covey.cover(graph, 0.95, refine=refine).indices.size for refine in (False, True))
    found.append((k, greedy, refined, covey.cover_lower_bound(graph, 0.95)))
    print("{:3} {:8} {:8} {:9}".format(*found[-1]))

ks, greedy, refined, bound = np.transpose(found)
figure, axes = plt.subplots(figsize=(6.5, 4), layout="constrained")
axes.plot(ks, greedy / bound, marker="o", color="#d55e00", label="greedy")
axes.plot(ks, refined / bound, marker="o", color="#0072b2", label="refined")
axes.axhline(1, color="gray", linestyle="--", label="lower bound")
axes.set(xlabel="k", ylabel="representatives, relative to the lower bound", xticks=ks, ylim=(0.95, None))
axes.grid(alpha=0.3)
axes.legend(loc="lower right", ncols=3)
plt.show()

# %%
# What refining changes
# ---------------------
# On points in the plane one can see it: two representatives are replaced by one that stands between them. Circles are
# what greedy picked, dots what remains after refining.

points = np.random.default_rng(4).normal(size=(250, 2))
sizes = {}
figure, axes = plt.subplots(figsize=(6, 5), layout="constrained")
axes.scatter(*points.T, s=6, color="gray")
styles = {False: {"s": 150, "facecolors": "none", "edgecolors": "#d55e00", "linewidths": 1.6}, True: {"s": 45}}
for refine, style in styles.items():
    selector = covey.CRS(12, threshold=None, coverage=1, similarity="euclidean", refine=refine).fit(points)
    chosen = selector.sample_indices_
    sizes[refine] = chosen.size
    axes.scatter(*points[chosen].T, zorder=3, label="refined" if refine else "greedy", **style)
axes.set_title(f"greedy: {sizes[False]} representatives, refined: {sizes[True]}")
axes.set(xticks=[], yticks=[], aspect="equal")
axes.legend()
plt.show()

# %%
# Is it worth it?
# ---------------
# Refining makes a selection smaller at the same coverage, and takes a moment. It does not make it better at telling
# classes apart. If that is the aim, see :doc:`plot_sharpening`.
#
# What to try next
# ----------------
# - Does the gap between greedy and refined grow with ``coverage=1``?
# - ``gain="count"`` counts objects instead of adding up similarities. Does it pick fewer here?
