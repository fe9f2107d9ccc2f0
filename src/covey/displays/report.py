"""A report: sections of tables, pictures and galleries, as one HTML page that opens offline and as files of their own.

The parts hold values. How they look is decided by `report.html` and `report.css` beside this file; each kind of part
has a template of its own in `parts/`. Charts and confusion matrices are parts, too (chart.py, confusion.py).
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from covey.displays.colors import REPORT_PAGE
from covey.displays.drawing import write_any_language
from covey.displays.files import write_csv
from covey.displays.page import render, write_page
from covey.displays.thumbnails import inline, png_address
from covey.runtime.extras import require
from covey.storage.whole import whole

LONGEST_LINE, MOST_LINES, MOST_ENTRIES = 90, 3, 5
"""What a card shows of a text or a profile: enough to tell what it is about, in a gallery of many cards."""
DIGITS = 5
"""How many digits of a number a card shows: enough to compare two objects by eye."""
LONG_NUMBER = re.compile(r"-?\d*\.\d{6,}(e[+-]?\d+)?", re.ASCII)
"""A number with more digits than a card shows, as text."""
DOTS_PER_INCH = 150
"""The resolution of PNG files: a figure of ten inches is 1 500 pixels wide."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    title : str
    form : str
        How numbers are written on the page, as `format` takes it, for example ".3f"; empty for text.
    spread : bool
        Whether a value is a pair: a number, and how much it varies, or None. The page shows both in one cell, with ±
        between them, and a file has a column for each.
    """

    title: str
    form: str = ""
    spread: bool = False

    def text(self, value: Any) -> str:
        """A value as the page shows it; None is shown as nothing."""
        if value is None:
            return ""
        parts = value if self.spread else (value,)
        return " ± ".join(format(part, self.form) for part in parts if part is not None)


@dataclass(frozen=True)
class Table:
    """Rows under columns; None is an empty cell. `marked` is the row that stands out, if there is one.

    Examples
    --------
    >>> from covey.evaluation import Column, Table
    >>> Table("towns", [Column("name"), Column("share", ".1%")], [("Brno", 0.25), ("Oulu", None)]).cells()
    [['Brno', '25.0%'], ['Oulu', '']]
    >>> Table("scores", [Column("F1", ".2f", spread=True)], [[(0.9, 0.01)]]).cells()
    [['0.90 ± 0.01']]
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    marked: int | None = None

    template: ClassVar[str] = "table.html"

    def cells(self) -> list[list[str]]:
        """The text of each cell, as the page shows it."""
        return [[column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Which columns are aligned as numbers."""
        return [bool(column.form) for column in self.columns]

    def write(self, folder: Path) -> None:
        """Write the table as a CSV file, with its numbers as exact as they are."""
        titles = [title for c in self.columns for title in ((c.title, f"± {c.title}") if c.spread else (c.title,))]
        rows = [
            [part for c, value in zip(self.columns, row, strict=True) for part in _parts(value, c)] for row in self.rows
        ]
        write_csv(folder / f"{self.name}.csv", titles, rows)


def _parts(value: Any, column: Column) -> Sequence[Any]:
    """The cells of a file that a value takes."""
    return (value,) if not column.spread else (None, None) if value is None else value


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure, and a caption that says what it shows.

    Texts in an SVG file remain texts, so that whatever shows it writes them with fonts that have their signs.
    """

    name: str
    figure: Any
    caption: str

    template: ClassVar[str] = "picture.html"

    def drawn(self, form: str, *, transparent: bool = False) -> bytes:
        """The content of an image file: "svg", "png" or "pdf". The same picture gives the same content."""
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
        """The picture as a data address, which a page can hold. The page's own paper shows through."""
        return inline(self.drawn("svg", transparent=True), "svg+xml")

    def write(self, folder: Path) -> None:
        """Write the picture as an SVG and as a PNG file."""
        for form in ("svg", "png"):
            with whole(folder / f"{self.name}.{form}") as path:
                path.write_bytes(self.drawn(form))


@dataclass(frozen=True, eq=False)
class Card:
    """One object to look at: an image, or a title and a few lines; and how many objects it stands for.

    The pixels of an image have the shape (height, width), or (height, width, 3) in color.
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    pixels: NDArray[np.uint8] | None = None
    stands_for: int | None = None

    @classmethod
    def of_text(cls, title: str, lines: Sequence[str]) -> Self:
        """A card of a text: its title and its first lines."""
        return cls(title, tuple(line[:LONGEST_LINE] for line in lines[:MOST_LINES]))

    @classmethod
    def of_fields(cls, title: str, fields: Mapping[Any, Any]) -> Self:
        """A card of a row of a table: its title and its values by their names, with as many digits as can be compared.

        Examples
        --------
        >>> from covey.evaluation import Card
        >>> Card.of_fields("one flower", {"width": 0.1 + 0.2, "height": "2.8333333", "color": "red"}).lines
        ('width: 0.3', 'height: 2.8333', 'color: red')
        """
        return cls(title, tuple(f"{name}: {_readable(value)}"[:LONGEST_LINE] for name, value in fields.items()))

    @classmethod
    def of_profile(cls, title: str, profile: Mapping[Any, float]) -> Self:
        """A card of a profile: its title and its largest entries.

        Examples
        --------
        >>> from covey.evaluation import Card
        >>> Card.of_profile("one host", {"web": 3, "dns": 12}).lines
        ('dns: 12', 'web: 3')
        """
        top = sorted(profile.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_ENTRIES]
        return cls(title, tuple(f"{name}: {weight:.3g}" for name, weight in top))

    def address(self) -> str:
        """The image as a data address, which a page can hold."""
        assert self.pixels is not None
        return png_address(self.pixels)


def _readable(value: Any) -> str:
    """A value as a person reads it. Tables hold numbers as texts, too."""
    is_long = isinstance(value, float | np.floating) or LONG_NUMBER.fullmatch(str(value))
    return f"{float(value):.{DIGITS}g}" if is_long else str(value)


@dataclass(frozen=True)
class Gallery:
    """Cards of objects, grouped by the name of their cluster."""

    name: str
    groups: Mapping[str, Sequence[Card]]
    caption: str = ""

    template: ClassVar[str] = "gallery.html"

    def write(self, folder: Path) -> None:
        """Write nothing: a gallery is made to be looked at on the page."""


class Part(Protocol):
    """A part of a section: a value that a template in `parts/` shows, and that can be written to files of its own."""

    template: ClassVar[str]

    def write(self, folder: Path) -> None:
        """Write the part to files in a folder."""


@dataclass(frozen=True)
class Section:
    """A section of a report: a title, a note on how to read it, and its parts. Details are `folded` until asked for."""

    title: str
    note: str
    parts: Sequence[Part]
    folded: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a report comes to: a headline, what speaks for it by titles, and the command that follows from it."""

    headline: str
    points: Sequence[tuple[str, str]]
    command: str | None = None


@dataclass(frozen=True)
class Report:
    """A report: a title, a few opening paragraphs, and sections; a verdict stands above all else.

    Examples
    --------
    >>> from covey.evaluation import Column, Report, Section, Table
    >>> towns = Table("towns", [Column("name"), Column("share", ".1%")], [("Brno", 0.25)])
    >>> page = Report("Towns", ["Where people live."], [Section("Shares", "Of all.", [towns])]).html()
    >>> "<h1>Towns</h1>" in page
    True
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)
    verdict: Verdict | None = None

    def html(self) -> str:
        """The report as one page, with everything in it."""
        return render("report", REPORT_PAGE, report=self)

    def write(self, folder: Any) -> Path:
        """Write the page as report.html, its numbers as CSV and pictures as SVG and PNG; return the page's path."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for part in section.parts:
                part.write(place)
        page = place / "report.html"
        self.write_page(page)
        return page

    def write_page(self, path: Any) -> None:
        """Write only the page, to a file of this name."""
        write_page(self.html(), path)
