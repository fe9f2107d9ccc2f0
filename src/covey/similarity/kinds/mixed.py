"""Rows of mixed columns, numbers and categories, under Gower's similarity, which `measures.py` defines.

A table becomes encoded rows (`MixedRows`), which a `MixedSpace` compares.

A column is one of numbers if its type says so, or if all values that it holds are numbers. Dates count as numbers if
the type of the column says that they are dates. Every other column holds categories, truth values included. None, NaN,
NaT and pandas' NA are missing values.

Numbers are kept as they are, with the smallest and the largest one of each column. A category becomes its number in the
list of all categories of its column. What is learnt from the table that was passed to `fit` stays with each of its
parts, so that queries are encoded as that table was.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from numbers import Real
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from covey.arrays import Floats, Hashes, Indices, Positions
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_rows, row_hashes
from covey.similarity.fingerprint import key_hashes
from covey.similarity.inputs import check_input, column_names, columns_of, is_frame, is_missing, is_number_type
from covey.similarity.similarity import LARGEST, Similarity
from covey.similarity.space import Space

MISSING, UNSEEN = -1, -2
"""What takes the place of a category's number: the value is missing, or it is a query's and no object of the fit has
it."""


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Rows of a table, encoded.

    Attributes
    ----------
    numbers : float array of shape (n, n_number_columns)
        NaN where a number is missing.
    codes : int array of shape (n, n_category_columns)
        The position of each category in `categories`; -1 where it is missing.
    lowest, highest : float arrays
        The range of each column of numbers in the whole table; 0 and 0 if the column is empty.
    categories : list of lists
        The categories of each column of categories.
    is_number : bool array
        For each column of the table whether it holds numbers.
    keys : list or None
        The keys of the columns if the rows were dicts; None if columns are told apart by their positions.
    """

    numbers: Floats
    codes: NDArray[np.int32]
    lowest: Floats
    highest: Floats
    categories: list[list[Any]]
    is_number: NDArray[np.bool_]
    keys: list[Any] | None

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    @property
    def in_words(self) -> str:
        """What the rows are made of, for messages."""
        return f"{self.is_number.size} columns of numbers and categories"

    def take(self, positions: Positions) -> Self:
        """Return some of the rows, under the ranges and categories of the whole table."""
        return replace(self, numbers=self.numbers[positions], codes=self.codes[positions])

    def with_own_categories(self) -> Self:
        """Return the rows without the categories that none of them has.

        To queries, such a category is the same as one that was never seen.
        """
        codes, own = self.codes.copy(), []
        for column, categories in enumerate(self.categories):
            used = np.unique(codes[:, column])
            used = used[used != MISSING]
            there = codes[:, column] != MISSING
            codes[there, column] = np.searchsorted(used, codes[there, column])
            own.append([categories[code] for code in used.tolist()])
        return replace(self, codes=codes, categories=own)

    @property
    def spreads(self) -> Floats:
        """The range that the differences of each column of numbers are divided by.

        It is positive also for a column of equal numbers, and so small there that any other number is out of range.
        """
        return np.maximum(self.highest - self.lowest, np.finfo(np.float64).smallest_subnormal)


class MixedSpace(Space):
    """Rows of numbers and categories. Scores are computed by compiled code and several threads."""

    threaded = True
    cheap = True

    def __init__(self, left: MixedRows, right: MixedRows, n_jobs: int | None) -> None:
        super().__init__(len(left), len(right), symmetric=left is right, n_jobs=n_jobs)
        self._left, self._right, self._spreads = left, right, right.spreads

    def with_itself(self) -> Floats:
        """Return 1 for each row, and 0 for a row without any value."""
        known = ~np.isnan(self._left.numbers).all(axis=1) | (self._left.codes != MISSING).any(axis=1)
        return known.astype(np.float64)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        out = np.empty(i.size)
        left, right = self._left, self._right
        gower_means(left.numbers, left.codes, right.numbers, right.codes, self._spreads, i, j, out)
        return out


