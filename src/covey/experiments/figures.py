"""Charts and figures made of records. Each function takes a spec's `Results`, except those that serve others as well.

1. Quality against what it takes: F1 against the share selected, and against the similarities evaluated. Methods that
   differ only in k are drawn as a curve along k.
2. Which clusters are taken for which: confusion matrices, and the largest confusions with objects to look at.
3. Figures by matplotlib: critical differences, bars, points in the plane; and galleries of representatives.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.displays.chart import Axis, Chart, Level, Point, Series
from covey.displays.colors import DRAWN_POINTS, of_things
from covey.displays.confusion import Confusion, ConfusionMatrix, Confusions, Example, largest
from covey.displays.drawing import figure, plain
from covey.displays.picture import Picture
from covey.displays.report import Gallery
from covey.displays.table import Table, TableColumn
from covey.evaluation import Comparison, compare
from covey.experiments.methods import slug
from covey.experiments.records import EXAMPLES, TrialRecord
from covey.experiments.specs import Problem, Results
from covey.experiments.tables import Row, each_once, standard_error, summarise
from covey.runtime.libraries import require
from covey.runtime.wording import percent

BUDGETS = (1, 2, 5, 10)
"""The shares of all objects, in percent, for which `quality_by_budget` says how good a selection can be."""
BOUGHT = (
    "The best F1 of the k tried that select at most this share of the objects, ± its standard deviation over folds. "
    "Larger k select fewer; shares that no k comes down to are left out."
)
"""The caption of `quality_by_budget`."""
ERRORS = "Bars, and bands around dashed lines, show one standard error over folds."
"""A sentence for the note of a section with such charts: what the bars mean."""
CHANCE = (
    "Chance is what labels get that are drawn at random as often as they occur: precision and recall of a label are "
    "then its share of the objects, so that the mean F1 is 1 divided by the number of labels."
)
"""A sentence for the note of a section with such charts: what the line of chance means."""
SAME = 1.05
"""Values of which the largest is at most this many times the smallest tell nothing as an axis."""
QUALITY = Axis("F1, mean over clusters and folds", "{:.3f}", (0.0, 1.0))


@dataclass(frozen=True)
class Cost:
    """What the quality is drawn against.

    Attributes
    ----------
    value : str
        The attribute of a `Row`.
    axis : Axis
    bound : float
        Methods with this value are drawn as a line across the chart: on a logarithmic axis 0 has no place, and all
        objects are what everything else is held against.
    """

    value: str
    axis: Axis
    bound: float

    def of(self, row: Row) -> float:
        """Return what a method takes."""
        return float(getattr(row, self.value))


SIZE = Cost("percentage", Axis("selected, % of all objects (log)", "{:g} %"), 100.0)
EVALUATIONS = Cost("scan_rate", Axis("scan rate: evaluations by pairs within clusters (log)", "{:g}"), 0.0)


def quality_against_size(results: Results, marked: str | None = None) -> Iterable[Chart]:
    """Draw F1 against the share selected. The method that keeps everything is a line, and so is chance.

    The method that is `marked` stands out, and so does its curve.
    """
    caption = "F1 against the share of objects that is selected (log). Numbers beside points are k."
    yield from _drawn(results, SIZE, "quality-size", caption, marked)


def quality_against_evaluations(results: Results, marked: str | None = None) -> Iterable[Chart]:
    """Draw F1 against the scan rate. Methods that evaluate nothing to select are lines, and so is chance.

    Nothing is drawn if no curve has methods that evaluate more than others of it, or if all methods are equally good:
    points would only stand on top of each other, or side by side.
    """
    rows = summarise(results.records, results.problems)
    rates = [[EVALUATIONS.of(row) for row in curve] for curve in _curves(rows).values()]
    if any(max(own) > SAME * min(own) for own in rates) and len({row.f1 for row in rows}) > 1:
        caption = (
            "F1 against the scan rate (log). Numbers beside points are k. Dashed lines are chance, and methods that "
            "evaluate nothing."
        )
        yield from _drawn(results, EVALUATIONS, "quality-evaluations", caption, marked)


def quality_by_budget(results: Results) -> Iterable[Table]:
    """Yield the best F1 of each curve with at most 1, 2, 5 and 10 % of the objects, and that of all objects.

    There is no line for a share that no curve comes down to.
    """
    for problem in results.problems:
        rows = [row for row in summarise(results.records, results.problems) if row.problem == problem]
        curves = _curves(rows)
        whole = [row for row in rows if row.percentage == SIZE.bound]
        if not curves:
            continue
        lines = [[f"{budget} %", *(_within(curve, budget) for curve in curves.values())] for budget in BUDGETS]
        reached = [line for line in lines if any(line[1:])]
        if reached:
            reached += [[f"all ({row.method})", *[_scored(row)] * len(curves)] for row in whole]
            yield Table("budgets", [TableColumn("at most"), *map(TableColumn, curves)], reached, BOUGHT)


def chance(records: Iterable[TrialRecord]) -> float:
    """Return the mean F1 of labels that are drawn at random as often as they occur, on the queries of these records.

    A label with the share p of all queries then has a precision and a recall of p, and so an F1 of p. Always giving the
    most frequent label is never better, because that label gets 2 p / (1 + p), at most 1, and all others get 0.
    """
    asked: dict[str, int] = {}
    for record in records:
        asked[record.cluster] = asked.get(record.cluster, 0) + sum(record.predicted.values())
    n = sum(asked.values())
    return sum(times / n for times in asked.values()) / len(asked) if n else 0.0


def _within(curve: Iterable[Row], budget: float) -> str:
    """Return the best F1 of a curve with at most this many percent of the objects, in words; empty if there is none."""
    best = max((row for row in curve if row.percentage <= budget), key=lambda row: row.f1, default=None)
    return "" if best is None else f"{_scored(best)} (k = {best.k}, {percent(best.percentage / 100)})"


def _scored(row: Row) -> str:
    """Return the F1 of a method, with its standard deviation if there are several seeds."""
    return f"{row.f1:.3f} ± {row.f1_spread:.3f}" if row.n_seeds > 1 else f"{row.f1:.3f}"


def _curves(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Return the rows of each curve, by its name, in the order of k."""
    curves: dict[str, list[Row]] = {}
    for row in sorted((row for row in rows if row.k is not None), key=lambda row: row.k or 0):
        curves.setdefault(row.curve or row.method, []).append(row)
    return curves


