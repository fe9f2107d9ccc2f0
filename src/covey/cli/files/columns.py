"""Columns of a block: finding them, and making numbers, categories, profiles and vectors of their values.

- A name like `meta.kind` means a column of that name, or else what the objects in the column `meta` hold under `kind`.
  Objects are those of JSON, or the structs of Parquet.
- `Evidence` tells whether a column holds numbers, and `Gaps` where values are missing. The first value that is neither
  a number nor missing is refused with its place.
- A column can hold a list of numbers in each row, such as an embedding. In Parquet such lists have a type, and their
  numbers go from Arrow's memory into one array without becoming Python objects; in JSON Lines they are lists, and in
  CSV strings such as [0.1, 0.2].
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block, name_of
from covey.cli.files.dialect import listed
from covey.runtime.libraries import require
from covey.runtime.wording import agreeing, several, some_of
from covey.similarity.inputs import is_missing


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


MARKERS = frozenset({"", "na", "n/a", "#n/a", "nan", "null", "none", "?", "-"})
"""What programs and people write where a number is missing, in small letters."""

LONGEST = 8
"""How many characters a marker and the blanks around it have at most, to be looked for in a column of strings."""


def as_numbers(column: Any, decimal: str = ".") -> NDArray[np.float64]:
    """Return the column as numbers, NaN where a value is not one; true and false are not.

    `decimal` stands between the whole and the fraction of a number that is written as a string. If it is a comma, a
    string with a point is not a number: 1.234 may well be a thousand and more.
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
    """Return whether pandas reads a string as the float that is nearest to it, as Python does."""
    pandas = require("pandas", "cli")
    return bool(pandas.to_numeric(pandas.Series([PRECISE]))[0] == float(PRECISE))


def _float(value: Any) -> float:
    """Return a number, also of a decimal; NaN of dates and other things that are not numbers."""
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):  # a whole number of hundreds of digits does not fit a float
        return np.nan


def n_gaps(column: Any) -> int:
    """Return how many values of a column say that a number is missing."""
    if column.dtype == object or not require("pandas", "cli").api.types.is_string_dtype(column):
        return sum(map(is_gap, column.tolist()))
    short = column[column.str.len() <= LONGEST]  # most columns without numbers hold longer strings
    return int(short.str.strip().str.lower().isin(MARKERS).sum())


def is_gap(value: Any) -> bool:
    """Return whether a value of a column of numbers says that the number is missing."""
    if isinstance(value, str):
        return value.strip().lower() in MARKERS
    if isinstance(value, float | np.floating):
        return bool(np.isnan(value))
    return value is None or value is require("pandas", "cli").NA


MOST_NAMED = 5
"""How many columns with gaps, and how many words for a gap, a message names."""
MISSING = "pass --missing drop to leave such rows out, or --missing mean to fill them with the mean of their column."
"""What a user can do about missing numbers."""
DROP = "fill it, or pass --missing drop to leave such rows out."
"""What a user can do about other missing values."""


def require_columns(frame: Any, wanted: Sequence[str], path: str) -> None:
    """Refuse a table that lacks one of the columns."""
    missing = [name for name in wanted if not has_column(frame, name)]
    if missing:
        there = some_of([f'"{name}"' if "," in name else str(name) for name in frame.columns])
        with_comma = [name for name in frame.columns if "," in name and set(missing) & set(listed(name))]
        hint = "(A file without a header line needs --columns.)"
        if with_comma:
            hint = f"A name that holds a comma must stand in double quotes: '\"{with_comma[0]}\"'."
        named = some_of([repr(name) for name in missing])
        raise ValueError(f"{name_of(path)} has no column {named}; it has {there}. {hint}")


def check_filled(block: Block, name: str, *, empty: bool = False, remedy: str = DROP) -> None:
    """Refuse a column with gaps, and unless `empty` one with empty strings; the message names the first."""
    gaps = strings_missing(block, name, empty=empty)
    if gaps.any():
        others = int(gaps.sum()) - 1
        there = f"column {name!r} has no value here and in {several(others, 'more row')}"
        said = there if others else f"no value in column {name!r}"
        raise ValueError(f"{block.place(int(np.argmax(gaps)))}: {said}; {remedy}")


