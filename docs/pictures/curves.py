"""What the figures of "How to choose" share: the measured rows, and one color and mark for each data set."""

from pathlib import Path

import pandas as pd
from matplotlib import pyplot

MEASURED = pd.read_csv(Path(__file__).parents[2] / "benchmarks" / "choosing.csv")
MARKS = {
    "digits": ("#0072b2", "o"),
    "Fashion-MNIST": ("#d55e00", "s"),
    "20 Newsgroups": ("#009e73", "^"),
    "surnames": ("#cc79a7", "D"),
}
"""Colors of the palette by Okabe and Ito, which color-blind readers can tell apart; the marks differ as well."""


def means(experiment):
    """The rows of an experiment, as means over seeds, with the quality as a share of that of all objects.

    A column whose name ends with "_spread" has the standard deviation of another one.
    """
    whole = MEASURED[MEASURED.setting == "all objects"].groupby("data").f1.mean()
    rows = MEASURED[MEASURED.experiment == experiment]
    rows = rows.assign(quality=rows.f1 / rows.data.map(whole), percent=100 * rows.selected, share=100 * rows.scan_rate)
    groups = rows.groupby(["data", "setting"], sort=False)
    return groups.mean(numeric_only=True).join(groups.std(numeric_only=True).add_suffix("_spread")).reset_index()


def panels(n, height=3.4):
    figure, axes = pyplot.subplots(1, n, figsize=(9, height), layout="constrained")
    for one in axes if n > 1 else [axes]:
        one.grid(alpha=0.25)
        one.spines[["top", "right"]].set_visible(False)
    return figure, axes


def draw(axes, rows, x, y, **style):
    """A line for each data set, with standard deviations as bars."""
    for name, (color, mark) in MARKS.items():
        mine = rows[rows.data == name]
        if len(mine):
            spread = mine[f"{y}_spread"]
            axes.errorbar(mine[x], mine[y], spread, color=color, marker=mark, markersize=5, label=name, **style)
    axes.legend(frameon=False, fontsize=9)


def size_and_quality(rows, x, label, **scale):
    """Two panels: what a setting does to the number of representatives, and to the quality of answers."""
    _, (size, quality) = panels(2)
    draw(size, rows, x, "percent")
    size.set(xlabel=label, ylabel="objects selected, %", yscale="log", **scale)
    size.set_yticks(*percents(rows.percent))
    size.minorticks_off()
    draw(quality, rows, x, "quality")
    quality.set(xlabel=label, ylabel="F1, as a share of that of all objects", **scale)
    return size, quality


def percents(values):
    """Round percentages within the range of some values, as ticks and their names."""
    ticks = [tick for tick in (0.5, 1, 2, 5, 10, 20, 50, 100) if values.min() / 1.5 <= tick <= values.max() * 1.5]
    return ticks, [f"{tick:g}" for tick in ticks]
