"""What X and y may be: their types, how frames are read, and the checks that several kinds of objects share.

1. *Types* of what a user passes, for annotations. They say what covey accepts before anything is checked; a
   `Collection` is made of it (`kinds/`). Users find them in `covey.typing`.
2. *Frames* are those of pandas and polars, and tables of Arrow. They are recognised by their attributes, so that none
   of these libraries has to be imported.
3. *Missing values* are NaN, NaT, None, pandas' NA, and masked entries.
4. *First checks* refuse what cannot be a sequence of objects of any kind.
5. *Sparse matrices* are checked before compiled code follows their indices. Neither SciPy nor compiled loops check the
   indices that a sparse matrix is built of, and a single one out of range would make the loops read or write foreign
   memory.
6. *Rows of numbers* become one array from arrays, CSR matrices and frames.
"""

import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from numbers import Integral
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import _safe_indexing, check_array
from sklearn.utils.validation import validate_data

from covey.arrays import Flags, Positions
from covey.similarity.similarity import Measure


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or sparse array, of any format.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from covey.typing import SparseMatrix
    >>> def density(matrix: SparseMatrix) -> float:
    ...     return matrix.nnz / (matrix.shape[0] * matrix.shape[1])
    >>> density(sp.eye_array(4))
    0.25
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows and columns it has."""

    @property
    def nnz(self) -> int:
        """How many entries it stores."""

    def tocsr(self) -> Any:
        """Return it in CSR format.

        Returns
        -------
        sparse matrix or array
            The same numbers, row by row.
        """


class Frame(Protocol):
    """A data frame of pandas or polars.

    Examples
    --------
    >>> import pandas
    >>> from covey.typing import Frame
    >>> def n_cells(table: Frame) -> int:
    ...     return table.shape[0] * table.shape[1]
    >>> n_cells(pandas.DataFrame({"length": [1, 2], "width": [3, 4]}))
    4
    """

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    @property
    def dtypes(self) -> Any:
        """The types of its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""


class Column(Protocol):
    """One column of a data frame, or anything else that NumPy can turn into an array and that has a length.

    Examples
    --------
    >>> import numpy as np
    >>> from covey.typing import Column
    >>> def n_labels(y: Column) -> int:
    ...     return len(np.unique(y))
    >>> n_labels(np.array(["cat", "dog", "cat"]))
    2
    """

    def __array__(self) -> NDArray[Any]: ...

    def __len__(self) -> int: ...


Objects = NDArray[Any] | SparseMatrix | Frame | Sequence[Any]
"""X: rows of an array, of a sparse matrix or of a frame, or a sequence of any objects. Each row is an object."""

Labels = NDArray[Any] | Column | Sequence[Any]
"""y: one label for each object. Labels can be sorted and are hashable."""


ARROW_NUMBERS = {f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}
ARROW_NUMBERS |= {"halffloat", "float", "double", "bool"}
"""What Arrow calls its types of numbers and of truth values."""


def is_frame(X: Any) -> bool:
    """Return whether X is a frame of pandas or polars, or a table of Arrow."""
    return _is_arrow(X) or all(hasattr(X, name) for name in ("columns", "dtypes", "shape"))


