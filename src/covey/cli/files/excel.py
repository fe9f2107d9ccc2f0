"""Workbooks of Excel: a sheet is a table whose first filled line names the columns."""

import logging
import warnings
import zipfile
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from covey.cli.files.block import Block, name_of
from covey.cli.files.input import ReadOptions, as_file, check_names
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.storage.archive import check_ratio

logger = logging.getLogger("covey")

MOST_NAMED = 6
"""How many sheets a message names."""


def read_xlsx(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows of a sheet in blocks. Formulas count as the values that Excel has stored for them."""
    pandas, openpyxl = require("pandas", "cli"), require("openpyxl", "cli")
    with as_file(path) as place, open(place, "rb") as file:
        with zipfile.ZipFile(file) as archive:
            check_ratio(archive)
        with warnings.catch_warnings():  # about styles and extensions, of which nothing is read
            warnings.simplefilter("ignore")
            book = openpyxl.load_workbook(file, read_only=True, data_only=True)
        lines = _filled_lines(_sheet(path, book, options.dialect.sheet))
        header = _header(path, next(lines, None))
        rows = _rows(path, lines, len(header))
        while part := list(islice(rows, options.n_rows(len(header)))):
            values, numbers = zip(*part, strict=True)
            frame = pandas.DataFrame(list(values), columns=header, dtype=object)
            yield Block(path, frame=frame, lines=np.array(numbers))


def _sheet(path: str, book: Any, name: str | None) -> Any:
    """Return the sheet that the user has named, or the first one."""
    names = [sheet.title for sheet in book.worksheets]
    listed = ", ".join(map(repr, names[:MOST_NAMED])) + (" and more" if len(names) > MOST_NAMED else "")
    if name is not None and name not in names:
        raise FileFormatError(f"{name_of(path)} has no sheet {name!r}; it has {listed}.")
    if not names:
        raise FileFormatError(f"{name_of(path)} has no sheets with cells.")
    if name is None and len(names) > 1:
        logger.warning("%s has the sheets %s; the first one is read, pass --sheet for another.", name_of(path), listed)
    sheet = book.worksheets[0 if name is None else names.index(name)]
    sheet.reset_dimensions()  # some programs write wrong ones
    return sheet


def _filled_lines(sheet: Any) -> Iterator[tuple[list[Any], int]]:
    """Yield the cells of each line that is not empty without empty ones at its end, and its number from 1."""
    for number, cells in enumerate(sheet.iter_rows(values_only=True), start=1):
        width = next((at for at in range(len(cells), 0, -1) if cells[at - 1] not in (None, "")), 0)
        if width:
            yield list(cells[:width]), number


def _header(path: str, line: tuple[list[Any], int] | None) -> list[str]:
    if line is None:
        raise FileFormatError(f"{name_of(path)} is empty.")
    names = ["" if cell is None else str(cell).strip() for cell in line[0]]
    check_names(f"{name_of(path)}, line {line[1]}", names)
    return names


def _rows(path: str, lines: Iterator[tuple[list[Any], int]], width: int) -> Iterator[tuple[list[Any], int]]:
    """Yield the cells of each line, as many as there are columns."""
    for cells, number in lines:
        if len(cells) > width:
            raise FileFormatError(
                f"{name_of(path)}, line {number}: the header has {width} columns, the row {len(cells)}."
            )
        yield cells + [None] * (width - len(cells)), number
