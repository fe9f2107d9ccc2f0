"""What a notebook shows of a fitted selector or classifier: sizes, coverage, and a small picture.

1. Each cluster has a row of discs, a disc for each representative, whose area says how many members it stands for.
   Nothing is evaluated for it.
2. A classifier also has a small map, because it keeps its representatives. Each is a disc, and similar ones lie near
   each other. The similarities of at most `MOST_ON_MAP` representatives are evaluated for it, and only if they are
   cheap: neither a function of the user's own nor strings are compared. A selector keeps no objects and has no map.
3. A browser gets nothing but text, numbers and shapes: every text is escaped, there is no script, and nothing is
   loaded.

Estimators that are not fitted look as those of scikit-learn do.
"""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any, ClassVar

import numpy as np

from covey.arrays import Floats, Positions
from covey.prototype import Prototype
from covey.runtime.wording import several, shortened

MOST_CLUSTERS = 12
"""How many clusters are listed, the largest first. It is a judgement: a summary should fit on a screen."""
WIDTH, HEIGHT = 260, 22
"""The size of the row of discs of a cluster, in pixels."""
MAP_WIDTH, MAP_HEIGHT, LARGEST_DISC = 280, 220, 11.0
"""The size of the map, and the radius of the largest disc on it, in pixels."""
MOST_ON_MAP = 300
"""How many representatives the map has at most, those that stand for most first: more would hide each other."""
MOST_NUMBERS = 1e8
"""How many numbers may be read for the similarities of all pairs on the map. If objects are long, the map has fewer of
them. The value is a judgement: a notebook should not wait for a picture that nobody has asked for."""
LONG_OBJECT = 1000
"""How many numbers an object is taken to have if nobody knows."""
GOLDEN_ANGLE = 137.5
"""Hues at multiples of this angle are spread evenly around the circle for any number of clusters."""
CELL = 'style="text-align: left; padding: .1em .8em .1em 0"'
"""How cells of the table are set."""


class InNotebooks:
    """A mixin of estimators: a notebook shows a summary of a fitted one above scikit-learn's diagram.

    scikit-learn's setting ``display="text"`` switches both off.
    """

    _scanned: ClassVar[str] = "pairs within clusters"
    """Which pairs the attribute `scan_rate_` is a share of."""

    def _summary(self) -> str | None:
        """The summary of the estimator, or None if it is not fitted."""
        fitted: Any = self if hasattr(self, "prototypes_") else getattr(self, "selector_", None)
        if not hasattr(fitted, "prototypes_"):
            return None
        # A selector that is not covey's own need not be in notebooks.
        scanned = getattr(fitted, "_scanned", InNotebooks._scanned)
        cost = f"{fitted.n_evaluations_:,} similarities were evaluated ({fitted.scan_rate_:.1%} of all {scanned})."
        return summary(type(self).__name__, fitted.prototypes_, cost, getattr(self, "_representatives", None))

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


