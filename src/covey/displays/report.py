"""A report: sections of tables, pictures and galleries, as one HTML page that opens offline and as files of their own.

The parts hold values. How they look is decided by `report.html` and `report.css` beside this file.
"""

import csv
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covey.displays.colors import REPORT_PAGE
from covey.displays.page import render, write_page
from covey.displays.thumbnails import inline, png_address
from covey.runtime.extras import require
from covey.storage.whole import whole

LONGEST_LINE, MOST_LINES, MOST_ENTRIES = 90, 3, 5
"""What a card shows of a text or a profile: enough to tell what it is about, in a gallery of many cards."""
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
    """

    title: str
    form: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under columns; None is an empty cell.

    Examples
    --------
    >>> from covey.evaluation import Column, Table
    >>> Table("towns", [Column("name"), Column("share", ".1%")], [("Brno", 0.25), ("Oulu", None)]).cells()
    [['Brno', '25.0%'], ['Oulu', '']]
    """

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def cells(self) -> list[list[str]]:
        """The text of each cell, as the page shows it."""
        return [
            [
                "" if value is None else format(value, column.form)
                for column, value in zip(self.columns, row, strict=True)
            ]
            for row in self.rows
        ]

    def numeric(self) -> list[bool]:
        """Which columns are aligned as numbers."""
        return [bool(column.form) for column in self.columns]

    def write(self, folder: Path) -> None:
        """Write the table as a CSV file, with its numbers as exact as they are."""
        with whole(folder / f"{self.name}.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(column.title for column in self.columns)
            writer.writerows(self.rows)


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure, and a caption that says what it shows."""

    name: str
    figure: Any
    caption: str

    def drawn(self, form: str) -> bytes:
        """The content of an image file: "svg", "png" or "pdf". The same picture gives the same content."""
        matplotlib = require("matplotlib", "plot")
        buffer = BytesIO()
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(form)
        with matplotlib.rc_context({"svg.hashsalt": self.name}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # matplotlib draws a box instead
            self.figure.savefig(buffer, format=form, dpi=DOTS_PER_INCH, bbox_inches="tight", metadata=metadata)
        return buffer.getvalue()

    def address(self) -> str:
        """The picture as a data address, which a page can hold."""
        return inline(self.drawn("svg"), "svg+xml")

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


@dataclass(frozen=True)
class Gallery:
    """Cards of objects, grouped by the name of their cluster."""

    name: str
    groups: Mapping[str, Sequence[Card]]
    caption: str = ""

    def write(self, folder: Path) -> None:
        """Write nothing: a gallery is made to be looked at on the page."""


Part = Table | Picture | Gallery


@dataclass(frozen=True)
class Section:
    """A section of a report: a title, a note on how to read it, and its parts."""

    title: str
    note: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """A report: a title, a few opening paragraphs, and sections.

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

    def html(self) -> str:
        """The report as one page, with everything in it."""
        return render("report", REPORT_PAGE, report=self, kind=_kind)

    def write(self, folder: Any) -> Path:
        """Write the page as report.html, tables as CSV and pictures as SVG and PNG; return the page's path."""
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


def _kind(part: Part) -> str:
    """Which kind of part it is, for the template."""
    return type(part).__name__
