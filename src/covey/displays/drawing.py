"""What every drawing with matplotlib needs. Matplotlib is imported when the first drawing is made."""

from typing import Any

from covey.displays.text import legible
from covey.runtime.extras import require


def figure(width: float, height: float) -> Any:
    """A figure of the given size in inches. Unlike pyplot's, it opens no window and is freed when nobody uses it."""
    return require("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")


def new_axes() -> Any:
    """Axes in a new figure of pyplot's, which a notebook shows by itself."""
    return require("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]


def plain(text: Any) -> str:
    """The text, legible and with its dollar signs escaped.

    Matplotlib takes what is between two dollar signs for a formula.

    Examples
    --------
    >>> print(plain("from $5 to $9"))
    from \\$5 to \\$9
    """
    return legible(str(text)).replace("$", r"\$")