@dataclass(frozen=True)
class Evidence:
    """What speaks for and against a column of numbers. That of the parts of a column can be added.

    Attributes
    ----------
    n_values, n_numbers : int
        How many values there are, and how many of them are finite numbers.
    has_codes : bool
        Whether a string starts with a 0 and another digit: 007 is a code and not a number.
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


def evidence_of(frame: Any, names: Sequence[str], decimal: str = ".") -> dict[str, Evidence]:
    """Return what speaks for numbers in each of the columns. In JSON, what is in quotes is a string."""
    return {name: _evidence(column_of(frame, name), decimal) for name in names}


def is_nested(dtype: Any) -> bool:
    """Return whether a type of a column is one of Arrow's for lists, maps and the like."""
    kind = getattr(dtype, "pyarrow_dtype", None)
    return kind is not None and bool(require("pyarrow", "cli").types.is_nested(kind))


def _evidence(column: Any, decimal: str) -> Evidence:
    if is_nested(column.dtype):  # a million lists must not become objects of Python
        return Evidence(len(column), 0)
    there, has_codes = column.dropna(), False
    if require("pandas", "cli").api.types.is_string_dtype(column) and column.dtype != object:
        there = there[there.str.strip() != ""]
        has_codes = bool(there.str.match(r"0\d").any())
        numbers = as_numbers(there, decimal)
    else:
        numbers = as_numbers(there.map(_no_text) if column.dtype == object else there)
    others = there.iloc[np.flatnonzero(~np.isfinite(numbers))]
    return Evidence(len(there) - n_gaps(others), len(there) - len(others), has_codes)


def _no_text(value: Any) -> Any:
    return None if isinstance(value, str) else value


@dataclass(frozen=True, eq=False)
class Gaps:
    """Where values are missing in a block.

    Attributes
    ----------
    names : sequence of str
        The columns.
    where : bool array
        A row for each row of the block, and a column for each of the columns.
    words : Counter of str
        What is written where a number is missing, and how often; nothing is not counted.
    """

    names: Sequence[str]
    where: NDArray[np.bool_]
    words: Counter[str]

    @property
    def rows(self) -> NDArray[np.bool_]:
        """For each row, whether a number is missing in it."""
        return np.asarray(self.where.any(axis=1))

    def described(self) -> str:
        """Return in words how many numbers are missing, and where."""
        n_values, n_rows = int(self.where.sum()), int(self.rows.sum())
        lack = f"{agreeing(n_rows, 'lacks', 'lack')} {several(n_values, 'value')}"
        return f"{n_rows:,} of {several(len(self.where), 'row')} {lack} ({self.counted()})"

    def counted(self) -> str:
        """Return in words how many numbers are missing in which column, and what counts as missing."""
        counts = self.where.sum(axis=0)
        there = [at for at in np.argsort(-counts, kind="stable").tolist() if counts[at]]
        named = [f"{counts[at]} in {self.names[at]!r}" for at in there[:MOST_NAMED]]
        more = [f"and in {several(len(there) - MOST_NAMED, 'more column')}"] if len(there) > MOST_NAMED else []
        words = [repr(word) for word, _ in self.words.most_common(MOST_NAMED)]
        written = f"; {', '.join(words)} count{'s' if len(words) == 1 else ''} as missing" if words else ""
        return f"{', '.join(named + more)}{written}"

    def with_column(self, name: str, where: NDArray[np.bool_]) -> "Gaps":
        """Return these gaps and those of one more column."""
        return Gaps([*self.names, name], np.column_stack([self.where, where]), self.words)


def gaps_among(block: Block, columns: Sequence[str], bad: NDArray[np.bool_]) -> Gaps:
    """Return which of the bad values of columns are missing rather than wrong."""
    where, words = np.zeros_like(bad), Counter[str]()
    for at in np.flatnonzero(bad.any(axis=0)).tolist():
        rows = np.flatnonzero(bad[:, at])
        values = column_of(block.frame, columns[at]).iloc[rows].tolist()
        where[rows, at] = [is_gap(value) for value in values]
        words.update(value.strip() for value in values if isinstance(value, str) and value.strip() and is_gap(value))
    return Gaps(columns, where, words)


