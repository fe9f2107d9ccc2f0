"""
Saying "I do not know"
======================

A classifier that must always answer calls a cat a digit. With ``reject`` it may answer ``unknown_label`` when the best
representative is not similar enough. Here the eights and nines are left out of the training, and asked about
afterwards: they should be rejected, and the digits that are known should not.
"""

# %%
import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey

X, y = load_digits(return_X_y=True)
learned, asked = train_test_split(np.arange(len(X)), test_size=0.5, stratify=y, random_state=0)
learned = learned[y[learned] < 8]
known = y[asked] < 8
print(f"{learned.size} images of 0 to 7 to learn from; {known.sum()} known and {(~known).sum()} unknown to ask about")

# %%
# Three ways to set the bar
# -------------------------
# - ``"calibrated"`` sets a bar for each class, so that about ``rejection_rate`` of the known objects are rejected. It
#   estimates the bars from the training data.
# - ``"threshold"`` takes the threshold of the class, which is the mean similarity of its pairs. How many known objects
#   it rejects depends on the data.
# - A number is one bar for all classes.


def fit(**parameters):
    return covey.NearestPrototypeClassifier(covey.CRS(10), **parameters).fit(X[learned], y[learned])


def report(name, model):
    answers = model.predict(X[asked])
    rejected = answers == -1
    right = np.mean(answers[known & ~rejected] == y[asked][known & ~rejected])
    print(
        f"{name:<22} rejects {rejected[known].mean():6.1%} of the known and {rejected[~known].mean():6.1%} "
        "of the unknown; "
        f"{right:.1%} of the other known ones are right"
    )


report("calibrated, rate .05", fit(reject="calibrated", rejection_rate=0.05))
report("calibrated, rate .15", fit(reject="calibrated", rejection_rate=0.15))
report("threshold", fit(reject="threshold"))
report("a similarity of .9", fit(reject=0.9))
report("never", fit())

# %%
# What a higher rate costs and brings
# -----------------------------------
# Each point of the curve is a rate. Known and unknown digits cannot be told apart completely, because a nine *is*
# similar to a four, a seven or a three. The diagonal is what rejecting at random would give.

rates = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4)
curve = []
for rate in rates:
    rejected = fit(reject="calibrated", rejection_rate=rate).predict(X[asked]) == -1
    curve.append((rejected[known].mean(), rejected[~known].mean()))
figure, axes = plt.subplots(figsize=(5, 4.4), layout="constrained")
axes.plot(*np.transpose(curve), marker="o", color="#d55e00")
for rate, at in zip(rates, curve, strict=True):
    axes.annotate(f"{rate}", at, xytext=(6, -10), textcoords="offset points", fontsize=9)
axes.plot([0, 1], [0, 1], color="gray", linestyle="--")
axes.set(xlabel="known digits rejected", ylabel="unknown digits rejected", xlim=(0, 0.5), ylim=(0, 1))
axes.set_title("Calibrated rejection; the numbers are rejection_rate", fontsize=10)
axes.grid(alpha=0.3)
plt.show()

# %%
# What passes for something known?
# --------------------------------
# The upper line has unknown images that were not rejected, each with the label that it was given; the lower line has
# the representative that was taken for evidence. These mistakes are easy to understand.

found = fit(reject="calibrated", rejection_rate=0.05).explain(X[asked])
passed = np.flatnonzero(~known & ~found.rejected)
passed = passed[np.argsort(found.similarities[passed])]  # of equal mistakes, the last one is kept
mistakes = zip(y[asked[passed]], found.labels[passed], strict=True)
shown = list(dict(zip(mistakes, passed, strict=True)).values())[:8]  # one of each kind of mistake
figure, axes = plt.subplots(2, len(shown), figsize=(1.2 * len(shown), 2.8), layout="constrained")
for (above, below), which in zip(axes.T, shown, strict=True):
    above.imshow(X[asked[which]].reshape(8, 8), cmap="gray_r")
    above.set_title(f"{y[asked[which]]}, called {found.labels[which]}", fontsize=9)
    below.imshow(X[learned[found.representatives[which]]].reshape(8, 8), cmap="gray_r")
for axis in axes.flat:
    axis.set(xticks=[], yticks=[])
plt.show()

# %%
# What to try next
# ----------------
# - ``covey classify new.csv --model model.covey --reject threshold -o answers.csv`` on the command line.
# - A smaller k describes the known classes in more detail. Does that tell foreign objects better?
