"""What every drawing with matplotlib needs; it is imported when first needed."""

from typing import Any

from covey.runtime.extras import require


def figure(width: float, height: float) -> Any:
    """A figure of its own, without pyplot's memory of figures and without a window."""
    return require("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")


def new_axes() -> Any:
    """Axes in a new figure of pyplot's, which a notebook shows by itself."""
    return require("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]


def plain(text: Any) -> str:
    """For matplotlib, which takes what is between two dollars for a formula."""
    return str(text).replace("$", r"\$")


def colors(n: int) -> list[Any]:
    """So many colors, told apart as well as can be; the same in every figure of as many things."""
    maps = require("matplotlib", "plot").colormaps
    if n <= 20:
        return list(maps["tab10" if n <= 10 else "tab20"].colors[:n])
    return [maps["turbo"](at / (n - 1)) for at in range(n)]