def gaps_of(block: Block, columns: Sequence[str]) -> Gaps:
    """Return where numbers are missing in columns of a table, or in a matrix."""
    if block.frame is not None:
        return gaps_among(block, columns, ~np.isfinite(_values(block, columns)))
    return Gaps(*_of_matrix(block.matrix), Counter())


def _of_matrix(matrix: Any) -> tuple[Sequence[str], NDArray[np.bool_]]:
    """Return the names of a matrix's columns, which are their numbers, and where it is not a number."""
    if matrix.dtype.kind != "f":
        return [], np.zeros((matrix.shape[0], 0), dtype=np.bool_)
    if not sp.issparse(matrix):
        return [str(at) for at in range(matrix.shape[1])], np.isnan(matrix)
    coo = matrix.tocoo()
    missing = np.isnan(coo.data)
    columns, at = np.unique(coo.col[missing], return_inverse=True)
    where = np.zeros((matrix.shape[0], columns.size), dtype=np.bool_)  # only the columns that have gaps
    where[coo.row[missing], at] = True
    return [str(column) for column in columns.tolist()], where


def strings_missing(block: Block, name: str, *, empty: bool) -> NDArray[np.bool_]:
    """Return for each row whether a column has no value there; unless `empty`, an empty string is none either."""
    column = column_of(block.frame, name)
    gaps: NDArray[np.bool_] = column.isna().to_numpy(dtype=bool)
    if not empty:
        gaps = gaps | np.array([isinstance(value, str) and not value.strip() for value in column], dtype=bool)
    return gaps


