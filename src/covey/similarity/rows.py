"""Rows of numbers, dense or CSR: the storage behind the named similarities.

Both kinds answer the same three questions by index: the sum of a statistic over the coordinates of a pair of rows
(`sums`), the same of each row with itself (`with_itself`), and matrix products of blocks with their relative error.
Float32 stays float32; booleans and small integers become float32, which holds them exactly; the rest float64.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.similarity import kernels
from covey.similarity.objects import Objects
from covey.similarity.similarity import Measure, Rounding

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


class DenseRows:
    def __init__(self, values: NDArray[Any]) -> None:
        self.values = np.ascontiguousarray(values)
        self.n, self.width = values.shape

    @property
    def rounding(self) -> Rounding:
        """Of matrix products, in any order of addition, with a margin."""
        return _rounding(self.width, self.values.dtype)

    def sums(self, statistic: str, i: Indices, other: "DenseRows", j: Indices) -> Floats:
        out = np.empty(i.size)
        getattr(kernels, f"dense_{statistic}")(self.values, other.values, i, j, out)
        return out

    def with_itself(self, statistic: str) -> Floats:
        every = np.arange(self.n, dtype=np.int32)
        return self.sums(statistic, every, self, every)

    def nonzero(self, positions: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Which of these rows hold anything but zeros."""
        return np.asarray(self.values[positions].any(axis=1))

    def weighted_sum(self, weights: Floats) -> Floats:
        total = np.zeros(self.width)
        kernels.dense_weighted_sum(self.values, weights, total)
        return total

    def products(self, rows: slice, other: "DenseRows", columns: slice) -> NDArray[Any]:
        return self.values[rows] @ other.values[columns].T


class CsrRows:
    def __init__(self, values: sp.csr_array) -> None:
        if not values.has_canonical_format or (values.data == 0).any():
            values = values.copy()  # the user's matrix stays as it is
            values.sum_duplicates()
            values.eliminate_zeros()
        self.values = values
        self.n, self.width = values.shape

    @property
    def rounding(self) -> Rounding:
        return _rounding(int(np.diff(self.values.indptr).max(initial=0)), self.values.dtype)

    def sums(self, statistic: str, i: Indices, other: "CsrRows", j: Indices) -> Floats:
        a, b = self.values, other.values
        out = np.empty(i.size)
        term = getattr(kernels, statistic.upper())
        arguments = (a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, i, j, out)
        # Spreading a row out takes as long as the rows are wide: it must serve enough pairs.
        if term in (kernels.DOT, kernels.MINIMUM) and self.width <= 64 * i.size:
            kernels.csr_shared_sum(term, self.width, *arguments)
        else:
            kernels.csr_sum(term, *arguments)
        return out

    def with_itself(self, statistic: str) -> Floats:
        every = np.arange(self.n, dtype=np.int32)
        return self.sums(statistic, every, self, every)

    def nonzero(self, positions: NDArray[np.intp]) -> NDArray[np.bool_]:
        return np.diff(self.values.indptr)[positions] > 0

    def weighted_sum(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.values, dtype=np.float64)

    def products(self, rows: slice, other: "CsrRows", columns: slice) -> NDArray[Any]:
        return (self.values[rows] @ other.values[columns].T).toarray()


def _rounding(n_terms: int, dtype: np.dtype[Any]) -> Rounding:
    info = np.finfo(dtype)
    return Rounding((n_terms + 16) * float(info.eps), (n_terms + 16) * float(info.tiny))


Rows = DenseRows | CsrRows


def rows_of(left: Objects, right: Objects, measure: Measure) -> tuple[Rows, Rows]:
    """Both sides as rows of one kind, the right side's, and one precision; the same rows if they are the same."""
    if isinstance(left, list) != isinstance(right, list):
        raise TypeError("X must be of the kind passed to fit: either rows of numbers, or sets and dicts.")
    if isinstance(right, list):
        return _rows_of_profiles(left, right, measure)
    dtype = np.result_type(_float_type(left.dtype), _float_type(right.dtype))
    right_rows = _rows(right, measure, dtype)
    if left is right:
        return right_rows, right_rows
    if sp.issparse(right) != sp.issparse(left):
        left = sp.csr_array(left) if sp.issparse(right) else left.toarray()
    return _rows(left, measure, dtype), right_rows


def _rows(X: Objects, measure: Measure, dtype: Any) -> Rows:
    X = X.astype(dtype, copy=False)
    _check_domain(X, measure)
    return CsrRows(X) if sp.issparse(X) else DenseRows(X)


def _float_type(dtype: np.dtype[Any]) -> Any:
    exact_in_float32 = dtype.kind == "b" or (dtype.kind in "iuf" and dtype.itemsize <= 2)
    return np.float32 if exact_in_float32 or dtype == np.float32 else np.float64


def _check_domain(X: Objects, measure: Measure) -> None:
    values = X.data if sp.issparse(X) else X
    if measure.domain == "nonnegative" and values.size and values.min() < 0:
        raise ValueError(
            f"X must not hold negative numbers for similarity='{measure.name}', got {values.min()}; "
            "use 'cosine' or 'euclidean' for signed features."
        )
    if measure.domain == "binary":
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(
                f"X must hold sets or rows of 0 and 1 for similarity='{measure.name}', got {other.flat[0]}; "
                "pass X != 0 or sets, or use 'ruzicka' for weights."
            )


def _rows_of_profiles(left: list[Any], right: list[Any], measure: Measure) -> tuple[Rows, Rows]:
    """Sets and dicts of numbers share one vocabulary, so that a key that only one side has still weighs in."""
    if measure.statistic == "mismatches":
        raise ValueError(f"similarity='{measure.name}' needs rows of one width, got sets or dicts; use 'jaccard'.")
    vocabulary: dict[Any, int] = {}
    right_parts = _encode(right, vocabulary)
    left_parts = right_parts if left is right else _encode(left, vocabulary)
    width = max(len(vocabulary), 1)
    right_rows = _rows(_csr(right_parts, width), measure, np.float64)
    return (right_rows if left is right else _rows(_csr(left_parts, width), measure, np.float64)), right_rows


def profile_rows(profiles: list[Any]) -> sp.csr_array:
    """Sets and dicts of numbers as rows, a column for each key."""
    vocabulary: dict[Any, int] = {}
    parts = _encode(profiles, vocabulary)
    return _csr(parts, max(len(vocabulary), 1))


def _csr(parts: tuple[Any, Any, Any], width: int) -> sp.csr_array:
    values, columns, starts = parts
    return sp.csr_array((values, columns, starts), shape=(len(starts) - 1, width))


def _encode(profiles: Iterable[Any], vocabulary: dict[Any, int]) -> tuple[Any, Any, Any]:
    """The values, columns and starts of a row for each checked profile; new keys enter the vocabulary."""
    values: list[float] = []
    columns: list[int] = []
    starts = [0]
    for profile in profiles:
        columns.extend(vocabulary.setdefault(key, len(vocabulary)) for key in profile)
        values.extend(profile.values() if isinstance(profile, dict) else [1.0] * len(profile))
        starts.append(len(columns))
    return np.array(values, dtype=np.float64), np.array(columns, dtype=np.int32), np.array(starts, dtype=np.int32)
