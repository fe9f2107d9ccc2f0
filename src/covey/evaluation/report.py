"""A report: sections of tables, pictures and galleries, as one HTML page that opens offline and as files of their own.

The parts hold values; how they look is decided by `report.html` beside this file.
"""

import base64
import csv
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from covey.displays.page import render
from covey.runtime.extras import require
from covey.storage.whole import whole

LONGEST_LINE = 90


@dataclass(frozen=True)
class Column:
    """A column's title and, for numbers, how they are written on the page."""

    title: str
    form: str = ""


@dataclass(frozen=True)
class Table:
    """Rows under columns; None is an empty cell."""

    name: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]
    caption: str = ""

    def cells(self) -> list[list[str]]:
        """As on the page."""
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
        with whole(folder / f"{self.name}.csv") as path, path.open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(column.title for column in self.columns)
            writer.writerows(self.rows)


@dataclass(frozen=True, eq=False)
class Picture:
    """A matplotlib figure and what it shows, in words."""

    name: str
    figure: Any
    caption: str

    def drawn(self, form: str) -> bytes:
        matplotlib = require("matplotlib", "plot")
        buffer = BytesIO()
        metadata = {"Date": None} if form == "svg" else None  # the same picture, the same file
        with matplotlib.rc_context({"svg.hashsalt": self.name}), warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Glyph .* missing from font")  # a box is drawn for it
            self.figure.savefig(buffer, format=form, dpi=150, bbox_inches="tight", metadata=metadata)
        return buffer.getvalue()

    def address(self) -> str:
        return _inline(self.drawn("svg"), "svg+xml")

    def write(self, folder: Path) -> None:
        for form in ("svg", "png"):
            with whole(folder / f"{self.name}.{form}") as path:
                path.write_bytes(self.drawn(form))


@dataclass(frozen=True, eq=False)
class Card:
    """One object to look at: an image, or a title and a few lines; and how many objects it stands for."""

    title: str = ""
    lines: tuple[str, ...] = ()
    pixels: NDArray[np.uint8] | None = None
    stands_for: int | None = None

    @classmethod
    def of_text(cls, title: str, lines: Sequence[str]) -> Self:
        """A text's first lines."""
        return cls(title, tuple(line[:LONGEST_LINE] for line in lines[:3]))

    @classmethod
    def of_profile(cls, title: str, profile: Mapping[Any, float]) -> Self:
        """A profile's largest entries."""
        top = sorted(profile.items(), key=lambda item: (-item[1], str(item[0])))[:5]
        return cls(title, tuple(f"{name}: {weight:.3g}" for name, weight in top))

    def address(self) -> str:
        image = require("matplotlib.image", "plot")
        buffer = BytesIO()
        image.imsave(buffer, self.pixels, cmap="gray", vmin=0, vmax=255, format="png")
        return _inline(buffer.getvalue(), "png")


@dataclass(frozen=True)
class Gallery:
    """Cards by the name of their cluster."""

    name: str
    groups: Mapping[str, Sequence[Card]]
    caption: str = ""

    def write(self, folder: Path) -> None:
        """Nothing: galleries are for the page."""


Part = Table | Picture | Gallery


@dataclass(frozen=True)
class Section:
    """A title, a few words and the parts below them."""

    title: str
    note: str
    parts: Sequence[Part]


@dataclass(frozen=True)
class Report:
    """Title, opening words and sections."""

    title: str
    summary: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)

    def html(self) -> str:
        """One page, with everything in it."""
        return render("covey.evaluation", "report.html", report=self, kind=_kind)

    def write(self, folder: Any) -> Path:
        """The page as report.html, tables as CSV and pictures as SVG and PNG; returns the page's path."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for part in section.parts:
                part.write(place)
        page = place / "report.html"
        with whole(page) as path:
            path.write_text(self.html(), encoding="utf-8")
        return page


def _kind(part: Part) -> str:
    return type(part).__name__


def _inline(content: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(content).decode('ascii')}"
