"""What a user asks of one fit beside the options of the selector: rows to include, and how much each row counts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.columns import column_of, has_column, numbers_of, require_columns
from covey.cli.files.formats import SUFFIXES, format_of
from covey.cli.files.input import ReadOptions, open_input
from covey.cli.files.reading import read
from covey.cli.objects.load import LabelledObjects
from covey.cli.select.options import SelectOptions
from covey.runtime.file_errors import format_errors_of
from covey.storage.text import undecodable

ROW = "covey_row"
"""The column in which `covey select` writes the numbers of the rows that it has selected."""
MARKED = ("true", "yes", "x", "1", "1.0")
UNMARKED = ("false", "no", "", "0", "0.0", "nan", "none", "<na>")
"""The values, in any case, by which a column marks that a row must be selected, or need not be."""
MOST_SHOWN = 3
"""How many unknown names a message lists."""


def columns_aside(options: SelectOptions) -> list[str]:
    """Return the columns that say something about rows and are not to be compared."""
    return [name for name in (options.include, options.weight) if name is not None]


def request_of(options: SelectOptions, loaded: LabelledObjects) -> dict[str, Any]:
    """Return the arguments `include` and `sample_weight` of a fit, if the user asks for them."""
    request: dict[str, Any] = {}
    if options.include is not None:
        request["include"] = _included(options.include, loaded)
    if options.weight is not None:
        request["sample_weight"] = _weights(options.weight, loaded.block)
    return request


def _weights(column: str, block: Block) -> NDArray[np.float64]:
    """Return how much each row counts."""
    require_columns(block.frame, [column], block.path)
    weights = numbers_of(block, [column])[column].to_numpy()
    if (weights < 0).any():
        at = int(np.argmax(weights < 0))
        raise ValueError(f"{block.place(at)}: {weights[at]:g} in column {column!r}, where a weight must be at least 0.")
    return np.asarray(weights)


def _included(include: str, loaded: LabelledObjects) -> NDArray[np.intp]:
    """Return the rows that must be selected, in ascending order."""
    block = loaded.block
    if block.frame is not None and has_column(block.frame, include):
        rows = _marked(include, block)
    elif Path(include).is_file():
        rows = _listed(include, loaded)
    else:
        there = "" if block.frame is None else f"; its columns are {', '.join(map(str, block.frame.columns))}"
        raise ValueError(f"--include must be a column of {block.path} or a file, and {include!r} is neither{there}.")
    if not rows.size:
        raise ValueError(f"--include {include} names no row; leave it out.")
    return np.unique(rows)


def _marked(column: str, block: Block) -> NDArray[np.intp]:
    """Return the rows that a column marks."""
    marks = column_of(block.frame, column)
    values = marks.astype(str).str.strip().str.lower().fillna("")
    wrong = ~values.isin(MARKED + UNMARKED).to_numpy()
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(
            f"{block.place(at)}: {str(marks.iat[at])!r:.60} in column {column!r}, where a mark must be: "
            "true, yes, x or 1 for rows that must be selected, and false, no, 0 or nothing for others."
        )
    return np.flatnonzero(values.isin(MARKED))


def _listed(path: str, loaded: LabelledObjects) -> NDArray[np.intp]:
    """Return the rows that a file lists: a table that has their names or numbers in a column, or lines of them."""
    names, id_column = loaded.names, loaded.recipe.settings.id
    if any(suffix in SUFFIXES for suffix in Path(path).suffixes) and format_of(path).traits.is_table:
        frame = read(path).frame
        if names is not None and id_column in frame.columns:
            return _rows_called(frame[id_column].astype(str).tolist(), names, path)
        if ROW not in frame.columns:
            columns = ROW if id_column is None else f"{id_column} or {ROW}"
            raise ValueError(f"{path} must have a column {columns} to name the rows that must be selected.")
        return _rows_numbered(frame[ROW].astype(str).tolist(), loaded.block, path)
    lines = _lines(path)
    if names is not None:
        return _rows_called(list(lines.values()), names, path)
    return _rows_numbered(list(lines.values()), loaded.block, path, list(lines))


def _lines(path: str) -> dict[int, str]:
    """Return the lines of a file that are not empty, by their numbers from 1."""
    lines: dict[int, str] = {}
    number = 0
    with format_errors_of(path), open_input(path, ReadOptions(None, None, 1)) as (file, _):
        try:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    lines[number] = line.strip()
        except UnicodeError as error:
            raise undecodable(path, error, number) from error
    return lines


def _rows_called(wanted: list[str], names: list[str], path: str) -> NDArray[np.intp]:
    """Return the rows with these names; a name that no row has, or several, is refused."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    unknown = [name for name in dict.fromkeys(wanted) if name not in rows]
    if unknown:
        shown = ", ".join(f"{name!r:.60}" for name in unknown[:MOST_SHOWN]) + (
            " and others" if len(unknown) > MOST_SHOWN else ""
        )
        raise ValueError(f"{path}: no row of the data is called {shown}.")
    shared = next((name for name in wanted if len(rows[name]) > 1), None)
    if shared is not None:
        raise ValueError(
            f"{path}: {len(rows[shared])} rows are called {shared!r:.60}; name rows by numbers, without --id."
        )
    return np.array([rows[name][0] for name in wanted], dtype=np.intp)


def _rows_numbered(wanted: list[str], block: Block, path: str, lines: Sequence[int] = ()) -> NDArray[np.intp]:
    """Return the rows with these numbers, which are those that `covey select` writes; `lines` are where they stand."""
    rows = {str(number): row for row, number in enumerate(block.row_numbers.tolist())}
    unknown = next((at for at, text in enumerate(wanted) if text not in rows), None)
    if unknown is not None:
        place = f"{path}, line {lines[unknown]}" if lines else path
        raise ValueError(
            f"{place}: {wanted[unknown]!r:.60} is not the number of a row, which are whole numbers from 0 to "
            f"{block.row_numbers[-1]}; pass --id if these are names."
        )
    return np.array([rows[text] for text in wanted], dtype=np.intp)
