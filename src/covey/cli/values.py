"""What the columns of a block hold: numbers, profiles, or nothing where something should be."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.nested import column_of, has_column
from covey.cli.files.numbers import as_numbers, is_gap, n_gaps
from covey.cli.files.standard import name_of
from covey.cli.listing import listed
from covey.cli.misuse import MisuseError
from covey.runtime.extras import require
from covey.runtime.wording import agreeing, several, some_of

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


def check_filled(block: Block, name: str, empty: bool = False, remedy: str = DROP) -> None:
    """Refuse a column with gaps, and unless `empty` one with empty texts; the message names the first."""
    gaps = texts_missing(block, name, empty=empty)
    if gaps.any():
        others = f" (nor in {several(int(gaps.sum()) - 1, 'more row')})" if gaps.sum() > 1 else ""
        raise ValueError(f"{block.place(int(np.argmax(gaps)))}: no value in column {name!r}{others}; {remedy}")


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


def evidence_of(frame: Any, names: Sequence[str], decimal: str = ".") -> dict[str, Evidence]:
    """Return what speaks for numbers in each of the columns. In JSON, a text in quotes is a text."""
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


def texts_missing(block: Block, name: str, *, empty: bool) -> NDArray[np.bool_]:
    """Return for each row whether a column has no value there; unless `empty`, an empty text is none either."""
    column = column_of(block.frame, name)
    gaps: NDArray[np.bool_] = column.isna().to_numpy(dtype=bool)
    if not empty:
        gaps = gaps | np.array([isinstance(value, str) and not value.strip() for value in column], dtype=bool)
    return gaps


def sums_of(block: Block, columns: Sequence[str]) -> NDArray[np.float64]:
    """Return the sum of the numbers in each column, and how many there are. Such pairs of the parts of a table add."""
    if sp.issparse(block.matrix):
        raise MisuseError("--missing mean is not for sparse matrices; pass --missing drop instead.")
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
    """Return a column of numbers, NaN where one is missing; the first value that is no number is refused by name."""
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
    """Return a column of any values as texts, None where nothing is there."""
    gaps = texts_missing(block, name, empty=False)
    return [None if gap else str(value).strip() for value, gap in zip(column_of(block.frame, name), gaps, strict=True)]


def _refuse(block: Block, bad: NDArray[np.bool_], gaps: Gaps) -> NoReturn:
    """Name the first value that is no number, and say how many are missing in all."""
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
        raise ValueError(f"{block.place(at)}: {value!r:.60} is no profile {{key: number}}.") from None
    return profile
