"""
Your own similarity: plain, batched and compiled
================================================

No list of names holds the similarity that fits your data. covey therefore takes a function. It can be written in three
ways, and the choice is about speed alone: all three give the same representatives. This page writes one similarity
in all three ways, counts how often each is called, and compares the time.
"""

# %%
# The objects are handwritten digits, and the similarity is that of two histograms: the share of ink that both images
# have in the same place.

import time

import numpy as np
from matplotlib import pyplot as plt
from numba import njit
from sklearn.datasets import load_digits

import covey

X, y = load_digits(return_X_y=True)
X, y = X[:700], y[:700]


def plain(a, b):
    """Two objects at a time, in Python: the simplest way, for objects of any kind."""
    return np.minimum(a, b).sum() / np.maximum(a, b).sum()


@covey.batched
def in_batches(A, B):
    """Many pairs at a time: for NumPy, for a neural network, or for a service that answers many questions at once."""
    return np.minimum(A, B).sum(axis=1) / np.maximum(A, B).sum(axis=1)


@njit
def compiled(a, b):
    """Two rows at a time, compiled by numba: covey calls it from compiled code, without Python in between."""
    common, either = 0.0, 0.0
    for i in range(a.size):
        common += min(a[i], b[i])
        either += max(a[i], b[i])
    return common / either


# %%
# Same answer, other speed
# ------------------------
# The very first fit of a compiled function compiles it. That takes seconds and happens once, so that it is not counted
# here. Times depend on the machine and are given as ratios. ``"ruzicka"`` is covey's own name for this similarity. A
# function of yours is asked for a few pairs once more, to find out whether it is symmetric; that is why it has more
# evaluations.

compiled(X[0], X[1])
found, seconds = {}, {}
for name, similarity in {
    "plain": plain,
    "batched": in_batches,
    "compiled": compiled,
    "by name": "ruzicka",
}.items():
    selector = covey.CRS(n_neighbors=10, similarity=similarity, random_state=0)
    if name in ("compiled", "by name"):
        selector.fit(X[:50], y[:50])
    start = time.perf_counter()
    found[name] = selector.fit(X, y)
    seconds[name] = time.perf_counter() - start
for name, selector in found.items():
    same = np.array_equal(selector.sample_indices_, found["plain"].sample_indices_)
    print(
        f"{name:<9} {selector.n_evaluations_:>7,} evaluations, {selector.sample_indices_.size} representatives "
        f"({'the same' if same else 'others'}), {seconds['plain'] / seconds[name]:.1f} times as fast as plain"
    )

# %%
figure, axes = plt.subplots(figsize=(6, 2.4), layout="constrained")
axes.barh(list(seconds), [value / seconds["plain"] for value in seconds.values()], color="#0072b2")
axes.invert_yaxis()
axes.set(xlabel="time of a fit, as a share of the plain function's")
plt.show()

# %%
# When one evaluation is expensive
# --------------------------------
# A similarity that takes a second cannot be asked about all pairs. NN-Descent looks for neighbors among the neighbors
# of neighbors, and asks about a share of the pairs only. Here all images are one cluster of 700. The count is exact:
# it is the number of times that the function was called.

calls = 0


def counted(a, b):
    global calls
    calls += 1
    return plain(a, b)


thorough = covey.CRS(n_neighbors=10, similarity=plain, graph="exact").fit(X)
thrifty = covey.CRS(n_neighbors=10, similarity=counted, graph="nn-descent", random_state=0).fit(X)
print(f"exact:      {thorough.sample_indices_.size} representatives, {thorough.n_evaluations_:,} evaluations")
print(
    f"nn-descent: {thrifty.sample_indices_.size} representatives, {thrifty.n_evaluations_:,} evaluations, "
    f"which are {thrifty.scan_rate_:.0%} of all pairs; the function was called {calls:,} times"
)

# %%
# On so few objects the saving is modest. It grows with their number: see the page on scale.
#
# What to try next
# ----------------
# - A function that depends on the order of its two objects is declared by ``covey.Similarity(f, symmetric=False)``.
# - ``covey.from_distance(d)`` turns a distance into a similarity, whether it is plain or compiled.
# - ``covey.CRS(checkpoint="file", on_error="lowest", timeout=60)`` keeps what was paid for, goes on when a call fails,
#   and ends one that hangs.
# - ``covey.register_similarity`` gives your function a name within a program. On the command line, pass
#   ``--similarity file.py:function``.
