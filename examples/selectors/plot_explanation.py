"""
Explaining an answer
====================

"Because it looks like these" is an explanation that people accept, and covey gives it with each answer: which
representative decided, which class came second, and by how much it lost. This page looks at the answers on wines, and
at how far the margin can be trusted.
"""

# %%
# The rows are 178 wines of three growers, with thirteen measurements each, which are brought to one scale first.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import covey

wine = load_wine()
rows = StandardScaler().fit_transform(wine.data)
X, queries, y, truth = train_test_split(rows, wine.target, test_size=0.4, stratify=wine.target, random_state=0)
model = covey.NearestPrototypeClassifier(covey.CRS(10, similarity="euclidean")).fit(X, y)
print(
    f"{model.selector_.sample_indices_.size} of {len(X)} wines decide, and {model.score(queries, truth):.1%} are right"
)

# %%
# One answer in full
# ------------------
# The least certain answer is the most interesting one. Its measurements are drawn beside those of the representative
# that decided, and of the best one of the class that came second.

found = model.explain(queries)
doubtful = int(np.argmin(found.margins))
evidence, similarities = model.class_evidence(queries[doubtful : doubtful + 1])
second = int(np.flatnonzero(model.classes_ == found.runners_up[doubtful])[0])
print(f"answer: grower {found.labels[doubtful]}, in truth {truth[doubtful]}; second: {found.runners_up[doubtful]}")
print(f"similarity {found.similarities[doubtful]:.3f}, margin {found.margins[doubtful]:.3f}")

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
places = np.arange(rows.shape[1])
axes.bar(places, queries[doubtful], color="lightgray", label="the wine in question")
axes.plot(
    places, X[found.representatives[doubtful]], "o", color="#0072b2", label=f"decided (grower {found.labels[doubtful]})"
)
axes.plot(places, X[evidence[0, second]], "^", color="#d55e00", label=f"second (grower {found.runners_up[doubtful]})")
axes.set_xticks(places, wine.feature_names, rotation=60, ha="right", fontsize=8)
axes.axhline(0, color="black", linewidth=0.6)
axes.set(ylabel="standard deviations", ylim=(None, 2.9))
axes.legend(loc="upper left", ncols=3)
plt.show()

# %%
# How much is a margin worth?
# ---------------------------
# A margin is not a probability. But answers with a larger one should be right more often. Digits give enough answers to
# check that: they are sorted by margin and cut into ten parts of equal size.

digits, labels = load_digits(return_X_y=True)
X, queries, y, truth = train_test_split(digits, labels, test_size=0.5, stratify=labels, random_state=0)
model = covey.NearestPrototypeClassifier(covey.CRS(20)).fit(X, y)
found = model.explain(queries)
parts = np.array_split(np.argsort(found.margins), 10)
figure, axes = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
shares = [np.mean(found.labels[part] == truth[part]) for part in parts]
axes.bar(np.arange(10), shares, color="#009e73")
axes.set_xticks(np.arange(10), [f"{np.median(found.margins[part]):.2f}" for part in parts])
axes.set(xlabel="margin (median of each tenth of the answers)", ylabel="share of right answers", ylim=(0.5, 1.01))
plt.show()
print(", ".join(f"{share:.0%}" for share in shares))

# %%
# So one can look at the answers with the smallest margins first, and leave the others alone.
#
# What to try next
# ----------------
# - ``model.nearest_prototypes(queries, n=3)`` lists more than one representative for each object.
# - On the command line, ``covey classify`` writes the representative, the second class and the margin into each line.
