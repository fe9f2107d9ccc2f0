"""Draw what sharpening does: the pictures of docs/sharpening.md.

Run with ``python examples/sharpening.py [folder]`` after ``pip install "covey[plot]"``; by default the pictures go to
docs/pictures. It takes about half a minute.
"""

import sys
from pathlib import Path

import matplotlib
import numpy as np
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import f1_score
from sklearn.model_selection import train_test_split

import covey

matplotlib.use("Agg")
from matplotlib import pyplot

COLORS = ("#0072b2", "#d55e00")
"""Blue and vermilion of the palette by Okabe and Ito, which color-blind readers can tell apart."""


def boundary(folder: Path) -> None:
    """Two interleaved half-moons: where CRS and Sharpened put the same number of representatives."""
    X, y = make_moons(1200, noise=0.3, random_state=0)
    queries, truth = make_moons(4000, noise=0.3, random_state=1)
    inner = covey.CRS(n_neighbors=60, similarity="euclidean")
    drawn, panels = pyplot.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
    across, up = np.meshgrid(np.linspace(-1.8, 2.8, 300), np.linspace(-1.4, 1.9, 220))
    for axes, selector in zip(panels, (inner, covey.Sharpened(inner, random_state=0)), strict=True):
        model = covey.NearestPrototypeClassifier(selector).fit(X, y)
        answers = model.predict(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
        axes.contourf(across, up, answers, levels=[-0.5, 0.5, 1.5], colors=COLORS, alpha=0.15)
        chosen = model.selector_.sample_indices_
        for label, color in enumerate(COLORS):
            axes.scatter(*X[y == label].T, s=4, color=color, alpha=0.4, linewidths=0)
            mine = X[chosen[y[chosen] == label]]
            axes.scatter(*mine.T, s=90, color=color, edgecolors="black", linewidths=1.2, zorder=3)
        share = np.mean(model.predict(queries) == truth)
        axes.set_title(f"{type(selector).__name__}: {chosen.size} representatives, {share:.1%} of new points right")
        axes.set(xticks=[], yticks=[], xlim=(-1.8, 2.8), ylim=(-1.4, 1.9))
    drawn.savefig(folder / "sharpening-boundary.png", dpi=110)


def sizes(folder: Path) -> None:
    """Handwritten digits: quality against the share selected, with all objects as a line."""
    X, y = load_digits(return_X_y=True)
    found: dict[str, list[tuple[float, float]]] = {"CRS": [], "Sharpened": []}
    whole = []
    for seed in range(5):
        kept, asked, labels, truth = train_test_split(X, y, test_size=0.4, stratify=y, random_state=seed)
        for k in (3, 5, 10, 15, 20, 30, 40, 60):
            inner = covey.CRS(k, random_state=0)
            for name, selector in (("CRS", inner), ("Sharpened", covey.Sharpened(inner, random_state=0))):
                model = covey.NearestPrototypeClassifier(selector).fit(kept, labels)
                score = f1_score(truth, model.predict(asked), average="macro")
                found[name].append((100 * model.selector_.sample_indices_.size / len(labels), score))
        model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit(kept, labels)
        whole.append(f1_score(truth, model.predict(asked), average="macro"))
    drawn, axes = pyplot.subplots(figsize=(6.5, 4.2), layout="constrained")
    for (name, points), color in zip(found.items(), COLORS[::-1], strict=True):
        by_seed = np.array(points).reshape(5, -1, 2)
        (x, score), error = by_seed.mean(axis=0).T, by_seed[:, :, 1].std(axis=0, ddof=1) / np.sqrt(5)
        axes.errorbar(x, score, error, marker="o", markersize=4, capsize=2, color=color, label=name)
    axes.axhline(np.mean(whole), color="gray", linestyle="--", label="all objects")
    axes.set(xscale="log", xlabel="objects selected, %", ylabel="F1 on new objects, macro mean")
    axes.set_xticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
    axes.grid(alpha=0.3)
    axes.legend()
    drawn.savefig(folder / "sharpening-size.png", dpi=110)


def margins(folder: Path) -> None:
    """Handwritten digits: the margins of new objects before and after, and the loss that is lowered."""
    kept, asked, labels, truth = train_test_split(*load_digits(return_X_y=True), test_size=0.4, random_state=0)
    inner = covey.CRS(n_neighbors=30, random_state=0)
    drawn, axes = pyplot.subplots(figsize=(6.5, 3.6), layout="constrained")
    bins = np.linspace(-0.2, 0.3, 41)
    for selector, color in zip((inner, covey.Sharpened(inner, random_state=0)), COLORS[::-1], strict=True):
        model = covey.NearestPrototypeClassifier(selector).fit(kept, labels)
        similarities = model.class_similarities(asked)
        own = similarities[np.arange(truth.size), truth]
        similarities[np.arange(truth.size), truth] = -np.inf
        found = own - similarities.max(axis=1)
        name = f"{type(selector).__name__}: {np.mean(found < 0):.1%} below 0"
        axes.hist(found, bins, color=color, histtype="step", linewidth=1.8, label=name)
    temperature = model.selector_.temperature_
    line = np.linspace(bins[0], bins[-1], 400)
    loss = axes.twinx()
    loss.plot(line, 1 / (1 + np.exp(line / temperature)), color="black", linewidth=1)
    loss.set_ylabel("loss of an object (line)")
    axes.set(xlabel="margin: best similarity to the own class, less that to any other", ylabel="new objects")
    axes.legend(loc="center right")
    drawn.savefig(folder / "sharpening-margins.png", dpi=110)


if __name__ == "__main__":
    target = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[1] / "docs" / "pictures")
    target.mkdir(parents=True, exist_ok=True)
    for draw in (boundary, sizes, margins):
        draw(target)
        print(f"{draw.__name__}: drawn")
