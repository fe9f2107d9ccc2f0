"""JSON files that hold one array: of objects, whose keys are the columns, or of arrays, one for each row.

The text is held as a whole, but its elements are made one by one, so that only a block of rows takes the memory of
objects. Each row is known by the line on which it ends.
"""

import json
import re
from collections.abc import Iterator
from typing import Any

from covey.cli.files.block import Block
from covey.cli.files.checks import check_names
from covey.cli.files.how import How
from covey.cli.files.jsonl import blocks_of_objects, check_characters, no_json
from covey.cli.files.opening import open_input
from covey.cli.files.standard import name_of
from covey.storage.encoding import undecodable
from covey.storage.errors import FileFormatError

BLANKS = re.compile(r"[ \t\r\n]*")
"""What may stand between the parts of JSON."""


def read_json(path: str, how: How) -> Iterator[Block]:
    """Yield the rows of a file in blocks.

    If rows are arrays, the first one names the columns if it holds nothing but texts and --columns names none. Without
    any names, columns are called x0, x1 and so on.
    """
    with open_input(path, how) as (file, _):
        try:
            text = file.read()
        except UnicodeError as error:
            raise undecodable(name_of(path), error, 0) from error
    rows = _elements(path, text)
    first = next(rows, None)
    if first is not None:
        yield from blocks_of_objects(path, how, _objects(path, first, rows, list(how.style.columns)), lambda: None)


def _elements(path: str, text: str) -> Iterator[tuple[Any, int]]:
    """Yield the elements of the array, and for each the line on which it ends."""
    decoder, at, line = json.JSONDecoder(), _after_blanks(text, 0), 1
    if text[at : at + 1] != "[":
        hint = " If it holds an object on each line, pass --format jsonl." if text[at : at + 1] == "{" else ""
        raise FileFormatError(f"{name_of(path)} must hold an array [...] of objects or arrays.{hint}")
    counted, at = 0, _after_blanks(text, at + 1)
    while text[at : at + 1] != "]":
        try:
            value, end = decoder.raw_decode(text, at)
            check_characters(text[at:end], value)
        except (ValueError, RecursionError) as error:
            place = error.pos if isinstance(error, json.JSONDecodeError) else at
            raise no_json(f"{name_of(path)}, line {text.count(chr(10), 0, place) + 1}", error) from error
        line, counted = line + text.count("\n", counted, end), end
        yield value, line
        at = _after_blanks(text, end)
        if text[at : at + 1] == ",":
            at = _after_blanks(text, at + 1)
        elif text[at : at + 1] != "]":
            raise FileFormatError(f"{name_of(path)}, line {line}: the array must go on or end after this element.")
    if text[at + 1 :].strip():
        raise FileFormatError(f"{name_of(path)}, line {line}: something follows after the end of the array.")


def _after_blanks(text: str, at: int) -> int:
    found = BLANKS.match(text, at)
    return at if found is None else found.end()


def _objects(
    path: str, first: tuple[Any, int], rows: Iterator[tuple[Any, int]], names: list[str]
) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield rows as objects; those that are arrays get the names of the columns."""
    value, line = first
    kind = list if isinstance(value, list) else dict
    if names and kind is dict:
        raise FileFormatError(f"{name_of(path)} names its columns itself; leave out --columns.")
    is_header = kind is list and not names and bool(value) and all(isinstance(name, str) for name in value)
    if kind is list:
        names = names or (value if is_header else [f"x{at}" for at in range(len(value))])
        check_names(f"{name_of(path)}, line {line}", names)
    for row, number in rows if is_header else _again(first, rows):
        if not isinstance(row, kind):
            wanted = "an array" if kind is list else "an object"
            raise FileFormatError(f"{name_of(path)}, line {number}: {type(row).__name__} where {wanted} should be.")
        if kind is list and len(row) != len(names):
            raise FileFormatError(
                f"{name_of(path)}, line {number}: there are {len(names)} columns, the row has {len(row)}."
            )
        made: Any = dict(zip(names, row, strict=True)) if kind is list else row
        yield made, number


def _again(first: tuple[Any, int], rows: Iterator[tuple[Any, int]]) -> Iterator[tuple[Any, int]]:
    yield first
    yield from rows
