"""What the columns of a block hold: numbers, profiles, or nothing where something should be."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files import Block
from covey.runtime.extras import require


def check_filled(block: Block, name: str, empty: bool = False) -> None:
    """Refuse a column with gaps, and unless `empty` with empty texts, naming the first."""
    column = block.frame[name]
    gaps = column.isna().to_numpy(dtype=bool)
    if not empty:
        gaps = gaps | np.array([isinstance(value, str) and not value.strip() for value in column], dtype=bool)
    if gaps.any():
        raise ValueError(f"{block.place(int(np.argmax(gaps)))}: no value in column {name!r}.")


def is_numeric(column: Any) -> bool:
    """Whether most values are numbers; if a few are not, better to stumble over them than to drop the column.

    Text in quotes is text in JSON, and what starts with a 0, like 007, is a code.
    """
    pandas = require("pandas", "cli")
    there = column.dropna()
    if pandas.api.types.is_string_dtype(column) and column.dtype != object:
        there = there[there.str.strip() != ""]
        if there.str.match(r"0\d").any():
            return False
    elif column.dtype == object:
        there = there.map(lambda value: None if isinstance(value, str) else value)
    return len(there) > 0 and bool(np.isfinite(_as_numbers(there)).mean() > 0.5)


def _as_numbers(column: Any) -> NDArray[np.float64]:
    """The column in numbers, NaN where there is none. True and false are none."""
    pandas = require("pandas", "cli")
    if pandas.api.types.is_bool_dtype(column):
        return np.full(len(column), np.nan)
    if pandas.api.types.is_numeric_dtype(column):  # among them Arrow's decimals, of which to_numeric drops the gaps
        numbers = column
    elif pandas.api.types.is_string_dtype(column):
        numbers = pandas.to_numeric(column, errors="coerce")
    else:
        plain = [None if isinstance(value, bool | np.bool_ | dict | list) else value for value in column]
        numbers = pandas.to_numeric(pandas.Series(plain, dtype=object).map(_float), errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


def _float(value: Any) -> float:
    """Also of decimals; dates and other things that are no numbers have none."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # a whole number of hundreds of digits is none for us
        return np.nan


def numbers_of(block: Block, columns: Sequence[str]) -> Any:
    """The columns in numbers; the first value that is none is named."""
    values = np.column_stack([_as_numbers(block.frame[name]) for name in columns])
    bad = ~np.isfinite(values)
    if bad.any():
        at, column = np.argwhere(bad)[0]
        found = block.frame[columns[column]]
        value, missing = found.iat[at], bool(found.isna().iat[at])
        shown = "no value" if missing or (isinstance(value, str) and not value.strip()) else f"{value!r:.60}"
        raise ValueError(
            f"{block.place(int(at))}: {shown} in column {columns[column]!r}, where a finite number must be."
        )
    return require("pandas", "cli").DataFrame(values, columns=list(columns))


def profile_of(value: Any, block: Block, at: int) -> dict[Any, Any]:
    """A dict of numbers from a dict, from JSON, or from pairs (as Parquet keeps maps)."""
    try:
        made = json.loads(value) if isinstance(value, str) else value
        pairs = made if isinstance(made, Mapping) else dict(made)
        profile = {key: weight for key, weight in pairs.items() if weight is not None}
        if not all(isinstance(weight, int | float) and np.isfinite(weight) for weight in profile.values()):
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{block.place(at)}: {value!r:.60} is no profile {{key: number}}.") from None
    return profile
