"""Pictures of a report, drawn with matplotlib."""

import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar

from covey.displays.drawing import write_any_language
from covey.displays.images import inline
from covey.runtime.libraries import require
from covey.storage.atomic import whole

DOTS_PER_INCH = 150
"""The resolution of PNG files: a figure of ten inches is 1 500 pixels wide."""


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure in a report, with a caption that says what it shows.

    Texts in an SVG file remain texts, so that a viewer writes them with fonts that have their characters.

    Attributes
    ----------
    name : str
        The name of its files, without a suffix.
    figure : matplotlib figure
        What is shown.
    caption : str
        What a reader sees below the figure, and hears who cannot see it.

    Examples
    --------
    Unlike matplotlib's own, the content of a file does not depend on when it is written:

    >>> from covey.displays.picture import Picture
    >>> from matplotlib.figure import Figure
    >>> figure = Figure()
    >>> lines = figure.subplots().plot([1, 2, 4])
    >>> picture = Picture("growth", figure, "It doubles.")
    >>> picture.drawn("svg") == picture.drawn("svg"), picture.address()[:25]
    (True, 'data:image/svg+xml;base64')
    """

    name: str
    figure: Any
    caption: str

    template: ClassVar[str] = "picture.html"

    def drawn(self, form: str, *, transparent: bool = False) -> bytes:
        """Return the content of an image file. The same picture gives the same content.

        Parameters
        ----------
        form : {"svg", "png", "pdf"}
            The format of the file.
        transparent : bool, default=False
            Whether what lies behind the picture shows through.

        Returns
        -------
        bytes
            The content.
        """
        matplotlib = require("matplotlib", "plot")
        buffer = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        options: Any = {"dpi": DOTS_PER_INCH, "bbox_inches": "tight", "metadata": metadata, "transparent": transparent}
        write_any_language(self.figure)
        with matplotlib.rc_context({"svg.hashsalt": self.name, "svg.fonttype": "none"}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # matplotlib draws a box instead
            self.figure.savefig(buffer, format=form, **options)
        return buffer.getvalue()

    def address(self) -> str:
        """Return the picture as a data address, which a page can hold. The page's own paper shows through.

        Returns
        -------
        str
            The address, which holds an SVG file.
        """
        return inline(self.drawn("svg", transparent=True), "svg+xml")

    def write(self, folder: Path) -> None:
        """Write the picture as an SVG and as a PNG file.

        Parameters
        ----------
        folder : path
            Where the files are written, which must exist.
        """
        for form in ("svg", "png"):
            with whole(folder / f"{self.name}.{form}") as path:
                path.write_bytes(self.drawn(form))