# With the error model of NumPy, numba leaves out the checks for divisions by zero, which would keep the compiler from
# vectorising the loop. No spread is zero.
@njit(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract"})
def gower_means(left_numbers, left_codes, right_numbers, right_codes, spreads, i, j, out):  # type: ignore[no-untyped-def]
    """Fill out[t] with the mean of the terms of the columns that both rows of a pair have; 0 if there are none."""
    for t in range(i.size):
        x, y = left_numbers[i[t]], right_numbers[j[t]]
        total, present = 0.0, 0
        for c in range(x.size):
            difference = abs(x[c] - y[c]) / spreads[c]
            known = difference == difference  # NaN, a missing number, is not equal to itself
            present += known
            total += max(1.0 - difference, 0.0) if known else 0.0
        a, b = left_codes[i[t]], right_codes[j[t]]
        for c in range(a.size):
            known = (a[c] != MISSING) & (b[c] != MISSING)
            present += known
            total += known & (a[c] == b[c])
        out[t] = total / present if present else 0.0


def encode(X: Any) -> MixedRows:
    """Return the rows of a table, with the ranges and categories that it holds. Rows that are encoded stay as they are.

    Raise TypeError or ValueError if X is not a table, or holds infinite numbers or values that cannot be compared.
    """
    if isinstance(X, MixedRows):
        return X
    table = _RawTable.of(X)
    if not (table.n and table.columns):
        raise ValueError(f"X must have rows and columns, got {table.n} rows of {len(table.columns)} columns.")
    read = [_numbers_or_values(column, name) for name, column in table.items()]
    is_number = np.array([isinstance(column, np.ndarray) for column in read], dtype=bool)
    numbers = _stacked([column for column in read if isinstance(column, np.ndarray)], table.n, np.float64)
    coded = [_coded(values, name) for name, values in zip(table.names, read, strict=True) if isinstance(values, list)]
    codes = _stacked([codes for codes, _ in coded], table.n, np.int32)
    there = ~np.isnan(numbers)
    lowest = np.where(there, numbers, np.inf).min(axis=0, initial=np.inf)
    highest = np.where(there, numbers, -np.inf).max(axis=0, initial=-np.inf)
    empty = lowest > highest
    lowest[empty], highest[empty] = 0.0, 0.0
    return MixedRows(numbers, codes, lowest, highest, [categories for _, categories in coded], is_number, table.keys)


def encode_like(X: Any, fitted: MixedRows) -> MixedRows:
    """Return the rows of queries, encoded as the table that was passed to `fit`.

    A category that this table does not have is equal to nothing.
    """
    table = _RawTable.of(X, fitted.keys)
    if (table.keys is None) != (fitted.keys is None):
        wanted, given = ("a table", "dicts") if fitted.keys is None else ("dicts", "a table")
        raise TypeError(f"X must be of the kind passed to fit, which was {wanted}, got {given}.")
    if len(table.columns) != fitted.is_number.size:
        raise ValueError(
            f"X must have the {fitted.is_number.size} columns of the X passed to fit, got {len(table.columns)}."
        )
    named = list(zip(table.items(), fitted.is_number.tolist(), strict=True))
    numbers = [_as_numbers(column, name) for (name, column), is_number in named if is_number]
    values = [(_values(column), name) for (name, column), is_number in named if not is_number]
    codes = [_looked_up(*column, categories) for column, categories in zip(values, fitted.categories, strict=True)]
    stacked = _stacked(numbers, table.n, np.float64), _stacked(codes, table.n, np.int32)
    return replace(fitted, numbers=stacked[0], codes=stacked[1])


@dataclass(frozen=True)
class _RawTable:
    """The columns of what a user has passed, the number of rows, and the keys if the rows are dicts."""

    columns: list[Any]
    n: int
    names: list[Any]
    keys: list[Any] | None = None

    def items(self) -> list[tuple[Any, Any]]:
        """Return the name or the number of each column, and the column."""
        return list(zip(self.names, self.columns, strict=True))

    @classmethod
    def of(cls, X: Any, keys: list[Any] | None = None) -> "_RawTable":
        """Take X apart. If keys are given and the rows are dicts, only the columns with these keys are taken."""
        if is_frame(X):
            return cls(columns_of(X), int(X.shape[0]), column_names(X))
        if isinstance(X, Sequence | np.ndarray) and len(X) and isinstance(X[0], Mapping):
            _check_all(X, Mapping, "dicts")
            keys = list(dict.fromkeys(key for row in X for key in row)) if keys is None else keys
            return cls([[row.get(key) for row in X] for key in keys], len(X), keys, keys)
        array = X if hasattr(X, "ndim") or sp.issparse(X) else _array_of_rows(X)
        if sp.issparse(array) or array.ndim != 2 or array.dtype.names:
            raise TypeError(
                "X must be a frame, a list of dicts or an array of two dimensions for similarity='gower', got "
                f"{type(X).__name__}{f' of shape {array.shape}' if hasattr(array, 'shape') else ''}."
            )
        array = np.asarray(array)
        return cls([array[:, at] for at in range(array.shape[1])], array.shape[0], list(range(array.shape[1])))


def _check_all(X: Sequence[Any] | NDArray[Any], kind: Any, noun: str) -> None:
    """Refuse a sequence that holds anything but objects of one kind."""
    for position, row in enumerate(X):
        if not isinstance(row, kind):
            raise TypeError(
                f"X must hold {noun} only, as its first object is one, got {type(row).__name__} at position {position}."
            )


def _array_of_rows(X: Any) -> NDArray[Any]:
    """Return a sequence of rows as an array of objects; anything but a sequence of rows gets one dimension."""
    rows = list(X)
    if not isinstance(rows[0], list | tuple | np.ndarray):
        return np.empty(len(rows), dtype=object)
    _check_all(rows, list | tuple | np.ndarray, "rows")
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for position, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"X must hold rows of one length, but row 0 has {len(rows[0])} values, and row {position} {len(row)}."
            )
        array[position] = row
    return array


