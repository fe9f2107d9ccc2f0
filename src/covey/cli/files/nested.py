"""Values within values: `meta.kind` is what the objects in the column `meta` hold under `kind`.

A column whose own name is `meta.kind` goes first. Objects are those of JSON, or the structs of Parquet.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from covey.runtime.extras import require


def has_column(frame: Any, name: str) -> bool:
    """Return whether a frame has a column of this name, or objects with such a value."""
    return column_of(frame, name) is not None


def column_of(frame: Any, name: str) -> Any:
    """Return a column, or the values within the objects of a column; None if there are none."""
    if name in frame.columns:
        return frame[name]
    found = (_within(frame[head], rest) for head, rest in _splits(name) if head in frame.columns)
    return next((column for column in found if column is not None), None)


def top_of(name: str, columns: Iterable[str]) -> str:
    """Return the column that holds a value; the name itself if there is no such column."""
    there = set(columns)
    return name if name in there else next((head for head, _ in _splits(name) if head in there), name)


def _splits(name: str) -> Iterator[tuple[str, str]]:
    """Yield the ways to cut a name in two at a point, the longest beginning first."""
    parts = name.split(".")
    for at in range(len(parts) - 1, 0, -1):
        yield ".".join(parts[:at]), ".".join(parts[at:])


def _within(column: Any, rest: str) -> Any:
    """Return the values that the objects of a column hold under a path, or None."""
    if column.dtype == object:
        values = [_value(value, rest) for value in column]
        if all(value is None for value in values):
            return None
        made = np.empty(len(values), dtype=object)  # pandas would take lists of equal length for rows
        made[:] = values
        return require("pandas", "cli").Series(made, index=column.index)
    fields = getattr(column, "struct", None) if "struct" in str(column.dtype) else None
    if fields is None:
        return None
    names = list(fields.dtypes.index)
    if rest in names:
        return fields.field(rest)
    found = (_within(fields.field(head), tail) for head, tail in _splits(rest) if head in names)
    return next((column for column in found if column is not None), None)


def _value(value: Any, path: str) -> Any:
    """Return what an object holds under a path; None if it holds nothing there."""
    if not isinstance(value, dict):
        return None
    if path in value:
        return value[path]
    found = (_value(value[head], rest) for head, rest in _splits(path) if head in value)
    return next((value for value in found if value is not None), None)
