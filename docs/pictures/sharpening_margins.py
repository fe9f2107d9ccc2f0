"""Handwritten digits: the margins of new objects before and after sharpening, and the loss that is lowered."""

import numpy as np
from curves import panels
from plane import BLUE, INK, ORANGE
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import covey

kept, asked, labels, truth = train_test_split(*load_digits(return_X_y=True), test_size=0.4, random_state=0)
inner = covey.CRS(n_neighbors=30, random_state=0)
bins = np.linspace(-0.2, 0.3, 41)
own_class = np.arange(truth.size), truth
_, axes = panels(1)
for selector, color in ((inner, BLUE), (covey.Sharpened(inner, random_state=0), ORANGE)):
    model = covey.NearestPrototypeClassifier(selector).fit(kept, labels)
    similarities = model.class_similarities(asked)
    own = similarities[own_class]
    similarities[own_class] = -np.inf
    margins = own - similarities.max(axis=1)
    name = f"{type(selector).__name__}: {np.mean(margins < 0):.1%} below 0"
    axes.hist(margins, bins, color=color, histtype="step", linewidth=1.8, label=name)
line = np.linspace(bins[0], bins[-1], 400)
loss = axes.twinx()
loss.plot(line, 1 / (1 + np.exp(line / model.selector_.temperature_)), color=INK, linewidth=1)
loss.set_ylabel("loss of an object (line)")
axes.set(xlabel="margin: best similarity to the own class, less that to any other", ylabel="new objects")
axes.legend(loc="center right", frameon=False)
