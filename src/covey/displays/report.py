"""A report: sections of tables, pictures and galleries, as one HTML page that opens offline and as files of their own.

The parts hold values. How they look is decided by `report.html` and `report.css` beside this file; each kind of part
has a template of its own in `parts/`. Tables, pictures, charts and confusion matrices have files of their own.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from covey.displays.cards import Card
from covey.displays.colors import REPORT_PAGE
from covey.displays.page import render, write_page


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
    >>> from covey.displays.cards import Card
    >>> from covey.displays.report import Gallery, Report, Section
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

    All that the data hold remains text on the page: it can neither run nor load anything.

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
