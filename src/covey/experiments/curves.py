"""Quality against what it takes: F1 against the share selected, and against the similarities evaluated.

Methods that differ only in k are drawn as a curve along k. Each function takes a spec's `Results`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from covey.displays.colors import REFERENCE_LINE, of_things
from covey.displays.drawing import figure, plain
from covey.displays.report import Column, Picture, Table
from covey.experiments.specs import Results
from covey.experiments.tables import Row, summarise
from covey.runtime.extras import require

BUDGETS = (1, 2, 5, 10)
"""The shares of all objects, in percent, for which `quality_by_budget` says how good a selection can be."""
ROOM = 11
"""How many pixels apart two points must be so that k can be written beside both: the height of a letter."""
TICKS = tuple(digit * 10.0**power for power in range(-5, 5) for digit in (1, 2, 5))
"""Where logarithmic axes have marks: round numbers that are easy to read a curve at."""
BOUGHT = (
    "The best F1 of the k tried that select at most this share of the objects. Larger k select fewer; shares that no k "
    "comes down to are left out."
)
"""The caption of `quality_by_budget`."""
ERRORS = "Bars show one standard error over folds."
"""A sentence for the note of a section with such figures: what the bars mean."""


@dataclass(frozen=True)
class Axis:
    """What the quality is drawn against.

    Attributes
    ----------
    value : str
        The attribute of a `Row`.
    title, form : str
        The title of the axis, and how its values are written.
    bound : float
        Methods with this value are drawn as a line across the figure: on a logarithmic axis 0 has no place, and all
        objects are what everything else is held against.
    """

    value: str
    title: str
    form: str
    bound: float


SIZE = Axis("percentage", "selected, % of all objects (log)", "{:g} %", 100.0)
EVALUATIONS = Axis("scan_rate", "scan rate: similarities evaluated by pairs within clusters (log)", "{:g}", 0.0)


def quality_against_size(results: Results) -> Iterable[Picture | Table]:
    """F1 against the share selected, and what 1, 2, 5 and 10 % buy. The method that keeps everything is a line."""
    caption = "F1 against the share of objects that is selected (log); k is written beside each point."
    yield from _drawn(results, SIZE, "quality-size", caption)
    yield from quality_by_budget(results)


def quality_against_evaluations(results: Results) -> Iterable[Picture]:
    """F1 against the scan rate. Methods that evaluate nothing to select are lines."""
    caption = "F1 against the scan rate (log); k is written beside each point. Lines are methods that evaluate nothing."
    yield from _drawn(results, EVALUATIONS, "quality-evaluations", caption)


def quality_by_budget(results: Results) -> Iterable[Table]:
    """The best F1 of each curve with at most 1, 2, 5 and 10 % of the objects, and that of all objects.

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
            reached += [[f"all ({row.method})", *[f"{row.f1:.3f}"] * len(curves)] for row in whole]
            yield Table("budgets", [Column("at most"), *map(Column, curves)], reached, BOUGHT)


def _within(curve: Iterable[Row], budget: float) -> str:
    """The best F1 of a curve with at most so many percent of the objects, in words; empty if no k selects so few."""
    best = max((row for row in curve if row.percentage <= budget), key=lambda row: row.f1, default=None)
    return "" if best is None else f"{best.f1:.3f} (k = {best.k}, {best.percentage:.2f} %)"


