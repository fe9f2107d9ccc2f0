"""
Images: ten digits and who stands for them
==========================================

Somebody has labelled hundreds of small images, and now has to show a colleague what the classes look like, check the
labels by eye, or classify new images on a device that cannot hold all of them. No one wants to look at 1 257 images.
covey picks the few that stand for the rest, and the pictures it picks are pictures that exist: they are no averages.
"""

# %%
# Every image is a row of 64 gray values. Two images are compared by the cosine of the angle between their rows, which
# does not care how dark the ink is.

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey

X, y = load_digits(return_X_y=True)
X, queries, y, truth = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10)).fit(X, y)
prototypes = model.selector_.prototypes_
print(f"{model.selector_.sample_indices_.size} of {len(X)} images stand for the rest,")
print(f"and {model.score(queries, truth):.1%} of {len(queries)} new images get the right label from them.")

# %%
# The representatives
# -------------------
# There is one line for each digit, and the image that was picked first is on the left. It stands for the most
# others. Further to the right come rarer ways of writing the digit; a digit that people write in many ways needs more
# representatives.

width = max(prototype.indices.size for prototype in prototypes.values())
figure, axes = plt.subplots(len(prototypes), width, figsize=(0.62 * width, 6.6), layout="constrained")
for axis in axes.flat:
    axis.set_axis_off()
for line, prototype in zip(axes, prototypes.values(), strict=True):
    for axis, row, stands_for in zip(line, prototype.indices, prototype.stands_for, strict=False):
        axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
        axis.set_title(f"{stands_for}", fontsize=8, pad=1)
figure.suptitle("All representatives, with the number of images that each one covers", fontsize=11)
plt.show()

# %%
# Why was this answer given?
# --------------------------
# The evidence for an answer is an image, too. These are the new images that were answered wrongly. To the right of
# each is the representative that decided, and then the best one of the true class. Some of them would mislead a
# person as well.

found = model.explain(queries)
wrong = np.flatnonzero(found.labels != truth)[:6]
rows, similarities = model.class_evidence(queries[wrong])
figure, axes = plt.subplots(len(wrong), 3, figsize=(4.4, 1.15 * len(wrong)), layout="constrained")
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])
for line, query, best, alike in zip(axes, wrong, rows, similarities, strict=True):
    winner, right = (np.flatnonzero(model.classes_ == label)[0] for label in (found.labels[query], truth[query]))
    line[0].set_ylabel(f"is a {truth[query]}", rotation=0, ha="right", va="center")
    line[0].imshow(queries[query].reshape(8, 8), cmap="gray_r")
    for axis, column in zip(line[1:], (winner, right), strict=True):
        axis.imshow(X[best[column]].reshape(8, 8), cmap="gray_r")
        axis.set_xlabel(f"a {model.classes_[column]}: {alike[column]:.3f}", fontsize=9, labelpad=2)
for axis, title in zip(axes[0], ("new image", "decided", "best of its class"), strict=True):
    axis.set_title(title, fontsize=10)
plt.show()

# %%
# What to try next
# ----------------
# - ``covey.CRS(n_neighbors=20)`` picks fewer images, and ``covey.Sharpened(covey.CRS(20))`` moves them to where they
#   tell the classes apart.
# - For real photographs, compare embeddings of a neural network instead of pixels. The code stays the same.
# - On the command line, ``covey select images.npy --picture map.html -o few.npz`` makes a page of the images.
