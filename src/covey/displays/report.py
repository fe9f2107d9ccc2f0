"""A report: sections of tables, pictures and galleries, as one HTML page that opens offline and as files of their own.

The parts hold values. How they look is decided by `report.html` and `report.css` beside this file; each kind of part
has a template of its own in `parts/`. Cards and galleries are here. Tables, pictures, charts and confusion matrices
have files of their own (table.py, picture.py, chart.py, confusion.py).
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from covey.displays.cards import png_address
from covey.displays.colors import REPORT_PAGE
from covey.displays.page import render, write_page
from covey.runtime.wording import shortened

LONGEST_LINE, MOST_LINES, MOST_ENTRIES = 90, 3, 5
"""What a card shows of a text or a profile: enough to tell what it is about, in a gallery of many cards."""
DIGITS = 5
"""How many digits of a number a card shows: enough to compare two objects by eye."""
LONG_NUMBER = re.compile(r"-?\d*\.\d{6,}(e[+-]?\d+)?", re.ASCII)
"""A number with more digits than a card shows, as text."""


@dataclass(frozen=True, eq=False)
class Card:
    """One object to look at: an image, or a title and a few lines.

    Attributes
    ----------
    title : str
        What the object is called.
    lines : tuple of str
        What there is to say about it.
    pixels : uint8 array or None
        Its image, of shape (height, width), or (height, width, 3) in color.
    stands_for : int or None
        How many objects it represents, itself included.

    See Also
    --------
    covey.displays.report.Gallery : Cards of the representatives of clusters.

    Examples
    --------
    A profile with hundreds of entries becomes a card with the five largest:

    >>> from covey.displays.report import Card
    >>> Card.of_profile("host 17", {f"service {i}": 2.0**-i for i in range(300)}).lines
    ('service 0: 1', 'service 1: 0.5', 'service 2: 0.25', 'service 3: 0.125', 'service 4: 0.0625')
    """

    title: str = ""
    lines: tuple[str, ...] = ()
    pixels: NDArray[np.uint8] | None = None
    stands_for: int | None = None

    @classmethod
    def of_text(cls, title: str, lines: Sequence[str]) -> Self:
        """Return a card of a text: its title and its first lines.

        Parameters
        ----------
        title : str
            What stands above.
        lines : sequence of str
            The text. A card has its first 3 lines, and of each at most 90 characters.

        Returns
        -------
        Card
            The card.
        """
        return cls(title, tuple(shortened(line, LONGEST_LINE) for line in lines[:MOST_LINES]))

    @classmethod
    def of_fields(cls, title: str, fields: Mapping[Any, Any]) -> Self:
        """Return a card of a row of a table: its title and its values by their names, with digits that can be compared.

        Parameters
        ----------
        title : str
            What stands above.
        fields : mapping
            The values by their names. Numbers are rounded to 5 digits, also those that are texts.

        Returns
        -------
        Card
            The card.

        Examples
        --------
        >>> from covey.displays.report import Card
        >>> Card.of_fields("one flower", {"width": 0.1 + 0.2, "height": "2.8333333", "color": "red"}).lines
        ('width: 0.3', 'height: 2.8333', 'color: red')
        """
        lines = (shortened(f"{name}: {_readable(value)}", LONGEST_LINE) for name, value in fields.items())
        return cls(title, tuple(lines))

    @classmethod
    def of_profile(cls, title: str, profile: Mapping[Any, float]) -> Self:
        """Return a card of a profile: its title and its largest entries.

        Parameters
        ----------
        title : str
            What stands above.
        profile : mapping
            A number for each name. A card has the five largest.

        Returns
        -------
        Card
            The card.

        Examples
        --------
        >>> from covey.displays.report import Card
        >>> Card.of_profile("one host", {"web": 3, "dns": 12}).lines
        ('dns: 12', 'web: 3')
        """
        top = sorted(profile.items(), key=lambda item: (-item[1], str(item[0])))[:MOST_ENTRIES]
        return cls(title, tuple(f"{name}: {weight:.3g}" for name, weight in top))

    def address(self) -> str:
        """Return the image as a data address, which a page can hold. The card must have pixels.

        Returns
        -------
        str
            The address, which holds a PNG file.
        """
        assert self.pixels is not None
        return png_address(self.pixels)


def _readable(value: Any) -> str:
    """Return a value as a person reads it. Tables hold numbers as texts, too."""
    is_long = isinstance(value, float | np.floating) or LONG_NUMBER.fullmatch(str(value))
    return f"{float(value):.{DIGITS}g}" if is_long else str(value)


@dataclass(frozen=True)
class Gallery:
    """Objects to look at, grouped by cluster: a part of a report.

    Attributes
    ----------
    name : str
        What the gallery is called on a page that has several.
    groups : mapping of str to sequence of Card
        The cards of each cluster, by its name. The page shows the first cluster, and the others when a reader asks.
    caption : str
        What stands above the cards; nothing by default.

    Examples
    --------
    >>> from covey.displays.report import Card, Gallery, Report, Section
    >>> pets = Gallery("pets", {"cats": [Card("Tom", stands_for=12)], "dogs": [Card("Rex"), Card("Fido")]})
    >>> page = Report("Pets", [], [Section("All of them", "", [pets])]).html()
    >>> page.count('class="card"'), "stands for 12" in page
    (3, True)
    """

    name: str
    groups: Mapping[str, Sequence[Card]]
    caption: str = ""

    template: ClassVar[str] = "gallery.html"

    def write(self, folder: Path) -> None:
        """Write nothing: a gallery is made to be looked at on the page.

        Parameters
        ----------
        folder : path
            Where other parts of a report are written.
        """


class ReportPart(Protocol):
    """A part of a section: a value that a template in `parts/` shows, and that can be written to files of its own."""

    template: ClassVar[str]

    def write(self, folder: Path) -> None:
        """Write the part to files in a folder."""


@dataclass(frozen=True)
class Section:
    """A section of a report: its title, how to read it, and what it shows.

    Attributes
    ----------
    title : str
        What stands above, and in the contents of the page.
    note : str
        How to read the section.
    parts : sequence
        What it shows: any of `Table`, `Chart`, `ConfusionMatrix`, `Picture` and `Gallery`.
    folded : bool
        Whether the page shows only the title until a reader asks for more.

    Examples
    --------
    >>> from covey.displays.report import Report, Section
    >>> from covey.displays.table import TableColumn, Table
    >>> shares = Table("shares", [TableColumn("town"), TableColumn("share", ".1%")], [("Brno", 0.25)])
    >>> sections = [Section("Shares", "Of all towns.", [shares]), Section("Details", "", [], folded=True)]
    >>> page = Report("Towns", [], sections).html()
    >>> page.count("<details"), '<a href="#section-2">Details</a>' in page
    (1, True)
    """

    title: str
    note: str
    parts: Sequence[ReportPart]
    folded: bool = False


@dataclass(frozen=True)
class Verdict:
    """What a report comes to, for a reader who reads nothing else. It stands above everything.

    Attributes
    ----------
    headline : str
        The answer in one sentence.
    points : sequence of (str, str)
        What speaks for it: a title and a sentence each.
    command : str or None
        What to type next, if a command follows from it.
    recommends : bool
        Whether something is recommended. If not, the verdict is not framed in green.

    Examples
    --------
    >>> from covey.displays.report import Report, Verdict
    >>> verdict = Verdict("Use k = 10.", [("Why", "Larger k are no better.")], "covey select data.csv -k 10")
    >>> page = Report("Which k?", [], verdict=verdict).html()
    >>> page.index("Use k = 10.") < page.index("covey select data.csv -k 10") < page.index("Contents")
    True
    """

    headline: str
    points: Sequence[tuple[str, str]]
    command: str | None = None
    recommends: bool = True


@dataclass(frozen=True)
class Report:
    """A report as one page that opens offline, and its tables and pictures as files.

    Whatever the data hold remains text on the page: it can neither run nor load anything.

    Attributes
    ----------
    title : str
        What stands above.
    summary : sequence of str
        A few opening paragraphs.
    sections : sequence of Section
        What the report shows; the page begins with their titles.
    verdict : Verdict or None
        What the report comes to.

    Examples
    --------
    >>> import tempfile
    >>> from covey.displays.report import Report, Section
    >>> from covey.displays.table import TableColumn, Table
    >>> towns = Table("towns", [TableColumn("name"), TableColumn("share", ".1%")], [("<script>Brno", 0.25)])
    >>> report = Report("Towns", ["Where people live."], [Section("Shares", "Of all.", [towns])])
    >>> "&lt;script&gt;Brno" in report.html()
    True
    >>> page = report.write(tempfile.mkdtemp())
    >>> sorted(path.name for path in page.parent.iterdir())
    ['report.html', 'towns.csv']
    """

    title: str
    summary: Sequence[str]
    sections: Sequence[Section] = field(default_factory=tuple)
    verdict: Verdict | None = None

    def html(self) -> str:
        """Return the report as one page, with everything in it.

        Returns
        -------
        str
            The page as HTML.

        Raises
        ------
        ModuleNotFoundError
            If jinja2 is not installed, which the extra ``plot`` brings.
        """
        return render("report", REPORT_PAGE, report=self)

    def write(self, folder: Any) -> Path:
        """Write the page as report.html, its numbers as CSV files, and its pictures as SVG and PNG files.

        Files of the same names are replaced, each of them as a whole or not at all.

        Parameters
        ----------
        folder : path
            Where the files are written. It is made if it is not there.

        Returns
        -------
        Path
            The path of the page.

        Raises
        ------
        ModuleNotFoundError
            If jinja2 is not installed, which the extra ``plot`` brings.
        """
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for section in self.sections:
            for part in section.parts:
                part.write(place)
        page = place / "report.html"
        self.write_page(page)
        return page

    def write_page(self, path: Any) -> None:
        """Write only the page, and no other files.

        Parameters
        ----------
        path : path
            The file, which is replaced as a whole or not at all.

        Raises
        ------
        ModuleNotFoundError
            If jinja2 is not installed, which the extra ``plot`` brings.
        """
        write_page(self.html(), path)