def _numbers_or_values(column: Any, name: Any) -> Floats | list[Any]:
    """Return a column of numbers as an array, and any other column as a list of values."""
    dtype = getattr(column, "dtype", None)
    if dtype is not None and _is_measured(dtype):
        return _as_numbers(column, name)
    values = _values(column)
    kinds = {kind for kind in set(map(type, values)) if kind is not type(None)}
    if kinds and all(map(_is_kind_of_number, kinds)) and not all(map(is_missing, values)):
        return _as_numbers(values, name)
    return values


def _is_measured(dtype: Any) -> bool:
    """Return whether the type of a column is one of numbers or dates. Truth values are categories."""
    if hasattr(dtype, "kind"):
        return dtype.kind in "iufmM"
    named = str(dtype)  # a type of polars
    return named.startswith(("Date", "Duration")) or (is_number_type(dtype) and named != "Boolean")


def _is_kind_of_number(kind: type) -> bool:
    """Return whether the values of a type are numbers, or missing values beside numbers."""
    if issubclass(kind, bool | np.bool_):
        return False
    return issubclass(kind, Real | Decimal | np.number) or kind.__name__ == "NAType"


def _as_numbers(column: Any, name: Any) -> Floats:
    """Return a column as float64, with NaN where a value is missing. Raise ValueError for anything but numbers."""
    kind = getattr(getattr(column, "dtype", None), "kind", "")
    # Dates of pandas that have a time zone become objects unless a type is asked for.
    values = np.asarray(column, dtype=f"{kind}8[us]" if kind and kind in "mM" else None)
    if values.dtype.kind in "mM":
        return _from_dates(values)
    if values.dtype.kind in "iuf":
        numbers = values.astype(np.float64)
    else:
        listed = _values(column)
        numbers = np.fromiter((_number(value, row, name) for row, value in enumerate(listed)), np.float64, len(listed))
    too_large = np.flatnonzero(np.abs(numbers) >= LARGEST)
    if too_large.size:
        raise ValueError(
            f"X must hold missing values or numbers below {LARGEST:g} in magnitude, got {numbers[too_large[0]]} "
            f"at row {too_large[0]}, column {name!r}; leave such values out."
        )
    numbers[np.isnan(numbers)] = np.nan  # gives every NaN the same bits, by which equal rows are found
    return numbers


def _from_dates(values: NDArray[Any]) -> Floats:
    """Return dates or durations as microseconds, which float64 holds exactly for 285 years around 1970."""
    numbers = values.astype(f"{values.dtype.kind}8[us]").view(np.int64).astype(np.float64)
    numbers[np.isnat(values)] = np.nan
    return numbers