def _is_arrow(X: Any) -> bool:
    """Return whether X is a table, or a batch of rows, of Arrow."""
    return all(hasattr(X, name) for name in ("column_names", "schema", "to_pylist"))


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a frame."""
    return list(X.column_names if _is_arrow(X) else X.columns)


def columns_of(X: Any) -> list[Any]:
    """Return the columns of a frame. They are taken by position where names may occur twice."""
    if _is_arrow(X):
        return [_arrow_column(X.column(number)) for number in range(X.num_columns)]
    if hasattr(X, "iloc"):
        return [X.iloc[:, number] for number in range(X.shape[1])]
    return [X[name] for name in X.columns]


def _arrow_column(column: Any) -> Any:
    """Return numbers and dates as an array, and anything else as a list."""
    is_date = str(column.type).startswith(("date", "timestamp", "duration"))
    return np.asarray(column) if is_date or is_number_type(column.type) else column.to_pylist()


def row_dicts(X: Any) -> list[dict[Any, Any]]:
    """Return the rows of a frame as dicts."""
    if _is_arrow(X):
        return list(X.to_pylist())
    return list(X.to_dicts() if hasattr(X, "to_dicts") else X.to_dict("records"))


def is_numeric(X: Any) -> bool:
    """Return whether X holds rows of numbers.

    Only types are looked at, so that any rows of one table give the same answer.
    """
    if is_frame(X):
        return all(map(is_number_type, _types(X)))
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "biuf"


def has_one_numpy_type(X: Any) -> bool:
    """Return whether all columns of a frame have the same type, and this is a type of NumPy."""
    return len(set(_types(X))) == 1 and all(isinstance(dtype, np.dtype) for dtype in _types(X))


def _types(X: Any) -> list[Any]:
    """Return the types of the columns of a frame."""
    return list(X.schema.types if _is_arrow(X) else X.dtypes)


def is_number_type(dtype: Any) -> bool:
    """Return whether a column's type is that of numbers or truth values.

    It may be of NumPy, pandas (with missing values, or Arrow's), polars or Arrow.
    """
    if hasattr(dtype, "kind"):
        return dtype.kind in "biuf"
    if hasattr(dtype, "is_integer"):
        return dtype.is_integer() or dtype.is_float() or str(dtype) == "Boolean"
    return str(dtype) in ARROW_NUMBERS


def is_missing(value: Any) -> bool:
    """Return whether a single value is missing. Pandas is not imported for this."""
    if value is None or value is np.ma.masked:
        return True
    try:
        return bool(value != value)
    except TypeError:  # every comparison with pandas' NA yields NA, which has no truth value
        return True
    except ValueError:  # the value is an array, which is not missing
        return False


def missing_in(values: NDArray[Any]) -> Flags:
    """Return for each entry of an array of any type whether it is missing."""
    if values.dtype.kind == "f":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind == "O":
        return np.fromiter(map(is_missing, values.flat), dtype=bool, count=values.size).reshape(values.shape)
    return np.zeros(values.shape, dtype=bool)


def refuse_masked(values: Any, name: str) -> None:
    """Refuse an array that has masked entries. Their hidden values must not be used."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        where = place(np.argwhere(np.ma.getmaskarray(values))[0])
        raise ValueError(f"{name} must not hold masked entries, got one at {where}; drop or fill such objects first.")


def place(position: Any) -> str:
    """Return in words where an entry is."""
    row, *column = map(int, position)
    return f"row {row}, column {column[0]}" if column else f"position {row}"


def first_marked(X: Any, marked: Flags) -> tuple[Any, str]:
    """Return the first entry that is marked, and where it is. In a sparse X only stored entries can be marked."""
    if not sp.issparse(X):
        where = tuple(np.argwhere(marked)[0])
        return X[where], place(where)
    position = int(np.flatnonzero(marked)[0])
    row = int(np.searchsorted(X.indptr, position, side="right")) - 1
    return X.data[position], place((row, X.indices[position]))


def check_input(X: Any) -> Any:
    """Refuse an X that is neither a sequence of objects, nor an array, nor a frame.

    A single column of a frame becomes a list.
    """
    refuse_masked(X, "X")
    if not is_frame(X):
        X = _listed(X)
    array_like = is_frame(X) or sp.issparse(X) or hasattr(X, "__array__")
    if not array_like or (isinstance(X, np.ndarray) and X.ndim < 2):
        _check_sequence(X)
    return X


def _listed(X: Any) -> Any:
    """Return a series of pandas or polars, or an array of Arrow, as a list, and anything else as it is."""
    listing = next((name for name in ("to_list", "to_pylist") if hasattr(X, name)), None)
    return X if listing is None else getattr(X, listing)()


def are_profiles(X: Any) -> bool:
    """Return whether X holds sets or dicts. The first object decides."""
    return first_is(X, dict | AbstractSet)


def _check_sequence(X: Any) -> None:
    """Refuse what has no order or no length, a single string, and an X without objects."""
    unordered = isinstance(X, AbstractSet | Mapping)
    unordered |= not hasattr(X, "__len__") or getattr(X, "shape", None) == ()
    if isinstance(X, str | bytes) or unordered:
        remedy = "list(X.values())" if isinstance(X, Mapping) else "list(X)"
        raise TypeError(f"X must be a sequence of objects, an array or a frame, got {type(X).__name__}; pass {remedy}.")
    if len(X) == 0:
        raise ValueError("X must hold at least one object, got an empty X.")


def check_same_kind(X: Any, *, profiles: bool) -> None:
    """Refuse rows of numbers where profiles were passed to fit, and the other way round."""
    if are_profiles(X) != profiles:
        raise TypeError("X must be of the kind passed to fit: either rows of numbers, or sets and dicts.")


def first_is(X: Any, kind: Any) -> bool:
    """Return whether X is a sequence whose first object is of a given type."""
    return isinstance(X, Sequence | np.ndarray) and len(X) > 0 and not isinstance(X, str) and isinstance(X[0], kind)


def take_rows(X: Any, rows: Positions) -> Any:
    """Return some rows of what a user has passed, in the same type.

    Only a sparse matrix of a format that cannot be indexed becomes CSR.
    """
    if hasattr(X, "to_pylist"):
        return X.take(rows)  # Arrow's tables and arrays
    if sp.issparse(X) and X.format not in ("csr", "csc", "lil"):
        X = X.tocsr()
    return type(X)(X[row] for row in rows) if type(X) in (list, tuple) else _safe_indexing(X, rows)


COMPRESSED = ("csr", "csc", "bsr")
"""The sparse formats that store their entries list by list, with `indptr` and `indices`."""


def check_csr(matrix: Any, name: str) -> sp.csr_array:
    """Return a sparse matrix of any format as a CSR array in which every index is in range.

    The array shares its memory with the matrix where it can. Raise ValueError if an index is out of range, or if the
    arrays of the matrix do not fit each other. The error calls the matrix by `name`.
    """
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, got a sparse array of shape {matrix.shape}.")
    if matrix.format in COMPRESSED:
        _check_compressed(matrix, name)
    else:
        matrix = matrix.tocoo(copy=False)
        _check_coordinates(matrix, name)
    csr = sp.csr_array(matrix)
    csr.prune()  # drops unused room behind the last entry, which SciPy allows
    return csr


def _check_compressed(matrix: Any, name: str) -> None:
    """Check the indices of a matrix that stores its entries list by list."""
    block = matrix.blocksize if matrix.format == "bsr" else (1, 1)
    n_lists, n_places = (length // side for length, side in zip(matrix.shape, block, strict=True))
    if matrix.format == "csc":
        n_lists, n_places = n_places, n_lists
    starts, places = np.asarray(matrix.indptr), np.asarray(matrix.indices)
    _check_integers(starts, f"{name}.indptr")
    _check_integers(places, f"{name}.indices")
    if starts.size != n_lists + 1:
        raise ValueError(
            f"{name}.indptr must have {n_lists + 1} entries for a {matrix.format} matrix of shape {matrix.shape}, got "
            f"{starts.size}; build the matrix anew."
        )
    if starts[0] != 0 or (starts[1:] < starts[:-1]).any():
        raise ValueError(f"{name}.indptr must start with 0 and never decrease, but it does; build the matrix anew.")
    if places.size != len(matrix.data) or starts[-1] > places.size:
        raise ValueError(
            f"{name} must have as many indices as values, and indptr must end with their number, got {places.size} "
            f"indices, {len(matrix.data)} values and {starts[-1]}; build the matrix anew."
        )
    _check_range(places[: int(starts[-1])], n_places, f"{name}.indices")


def _check_coordinates(matrix: Any, name: str) -> None:
    """Check the indices of a matrix that stores a row and a column for each entry."""
    for places, length, axis in zip(matrix.coords, matrix.shape, ("row", "col"), strict=True):
        _check_integers(places, f"{name}.{axis}")
        if places.size != matrix.data.size:
            raise ValueError(
                f"{name}.{axis} must have one entry for each of the {matrix.data.size} values, got {places.size}; "
                "build the matrix anew."
            )
        _check_range(places, length, f"{name}.{axis}")


def _check_integers(array: NDArray[Any], name: str) -> None:
    """Refuse an index array that does not hold integers in one dimension."""
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be a one-dimensional array of integers, got shape {array.shape} and type {array.dtype}; "
            "build the matrix anew."
        )


def _check_range(places: NDArray[Any], end: int, name: str) -> None:
    """Refuse indices that do not lie from 0 up to `end`."""
    if not places.size:
        return
    for extreme in (int(places.min()), int(places.max())):
        if not 0 <= extreme < end:
            raise ValueError(f"{name} must lie in [0, {end}), got {extreme}; build the matrix anew.")


def looks_like_distances(matrix: Any) -> bool:
    """Return whether no object is more similar to itself than to any other object, and some are less similar."""
    diagonal = matrix.diagonal()
    if not sp.issparse(matrix):
        return bool((diagonal <= matrix.min(axis=1)).all() and matrix.max() > diagonal.max())
    # A sparse graph need not store its diagonal. Only a stored one tells how similar an object is to itself.
    n_stored, least, most = 0, np.inf, -np.inf
    for rows in blocks_of_rows(matrix):
        stored = slice(matrix.indptr[rows.start], matrix.indptr[rows.stop])
        row_of = np.repeat(np.arange(rows.start, rows.stop), np.diff(matrix.indptr[rows.start : rows.stop + 1]))
        itself = row_of == matrix.indices[stored]
        n_stored += int(np.count_nonzero(itself))
        if n_stored < rows.stop:
            return False
        others = matrix.data[stored][~itself]
        if others.size:
            least, most = min(least, others.min()), max(most, others.max())
    return bool(least <= most and diagonal.max() <= least and diagonal.max() < most)


BLOCK = 1 << 20
"""About how many stored entries are looked at at once, so that a look takes little memory beside the matrix."""


def blocks_of_rows(matrix: Any) -> Iterator[slice]:
    """Yield blocks of the rows of a CSR array, each of which stores about `BLOCK` entries, or is one row."""
    n = matrix.shape[0]
    starts = np.searchsorted(matrix.indptr, np.arange(0, max(matrix.indptr[-1], 1), BLOCK), side="left")
    bounds = np.unique(np.concatenate([[0], np.minimum(starts, n), [n]]))
    for first, last in itertools.pairwise(bounds.tolist()):
        yield slice(first, last)


LARGEST_FLOAT = int(sys.float_info.max)
"""The largest number that a float holds. An int of Python may be larger."""


def check_rows(X: Any, estimator: Any = None, *, compared: bool = False, finite: bool = True) -> Any:
    """Return X as an array, or a CSR array, of numbers.

    The numbers must be finite. Pass ``finite=False`` if they go to a custom function, which may allow other numbers.
    Pass ``compared=True`` for queries: their columns are then compared with those that were recorded on the estimator.
    """
    rows = check_array(
        check_csr(X, "X") if sp.issparse(X) else _array_of(X),
        accept_sparse="csr",
        dtype="numeric",
        ensure_all_finite=False,
        estimator=estimator,
        input_name="X",
    )
    if compared and estimator is not None:  # X is passed as it was given, because an array has no names of columns
        validate_data(estimator, X, reset=False, skip_check_array=True)
    if finite:
        _check_finite(rows)
    return sp.csr_array(rows) if sp.issparse(rows) else rows


def _array_of(X: Any) -> NDArray[Any]:
    """Return an X that is not sparse as one array. A missing value in an array of objects is refused by its place."""
    if is_frame(X) and is_numeric(X) and not has_one_numpy_type(X):
        return np.column_stack([_numbers(column) for column in columns_of(X)])
    values = np.asarray(X)
    if values.dtype.kind == "O" and (missing := missing_in(values)).any():
        value, where = first_marked(values, missing)
        raise ValueError(f"X must not hold missing values, got {value} at {where}; drop or impute such rows first.")
    if values.dtype.kind == "O":
        try:
            return values.astype(np.float64)
        except OverflowError as error:
            too_large = np.frompyfunc(_exceeds_floats, 1, 1)(values).astype(bool)
            _, where = first_marked(values, too_large)
            raise ValueError(
                f"X must be finite, got an int beyond {LARGEST_FLOAT:.1e}, the largest float, at {where}; scale such "
                "columns, or drop such rows first."
            ) from error
        except (TypeError, ValueError) as error:
            raise type(error)(f"X must hold rows of numbers for this similarity: {error}.") from error
    return values


def _exceeds_floats(value: Any) -> bool:
    """Return whether a value is an int that no float holds."""
    return isinstance(value, Integral) and abs(int(value)) > LARGEST_FLOAT


def _numbers(column: Any) -> NDArray[Any]:
    """Return a column of a numeric type as an array.

    Only a column of truth values with missing ones arrives here as objects.
    """
    values = np.asarray(column)
    if values.dtype.kind != "O":
        return values
    return np.array([np.nan if is_missing(value) else value for value in values], dtype=np.float64)


def _check_finite(X: Any) -> None:
    """Refuse NaN, infinite numbers and NaT, and name the first of them."""
    values = X.data if sp.issparse(X) else X
    if values.dtype.kind not in "fmM":
        return
    with np.errstate(over="ignore", invalid="ignore"):
        if values.dtype.kind == "f" and np.isfinite(values.sum(dtype=np.float64)):
            return  # a finite sum proves that every number is finite
    bad = ~np.isfinite(values)  # NaT counts as not finite, too
    if not bad.any():
        return
    value, where = first_marked(X, bad)
    shown = "NaN" if value.dtype.kind == "f" and np.isnan(value) else value
    raise ValueError(f"X must be finite, got {shown} at {where}; drop or impute such rows first.")


def like(objects: Any, others: Any) -> Any:
    """Return rows in the storage that other rows have, dense or CSR."""
    if sp.issparse(objects) == sp.issparse(others):
        return objects
    return sp.csr_array(objects) if sp.issparse(others) else objects.toarray()


def check_domain(rows: Any, domain: str, similarity: str) -> None:
    """Refuse numbers for which a named similarity is not defined."""
    values = rows.data if sp.issparse(rows) else rows
    if values.dtype.kind == "M":
        values = values.astype(np.int64)  # dates count from 1970 on, and cannot be compared with a number
    if domain == "nonnegative" and values.size and values.min() < 0:
        raise ValueError(
            f"X must not hold negative numbers for similarity={similarity!r}, got {values.min()}; "
            "use 'cosine' or 'euclidean' for signed features."
        )
    if domain == "binary":
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(
                f"X must hold sets or rows of 0 and 1 for similarity={similarity!r}, got {other.flat[0]}; "
                "pass X != 0 or sets, or use 'ruzicka' for weights; packed bits must be of type uint8 or uint64."
            )


def nothing_in_common(rows: Any, measure: Measure) -> float | None:
    """Return the similarity of rows that have nothing in common, or None if there is no such value for these rows.

    Where products or minima are summed, negative numbers may cancel out what rows have in common.
    """
    values = rows.data if sp.issparse(rows) else rows
    signed = measure.statistic in ("dot", "minimum") and values.min(initial=0) < 0
    return None if signed else measure.nothing_in_common
