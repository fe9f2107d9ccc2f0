"""The same number of representatives, before and after sharpening, and the boundary that follows from them."""

import numpy as np
from plane import BLUE, ORANGE, panels, two_classes

import covey

X, y = two_classes()
inner = covey.CRS(60, similarity="euclidean")
across, up = np.meshgrid(np.linspace(-1.8, 2.8, 240), np.linspace(-1.4, 1.9, 170))
_, both = panels(2, height=3.6)
for axes, selector in zip(both, (inner, covey.Sharpened(inner, random_state=0)), strict=True):
    model = covey.NearestPrototypeClassifier(selector).fit(X, y)
    answers = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axes.contourf(across, up, answers, levels=[-0.5, 0.5, 1.5], colors=[BLUE, ORANGE], alpha=0.18)
    chosen = model.selector_.sample_indices_
    for label, color in enumerate((BLUE, ORANGE)):
        axes.scatter(*X[y == label].T, s=4, color=color, alpha=0.5, linewidths=0)
        axes.scatter(*X[chosen[y[chosen] == label]].T, s=80, color=color, edgecolors="white", linewidths=1.2, zorder=3)
    axes.set_title(f"{type(selector).__name__}: {chosen.size} representatives")
