"""What a notebook shows of a fitted selector or classifier: sizes, coverage, and a row of discs for each cluster.

1. Each representative is a disc whose area says how many members it stands for. Nothing is evaluated for it.
2. A browser gets nothing but text, numbers and shapes: every text is escaped, there is no script, and nothing is
   loaded.

Estimators that are not fitted look as those of scikit-learn do.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from covey.arrays import Positions
from covey.prototype import Prototype
from covey.runtime.wording import several, shortened, visible

MOST_CLUSTERS = 12
"""How many clusters are listed, the largest first, so that a summary fits on a screen."""
WIDTH, HEIGHT = 260, 22
"""The size of the row of discs of a cluster, in pixels."""
GOLDEN_ANGLE = 137.5
"""Hues at multiples of this angle are spread evenly around the circle for any number of clusters."""
CELL = 'style="text-align: left; padding: .1em .8em .1em 0"'
"""How cells of the table are set."""


def summary_of(estimator: Any) -> str:
    """Return the summary of a fitted selector or classifier as HTML; nothing if it is not fitted."""
    selector: Any = estimator if hasattr(estimator, "prototypes_") else getattr(estimator, "selector_", None)
    if not hasattr(selector, "prototypes_"):
        return ""
    scanned = getattr(selector, "_scanned", "pairs within clusters")  # a classifier takes selectors of other libraries
    cost = f"{selector.n_evaluations_:,} similarities were evaluated ({selector.scan_rate_:.1%} of all {scanned})."
    return summary(type(estimator).__name__, selector.prototypes_, cost)


def framed(page: str, title: str) -> str:
    """Return a page of covey in a frame, which a notebook can show inline.

    This is safe in a notebook for any data. The frame's sandbox lets the page run its own script and nothing
    else: it has an origin of its own, so that it can neither reach the notebook, its cookies and its kernel, nor open
    windows or send forms. The page brings its policy along, which allows only that script and loads nothing. The whole
    page is escaped, so that no text in it can end the attribute that holds it. A notebook that strips frames shows
    the text instead.
    """
    height = "min(46rem, 90vh)"
    return (
        f'<iframe sandbox="allow-scripts" title="{escape(title)}" srcdoc="{escape(page)}" width="100%" height="720" '
        f'style="border: 0; width: 100%; height: {height}"></iframe>'
    )


def summary(name: str, prototypes: Mapping[Any, Prototype], cost: str) -> str:
    """Return a few lines and a table as HTML about the clusters of a fitted estimator.

    `cost` is a sentence about what the fit has cost.
    """
    ordered = sorted(prototypes.values(), key=lambda prototype: -prototype.members.size)
    n_members = sum(prototype.members.size for prototype in ordered)
    n_chosen = sum(prototype.indices.size for prototype in ordered)
    counts = [_counts(prototype) for prototype in ordered]
    n_covered = sum(
        stood.sum() if stood.size else prototype.coverage * prototype.members.size
        for stood, prototype in zip(counts, ordered, strict=True)
    )
    return (
        '<div style="margin: .5em 0; max-width: 70em; overflow-x: auto">'
        f"<p><b>{escape(name)}</b>: {n_chosen:,} of {n_members:,} objects represent "
        f"{several(len(ordered), 'cluster')} and stand for {n_covered / max(n_members, 1):.1%} of all objects. "
        f"{cost}</p>{_table(ordered, counts)}</div>"
    )


def _counts(prototype: Prototype) -> Positions:
    """Return how many members each representative stands for; nothing if only a Dask cluster knows it."""
    return prototype.stands_for if isinstance(prototype.covered_by, np.ndarray) else np.empty(0, dtype=np.intp)


def _table(ordered: Sequence[Prototype], counts: Sequence[Positions]) -> str:
    """Return the sizes and the coverage of the largest clusters, and their discs."""
    left_out = len(ordered) - MOST_CLUSTERS
    shown = list(zip(ordered, counts, strict=True))[:MOST_CLUSTERS]
    largest = max((int(own.max(initial=1)) for _, own in shown), default=1)
    rows = "".join(_row(prototype, _discs(own, largest, _color(at))) for at, (prototype, own) in enumerate(shown))
    more = f"<p>and {left_out} smaller clusters.</p>" if left_out > 0 else ""
    titles = ("cluster", "members", "representatives", "coverage", "a disc for each representative")
    head = "".join(f"<th {CELL}>{title}</th>" for title in titles)
    table = f'<table style="border-collapse: collapse"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
    return f"{table}{more}"


def _row(prototype: Prototype, discs: str) -> str:
    """Return the line of the table about one cluster."""
    cells = (
        escape(visible(shortened(str(prototype.label)))),
        f"{prototype.members.size:,}",
        f"{prototype.indices.size:,}",
        f"{prototype.coverage:.1%}",
        discs,
    )
    return f"<tr>{''.join(f'<td {CELL}>{cell}</td>' for cell in cells)}</tr>"


def _discs(counts: Positions, largest: int, color: str) -> str:
    """Return the discs of a cluster side by side, the largest first, as many as there is room for."""
    if not counts.size:
        return ""
    counts = np.sort(counts)[::-1]
    radii = np.maximum(1.2, (HEIGHT / 2 - 1) * np.sqrt(counts / max(largest, 1)))
    ends = np.cumsum(2 * radii + 1.5)
    n_drawn = int(np.searchsorted(ends, WIDTH, side="right"))
    drawn = zip(ends[:n_drawn] - radii[:n_drawn] - 1, radii[:n_drawn], counts[:n_drawn].tolist(), strict=True)
    circles = "".join(_circle(x, HEIGHT / 2, radius, color, f"stands for {count:,}") for x, radius, count in drawn)
    more = counts.size - n_drawn
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{counts.size} representatives" '
        f'style="vertical-align: middle">{circles}</svg>{f" and {more:,} more" if more else ""}'
    )


def _color(at: int) -> str:
    """Return the color of a cluster, which can be seen on light and on dark paper."""
    return f"oklch(62% .16 {at * GOLDEN_ANGLE % 360:.0f})"


def _circle(x: float, y: float, radius: float, color: str, title: str) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{color}" fill-opacity=".7">'
        f"<title>{title}</title></circle>"
    )
