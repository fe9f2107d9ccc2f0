"""JSON Lines: an object on each line, whose keys are the columns."""

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from covey.cli.files.block import Block
from covey.cli.files.checks import check_full_enough
from covey.cli.files.how import How
from covey.cli.files.opening import open_input
from covey.cli.files.standard import name_of
from covey.runtime.extras import require
from covey.storage.encoding import undecodable
from covey.storage.errors import FileFormatError, first_line

FIRST_ROWS = 100
"""How many rows are read before the size of a block is decided: they show how many columns there are."""


def read_jsonl(path: str, how: How) -> Iterator[Block]:
    """Yield the rows of a file in blocks; a row that lacks a key has a gap there."""
    with open_input(path, how) as (file, share):
        yield from blocks_of_objects(path, how, _objects(path, file), share)


def blocks_of_objects(
    path: str, how: How, objects: Iterator[tuple[dict[str, Any], int]], share: Callable[[], float | None]
) -> Iterator[Block]:
    """Yield blocks of objects, each of which comes with the number of its line."""
    pandas = require("pandas", "cli")
    while part := list(islice(objects, min(FIRST_ROWS, how.most_rows))):
        part += islice(objects, max(how.n_rows(len(part[0][0])) - len(part), 0))
        values, lines = zip(*part, strict=True)
        check_full_enough(path, len(values), len(set().union(*values)), sum(map(len, values)))
        # The type object keeps whole numbers whole: beside a gap, pandas would make floats of them.
        frame = pandas.DataFrame(list(values), dtype=object)
        yield Block(path, frame=frame, lines=np.array(lines), share=share())


def _objects(path: str, file: Iterator[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the object on each line that is not empty, and the number of the line."""
    number = 0
    try:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                value = json.loads(line)
                check_characters(line, value)
            except (ValueError, RecursionError) as error:
                raise no_json(f"{name_of(path)}, line {number}", error) from error
            if not isinstance(value, dict):
                raise FileFormatError(
                    f"{name_of(path)}, line {number}: {type(value).__name__} where an object should be."
                )
            yield value, number
    except UnicodeError as error:
        raise undecodable(name_of(path), error, number) from error


def no_json(place: str, error: Exception) -> FileFormatError:
    """Return an error about JSON that cannot be read. Numbers with thousands of digits are among the reasons."""
    return FileFormatError(f"{place}: no JSON ({first_line(error)}).")


def check_characters(text: str, value: Any) -> None:
    """Refuse half a character, which JSON can express, but no other format can hold."""
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode("utf-8")


class JsonLinesWriter:
    """Writes frames to a text file, a row on each line."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __call__(self, frame: Any) -> None:
        known = frame.astype(object).where(frame.notna(), None)
        for record in known.to_dict("records"):
            self._file.write(as_json(record, allow_nan=False) + "\n")


def as_json(value: Any, **options: Any) -> str:
    """Return a value as JSON; NumPy's numbers and arrays become plain ones, dates and the like become texts."""
    return json.dumps(value, default=_plain, ensure_ascii=False, **options)


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
