"""Columns that hold a list of numbers in each row, such as embeddings.

Parquet has types for such columns; the numbers then go from Arrow's memory into one array, and never become objects of
Python. In JSON Lines the values are lists, and in CSV they are texts such as [0.1, 0.2].
"""

import json
from collections.abc import Sequence
from itertools import chain
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.nested import column_of
from covey.cli.values import is_nested
from covey.runtime.extras import require
from covey.similarity.missing import is_missing


def vector_columns(frame: Any, names: Sequence[str]) -> list[str]:
    """Return those of the columns that hold lists of numbers. The type of a column, or its first value, decides."""
    return [name for name in names if _holds_vectors(column_of(frame, name))]


def _holds_vectors(column: Any) -> bool:
    if is_nested(column.dtype):
        types, kind = require("pyarrow", "cli").types, column.dtype.pyarrow_dtype
        is_list = types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)
        return is_list and _is_number(kind.value_type)
    if column.dtype != object and not require("pandas", "cli").api.types.is_string_dtype(column):
        return False
    first = next((value for value in column if not is_missing(value)), None)
    return _list_of(first) is not None


def _is_number(kind: Any) -> bool:
    """Return whether a type of Arrow is that of numbers or truth values."""
    types = require("pyarrow", "cli").types
    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind))


def vectors_of(block: Block, name: str) -> NDArray[Any]:
    """Return the lists of numbers in a column as rows of an array.

    All must have the length of the first. Numbers keep the type that the file has for them.
    """
    column = column_of(block.frame, name)
    vectors = _from_arrow(block, name) if is_nested(column.dtype) else _from_values(block, name)
    with np.errstate(over="ignore", invalid="ignore"):
        # A finite sum proves that every number is finite, and takes less memory than to look at each.
        if vectors.dtype.kind == "f" and not np.isfinite(vectors.sum(dtype=np.float64)):
            bad = ~np.isfinite(vectors)
            if bad.any():
                at, position = np.argwhere(bad)[0]
                _refuse(block, int(at), name, f"{vectors[at, position]} is number {position} of the list")
    return vectors


def _refuse(block: Block, at: int, name: str, found: str, n_numbers: int | None = None) -> NoReturn:
    """Raise ValueError for the row at this position, in which something else was found."""
    rule = "a list of finite numbers must be"
    if n_numbers is not None:
        rule = f"a list of {n_numbers} numbers must be, as in the first row"
    raise ValueError(f"{block.place(at)}: {found} in column {name!r}, where {rule}.")


def _check_lengths(block: Block, name: str, lengths: NDArray[np.int64]) -> int:
    """Return the length that all lists have, -1 being that of no list; refuse the first row that has another."""
    first = int(lengths[0])
    bad = np.flatnonzero((lengths != first) | (lengths < 1))
    if bad.size:
        at = int(bad[0])
        found = "no value" if lengths[at] < 0 else f"a list of {lengths[at]} numbers"
        _refuse(block, at, name, found, first if at else None)
    return first


def _from_arrow(block: Block, name: str) -> NDArray[Any]:
    """Copy the numbers of a column of Arrow's lists, chunk by chunk, into one array."""
    pyarrow = require("pyarrow", "cli")
    column = column_of(block.frame, name).array.__arrow_array__()
    chunks = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
    lengths = require("pyarrow.compute", "cli").list_value_length(column).fill_null(-1).to_numpy()
    length = _check_lengths(block, name, np.asarray(lengths, dtype=np.int64))
    made = np.empty((len(lengths), length), dtype=column.type.value_type.to_pandas_dtype())
    done = 0
    for chunk in chunks:
        numbers = chunk.flatten()
        if numbers.null_count:
            at = done + int(np.argmax(numbers.is_null().to_numpy(zero_copy_only=False))) // length
            _refuse(block, at, name, "a list with a gap")
        made[done : done + len(chunk)] = numbers.to_numpy(zero_copy_only=False).reshape(len(chunk), length)
        done += len(chunk)
    return made


def _from_values(block: Block, name: str) -> NDArray[np.float64]:
    """Make an array of a column of lists, or of texts that are lists in JSON."""
    values = column_of(block.frame, name).tolist()
    lists = _lists_of_texts(values) if all(isinstance(value, str) for value in values) else values
    if lists is None or not all(isinstance(value, list) for value in lists):
        lists = [_list_of(value) for value in values]
    for at, found in enumerate(lists):
        if found is None:
            empty = is_missing(values[at]) or values[at] == ""
            _refuse(block, at, name, "no value" if empty else f"{values[at]!r:.60}")
    length = _check_lengths(block, name, np.fromiter(map(len, lists), np.int64, len(lists)))
    if not set(map(type, chain.from_iterable(lists))) <= {int, float}:
        at = next(at for at, found in enumerate(lists) if not _are_numbers(found))
        _refuse(block, at, name, f"{values[at]!r:.60}")
    return np.fromiter(map(float, chain.from_iterable(lists)), np.float64, len(lists) * length).reshape(-1, length)


def _lists_of_texts(texts: list[str]) -> list[Any] | None:
    """Parse all texts at once, which is faster than one by one; None if that fails."""
    try:
        made = json.loads(f"[{','.join(texts)}]")
    except (ValueError, RecursionError):
        return None
    return made if len(made) == len(texts) else None


def _list_of(value: Any) -> list[Any] | None:
    """Return a list of numbers, also if it is written as JSON; None if the value is none."""
    if isinstance(value, str):
        if not value.lstrip().startswith("["):
            return None
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return value if isinstance(value, list) and _are_numbers(value) else None


def _are_numbers(values: list[Any]) -> bool:
    return set(map(type, values)) <= {int, float}
