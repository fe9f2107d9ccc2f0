"""Figures from records. Each first computes what is drawn, then draws it."""

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.displays.drawing import colors, figure, plain
from covey.evaluation import Card, Comparison, Gallery, Picture, compare
from covey.experiments.methods import DESCENT_KS, by_descent
from covey.experiments.runner import Record
from covey.experiments.specs import Results
from covey.experiments.tables import Row, summarise
from covey.runtime.extras import require

SCORES = ("precision", "recall")
FIGURE_CLUSTERS = {"Fashion-MNIST": ("Dress", "Sandal"), "Network (synthetic)": ("A", "B")}
"""The paper's: two kinds of clothes, a medium and the biggest cluster of hosts."""
RANKED = (
    "Mean ranks over clusters; Friedman's test, then every pair corrected by Shaffer's static procedure. "
    "The clusters of one data set are told apart by one classifier, so these blocks are not independent: what one wins "
    "another loses. Read the tests as a description, not as a proof."
)
SHOWN = 12
"""How many representatives of a cluster a gallery shows, and how many clusters bars show."""


def critical_differences(results: Results) -> Iterable[Picture]:
    for problem in results.problems:
        found = {score: compare_methods(results.records, problem, score) for score in SCORES}
        if any(comparison is None for comparison in found.values()):
            continue
        drawn = figure(10, 5)
        for axes, (score, comparison) in zip(drawn.subplots(2), found.items(), strict=True):
            assert comparison is not None
            _draw_comparison(axes, comparison, f"{problem}, {score}")
        words = "; ".join(
            f"{score}: p = {c.p_value:.2g} over {c.n_blocks} clusters" for score, c in found.items() if c is not None
        )
        yield Picture(
            f"critical-difference-{_slug(problem)}",
            drawn,
            f"{problem}: mean ranks (1 is best); methods that do not differ (p > .05, Shaffer) are connected. "
            f"Friedman, {words}.",
        )


def compare_methods(records: Iterable[Record], problem: str, score: str) -> Comparison | None:
    """Clusters are blocks; seeds are averaged. None if there is too little to compare."""
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
    pandas, posthocs = require("pandas", "cli"), require("scikit_posthocs", "cli")
    names = [plain(name) for name in found.names]
    adjusted = pandas.DataFrame(found.adjusted, index=names, columns=names)
    ranks = dict(zip(names, found.ranks, strict=True))
    palette = dict(zip(names, colors(len(names)), strict=True))
    labels = {"label_fmt_left": "{label} ({rank:.2f})  ", "label_fmt_right": "  ({rank:.2f}) {label}"}
    posthocs.critical_difference_diagram(ranks, adjusted, ax=axes, text_h_margin=0.1, color_palette=palette, **labels)
    axes.set_title(plain(title), loc="left", fontsize=10)


