"""JSON Lines, an object on each line, and JSON files that hold one array of objects or of arrays.

The keys of objects are the columns; arrays are rows, which the first one or the user names. The text of an array is
held as a whole, but its elements are parsed one by one, so that only a block of rows takes the memory of objects. Each
row is known by the line on which it ends.
"""

import json
import logging
import math
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from covey.cli.files.block import Block, name_of
from covey.cli.files.input import ReadOptions, check_full_enough, check_names, open_input
from covey.exceptions import FileFormatError
from covey.runtime.libraries import require
from covey.runtime.wording import one_line
from covey.storage.text import undecodable

logger = logging.getLogger("covey")

FIRST_ROWS = 100
"""How many rows are read before the size of a block is decided: they show how many columns there are."""


def read_jsonl(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows of a file in blocks; a row that lacks a key has a gap there."""
    with open_input(path, options) as (file, share):
        yield from blocks_of_objects(path, options, _objects(path, file), share)


def blocks_of_objects(
    path: str, options: ReadOptions, objects: Iterator[tuple[dict[str, Any], int]], share: Callable[[], float | None]
) -> Iterator[Block]:
    """Yield blocks of objects, each of which comes with the number of its line."""
    pandas = require("pandas", "cli")
    while part := list(islice(objects, min(FIRST_ROWS, options.most_rows))):
        part += islice(objects, max(options.n_rows(len(part[0][0])) - len(part), 0))
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
    return FileFormatError(f"{place}: not JSON ({one_line(error, first=True)}).")


def check_characters(text: str, value: Any) -> None:
    """Refuse half a character, which JSON can express, but no other format can hold."""
    if "\\ud" in text.lower():
        json.dumps(value, ensure_ascii=False).encode("utf-8")


class JsonLinesWriter:
    """Writes frames to a text file, a row on each line."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def __call__(self, frame: Any) -> None:
        columns = {name: plain_values(frame[name]) for name in frame.columns}
        for name, values in columns.items():
            if any(isinstance(value, float) and math.isinf(value) for value in values):
                logger.warning(
                    "column %r holds infinite numbers, for which JSON has no word; they are written as null.", name
                )
        for row in zip(*columns.values(), strict=True):
            self._file.write(as_json(dict(zip(columns, row, strict=True))) + "\n")


def plain_values(column: Any) -> list[Any]:
    """Return the values of a column as objects of Python, None where there is a gap; maps of Arrow become dicts."""
    kind = getattr(column.dtype, "pyarrow_dtype", None)
    if kind is None:
        return list(column.astype(object).where(column.notna(), None))
    pyarrow, values = require("pyarrow", "cli"), column.array.__arrow_array__()
    if pyarrow.types.is_time(kind):
        values = values.cast(pyarrow.string())  # Python's times have no nanoseconds
    made = values.to_pylist()
    has_maps = "map<" in str(kind)  # most columns have none, and are left as they are
    return [_with_dicts(value, kind) for value in made] if has_maps else made


def _with_dicts(value: Any, kind: Any) -> Any:
    """Return a value of an Arrow type with dicts in place of lists of pairs, as which Arrow hands out maps."""
    types = require("pyarrow", "cli").types
    if value is None:
        return None
    if types.is_map(kind):
        return {
            key if isinstance(key, str) else plain_text(key): _with_dicts(own, kind.item_type) for key, own in value
        }
    if types.is_struct(kind):
        return {field.name: _with_dicts(value[field.name], field.type) for field in kind}
    if types.is_nested(kind):  # a list of any kind
        return [_with_dicts(own, kind.value_type) for own in value]
    return value


def as_json(value: Any) -> str:
    """Return a value as JSON. NumPy's numbers and arrays become plain ones; dates, bytes and the like become strings.

    JSON has no word for what is not a number, nor for infinite ones: they become null.
    """
    try:
        return json.dumps(value, default=_plain, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_finite(value), default=_plain, ensure_ascii=False, allow_nan=False)


def _finite(value: Any) -> Any:
    """Return a value with None in place of numbers that are not finite."""
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, dict):
        return {key: _finite(own) for key, own in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(own) for own in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else plain_text(value)


def plain_text(value: Any) -> str:
    """Return a value for which JSON and CSV have no form as a string; of bytes these are the hexadecimal digits."""
    return value.hex() if isinstance(value, bytes) else str(value)


BLANKS = re.compile(r"[ \t\r\n]*")
"""What may stand between the parts of JSON."""


def read_json(path: str, options: ReadOptions) -> Iterator[Block]:
    """Yield the rows of a file in blocks.

    If rows are arrays, the first one names the columns if it holds only strings and --columns names none. Without any
    names, columns are called x0, x1 and so on.
    """
    with open_input(path, options) as (file, _):
        try:
            text = file.read()
        except UnicodeError as error:
            raise undecodable(name_of(path), error, 0) from error
    rows = _elements(path, text)
    first = next(rows, None)
    if first is not None:
        yield from blocks_of_objects(
            path, options, _array_objects(path, first, rows, list(options.dialect.columns)), lambda: None
        )


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


def _array_objects(
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