def _drawn(results: Results, cost: Cost, name: str, caption: str, marked: str | None) -> Iterable[Chart]:
    """Yield a chart with the curves, marks and levels of all methods; nothing if there is none."""
    rows = summarise(results.records, results.problems)
    curves, others = _curves(rows), [row for row in rows if row.k is None]
    levels = [row for row in others if cost.of(row) == cost.bound]
    points = {row.method: _point(row, cost) for row in rows if row not in levels}
    if not points:
        return
    series = [
        Series(curve, [points[row.method] for row in own], _stands_out(own, rows, marked))
        for curve, own in curves.items()
    ]
    series += [Series(row.method, [points[row.method]], marked is None) for row in others if row not in levels]
    lines = [Level(row.method, row.f1, *_interval(row)) for row in levels]
    lines += [Level("chance", chance(results.records))]
    yield Chart(name, caption, cost.axis, QUALITY, series, lines, points.get(marked or ""), "recommended")


def _stands_out(curve: Sequence[Row], rows: Sequence[Row], marked: str | None) -> bool:
    """Return whether a curve is drawn strongly: that of the marked method is, or all are if none is marked."""
    return marked not in [row.method for row in rows] or marked in [row.method for row in curve]


def _interval(row: Row) -> tuple[float, float]:
    """Return one standard error around the F1 of a method; it ends where no F1 can be beyond."""
    return max(row.f1 - row.f1_error, 0.0), min(row.f1 + row.f1_error, 1.0)


def _point(row: Row, cost: Cost) -> Point:
    """Return a method as a point, with its standard error."""
    error = f" (standard error {row.f1_error:.3f})" if row.n_seeds > 1 else ""
    selected, scanned = percent(row.percentage / 100), f"{row.scan_rate:.3g}"
    words = f"{row.method}: F1 {row.f1:.3f}{error}, {selected} selected, scan rate {scanned}"
    return Point(cost.of(row), row.f1, *_interval(row), "" if row.k is None else str(row.k), words)


def confusion_matrices(results: Results) -> Iterable[ConfusionMatrix]:
    """Yield for each problem the confusion matrix of each method, all seeds together, unless no answer is wrong."""
    for problem in results.problems:
        for method, records in _by_method(results, problem).items():
            labels, counts = confusion(records)
            if counts.sum() > np.trace(counts):
                caption = f"{problem}, {method}: of each cluster (row), the share that got each label (column)."
                yield ConfusionMatrix(f"confusion-{slug(problem)}-{slug(method)}", caption, labels, counts)


def largest_confusions(results: Results) -> Iterable[Confusions]:
    """Yield for each problem and method the largest confusions in words, with examples where objects can be shown."""
    for name, problem in results.problems.items():
        for records in _by_method(results, name).values():
            labels, counts = confusion(records)
            found = [
                Confusion(labels[row], labels[column], int(counts[row, column]), int(counts[row].sum()))
                for row, column in largest(counts)
            ]
            if found:
                yield Confusions([_with_examples(own, records, problem, name, results) for own in found])


def confusion(records: Sequence[TrialRecord]) -> tuple[list[str], NDArray[np.int64]]:
    """Return all labels, and how many queries of each of them (row) got which (column), all seeds together."""
    labels = list(dict.fromkeys([*each_once(records, "cluster"), *(label for r in records for label in r.predicted)]))
    place = {label: at for at, label in enumerate(labels)}
    counts = np.zeros((len(labels), len(labels)), dtype=np.int64)
    for r in records:
        for label, n in r.predicted.items():
            counts[place[r.cluster], place[label]] += n
    return labels, counts


def _by_method(results: Results, problem: str) -> dict[str, list[TrialRecord]]:
    """Return the records of a problem, by the name of their method."""
    found: dict[str, list[TrialRecord]] = {}
    for r in results.records:
        if r.problem == problem:
            found.setdefault(r.method, []).append(r)
    return found


def _with_examples(
    confused: Confusion, records: Iterable[TrialRecord], problem: Problem, name: str, results: Results
) -> Confusion:
    """Return the confusion with some of its objects, each beside its nearest representative, if there are cards."""
    if problem.card is None:
        return confused
    return replace(confused, examples=list(islice(_examples(confused, records, problem, name, results), EXAMPLES)))


def _examples(
    confused: Confusion, records: Iterable[TrialRecord], problem: Problem, name: str, results: Results
) -> Iterable[Example]:
    """Yield all examples that the records list, seed by seed."""
    assert problem.card is not None
    for r in records:
        rows = r.mistaken.get(confused.given, ()) if r.cluster == confused.label else ()
        if rows:
            split = results.split(name, r.seed if problem.drawn else 0)
            asked = split.queries if split.shown_queries is None else split.shown_queries
            kept = split.X if split.shown is None else split.shown
            yield from (Example(problem.card(asked[query]), problem.card(kept[row])) for query, row in rows)


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
    return [value(r) for r in records if (r.method, r.cluster) == (method, cluster)]
