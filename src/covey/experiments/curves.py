"""Quality against what it takes: F1 against the share selected, and against the similarities evaluated.

Methods that differ only in k are drawn as a curve along k. Each function takes a spec's `Results`.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from covey.displays.chart import Axis, Chart, Level, Point, Series
from covey.displays.table import Table, TableColumn
from covey.experiments.records import TrialRecord
from covey.experiments.specs import Results
from covey.experiments.tables import Row, summarise
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
    """F1 against the share selected. The method that keeps everything is a line, and so is chance.

    The method that is `marked` stands out, and so does its curve.
    """
    caption = "F1 against the share of objects that is selected (log). Numbers beside points are k."
    yield from _drawn(results, SIZE, "quality-size", caption, marked)


def quality_against_evaluations(results: Results, marked: str | None = None) -> Iterable[Chart]:
    """F1 against the scan rate. Methods that evaluate nothing to select are lines, and so is chance.

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
    """One standard error around the F1 of a method; it ends where no F1 can be beyond."""
    return max(row.f1 - row.f1_error, 0.0), min(row.f1 + row.f1_error, 1.0)


def _point(row: Row, cost: Cost) -> Point:
    """Return a method as a point, with its standard error."""
    error = f" (standard error {row.f1_error:.3f})" if row.n_seeds > 1 else ""
    selected, scanned = percent(row.percentage / 100), f"{row.scan_rate:.3g}"
    words = f"{row.method}: F1 {row.f1:.3f}{error}, {selected} selected, scan rate {scanned}"
    return Point(cost.of(row), row.f1, *_interval(row), "" if row.k is None else str(row.k), words)
