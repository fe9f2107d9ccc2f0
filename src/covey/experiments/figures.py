"""Figures made of records. Each function takes a spec's `Results`, computes what is drawn, and then draws it."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from statistics import fmean
from typing import Any

import numpy as np

from covey.displays.colors import DRAWN_POINTS, of_things
from covey.displays.drawing import figure, plain
from covey.displays.picture import Picture
from covey.displays.report import Gallery
from covey.evaluation.statistics import Comparison, compare
from covey.experiments.names import slug
from covey.experiments.records import TrialRecord
from covey.experiments.specs import Results
from covey.experiments.tables import each_once, standard_error
from covey.runtime.libraries import require

SCORES = ("precision", "recall")
SIGNIFICANT = 0.05
"""The largest p-value of a difference that is worth a figure: the usual 5 percent."""
RANKED = (
    "Mean ranks over clusters; Friedman's test, then every pair corrected by Shaffer's static procedure. "
    "The clusters of one data set are told apart by one classifier, so these blocks are not independent: what one wins "
    "another loses. Read the tests as a description, not as a proof."
)
"""A note for the section of `critical_differences`: how to read it."""
CHARTS: dict[str, Callable[[TrialRecord], float]] = {
    "precision": lambda r: r.precision,
    "recall": lambda r: r.recall,
    "selected, %": lambda r: 100 * r.selected / r.size,
}
"""What each of the bar charts shows, from top to bottom."""
SHOWN = 12
"""How many representatives of a cluster a gallery shows, and how many clusters bar charts show: what fits on a page."""
MOST_UPRIGHT = 6
"""With more clusters than this, their names below bar charts are slanted, so that they do not overlap."""


def critical_differences(results: Results) -> Iterable[Picture]:
    """Yield for each problem the mean ranks of the methods by precision and by recall, and which of them differ.

    A problem on which neither test finds a difference is left out.
    """
    for problem in results.problems:
        tried = {score: comparison_over_clusters(results.records, problem, score) for score in SCORES}
        found = {score: comparison for score, comparison in tried.items() if comparison is not None}
        if len(found) < len(SCORES) or min(own.p_value for own in found.values()) > SIGNIFICANT:
            continue
        drawn = figure(10, 5)
        for axes, (score, comparison) in zip(drawn.subplots(2), found.items(), strict=True):
            _draw_comparison(axes, comparison, f"{problem}, {score}")
        words = "; ".join(f"{score}: p = {c.p_value:.2g} over {c.n_blocks} clusters" for score, c in found.items())
        yield Picture(
            f"critical-difference-{slug(problem)}",
            drawn,
            f"{problem}: mean ranks (1 is best); methods that do not differ (p > .05, Shaffer) are connected. "
            f"Friedman, {words}.",
        )


def comparison_over_clusters(records: Iterable[TrialRecord], problem: str, score: str) -> Comparison | None:
    """Return the methods on a problem, compared over its clusters; scores are means over seeds.

    None if there are fewer than three methods or fewer than two clusters, which is too little for the test.
    """
    values: dict[str, dict[str, list[float]]] = {}
    for r in records:
        if r.problem == problem:
            values.setdefault(r.method, {}).setdefault(r.cluster, []).append(getattr(r, score))
    clusters = list(next(iter(values.values()), {}))
    if len(values) < 3 or len(clusters) < 2:
        return None
    table = [[fmean(by_cluster[cluster]) for by_cluster in values.values()] for cluster in clusters]
    return compare(table, list(values))


def _draw_comparison(axes: Any, found: Comparison, title: str) -> None:
    """Return a critical difference diagram: methods on a scale of ranks, those that do not differ connected."""
    pandas, posthocs = require("pandas", "cli"), require("scikit_posthocs", "cli")
    names = [plain(name) for name in found.names]
    adjusted = pandas.DataFrame(found.adjusted, index=names, columns=names)
    ranks = dict(zip(names, found.ranks, strict=True))
    palette = dict(zip(names, of_things(len(names)), strict=True))
    labels = {"label_fmt_left": "{label} ({rank:.2f})  ", "label_fmt_right": "  ({rank:.2f}) {label}"}
    posthocs.critical_difference_diagram(ranks, adjusted, ax=axes, text_h_margin=0.1, color_palette=palette, **labels)
    axes.set_title(plain(title), loc="left", fontsize=10)


def bar_charts(results: Results) -> Iterable[Picture]:
    """Yield for each problem, precision, recall and the share selected of its largest clusters by every method."""
    for problem in results.problems:
        mine = [r for r in results.records if r.problem == problem]
        methods, clusters = each_once(mine, "method"), _largest(mine)
        if not clusters:
            continue
        drawn = figure(11, 6.5)
        panels = drawn.subplots(3, sharex=True)
        for axes, (title, value) in zip(panels, CHARTS.items(), strict=True):
            bars = _draw_bars(
                axes, [[_values(mine, method, cluster, value) for cluster in clusters] for method in methods]
            )
            axes.set_ylabel(title)
            axes.grid(axis="y", alpha=0.3)
        panels[-1].set_yscale("log")
        slanted: Any = {"rotation": 20, "ha": "right"} if len(clusters) > MOST_UPRIGHT else {}
        panels[-1].set_xticks(np.arange(len(clusters)), list(map(plain, clusters)), **slanted)
        legend = {"loc": "outside upper center", "ncols": min(len(methods), 7), "fontsize": 9}
        drawn.legend(bars, list(map(plain, methods)), **legend)
        errors = " Lines show one standard error over seeds." if len(each_once(mine, "seed")) > 1 else ""
        words = f"{problem}: precision, recall and share selected (log) by cluster.{errors}"
        yield Picture(f"bars-{slug(problem)}", drawn, words)


def _draw_bars(axes: Any, values: Sequence[Sequence[Sequence[float]]]) -> list[Any]:
    """Return a group of bars for each cluster, in each group a bar for each method: the mean over seeds, and its error.

    The values of a method are those of each cluster, one for each seed. Returns the bars of each method.
    """
    drawn = []
    width = 0.85 / len(values)  # so that a gap of 0.15 remains between groups
    for at, (row, color) in enumerate(zip(values, of_things(len(values)), strict=True)):
        places = np.arange(len(row)) + (at - (len(values) - 1) / 2) * width
        errors = [standard_error(own) for own in row] if max(map(len, row)) > 1 else None
        style = {"color": color, "yerr": errors, "error_kw": {"elinewidth": 0.8}}
        drawn.append(axes.bar(places, [fmean(own) for own in row], width, **style))
    return drawn


def points(results: Results) -> Iterable[Picture]:
    """Yield for each problem whose objects are points in the plane: the points, and the representatives marked."""
    for problem in results.problems:
        split = results.split(problem, 0)
        mine = [r for r in results.records if r.problem == problem and r.seed == 0]
        methods = each_once(mine, "method")
        if not methods:
            continue
        drawn = figure(3.4 * len(methods), 3.6)
        for axes, method in zip(drawn.subplots(1, len(methods), squeeze=False).flat, methods, strict=True):
            chosen = np.array([row for r in mine if r.method == method for row, _ in r.representatives])
            axes.scatter(*split.X.T, s=6, color=DRAWN_POINTS.covered)
            axes.scatter(*split.X[chosen].T, s=22, color=DRAWN_POINTS.representative, marker="x", linewidths=1)
            axes.set(title=plain(f"{method}: {chosen.size}"), xticks=[], yticks=[], aspect="equal")
        yield Picture(
            f"points-{slug(problem)}",
            drawn,
            f"{problem}: {len(split.X)} points and the representatives that each method selects (crosses, counted).",
        )


def galleries(results: Results) -> Iterable[Gallery]:
    """Yield for each problem that has something to look at: the representatives that stand for most objects."""
    for name, problem in results.problems.items():
        mine = [r for r in results.records if r.problem == name and r.seed == 0]
        if problem.card is None or not mine:
            continue
        split = results.split(name, 0)
        shown = split.X if split.shown is None else split.shown
        groups = {}
        for r in mine:
            # Numbers after a label in Arabic would turn around without the mark.
            title = f"{r.cluster}\N{LEFT-TO-RIGHT MARK}: {r.selected} of {r.size} objects"
            groups[title] = [
                replace(problem.card(shown[row]), stands_for=stands_for)
                for row, stands_for in r.representatives[:SHOWN]
            ]
        yield Gallery(
            name,
            groups,
            f"{mine[0].method}: of each cluster the {SHOWN} representatives at most that stand for most objects.",
        )


def _largest(records: Iterable[TrialRecord]) -> list[str]:
    """Return the largest clusters, in the order in which they were recorded."""
    sizes = {r.cluster: r.size for r in records}
    kept = sorted(sizes, key=lambda cluster: -sizes[cluster])[:SHOWN]
    return [cluster for cluster in sizes if cluster in kept]


def _values(
    records: Iterable[TrialRecord], method: str, cluster: str, value: Callable[[TrialRecord], float]
) -> list[float]:
    """Return a value for each seed."""
    return [value(r) for r in records if (r.method, r.cluster) == (method, cluster)]
