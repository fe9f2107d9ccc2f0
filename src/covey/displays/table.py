"""Tables of a report: rounded numbers on its page, and exact ones in a file."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from covey.storage.atomic import whole


@dataclass(frozen=True)
class TableColumn:
    """A column of a table: its title, and how its values are written on a page.

    Attributes
    ----------
    title : str
        What stands above the column.
    form : str
        How numbers are written on the page, as `format` takes it, for example ".3f"; empty for text.
    spread : bool
        Whether a value is a pair: a number, and how much it varies, or None. The page shows both in one cell, with ±
        between them, and a file has a column for each.

    See Also
    --------
    covey.displays.table.Table : Rows under columns.

    Examples
    --------
    >>> from covey.displays.table import TableColumn
    >>> TableColumn("share", ".1%").text(0.25), TableColumn("F1", ".2f", spread=True).text((0.9, 0.013))
    ('25.0%', '0.90 ± 0.01')
    """

    title: str
    form: str = ""
    spread: bool = False

    def text(self, value: Any) -> str:
        """Return a value as the page shows it.

        Parameters
        ----------
        value : object
            What the table holds in a cell; None is shown as nothing.

        Returns
        -------
        str
            The text of the cell.
        """
        if value is None:
            return ""
        parts = value if self.spread else (value,)
        return " ± ".join(format(part, self.form) for part in parts if part is not None)


@dataclass(frozen=True)
class Table:
    """A table of a report: the page shows rounded numbers, and a CSV file beside it has them exactly.

    Attributes
    ----------
    name : str
        The name of its file, without a suffix.
    columns : sequence of TableColumn
        The columns, from left to right.
    rows : sequence of sequences
        A value for each column in each row; None is an empty cell.
    caption : str
        What stands above the table; nothing by default.
    marked : int or None
        The number of the row that stands out, counted from 0.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from covey.displays.table import TableColumn, Table
    >>> table = Table("towns", [TableColumn("name"), TableColumn("share", ".1%")], [("Brno", 1 / 3), ("Oulu", None)])
    >>> table.cells()
    [['Brno', '33.3%'], ['Oulu', '']]
    >>> folder = Path(tempfile.mkdtemp())
    >>> table.write(folder)
    >>> (folder / "towns.csv").read_text().split()
    ['name,share', 'Brno,0.3333333333333333', 'Oulu,']
    """

    name: str
    columns: Sequence[TableColumn]
    rows: Sequence[Sequence[Any]]
    caption: str = ""
    marked: int | None = None

    template: ClassVar[str] = "table.html"

    def cells(self) -> list[list[str]]:
        """Return the text of each cell, as the page shows it.

        Returns
        -------
        list of list of str
            A list for each row.

        Raises
        ------
        ValueError
            If a row has not as many values as there are columns.
        """
        return [[column.text(value) for column, value in zip(self.columns, row, strict=True)] for row in self.rows]

    def numeric(self) -> list[bool]:
        """Return which columns are aligned as numbers.

        Returns
        -------
        list of bool
            One for each column.
        """
        return [bool(column.form) for column in self.columns]

    def write(self, folder: Path) -> None:
        """Write the table as a CSV file, with its numbers as exact as they are.

        Parameters
        ----------
        folder : path
            Where the file is written, which must exist.
        """
        titles = [title for c in self.columns for title in ((c.title, f"± {c.title}") if c.spread else (c.title,))]
        rows = [
            [part for c, value in zip(self.columns, row, strict=True) for part in _parts(value, c)] for row in self.rows
        ]
        write_csv(folder / f"{self.name}.csv", titles, rows)


def _parts(value: Any, column: TableColumn) -> Sequence[Any]:
    """Return the cells of a file that a value takes."""
    return (value,) if not column.spread else (None, None) if value is None else value


def write_csv(path: Path, titles: Iterable[str], rows: Iterable[Sequence[Any]]) -> None:
    """Write a table, which replaces a file as a whole or not at all. Numbers are as exact as they are."""
    with whole(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(titles)
        writer.writerows(rows)
