"""
Sharpening: the same number, moved to where it matters
======================================================

CRS covers each class for itself and does not know where another class begins. `covey.Sharpened` exchanges its
representatives, one by one, for other objects, so that fewer objects are nearer to a wrong class than to their own. It
needs nothing but similarities. The number of all representatives stays the same, unless ``size`` asks for another.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey

digits, labels = load_digits(return_X_y=True)
X, queries, y, truth = train_test_split(digits, labels, test_size=0.4, stratify=labels, random_state=0)

# %%
# How few will do?
# ----------------
# ``size`` is the number of representatives of all ten digits together. The fewer there are, the more it matters where
# they stand.

sizes = (20, 40, 80)
scores = {"CRS": [], "Sharpened": []}
for size in sizes:
    crs = covey.CRS(30, size=size)
    for name, selector in (("CRS", crs), ("Sharpened", covey.Sharpened(crs, random_state=0))):
        scores[name].append(covey.NearestPrototypeClassifier(selector).fit(X, y).score(queries, truth))
everything = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(X, y).score(queries, truth)
figure, axes = plt.subplots(figsize=(6, 3.6), layout="constrained")
for (name, values), color in zip(scores.items(), ("#d55e00", "#0072b2"), strict=True):
    axes.plot(sizes, values, marker="o", color=color, label=name)
    print(f"{name:<10}", ", ".join(f"{size}: {value:.1%}" for size, value in zip(sizes, values, strict=True)))
axes.axhline(everything, color="gray", linestyle="--", label=f"all {len(X)} images")
axes.set(xlabel="representatives", ylabel="right answers", xticks=sizes)
axes.grid(alpha=0.3)
axes.legend()
plt.show()

# %%
# Which images were exchanged?
# ----------------------------
# Twenty images for ten digits. The upper line is what CRS picked, and the lower one what sharpening made of it. The
# images below often look less typical: they stand near the border to another digit, to hold it.

before = covey.CRS(30, size=20).fit(X, y)
after = covey.Sharpened(covey.CRS(30, size=20), random_state=0).fit(X, y)
figure, axes = plt.subplots(2, 20, figsize=(13, 1.9), layout="constrained")
for line, selector, name in zip(axes, (before, after), ("CRS", "sharpened"), strict=True):
    chosen = selector.sample_indices_
    for axis, row in zip(line, chosen[np.argsort(y[chosen], kind="stable")], strict=True):
        axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
        axis.set(xticks=[], yticks=[])
    line[0].set_ylabel(name, rotation=0, ha="right", va="center")
plt.show()
kept = np.intersect1d(before.sample_indices_, after.sample_indices_).size
print(f"{kept} of {before.sample_indices_.size} images are in both selections")

# %%
# What to try next
# ----------------
# - It costs evaluations: the similarities of all objects to the representatives, and more for each exchange. Where one
#   evaluation is expensive, compare ``selector.n_evaluations_`` before and after.
# - Sharpened representatives answer better, and describe a class worse. To *show* somebody what is in a class, use CRS.
