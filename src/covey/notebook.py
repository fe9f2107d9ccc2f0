"""What a notebook shows of a fitted selector or classifier: sizes, coverage, and a small picture.

Nothing is evaluated for it. The picture has a row of discs for each cluster, a disc for each representative, whose area
says how many members it stands for. A browser gets nothing but text, numbers and shapes: every text is escaped, there
is no script, and nothing is loaded. Estimators that are not fitted look as those of scikit-learn do.
"""

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import numpy as np

from covey.prototype import Prototype

MOST_CLUSTERS = 12
"""How many clusters are listed, the largest first. It is a judgement: a summary should fit on a screen."""
WIDTH, HEIGHT = 260, 22
"""The size of the row of discs of a cluster, in pixels."""
CELL = 'style="text-align: left; padding: .1em .8em .1em 0"'
"""How cells of the table are set."""
LONGEST_LABEL = 40
"""How many characters of a label are shown."""


class InNotebooks:
    """A mixin of estimators: a notebook shows a summary of a fitted one above scikit-learn's diagram.

    scikit-learn's setting ``display="text"`` switches both off.
    """

    def _summary(self) -> str | None:
        """The summary of the estimator, or None if it is not fitted."""
        fitted: Any = self if hasattr(self, "prototypes_") else getattr(self, "selector_", None)
        if not hasattr(fitted, "prototypes_"):
            return None
        return summary(type(self).__name__, fitted.prototypes_, fitted.n_evaluations_, fitted.scan_rate_)

    def _repr_html_inner(self) -> str:
        diagram: str = super()._repr_html_inner()  # type: ignore[misc]
        return f"{self._summary() or ''}{diagram}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in bundle:
            bundle["text/html"] = f"{self._summary() or ''}{bundle['text/html']}"
        return bundle


def framed(page: str, title: str) -> str:
    """Return a page of covey in a frame, which a notebook can show inline.

    This is safe in a notebook, whatever the data hold. The frame's sandbox lets the page run its own script and nothing
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


def summary(name: str, prototypes: Mapping[Any, Prototype], n_evaluations: int, scan_rate: float) -> str:
    """Return a few lines and a table as HTML about the clusters of a fitted estimator."""
    ordered = sorted(prototypes.values(), key=lambda prototype: -prototype.members.size)
    shown, left_out = ordered[:MOST_CLUSTERS], len(ordered) - MOST_CLUSTERS
    n_members = sum(prototype.members.size for prototype in ordered)
    n_chosen = sum(prototype.indices.size for prototype in ordered)
    n_covered = sum(np.count_nonzero(prototype.covered_by >= 0) for prototype in ordered)
    largest = max((int(prototype.stands_for.max()) for prototype in shown if prototype.indices.size), default=1)
    rows = "".join(_row(prototype, largest) for prototype in shown)
    more = f"<p>and {left_out} smaller clusters.</p>" if left_out > 0 else ""
    titles = ("cluster", "members", "representatives", "coverage", "a disc for each representative")
    head = "".join(f"<th {CELL}>{title}</th>" for title in titles)
    return (
        '<div style="margin: .5em 0; max-width: 60em; overflow-x: auto">'
        f"<p><b>{escape(name)}</b>: {n_chosen:,} of {n_members:,} objects represent {len(ordered):,} "
        f"cluster{'s' * (len(ordered) != 1)} and stand for {n_covered / max(n_members, 1):.1%} of them. "
        f"{n_evaluations:,} similarities were evaluated ({scan_rate:.1%} of all pairs).</p>"
        f'<table style="border-collapse: collapse"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>'
        f"{more}</div>"
    )


def _row(prototype: Prototype, largest: int) -> str:
    """Return the line of the table about one cluster."""
    label = str(prototype.label)
    short = label if len(label) <= LONGEST_LABEL else f"{label[: LONGEST_LABEL - 1]}…"
    cells = (
        _escaped(short),
        f"{prototype.members.size:,}",
        f"{prototype.indices.size:,}",
        f"{prototype.coverage:.1%}",
        _discs(prototype, largest),
    )
    return f"<tr>{''.join(f'<td {CELL}>{cell}</td>' for cell in cells)}</tr>"


def _discs(prototype: Prototype, largest: int) -> str:
    """Return the discs of a cluster side by side, the largest first, as many as there is room for."""
    counts = np.sort(prototype.stands_for)[::-1]
    radii = np.maximum(1.2, (HEIGHT / 2 - 1) * np.sqrt(counts / max(largest, 1)))
    ends = np.cumsum(2 * radii + 1.5)
    n_drawn = int(np.searchsorted(ends, WIDTH, side="right"))
    circles = _circles(ends[:n_drawn] - radii[:n_drawn] - 1, radii[:n_drawn], counts[:n_drawn].tolist())
    more = counts.size - n_drawn
    return (
        f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{counts.size} representatives" '
        f'style="vertical-align: middle">{circles}</svg>{f" and {more:,} more" if more else ""}'
    )


def _circles(centers: Any, radii: Any, counts: Iterable[int]) -> str:
    drawn = zip(centers.tolist(), radii.tolist(), counts, strict=True)
    return "".join(
        f'<circle cx="{x:.1f}" cy="{HEIGHT / 2:.1f}" r="{r:.1f}" fill="currentColor" fill-opacity=".55">'
        f"<title>stands for {count:,}</title></circle>"
        for x, r, count in drawn
    )


def _escaped(text: str) -> str:
    """Return text that remains text, without signs that HTML cannot hold or that turn the direction of writing."""
    return escape("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text))