def summary(name: str, prototypes: Mapping[Any, Prototype], cost: str, representatives: Any = None) -> str:
    """Return a few lines, a table and a map as HTML about the clusters of a fitted estimator.

    `cost` is a sentence about what the fit has cost. `representatives` is what a classifier compares queries with: the
    representatives of all clusters, in the order of their rows.
    """
    ordered = sorted(prototypes.values(), key=lambda prototype: -prototype.members.size)
    n_members = sum(prototype.members.size for prototype in ordered)
    n_chosen = sum(prototype.indices.size for prototype in ordered)
    counts = [_counts(prototype) for prototype in ordered]
    n_covered = sum(
        own.sum() if own.size else prototype.coverage * prototype.members.size
        for own, prototype in zip(counts, ordered, strict=True)
    )
    return (
        '<div style="margin: .5em 0; max-width: 70em; overflow-x: auto">'
        f"<p><b>{escape(name)}</b>: {n_chosen:,} of {n_members:,} objects represent "
        f"{several(len(ordered), 'cluster')} and stand for {n_covered / max(n_members, 1):.1%} of all objects. "
        f"{cost}</p>"
        '<div style="display: flex; flex-wrap: wrap; gap: 1.5em; align-items: flex-start">'
        f"<div>{_table(ordered, counts)}</div>{_map(ordered, counts, representatives)}</div></div>"
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
        _escaped(shortened(str(prototype.label))),
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


def _map(ordered: Sequence[Prototype], counts: Sequence[Positions], representatives: Any) -> str:
    """Return the representatives that stand for most as a map; nothing if their similarities are not cheap to have."""
    rows, stands_for = np.concatenate([own.indices for own in ordered]), np.concatenate(counts)
    if not hasattr(representatives, "space") or stands_for.size != rows.size:  # precomputed ones are only numbers
        return ""
    width = getattr(representatives.objects, "size", LONG_OBJECT * rows.size) / rows.size
    largest = np.argsort(-stands_for, kind="stable")[: min(MOST_ON_MAP, int((MOST_NUMBERS / max(width, 1)) ** 0.5))]
    places = _places(representatives.take(np.searchsorted(np.sort(rows), rows[largest])).space())
    if places is None:
        return ""
    clusters = np.repeat(np.arange(len(ordered)), [own.indices.size for own in ordered])[largest]
    radii = np.maximum(2.0, LARGEST_DISC * np.sqrt(stands_for[largest] / max(int(stands_for.max()), 1)))
    circles = "".join(
        _circle(x, y, radius, _color(at), f"{_escaped(shortened(str(ordered[at].label)))}: stands for {count:,}")
        for (x, y), radius, at, count in zip(places, radii, clusters, stands_for[largest].tolist(), strict=True)
    )
    some = f"{largest.size:,} of {rows.size:,} representatives" if largest.size < rows.size else "All representatives"
    gray = " Gray ones are of clusters that are not listed." if clusters.max() >= MOST_CLUSTERS else ""
    return (
        f'<div><svg width="{MAP_WIDTH}" height="{MAP_HEIGHT}" role="img" aria-label="a map">{circles}</svg>'
        f'<p style="max-width: {MAP_WIDTH}px; margin: 0">{some}. Similar ones lie near each other, as far as a plane '
        f"can show it.{gray}</p></div>"
    )


def _places(space: Any) -> Floats | None:
    """Return places on the map whose inner products are nearest to the similarities (classical scaling).

    These are the two strongest eigenvectors of the matrix of similarities, after its means were taken away. None if
    there are fewer than two objects, or if similarities are not cheap, or not finite.
    """
    n = space.n_left
    if n < 2 or not space.cheap:
        return None
    every = np.arange(n, dtype=np.int32)
    similarities = space.score(np.repeat(every, n), np.tile(every, n)).reshape(n, n)
    if not np.isfinite(similarities).all():
        return None
    similarities = similarities / (np.abs(similarities).max() or 1.0)
    similarities = (similarities + similarities.T) / 2
    centred = similarities - similarities.mean(axis=0) - similarities.mean(axis=1)[:, None] + similarities.mean()
    strengths, axes = np.linalg.eigh(centred)
    places = axes[:, :-3:-1] * np.sqrt(np.maximum(strengths[:-3:-1], 0))
    places *= np.sign(places[np.abs(places).argmax(axis=0), [0, 1]])  # the sign of an eigenvector means nothing
    room = np.array([MAP_WIDTH, MAP_HEIGHT]) - 2 * LARGEST_DISC - 2
    scale = (room / np.maximum(np.ptp(places, axis=0), 1e-9)).min()
    middle = (places.max(axis=0) + places.min(axis=0)) / 2
    return np.array([MAP_WIDTH, MAP_HEIGHT]) / 2 + scale * (places - middle)


def _color(at: int) -> str:
    """Return the color of a cluster, which can be seen on light and on dark paper; gray if it is not listed."""
    return f"oklch(62% .16 {at * GOLDEN_ANGLE % 360:.0f})" if at < MOST_CLUSTERS else "oklch(62% 0 0)"


def _circle(x: float, y: float, radius: float, color: str, title: str) -> str:
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" fill="{color}" fill-opacity=".7">'
        f"<title>{title}</title></circle>"
    )


def _escaped(text: str) -> str:
    """Return text that remains text, without signs that HTML cannot hold or that turn the direction of writing."""
    return escape("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text))
