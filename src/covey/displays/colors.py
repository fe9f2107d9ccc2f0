"""Every color of covey's drawings and pages. Only the summary in a notebook (`notebook.py`) has colors of its own.

Drawings are made by matplotlib, which also takes "0.6" for a gray of 60 % white. Pages use the names below as CSS
variables: a template's `var(--chosen)` is the color called "chosen" here. A color of a page is a pair: the first is
for light paper, and the second for dark paper. The reader's browser chooses between them.
"""

from collections.abc import Mapping
from colorsys import hls_to_rgb
from dataclasses import dataclass
from typing import Any

from covey.runtime.libraries import require

PageColors = Mapping[str, tuple[str, str]]
"""The colors of a page by their names, each for light and for dark paper."""

PAGE: PageColors = {
    "paper": ("#ffffff", "#0f141a"),
    "ink": ("#1f2328", "#e6edf3"),
    "pale": ("#59636e", "#9aa5b1"),
    "line": ("#d1d9e0", "#343d47"),
    "wash": ("#f6f8fa", "#1a212a"),
}
"""All pages: the background, text, text of less weight, lines, and the background of what stands out."""

REPORT_PAGE: PageColors = {
    **PAGE,
    "accent": ("#0b5cad", "#6cb6ff"),
    "marked": ("#ddf4e4", "#12361f"),
    "good": ("#1a7f37", "#56d364"),
    "heat": ("#08519c", "#79b8ff"),
    "series0": ("#0b5cad", "#6cb6ff"),
    "series1": ("#bc4c00", "#ffa657"),
    "series2": ("#1a7f37", "#56d364"),
    "series3": ("#8250df", "#d2a8ff"),
    "series4": ("#bf3989", "#ff9bce"),
    "series5": ("#6e5a00", "#d4b106"),
}
"""The report: links and the number of objects that a card stands for; the background of what is recommended, and what
frames it; the color of a share of 1 in a confusion matrix; and the series of a chart."""

MAP_PAGE: PageColors = {**PAGE, "focus": ("#0b5cad", "#6cb6ff"), "shadow": ("#1f232833", "#00000099")}
"""The map on a page: what has the focus or is chosen in a list, and shadows. Clusters have their own colors."""

CLUSTERS = [
    ("#1f6fb2", "#5aa9e6"),
    ("#c8553d", "#ff8a70"),
    ("#2a8c4a", "#62c97f"),
    ("#8e5bbf", "#c29bf0"),
    ("#a86b00", "#f2b04a"),
    ("#0f8589", "#3ecfcf"),
    ("#c2478f", "#f58ac6"),
    ("#6d7000", "#c8c653"),
    ("#5c636b", "#b3bac2"),
    ("#8a5a44", "#d6a58d"),
]
"""The first clusters on a page: hues that differ in brightness as well. Each has a contrast to the paper of at least 3,
which WCAG 2 asks for."""
GOLDEN = 0.618033988749895
"""The golden section: hues at its multiples are spread evenly around the circle for any number of them."""


@dataclass(frozen=True)
class DrawnColors:
    """The colors of a drawing of objects, for matplotlib.

    Attributes
    ----------
    representative, covered : str
        Objects that are selected, and those that they stand for. Objects that are not covered are rings of the color
        of covered ones.
    line : str
        From a representative to what it covers.
    background : str
        The inside of rings, and the edge around representatives.
    edge : str
        The edge around representatives whose color says which cluster they belong to.
    """

    representative: str
    covered: str
    line: str = "0.87"
    background: str = "white"
    edge: str = "black"


DRAWN_MAP = DrawnColors(representative="crimson", covered="0.6")
"""The map, drawn by `PrototypeMapDisplay.plot`."""

DRAWN_POINTS = DrawnColors(representative="crimson", covered="silver")
"""Points in the plane, in reports of experiments."""


def of_clusters(n: int) -> list[tuple[str, str]]:
    """Return a color for each of n clusters on a page, for light and for dark paper."""
    return [*CLUSTERS[:n], *(_spread(at) for at in range(n - len(CLUSTERS)))]


def _spread(at: int) -> tuple[str, str]:
    """Return one of many colors whose hues are spread over the circle, and which are brighter and darker in turn."""
    hue = at * GOLDEN % 1
    light, dark = ((0.24, 0.62), (0.32, 0.74))[at % 2]
    return _hex(hue, light, 0.7), _hex(hue, dark, 0.75)


def _hex(hue: float, lightness: float, saturation: float) -> str:
    parts = hls_to_rgb(hue, lightness, saturation)
    return f"#{''.join(f'{round(255 * part):02x}' for part in parts)}"


def of_things(n: int) -> list[Any]:
    """Return a color for each of n things (clusters, methods) that are as easy to tell apart as n colors can be.

    The same number of things gets the same colors in every figure.
    """
    maps = require("matplotlib", "plot").colormaps
    if n <= 20:  # matplotlib's lists of 10 and of 20 colors
        return list(maps["tab10" if n <= 10 else "tab20"].colors[:n])
    return [maps["turbo"](at / (n - 1)) for at in range(n)]
