"""Handwritten digits: quality against the share selected, with all objects as a line. Means of five divisions."""

import numpy as np
from curves import panels
from plane import BLUE, ORANGE
from sklearn.datasets import load_digits
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import covey

SEEDS = 5


def measured(selector, division):
    """The share that a selector selects, in percent, and the macro F1 of the nearest selected object."""
    kept, asked, labels, truth = division
    model = covey.NearestPrototypeClassifier(selector).fit(kept, labels)
    selected = model.selector_.sample_indices_.size / len(labels)
    return 100 * selected, f1_score(truth, model.predict(asked), average="macro")


X, y = load_digits(return_X_y=True)
divisions = [train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed) for seed in range(SEEDS)]
plain = [covey.CRS(k, random_state=0) for k in (3, 5, 10, 15, 20, 30, 40, 60)]
curves = {"Sharpened": [covey.Sharpened(inner, random_state=0) for inner in plain], "CRS": plain}
_, axes = panels(1, height=3.8)
for (name, selectors), color in zip(curves.items(), (ORANGE, BLUE), strict=True):
    found = np.array([[measured(selector, division) for selector in selectors] for division in divisions])
    share, score = found.mean(axis=0).T
    error = found[:, :, 1].std(axis=0, ddof=1) / np.sqrt(SEEDS)
    axes.errorbar(share, score, error, marker="o", markersize=4, capsize=2, color=color, label=name)
whole = np.mean([measured(covey.KeepAll(), division)[1] for division in divisions])
axes.axhline(whole, color="gray", linestyle="--", label="all objects")
axes.set(xscale="log", xlabel="objects selected, %", ylabel="F1 on new objects, macro mean")
axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
axes.minorticks_off()
axes.legend(frameon=False)
