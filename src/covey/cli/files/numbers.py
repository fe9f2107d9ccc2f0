"""Numbers in columns, and what stands there instead of one."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.runtime.extras import require

MARKERS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-"})
"""What programs and people write where a number is missing, in small letters."""

LONGEST = 8
"""How many characters a marker and the blanks around it have at most, to be looked for in a column of texts."""


def as_numbers(column: Any, decimal: str = ".") -> NDArray[np.float64]:
    """Return the column as numbers, NaN where a value is none; true and false are none.

    `decimal` stands between the whole and the fraction of a number that is written as a text. If it is a comma, a text
    with a point is no number: 1.234 may well be a thousand and more.
    """
    pandas = require("pandas", "cli")
    if pandas.api.types.is_bool_dtype(column):
        return np.full(len(column), np.nan)
    if pandas.api.types.is_numeric_dtype(column):  # also Arrow's decimals, of which to_numeric would drop the gaps
        numbers = column
    elif pandas.api.types.is_string_dtype(column):
        if decimal != ".":
            column = column.str.replace(".", "no point", regex=False).str.replace(decimal, ".", regex=False)
        numbers = pandas.to_numeric(column, errors="coerce")
        if not _reads_exactly():
            precise = pandas.Series([_float(text) for text in column], dtype=np.float64)
            numbers = precise.where(numbers.notna().to_numpy())
    else:
        plain = [None if isinstance(value, bool | np.bool_ | dict | list) else value for value in column]
        numbers = pandas.to_numeric(pandas.Series(plain, dtype=object).map(_float), errors="coerce")
    return np.asarray(numbers.to_numpy(dtype=np.float64, na_value=np.nan))


PRECISE = "6.477126416320833e-78"
"""A number that pandas 3.0 reads with a wrong last digit, and pandas 3.1 as Python does."""


@cache
def _reads_exactly() -> bool:
    """Whether pandas reads a text as the float that is nearest to it, as Python does."""
    pandas = require("pandas", "cli")
    return bool(pandas.to_numeric(pandas.Series([PRECISE]))[0] == float(PRECISE))


def _float(value: Any) -> float:
    """Return a number, also of a decimal; NaN of dates and other things that are no numbers."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # a whole number of hundreds of digits does not fit a float
        return np.nan


def n_gaps(column: Any) -> int:
    """Return how many values of a column say that a number is missing."""
    if column.dtype == object or not require("pandas", "cli").api.types.is_string_dtype(column):
        return sum(map(is_gap, column.tolist()))
    short = column[column.str.len() <= LONGEST]  # most columns that are no numbers hold longer texts
    return int(short.str.strip().str.lower().isin(MARKERS).sum())


def is_gap(value: Any) -> bool:
    """Return whether a value of a column of numbers says that the number is missing."""
    if isinstance(value, str):
        return value.strip().lower() in MARKERS
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or value is require("pandas", "cli").NA