def _number(value: Any, row: int, name: Any) -> float:
    if is_missing(value):
        return np.nan
    if _is_kind_of_number(type(value)):
        try:
            return float(value)
        except OverflowError:  # a whole number of hundreds of digits
            return np.inf
    raise ValueError(
        f"X must hold numbers in column {name!r}, as in fit, got {value!r:.60} at row {row}; pass None where a number "
        "is missing."
    )


def _values(column: Any) -> list[Any]:
    """Return the values of a column as a list."""
    if isinstance(column, list):
        return column
    values: list[Any] = column.tolist() if hasattr(column, "tolist") else column.to_list()
    return values


def _coded(values: list[Any], name: Any) -> tuple[NDArray[np.int32], list[Any]]:
    """Return the number of each category, and the categories in the order of their first occurrence."""
    categories = [value for value in _different(values, name) if not is_missing(value)]
    return _looked_up(values, name, categories), categories


def _looked_up(values: list[Any], name: Any, categories: list[Any]) -> NDArray[np.int32]:
    """Return the number of each category in a list of categories."""
    known = {category: code for code, category in enumerate(categories)}
    # Each different value is looked at once, because a loop in Python is slow.
    codes = {value: MISSING if is_missing(value) else known.get(value, UNSEEN) for value in _different(values, name)}
    return np.fromiter(map(codes.__getitem__, values), dtype=np.int32, count=len(values))


def _different(values: list[Any], name: Any) -> dict[Any, None]:
    """Return the different values, in the order of their first occurrence."""
    try:
        return dict.fromkeys(values)
    except TypeError as error:
        raise TypeError(
            f"X must hold categories that can be hashed, such as strings, but column {name!r} does not ({error}); drop "
            "the column, or turn its values into strings."
        ) from error


def _stacked(parts: list[NDArray[Any]], n: int, dtype: Any) -> NDArray[Any]:
    """Return columns as one array of n rows."""
    return np.column_stack(parts).astype(dtype, copy=False) if parts else np.empty((n, 0), dtype=dtype)


class MixedCollection(Collection):
    """Rows of a table, encoded. The ranges and categories are those of all of X, also in a part of it."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity) -> "MixedCollection":
        """Check X and make a collection of it."""
        return cls(similarity, encode(X), given=X)

    @property
    def n_columns(self) -> int | None:
        """How many columns the table has. It is None if the rows were dicts."""
        return int(self.objects.is_number.size) if self.objects.keys is None else None

    @property
    def nothing_in_common(self) -> float:
        return 0.0

    def representatives(self, positions: Positions) -> "MixedCollection":
        """Return the members at these positions. They keep their own categories alone."""
        part = self.objects.take(positions).with_own_categories()
        return MixedCollection(self.similarity, part, self.rows[positions])

    def against(self, others: Self, n_jobs: int | None = None) -> MixedSpace:
        return MixedSpace(self.objects, others.objects, n_jobs)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> MixedSpace:
        X = check_input(X)
        if estimator is not None and self.n_columns is not None:
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return MixedSpace(encode_like(X, self.objects), self.objects, n_jobs)

    def distinct(self) -> Distinct:
        return distinct_rows(self._table(self.objects.codes))

    def content_hashes(self) -> Hashes:
        hashes = [
            np.append(key_hashes(categories), np.uint64(0))[codes]  # the last one is that of a missing value, -1
            for categories, codes in zip(self.objects.categories, self.objects.codes.T, strict=True)
        ]
        return row_hashes(self._table(np.column_stack(hashes).view(np.int64) if hashes else self.objects.codes))

    def _table(self, categories: NDArray[Any]) -> NDArray[np.int64]:
        """Return the bits of all numbers, and of these numbers for categories; equal rows have equal bits."""
        numbers = self.objects.numbers + 0.0  # turns -0 into 0, which has other bits
        return np.hstack([numbers.view(np.int64), categories.astype(np.int64)])

    def _joined(self, parts: Sequence[Collection]) -> Collection:
        raise TypeError(
            "Tables under similarity='gower' cannot be joined, because each has ranges and categories of its own; pass "
            "one table of all objects."
        )

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, self.objects.take(positions), self.rows[positions])
