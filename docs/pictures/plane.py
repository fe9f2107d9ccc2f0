"""What the pictures of points in the plane share: the points, their colors, and how a prototype is drawn."""

from matplotlib import pyplot
from matplotlib.collections import LineCollection
from sklearn.datasets import make_blobs, make_moons

BLUE, ORANGE, GRAY, INK = "#0072b2", "#d55e00", "#8a94a0", "#333333"
"""Blue and vermilion of the palette by Okabe and Ito, which color-blind readers can tell apart."""


def cluster():
    """One cluster of 120 points: three places of different density, and a few points far out."""
    centers, spread = [[0, 0], [3.2, 0.6], [1.4, 2.6]], [0.55, 0.7, 1.0]
    return make_blobs([70, 35, 15], centers=centers, cluster_std=spread, random_state=3)[0]


def two_classes():
    """Two interleaved half-moons, of 600 points each."""
    return make_moons(1200, noise=0.3, random_state=0)


def panels(n, height=2.5, width=9):
    figure, axes = pyplot.subplots(1, n, figsize=(width, height), layout="constrained", sharex=True, sharey=True)
    for one in axes:
        one.set(xticks=[], yticks=[], aspect="equal")
        one.spines[:].set_visible(False)
        one.title.set_color(INK)
        one.title.set_fontsize(10.5)
    return figure, axes


def draw_edges(axes, points, starts, ends, color=GRAY, **style):
    lines = list(zip(points[starts], points[ends], strict=True))
    axes.add_collection(LineCollection(lines, colors=color, **{"linewidths": 0.7, "alpha": 0.6, **style}))


def draw_prototype(axes, points, prototype, color=BLUE):
    """Representatives as large dots, with a line to each point that they cover; what is not covered is a cross."""
    covered = prototype.covered_by >= 0
    members = prototype.members
    draw_edges(axes, points, members[covered], prototype.covered_by[covered], color)
    axes.scatter(*points[members[covered]].T, s=9, color=color, alpha=0.55, linewidths=0)
    axes.scatter(*points[members[~covered]].T, s=24, color=GRAY, marker="x", linewidths=1.1)
    axes.scatter(*points[prototype.indices].T, s=75, color=color, edgecolors="white", linewidths=1.2, zorder=3)