def column_sums(block: Block, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return the sum of the numbers in each column, and how many there are. Such pairs of the parts of a table add."""
    if sp.issparse(block.matrix):
        raise ValueError("--missing mean is not for sparse matrices; pass --missing drop instead.")
    values = np.asarray(block.matrix, dtype=np.float64) if block.frame is None else _values(block, columns)
    there = np.isfinite(values)
    return np.stack([values.sum(axis=0, where=there), there.sum(axis=0)])


def means_of(sums: NDArray[np.float64], columns: Sequence[str]) -> NDArray[np.float64]:
    """Return the mean of each column; refuse a column without any number."""
    empty = np.flatnonzero(sums[1] == 0)
    if empty.size:
        named = columns[empty[0]] if columns else str(empty[0])
        raise ValueError(f"column {named!r} holds no number at all, so --missing mean cannot fill it; leave it out.")
    means: NDArray[np.float64] = sums[0] / sums[1]
    return means


def _values(block: Block, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return the columns of a table as numbers, NaN where a value is none. Refuse a table that lacks one of them."""
    require_columns(block.frame, columns, block.path)
    numbers = [as_numbers(column_of(block.frame, name), block.decimal) for name in columns]
    return np.column_stack(numbers) if numbers else np.empty((len(block), 0))


def numbers_of(block: Block, columns: Sequence[str], means: NDArray[np.float64] | None = None) -> Any:
    """Return the columns as a frame of numbers; the first value that is none is refused by name.

    Where a number is missing, the mean of its column is put, if means are known.
    """
    values = _values(block, columns)
    bad = ~np.isfinite(values)
    if bad.any():
        gaps = gaps_among(block, columns, bad)
        refused = bad if means is None else bad & ~gaps.where
        if means is None or refused.any():
            _refuse(block, refused, gaps)
        values = np.where(gaps.where, means, values)
    return require("pandas", "cli").DataFrame(values, columns=list(columns))


def numbers_with_gaps(block: Block, name: str) -> NDArray[np.float64]:
    """Return a column of numbers, NaN where one is missing; the first value that is not a number is refused by name."""
    numbers = as_numbers(column_of(block.frame, name), block.decimal)
    bad = ~np.isfinite(numbers)
    wrong = np.flatnonzero(bad & ~gaps_among(block, [name], bad[:, None]).where[:, 0])
    if wrong.size:
        found = column_of(block.frame, name).iat[wrong[0]]
        raise ValueError(
            f"{block.place(int(wrong[0]))}: {found!r:.60} in column {name!r}, where a finite number or nothing must be."
        )
    return numbers


def categories_of(block: Block, name: str) -> list[str | None]:
    """Return a column of any values as strings, None where nothing is there."""
    gaps = strings_missing(block, name, empty=False)
    return [None if gap else str(value).strip() for value, gap in zip(column_of(block.frame, name), gaps, strict=True)]


def _refuse(block: Block, bad: NDArray[np.bool_], gaps: Gaps) -> NoReturn:
    """Name the first value that is not a number, and say how many are missing in all."""
    at, column = np.argwhere(bad)[0]
    value = column_of(block.frame, gaps.names[column]).iat[at]
    is_empty = gaps.where[at, column] and not (isinstance(value, str) and value.strip())
    shown = "no value" if is_empty else f"{value!r:.60}"
    raise ValueError(
        f"{block.place(int(at))}: {shown} in column {gaps.names[column]!r}, where a finite number must be."
        + (f" {gaps.described()}; {MISSING}" if gaps.where[at, column] else "")
    )


def matrix_of(block: Block, means: NDArray[np.float64] | None = None) -> Any:
    """Return the matrix of a block; missing numbers are refused with their place, unless means can fill them."""
    matrix = block.matrix
    if sp.issparse(matrix) or matrix.dtype.kind != "f":
        return matrix
    with np.errstate(all="ignore"):
        if np.isfinite(matrix.sum(dtype=np.float64)):  # a sum is finite only if all numbers are
            return matrix
    gaps = gaps_of(block, [])
    if means is not None:
        return np.where(gaps.where, means, matrix).astype(matrix.dtype)
    if gaps.where.any():
        at, column = np.argwhere(gaps.where)[0]
        raise ValueError(f"{block.place(int(at))}: no number in column {column}. {gaps.described()}; {MISSING}")
    return matrix  # it holds infinite numbers, of which the library says more


def profile_of(value: Any, block: Block, at: int) -> dict[Any, Any]:
    """Return a dict of numbers made of a dict, of JSON, or of pairs, as which Parquet keeps maps."""
    try:
        made = json.loads(value) if isinstance(value, str) else value
        pairs = made if isinstance(made, Mapping) else dict(made)
        profile = {key: weight for key, weight in pairs.items() if weight is not None}
        if not all(isinstance(weight, int | float) and np.isfinite(weight) for weight in profile.values()):
            raise TypeError
    except (TypeError, ValueError):
        raise ValueError(f"{block.place(at)}: {value!r:.60} is not a profile {{key: number}}.") from None
    return profile


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
                _refuse_vectors(block, int(at), name, f"{vectors[at, position]} is number {position} of the list")
    return vectors


def _refuse_vectors(block: Block, at: int, name: str, found: str, n_numbers: int | None = None) -> NoReturn:
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
        _refuse_vectors(block, at, name, found, first if at else None)
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
            _refuse_vectors(block, at, name, "a list with a gap")
        made[done : done + len(chunk)] = numbers.to_numpy(zero_copy_only=False).reshape(len(chunk), length)
        done += len(chunk)
    return made


def _from_values(block: Block, name: str) -> NDArray[np.float64]:
    """Make an array of a column of lists, or of strings that are lists in JSON."""
    values = column_of(block.frame, name).tolist()
    lists = _lists_of_strings(values) if all(isinstance(value, str) for value in values) else values
    if lists is None or not all(isinstance(value, list) for value in lists):
        lists = [_list_of(value) for value in values]
    for at, found in enumerate(lists):
        if found is None:
            empty = is_missing(values[at]) or values[at] == ""
            _refuse_vectors(block, at, name, "no value" if empty else f"{values[at]!r:.60}")
    length = _check_lengths(block, name, np.fromiter(map(len, lists), np.int64, len(lists)))
    if not set(map(type, chain.from_iterable(lists))) <= {int, float}:
        at = next(at for at, found in enumerate(lists) if not _are_numbers(found))
        _refuse_vectors(block, at, name, f"{values[at]!r:.60}")
    return np.fromiter(map(float, chain.from_iterable(lists)), np.float64, len(lists) * length).reshape(-1, length)


def _lists_of_strings(strings: list[str]) -> list[Any] | None:
    """Parse all strings at once, which is faster than one by one; None if that fails."""
    try:
        made = json.loads(f"[{','.join(strings)}]")
    except (ValueError, RecursionError):
        return None
    return made if len(made) == len(strings) else None


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
