"""What the columns of a block hold: numbers, profiles, or nothing where something should be."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.standard import name_of
from covey.runtime.extras import require


def require_columns(frame: Any, wanted: Sequence[str], path: str) -> None:
    """Refuse a table that lacks one of the columns."""
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise ValueError(
            f"{name_of(path)} has no column {', '.join(map(repr, missing))}; it has {there}. "
            "(A file without a header line needs --columns.)"
        )


def check_filled(block: Block, name: str, empty: bool = False) -> None:
    """Refuse a column with gaps, and unless `empty` one with empty texts; the message names the first."""
    column = block.frame[name]
    gaps = column.isna().to_numpy(dtype=bool)
    if not empty:
        gaps = gaps | np.array([isinstance(value, str) and not value.strip() for value in column], dtype=bool)
    if gaps.any():
        raise ValueError(f"{block.place(int(np.argmax(gaps)))}: no value in column {name!r}.")


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against a column of numbers. That of the parts of a column can be added.

    Attributes
    ----------
    n_values, n_numbers : int
        How many values there are, and how many of them are finite numbers.
    has_codes : bool
        Whether a text starts with a 0 and another digit: 007 is a code and no number.
    """

    n_values: int
    n_numbers: int
    has_codes: bool = False

    def __add__(self, other: "Evidence") -> "Evidence":
        has_codes = self.has_codes or other.has_codes
        return Evidence(self.n_values + other.n_values, self.n_numbers + other.n_numbers, has_codes)

    @property
    def is_numeric(self) -> bool:
        """Whether most values are numbers.

        If only a few values are not, the column counts as numeric: refusing these values by name is better than leaving
        the column out in silence.
        """
        return not self.has_codes and 2 * self.n_numbers > self.n_values


def evidence_of(frame: Any, names: Sequence[str]) -> dict[str, Evidence]:
    """Return what speaks for numbers in each of the columns. In JSON, a text in quotes is a text."""
    return {name: _evidence(frame[name]) for name in names}


def _evidence(column: Any) -> Evidence:
    there, has_codes = column.dropna(), False
    if require("pandas", "cli").api.types.is_string_dtype(column) and column.dtype != object:
        there = there[there.str.strip() != ""]
        has_codes = bool(there.str.match(r"0\d").any())
    elif column.dtype == object:
        there = there.map(lambda value: None if isinstance(value, str) else value)
    return Evidence(len(there), int(np.isfinite(_as_numbers(there)).sum()), has_codes)


def _as_numbers(column: Any) -> NDArray[np.float64]:
    """Return the column as numbers, NaN where a value is none; true and false are none."""
    pandas = require("pandas", "cli")
    if pandas.api.types.is_bool_dtype(column):
        return np.full(len(column), np.nan)
    if pandas.api.types.is_numeric_dtype(column):  # also Arrow's decimals, of which to_numeric would drop the gaps
        numbers = column
    elif pandas.api.types.is_string_dtype(column):
        numbers = pandas.to_numeric(column, errors="coerce")
    else:
        plain = [None if isinstance(value, bool | np.bool_ | dict | list) else value for value in column]
        numbers = pandas.to_numeric(pandas.Series(plain, dtype=object).map(_float), errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


def _float(value: Any) -> float:
    """Return a number, also of a decimal; NaN of dates and other things that are no numbers."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # a whole number of hundreds of digits does not fit a float
        return np.nan


def numbers_of(block: Block, columns: Sequence[str]) -> Any:
    """Return the columns as a frame of numbers; the first value that is none is refused by name."""
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
    """Return a dict of numbers made of a dict, of JSON, or of pairs, as which Parquet keeps maps."""
    try:
        made = json.loads(value) if isinstance(value, str) else value
        pairs = made if isinstance(made, Mapping) else dict(made)
        profile = {key: weight for key, weight in pairs.items() if weight is not None}
        if not all(isinstance(weight, int | float) and np.isfinite(weight) for weight in profile.values()):
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{block.place(at)}: {value!r:.60} is no profile {{key: number}}.") from None
    return profile