def impact_of_k(results: Results) -> Iterable[Picture]:
    k_of = {by_descent(k): k for k in DESCENT_KS}
    panels = [
        (problem, cluster)
        for problem in results.problems
        for cluster in FIGURE_CLUSTERS.get(problem, ())
        if any(r.problem == problem and r.cluster == cluster for r in results.records)
    ]
    if not panels:
        return
    curves = {
        panel: sorted(
            (k_of[r.method], r.precision, r.selected / r.size, r.scan_rate)
            for r in results.records
            if (r.problem, r.cluster) == panel
        )
        for panel in panels
    }
    drawn = figure(10, 3.4 * ((len(panels) + 1) // 2))
    for axes, (panel, curve) in zip(
        drawn.subplots(-(-len(panels) // 2), 2, squeeze=False).flat, curves.items(), strict=False
    ):
        ks, *columns = zip(*curve, strict=True)
        for values, name, mark in zip(columns, ("precision", "share selected", "scan rate"), "osd", strict=True):
            axes.plot(ks, values, marker=mark, markersize=4, label=name)
        axes.set(title=plain(", ".join(panel)), xlabel="k", ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend()
    yield Picture(
        "impact-of-k",
        drawn,
        "Precision, the share of the cluster selected and the scan rate against k, graphs by NN-Descent. The smaller a "
        "cluster, the larger the share of its pairs that is evaluated. Working lists hold ten at least, so it is the "
        "same up to k = 10.",
    )


def trade_off(results: Results) -> Iterable[Picture]:
    """Precision and recall against the share selected, and against the scan rate; CRS is a curve along k."""
    rows = summarise(results.records, results.problems)
    if not rows:
        return
    curve = [row for row in rows if row.method.startswith("CRS-k")]
    others = [row for row in rows if row not in curve]
    drawn = figure(10, 7)
    panels = drawn.subplots(2, 2, sharex="col", sharey="row")
    for axes_row, score in zip(panels, SCORES, strict=True):
        for axes, (title, x) in zip(
            axes_row, {"selected, %": "percentage", "scan rate": "scan_rate"}.items(), strict=True
        ):
            _draw_trade_off(axes, curve, others, x, score)
            axes.set(xlabel=title, ylabel=score, xscale="log" if x == "percentage" else "linear")
            axes.grid(alpha=0.3)
    panels[0, 0].legend()
    yield Picture(
        "trade-off", drawn, "Precision and recall against the share selected (log) and against the scan rate."
    )


def _draw_trade_off(axes: Any, curve: Sequence[Row], others: Sequence[Row], x: str, y: str) -> None:
    places = [(getattr(row, x), getattr(row, y)) for row in curve]
    if curve:
        axes.plot(*zip(*places, strict=True), marker="o", markersize=4, linewidth=1, label="CRS, k as written")
    for row, place in zip(curve, places, strict=True):
        axes.annotate(row.method.removeprefix("CRS-k"), place, xytext=(4, 4), textcoords="offset points", fontsize=8)
    for at, row in enumerate(others, start=1):
        axes.scatter(
            getattr(row, x), getattr(row, y), marker="Xs^vD"[at % 5], color=f"C{at}", zorder=3, label=row.method
        )


def bars(results: Results) -> Iterable[Picture]:
    for problem in results.problems:
        mine = [r for r in results.records if r.problem == problem]
        methods, clusters = _names(mine, "method"), _largest(mine)
        if not clusters:
            continue
        drawn = figure(11, 6.5)
        panels = drawn.subplots(3, sharex=True)
        for axes, (title, value) in zip(
            panels,
            {
                "precision": lambda r: r.precision,
                "recall": lambda r: r.recall,
                "selected, %": lambda r: 100 * r.selected / r.size,
            }.items(),
            strict=True,
        ):
            width = 0.85 / len(methods)
            for at, method in enumerate(methods):
                heights = [_mean(mine, method, cluster, value) for cluster in clusters]
                places = np.arange(len(clusters)) + (at - (len(methods) - 1) / 2) * width
                axes.bar(places, heights, width, label=method, color=colors(len(methods))[at])
            axes.set_ylabel(title)
            axes.grid(axis="y", alpha=0.3)
        panels[-1].set_yscale("log")
        panels[-1].set_xticks(
            np.arange(len(clusters)), list(map(plain, clusters)), rotation=20 if len(clusters) > 6 else 0, ha="right"
        )
        handles = panels[0].get_legend_handles_labels()
        drawn.legend(*handles, loc="outside upper center", ncols=min(len(methods), 7), fontsize=9)
        yield Picture(
            f"bars-{_slug(problem)}", drawn, f"{problem}: precision, recall and share selected (log) by cluster."
        )


def confusions(results: Results) -> Iterable[Picture]:
    display = require("sklearn.metrics", "plot").ConfusionMatrixDisplay
    for problem in results.problems:
        mine = [r for r in results.records if r.problem == problem]
        methods, clusters = _names(mine, "method"), _names(mine, "cluster")
        if not methods:
            continue
        drawn = figure(5.2 * len(methods), 5.4)
        for axes, method in zip(drawn.subplots(1, len(methods), squeeze=False).flat, methods, strict=True):
            counts = confusion([r for r in mine if r.method == method], clusters)
            shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
            display(shares, display_labels=list(map(plain, clusters))).plot(
                ax=axes, include_values=len(clusters) <= 10, values_format=".2f", cmap="Blues", colorbar=False,
                text_kw={"fontsize": 6}, xticks_rotation="vertical",
            )  # fmt: skip
            axes.set_title(method)
            axes.tick_params(labelsize=7)
        yield Picture(
            f"confusion-{_slug(problem)}", drawn, f"{problem}: of each cluster (row), the share given each label."
        )


def confusion(records: Iterable[Record], clusters: Sequence[str]) -> NDArray[np.int64]:
    """How many of each cluster (row) got which label (column), all seeds together."""
    place = {cluster: at for at, cluster in enumerate(clusters)}
    counts = np.zeros((len(clusters), len(clusters)), dtype=np.int64)
    for r in records:
        for label, n in r.predicted.items():
            counts[place[r.cluster], place[label]] += n
    return counts


def points(results: Results) -> Iterable[Picture]:
    """Objects in the plane, representatives marked."""
    for problem in results.problems:
        split = results.split(problem)
        mine = [r for r in results.records if r.problem == problem and r.seed == 0]
        methods = _names(mine, "method")
        if not methods:
            continue
        drawn = figure(3.4 * len(methods), 3.6)
        for axes, method in zip(drawn.subplots(1, len(methods), squeeze=False).flat, methods, strict=True):
            chosen = np.array([row for r in mine if r.method == method for row, _ in r.representatives])
            axes.scatter(*split.X.T, s=6, color="silver")
            axes.scatter(*split.X[chosen].T, s=22, color="crimson", marker="x", linewidths=1)
            axes.set(title=f"{method}: {chosen.size}", xticks=[], yticks=[], aspect="equal")
        yield Picture(
            f"points-{_slug(problem)}",
            drawn,
            f"{problem}: {len(split.X)} points and the representatives that each method selects (crosses, counted).",
        )


def galleries(results: Results) -> Iterable[Gallery]:
    """The representatives that stand for most, to look at."""
    for name, problem in results.problems.items():
        mine = [r for r in results.records if r.problem == name and r.seed == 0]
        if problem.card is None or not mine:
            continue
        split = results.split(name)
        shown = split.X if split.shown is None else split.shown
        groups = {}
        for r in mine:
            title = f"{r.cluster}: {r.selected} of {r.size} objects represent it"
            groups[title] = [
                _with_count(problem.card(shown[row]), stands_for) for row, stands_for in r.representatives[:SHOWN]
            ]
        yield Gallery(
            name,
            groups,
            f"{mine[0].method}: of each cluster the {SHOWN} representatives at most that stand for most objects.",
        )


def _with_count(card: Card, stands_for: int) -> Card:
    return Card(card.title, card.lines, card.pixels, stands_for)


def _names(records: Iterable[Record], key: str) -> list[str]:
    return list(dict.fromkeys(getattr(r, key) for r in records))


def _largest(records: Iterable[Record]) -> list[str]:
    """The largest clusters, in their own order."""
    sizes = {r.cluster: r.size for r in records}
    kept = sorted(sizes, key=lambda cluster: -sizes[cluster])[:SHOWN]
    return [cluster for cluster in sizes if cluster in kept]


def _mean(records: Iterable[Record], method: str, cluster: str, value: Any) -> float:
    return fmean(value(r) for r in records if (r.method, r.cluster) == (method, cluster))


def _slug(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
