"""What every drawing with matplotlib needs. Matplotlib is imported when the first drawing is made."""

from typing import Any

from covey.runtime.libraries import require
from covey.runtime.wording import legible

OTHER_FONTS = (
    "Noto Sans CJK JP", "Noto Sans CJK SC", "Hiragino Sans", "PingFang SC", "Microsoft YaHei", "Malgun Gothic",
    "Noto Sans Arabic", "Noto Sans Hebrew", "Noto Sans Devanagari", "Noto Sans Thai", "Segoe UI", "Arial Unicode MS",
    "Noto Emoji", "Segoe UI Emoji", "Symbola",
)  # fmt: skip
"""Fonts of usual systems for what matplotlib's own font cannot write. Matplotlib cannot draw fonts in color."""


def figure(width: float, height: float) -> Any:
    """Return a figure of the given size in inches. Unlike pyplot's, it opens no window and is freed after use."""
    return require("matplotlib.figure", "plot").Figure(figsize=(width, height), layout="constrained")


def new_axes() -> Any:
    """Return axes in a new figure of pyplot's, which a notebook shows by itself."""
    return require("matplotlib.pyplot", "plot").subplots(layout="constrained")[1]


def plain(text: Any) -> str:
    """Return the text, legible and with its dollar signs escaped.

    Matplotlib takes what is between two dollar signs for a formula.

    Examples
    --------
    >>> print(plain("from $5 to $9"))
    from \\$5 to \\$9
    """
    return legible(str(text)).replace("$", r"\$")


def write_any_language(figure: Any) -> None:
    """Let a figure write texts in fonts of this machine that have their characters, where matplotlib's own has not."""
    manager = require("matplotlib.font_manager", "plot").fontManager
    installed = {font.name for font in manager.ttflist}
    others = [name for name in OTHER_FONTS if name in installed]
    for text in figure.findobj(require("matplotlib.text", "plot").Text):
        if not text.get_text().isascii():
            own = [name for name in text.get_fontfamily() if name not in others]
            text.set_fontfamily([*own, *others])