def _curves(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The rows of each curve, by its name, in the order of k."""
    curves: dict[str, list[Row]] = {}
    for row in sorted((row for row in rows if row.k is not None), key=lambda row: row.k or 0):
        curves.setdefault(row.curve or row.method, []).append(row)
    return curves


def _drawn(results: Results, axis: Axis, name: str, caption: str) -> Iterable[Picture]:
    """A figure with the curves and marks of all methods."""
    rows = summarise(results.records, results.problems)
    if not rows:
        return
    curves, others = _curves(rows), [row for row in rows if row.k is None]
    lines = [row for row in others if getattr(row, axis.value) == axis.bound]
    marks = [row for row in others if row not in lines]
    drawn = figure(10, 5.6)
    axes = drawn.subplots()
    colors = of_things(len(curves) + len(marks))
    _draw_curves(axes, axis, curves, colors)
    _draw_marks(axes, axis, marks, colors[len(curves) :])
    _draw_lines(axes, lines)
    axes.set(xlabel=axis.title, ylabel="F1, mean over clusters and folds")
    axes.grid(alpha=0.35)
    axes.margins(y=0.09)  # so that the name of a line at the top has room above it
    _mark_round_numbers(axes, axis, [row for row in rows if row not in lines])
    _write_ks(axes, axis, curves, colors)
    axes.legend(loc="lower right")
    yield Picture(name, drawn, caption)


def _draw_curves(axes: Any, axis: Axis, curves: Mapping[str, Sequence[Row]], colors: Sequence[Any]) -> None:
    """The methods that differ only in k, each with the standard error of its F1."""
    for (name, rows), color in zip(curves.items(), colors, strict=False):
        x, y = [getattr(row, axis.value) for row in rows], [row.f1 for row in rows]
        style = {"color": color, "marker": "o", "markersize": 5, "linewidth": 1.8, "elinewidth": 1, "capsize": 3}
        axes.errorbar(x, y, [row.f1_error for row in rows], label=plain(f"{name}, k as written"), **style)


def _write_ks(axes: Any, axis: Axis, curves: Mapping[str, Sequence[Row]], colors: Sequence[Any]) -> None:
    """The k of each point beside it: above the last curve and below the others. A k that has no room is left out.

    The limits of the axes must be set, because they decide how far apart points are.
    """
    for (name, rows), color in zip(curves.items(), colors, strict=False):
        sign = 1 if name == list(curves)[-1] else -1
        at = {"xytext": (-5 * sign, 5 * sign), "textcoords": "offset points", "ha": "right" if sign > 0 else "left"}
        written: list[Any] = []
        for row in rows:
            place = (getattr(row, axis.value), row.f1)
            pixel = axes.transData.transform(place)
            if all(abs(pixel - other).max() > ROOM for other in written):
                written.append(pixel)
                axes.annotate(str(row.k), place, va="bottom" if sign > 0 else "top", color=color, fontsize=9, **at)


def _draw_marks(axes: Any, axis: Axis, rows: Sequence[Row], colors: Sequence[Any]) -> None:
    """Methods without a k."""
    for number, (row, color) in enumerate(zip(rows, colors, strict=True)):
        style = {"color": color, "marker": "s^vDX"[number % 5], "markersize": 7, "linestyle": "none", "capsize": 3}
        axes.errorbar(getattr(row, axis.value), row.f1, row.f1_error, label=plain(row.method), zorder=3, **style)


def _draw_lines(axes: Any, rows: Sequence[Row]) -> None:
    """Methods that the others are held against, as lines with their names and values."""
    for number, row in enumerate(rows):
        axes.axhline(row.f1, color=REFERENCE_LINE, linewidth=1.2, linestyle=("--", ":", "-.")[number % 3], zorder=1)
        axes.annotate(
            plain(f"{row.method}: {row.f1:.3f}"), (0.01, row.f1), xycoords=("axes fraction", "data"),
            xytext=(0, 3), textcoords="offset points", color=REFERENCE_LINE, fontsize=9,
        )  # fmt: skip


def _mark_round_numbers(axes: Any, axis: Axis, rows: Sequence[Row]) -> None:
    """A logarithmic axis around the rows, with round numbers written in full."""
    ticker = require("matplotlib.ticker", "plot")
    places = [value for row in rows if (value := getattr(row, axis.value)) > 0] or [1.0]
    low, high = min(places) / 1.4, max(places) * 1.4  # some room at both sides
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_xticks([tick for tick in TICKS if low <= tick <= high])
    axes.xaxis.set_major_formatter(ticker.FuncFormatter(lambda value, _: axis.form.format(value)))
    axes.xaxis.set_minor_locator(ticker.NullLocator())
