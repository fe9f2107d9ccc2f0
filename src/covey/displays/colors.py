"""Every color of covey's drawings and pages. A change of a color belongs here, and nowhere else.

Drawings are made by matplotlib, which also takes "0.6" for a gray of 60 % white. Pages use the names below as CSS
variables: a template's `var(--chosen)` is the color called "chosen" here.
"""

from dataclasses import dataclass
from typing import Any

from covey.runtime.extras import require

PAGE = {
    "paper": "#fff",
    "ink": "#1f2328",
    "pale": "#59636e",
    "line": "#d1d9e0",
    "wash": "#f6f8fa",
}
"""All pages: the background, text, text of less weight, lines, and the background of what stands out."""

REPORT_PAGE = PAGE | {"accent": "#0b5cad"}
"""The report: links, and the number of objects that a card stands for."""

MAP_PAGE = PAGE | {"dot": "#8c959f", "chosen": "#cf222e", "tip": "#fffffff2", "shadow": "#1f232833"}
"""The map on a page: objects, representatives, and the box with words beside an object, which lets a little through."""


@dataclass(frozen=True)
class DrawnColors:
    """The colors of a drawing of objects, for matplotlib.

    Attributes
    ----------
    representative, covered : str
        Objects that are selected, and those that they stand for. Objects that nobody covers are rings of the color
        of covered ones.
    line : str
        From a representative to what it covers.
    background : str
        The inside of rings, and the edge around representatives.
    """

    representative: str
    covered: str
    line: str = "0.87"
    background: str = "white"


DRAWN_MAP = DrawnColors(representative="crimson", covered="0.6")
"""The map, drawn by `PrototypeMapDisplay.plot`."""

DRAWN_POINTS = DrawnColors(representative="crimson", covered="silver")
"""Points in the plane, in reports of experiments."""

REFERENCE_LINE = "0.35"
"""A line across a figure that everything else is held against."""


def of_things(n: int) -> list[Any]:
    """A color for each of n things (clusters, methods) that are as easy to tell apart as n colors can be.

    The same number of things gets the same colors in every figure.
    """
    maps = require("matplotlib", "plot").colormaps
    if n <= 20:  # matplotlib's lists of 10 and of 20 colors
        return list(maps["tab10" if n <= 10 else "tab20"].colors[:n])
    return [maps["turbo"](at / (n - 1)) for at in range(n)]
