"""JSON Lines: an object on each line, whose keys are the columns."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np

from covey.cli.files.block import Block, How
from covey.cli.files.checks import check_full_enough
from covey.cli.files.opening import open_input
from covey.cli.files.standard import name_of
from covey.runtime.extras import require
from covey.storage.errors import FileFormatError, first_line

FIRST_ROWS = 100
"""How many rows are read before the size of a block is decided: they show how many columns there are."""


def read_jsonl(path: str, how: How) -> Iterator[Block]:
    """Yield the rows of a file in blocks; a row that lacks a key has a gap there."""
    pandas = require("pandas", "cli")
    with open_input(path, how.bar) as (file, share):
        objects = _json_objects(path, file)
        while part := list(islice(objects, FIRST_ROWS)):
            part += islice(objects, max(how.n_rows(len(part[0][0])) - len(part), 0))
            values, lines = zip(*part, strict=True)
            check_full_enough(path, len(values), len(set().union(*values)), sum(map(len, values)))
            # The type object keeps whole numbers whole: beside a gap, pandas would make floats of them.
            frame = pandas.DataFrame(list(values), dtype=object)
            yield Block(path, frame=frame, lines=np.array(lines), share=share())


def _json_objects(path: str, file: Iterator[str]) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield the object on each line that is not empty, and the number of the line."""
    for number, line in enumerate(file, start=1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
            if "\\ud" in line.lower():  # JSON can express half a character, which no other format can hold
                json.dumps(value, ensure_ascii=False).encode("utf-8")
        except (ValueError, RecursionError) as error:  # also raised for numbers with thousands of digits
            raise FileFormatError(f"{name_of(path)}, line {number}: no JSON ({first_line(error)}).") from error
        if not isinstance(value, dict):
            raise FileFormatError(f"{name_of(path)}, line {number}: {type(value).__name__} where an object should be.")
        yield value, number


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
