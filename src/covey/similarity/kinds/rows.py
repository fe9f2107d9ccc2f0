"""Rows of numbers under a named similarity, which is made of one sum over their coordinates.

1. `Rows` are the storage, dense or CSR; those of packed bits (`bits.py`) are stored in words. All answer the same
   questions by index: `sums` adds up a statistic over the coordinates of a pair of rows, `own_terms` does the same for
   each row with itself, and `products` multiplies blocks of rows. Float32 stays float32. Booleans and small integers
   become float32, which holds them exactly. All other numbers become float64.
2. `RowSpace` turns sums into similarities, and products into estimates.
3. `RowCollection` checks X.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from datetime import date, timedelta
from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Hashes, Indices, Integers, Positions
from covey.runtime.interruptible import in_steps, stop_if_abandoned
from covey.similarity.bounds import SHORTEST, WIDEST, Bounds
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_rows, row_hashes
from covey.similarity.inputs import (
    check_domain,
    check_input,
    check_rows,
    check_same_kind,
    column_names,
    columns_of,
    first_is,
    is_frame,
    is_numeric,
    like,
    nothing_in_common,
)
from covey.similarity.kernels import STATISTICS, csr_products, csr_shared_sum, csr_sum, dense_weighted_sum
from covey.similarity.measures import measure_of
from covey.similarity.names import STRINGS
from covey.similarity.packed_bits import are_packed
from covey.similarity.similarity import LARGEST, Measure, Rounding, Similarity
from covey.similarity.space import Space, UpperBounds

COLUMNS_A_PAIR = 64
"""CSR rows are spread out only if there is at least one pair for this many columns. This keeps the time for clearing
the array small beside the time for the pairs."""

WIDE, WIDE_GROUPS_FROM = 512, 200_000
"""Dense rows of at least the first number of columns are grouped from the second number of rows on. For 60 000 rows of
784 columns, NN-Descent takes .7 of the time of groups, because the bytes of a row decide about most of its pairs."""

PRODUCTS = 1 << 31
"""How many multiplications a matrix product makes at a time, about. One core makes some 10 thousand million a second,
so that this takes a fifth of a second. Blocks of rows of up to 2 000 columns are multiplied in one step."""


class Rows(ABC):
    """What all kinds of rows have in common.

    Attributes
    ----------
    hubs : bool
        Whether rows of this kind often have hubs, which are a few rows that are near to very many others.
    exact_up_to : int
        Up to this number of rows, screening all pairs by matrix products is about as fast as NN-Descent.
    groups_from : int
        From this number of rows on, groups are faster than NN-Descent.
    rounds_to_bytes : bool
        Whether `bounds.py` can keep the rows in one byte a number.
    """

    hubs: bool
    exact_up_to: int
    groups_from: int = 0
    rounds_to_bytes: bool

    def __init__(self, values: Any) -> None:
        self.values = values
        self.n, self.width = values.shape
        self._own_terms: dict[str, Floats] = {}

    def take(self, positions: Indices) -> Self:
        """Return some of these rows, in this order."""
        part = copy(self)
        part.values, part.n = self.values[positions], positions.size
        part._own_terms = {statistic: terms[positions] for statistic, terms in self._own_terms.items()}
        return part

    def own_terms(self, statistic: str | None) -> Floats:
        """Return the statistic of each row with itself, or 0 if there is no statistic.

        It is computed when it is first asked for.
        """
        if statistic is None:
            return np.zeros(self.n)
        if statistic not in self._own_terms:
            every = np.arange(self.n, dtype=np.int32)
            self._own_terms[statistic] = self.sums(statistic, every, self, every)
        return self._own_terms[statistic]

    @property
    def precision(self) -> np.dtype[Any]:
        """The type of the numbers that `products` returns."""
        return np.dtype(self.values.dtype)

    @property
    def n_read(self) -> int:
        """How many numbers of a row a product reads, on average."""
        return self.width

    @property
    @abstractmethod
    def n_terms(self) -> int:
        """How many products are added up for a pair of rows, at most."""

    @abstractmethod
    def sums(self, statistic: str, i: Indices, other: Any, j: Indices) -> Floats:
        """Return the sum of a statistic over the coordinates of row i[t] of these and row j[t] of the other side."""

    @abstractmethod
    def nonzero(self, positions: Positions) -> Flags:
        """Return for each of these rows whether it holds anything but zeros."""

    @abstractmethod
    def weighted_sum(self, weights: Floats) -> Floats:
        """Return the sum of all rows, each times its weight.

        The order of the additions does not depend on the number of threads.
        """

    @abstractmethod
    def products(self, rows: slice, other: Any, columns: slice) -> NDArray[Any]:
        """Return the matrix product of some rows with some rows of the other side."""


class DenseRows(Rows):
    hubs = False
    exact_up_to = 20_000
    """Beyond this, all pairs take longer than groups: for 20 000 latent rows 1.4 times as long, for rows without
    structure .7 times (`benchmarks/large.py`)."""
    rounds_to_bytes = True

    def __init__(self, values: NDArray[Any]) -> None:
        super().__init__(np.ascontiguousarray(values))
        self.groups_from = WIDE_GROUPS_FROM if self.width >= WIDE else 0

    @property
    def n_terms(self) -> int:
        return self.width

    def sums(self, statistic: str, i: Indices, other: "DenseRows", j: Indices) -> Floats:
        out = np.empty(i.size)
        STATISTICS[statistic].dense(self.values, other.values, i, j, out)
        return out

    def nonzero(self, positions: Positions) -> Flags:
        return np.asarray(self.values[positions].any(axis=1))

    def weighted_sum(self, weights: Floats) -> Floats:
        total = np.zeros(self.width)
        dense_weighted_sum(self.values, weights, total)
        return total

    def products(self, rows: slice, other: "DenseRows", columns: slice) -> NDArray[Any]:
        left, right = self.values[rows], other.values[columns]
        step = max(PRODUCTS // max(right.size, 1), 1)
        if step >= len(left):
            return left @ right.T
        out = np.empty((len(left), len(right)), dtype=self.values.dtype)
        for start in range(0, len(left), step):  # very wide rows, in steps that Ctrl-C can end
            stop_if_abandoned()
            np.matmul(left[start : start + step], right.T, out=out[start : start + step])
        return out


class CsrRows(Rows):
    """Rows of a CSR array. Columns are sorted, and zeros are not stored."""

    hubs = True
    exact_up_to = 30_000
    """It is larger than for dense rows, because products of sparse rows take less time, and joins of neighbors more."""
    rounds_to_bytes = False

    def __init__(self, values: sp.csr_array) -> None:
        if not values.has_canonical_format or (values.data == 0).any():
            values = values.copy()  # leaves the user's matrix as it is
            values.sum_duplicates()
            values.eliminate_zeros()
        super().__init__(values)

    def widened(self, width: int) -> "CsrRows":
        """Return the same rows with further columns, which are all empty."""
        if width == self.width:
            return self
        parts = (self.values.data, self.values.indices, self.values.indptr)
        wider = CsrRows(sp.csr_array(parts, shape=(self.n, width)))
        wider._own_terms = self._own_terms
        return wider

    @property
    def n_read(self) -> int:
        return int(self.values.nnz / max(self.n, 1))

    @property
    def n_terms(self) -> int:
        return int(np.diff(self.values.indptr).max(initial=0))

    def sums(self, statistic: str, i: Indices, other: "CsrRows", j: Indices) -> Floats:
        a, b = self.values, other.values
        out = np.empty(i.size)
        _, term, shared = STATISTICS[statistic]
        arguments = (a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, i, j, out)
        # Spreading a row needs an array as wide as the rows, which only pays off if there are enough pairs.
        if shared and self.width <= COLUMNS_A_PAIR * i.size:
            csr_shared_sum(term, self.width, *arguments)
        else:
            csr_sum(term, *arguments)
        return out

    def nonzero(self, positions: Positions) -> Flags:
        return np.diff(self.values.indptr)[positions] > 0

    def weighted_sum(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.values, dtype=np.float64)

    def products(self, rows: slice, other: "CsrRows", columns: slice) -> NDArray[Any]:
        left, right = self.values[rows], other.values[columns].tocsc()
        out = np.zeros((left.shape[0], right.shape[0]), dtype=self.values.dtype)

        def multiply(part: slice) -> None:
            starts = left.indptr[part.start : part.stop + 1]
            csr_products(starts, left.indices, left.data, right.indptr, right.indices, right.data, out[part])

        in_steps(left.shape[0], multiply)
        return out


def rows_of(values: Any, dtype: Any = None) -> Rows:
    """Return checked numbers as rows, in this precision or in the one that fits their type."""
    values = values.astype(float_type(values.dtype) if dtype is None else dtype, copy=False)
    return CsrRows(values) if sp.issparse(values) else DenseRows(values)


def float_type(dtype: np.dtype[Any]) -> Any:
    """Return the precision in which numbers of a type are computed with."""
    exact_in_float32 = dtype.kind == "b" or (dtype.kind in "iuf" and dtype.itemsize <= 2)
    return np.float32 if exact_in_float32 or dtype == np.float32 else np.float64


class RowSpace(Space):
    """Dense rows, CSR rows or rows of packed bits.

    Scores are computed by compiled code and several threads, and blocks are screened by matrix products where the
    similarity follows from these.

    `names` holds the row of X of each row of the left side, which errors mention. By default rows are counted from 0.
    """

    threaded = True
    cheap = True

    def __init__(
        self,
        similarity: Similarity,
        measure: Measure,
        left: Rows,
        right: Rows,
        n_jobs: int | None = 1,
        names: Positions | None = None,
    ) -> None:
        super().__init__(left.n, right.n, symmetric=left is right, n_jobs=n_jobs)
        self._similarity, self._measure, self._left, self._right = similarity, measure, left, right
        self.hubs = left.hubs
        # exp(-d) is 0 for all far objects. Such ties are broken by index, which estimates of d cannot foresee.
        self.screened = measure.estimate is not None and similarity.conversion != "exponential"
        if self.screened:
            self.exact_up_to, self.groups_from, self.n_terms = left.exact_up_to, left.groups_from, left.n_read
        self._left_terms = self._terms(left, np.arange(left.n) if names is None else names)
        self._right_terms = self._left_terms if right is left else self._terms(right, np.arange(right.n))
        self._slack: Floats | None = None

    def _terms(self, rows: Rows, names: Positions) -> Floats:
        """Return the own terms of the rows. Refuse rows whose numbers are too large or too small to compute with."""
        terms = rows.own_terms(self._measure.term)
        if self._measure.term is None:
            return terms
        info = np.finfo(rows.precision)  # products of rows must not overflow in the rows' type
        too_long = np.flatnonzero(~(terms < min(LARGEST, float(info.max) / 4)))
        _refuse(rows, names[too_long], "large", "down")
        if self._measure.ignores_length:  # rows are also divided by their lengths, which must not vanish
            short = np.flatnonzero(terms < max(1 / LARGEST, float(info.tiny) / float(info.eps)))
            _refuse(rows, names[short[rows.nonzero(short)]], "small", "up")
        return terms

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        sums = self._left.sums(self._measure.statistic, i, self._right, j)
        values = self._measure.finish(sums, self._left_terms[i], self._right_terms[j], self._left.width)
        return self._similarity.convert(values)

    def among(self, members: Indices) -> "RowSpace":
        part = copy(self)
        part._left = part._right = self._left.take(members)
        part._left_terms = part._right_terms = self._left_terms[members]
        part.n_left = part.n_right = members.size
        part.is_part, part._of_copies, part._slack = True, None, None
        return part

    def between(self, left: Indices | None, right: Indices | None) -> "RowSpace":
        part = copy(self)
        if left is not None:
            part._left, part._left_terms, part.n_left = self._left.take(left), self._left_terms[left], left.size
        if right is not None:
            part._right, part._right_terms, part.n_right = self._right.take(right), self._right_terms[right], right.size
        part.symmetric, part.is_part, part._of_copies, part._slack = False, True, None, None
        return part

    def with_itself(self) -> Floats:
        return self._similarity.convert(self._measure.with_itself(self._left_terms))

    def mean(self, multiplicity: Integers) -> float | None:
        """Return the exact mean of a product of rows in O(n d), and None for other similarities.

        The products of all ordered pairs add up to the squared length of the sum of all rows, less the squared lengths
        of the rows.
        """
        if not self._measure.is_product:
            return None
        n, weights, own = int(multiplicity.sum()), multiplicity.astype(np.float64), self._left_terms
        if self._measure.ignores_length:
            weights *= np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
            own = (own > 0).astype(np.float64)
        total = self._left.weighted_sum(weights)
        # The columns of sets come in another order in each process, and `fsum` gives the same sum in any order.
        ordered = math.fsum(total * total) - (multiplicity * own).sum()
        return float(ordered / (n * (n - 1)))

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        assert self._measure.estimate is not None
        products = self._left.products(rows, self._right, columns)
        return self._measure.estimate(products, self._left_terms[rows], self._right_terms[columns])

    def slack(self, rows: slice) -> Floats:
        assert self._measure.slack is not None
        if self._slack is None:  # that of all rows is found at once, because it takes a look at the whole right side
            rounding = max(map(_rounding, (self._left, self._right)), key=lambda rounding: rounding.relative)
            self._slack = self._measure.slack(rounding, self._left_terms, self._right_terms)
        return self._slack[rows]

    def estimate_of(self, similarity: float) -> float | None:
        if self._measure.estimate_of is None:
            return None
        value = self._similarity.revert(similarity)
        if self._similarity.conversion is not None and value < 0:
            return np.inf  # no distance is below 0, so no pair is so similar
        return float(self._measure.estimate_of(value))

    def bounds(self) -> UpperBounds | None:
        if not (self.screened and self._left.rounds_to_bytes and self._left.width <= WIDEST):
            return None
        if self._measure.statistic not in ("dot", "squared"):
            return None
        small = np.flatnonzero(self._left_terms < SHORTEST**2)
        if self._left.nonzero(small).any():
            return None
        is_dot = self._measure.statistic == "dot"
        return Bounds(self._left.values, self._left_terms, self._finish(), self.executor, is_dot=is_dot)

    def _finish(self) -> Callable[[Floats, Floats, Floats], Floats]:
        """Return the function that turns sums and the own terms of both rows into similarities."""
        width, finish, convert = self._left.width, self._measure.finish, self._similarity.convert
        return lambda sums, a, b: convert(finish(sums, a, b, width))


def _refuse(rows: Rows, names: Positions, extreme: str, remedy: str) -> None:
    """Raise ValueError if there are any rows that hold too extreme numbers, and name the first of them."""
    if names.size:
        raise ValueError(
            f"X holds numbers too {extreme} for {rows.precision} arithmetic, first in row {names[0]}; scale X {remedy}."
        )


def _rounding(rows: Rows) -> Rounding:
    """Bound the rounding of matrix products, for any order of the additions.

    A sum of n rounded products is off by at most about n units of rounding. The 16 further terms are a margin for the
    rounding of what is computed from it.
    """
    info = np.finfo(rows.precision)
    return Rounding((rows.n_terms + 16) * float(info.eps), (rows.n_terms + 16) * float(info.tiny))


NOT_NUMBERS: dict[str, Any] = {"text": str, "dates": (date, timedelta, np.datetime64, np.timedelta64)}
"""What a column of objects may hold that is not a number, and how an error calls it."""


class RowCollection(Collection):
    """Rows of an array or a CSR array."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity, estimator: Any = None) -> "RowCollection":
        """Check X and make a collection of it."""
        _check_columns(X)
        objects = check_rows(X, estimator)
        check_domain(objects, measure_of(similarity).domain, similarity.function)
        return cls(similarity, objects, given=X)

    @property
    def _measure(self) -> Measure:
        """How rows are compared. It is looked up and not kept, because it holds functions that cannot be pickled."""
        return measure_of(self.similarity)

    @property
    def n_columns(self) -> int:
        return int(self.objects.shape[1])

    @property
    def nothing_in_common(self) -> float | None:
        return nothing_in_common(self.objects, self._measure)

    def prepared(self) -> Self:
        self.space()
        return self

    def against(self, others: Self, n_jobs: int | None = None) -> RowSpace:
        return RowSpace(self.similarity, self._measure, self._rows, others._rows, n_jobs, names=self.rows)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> RowSpace:
        X = check_input(X)
        check_same_kind(X, profiles=False)
        if are_packed(X, self._measure.domain):
            raise TypeError("X must not hold packed bits, because the X passed to fit did not; unpack X or pack both.")
        _check_columns(X)
        queries = like(check_rows(X, estimator, compared=True), self.objects)
        check_domain(queries, self._measure.domain, self.similarity.function)
        dtype = np.result_type(float_type(queries.dtype), float_type(self.objects.dtype))
        members = self._rows if self._rows.values.dtype == dtype else rows_of(self.objects, dtype)
        return RowSpace(self.similarity, self._measure, rows_of(queries, dtype), members, n_jobs)

    @cached_property
    def _rows(self) -> Rows:
        """The rows in the precision that fits them."""
        return rows_of(self.objects)

    def distinct(self) -> Distinct:
        return distinct_rows(self.objects, up_to_length=self._measure.ignores_length)

    def content_hashes(self) -> Hashes:
        return row_hashes(self.objects, up_to_length=self._measure.ignores_length)

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, self.objects[positions], self.rows[positions])


def _check_columns(X: Any) -> None:
    """Refuse strings and dates.

    The error says what a similarity of rows needs, where scikit-learn would only say that a string is not a float.
    """
    if first_is(X, str):
        raise ValueError(
            "X must hold rows of numbers, sets or dicts of numbers for this similarity, got strings; "
            f"pass similarity= one of {sorted(STRINGS)} or a callable s(a, b)."
        )
    if not is_frame(X) or is_numeric(X) or np.asarray(X).dtype.kind != "O":
        return
    for name, column in zip(column_names(X), columns_of(X), strict=True):
        values = list(column)
        for content, types in NOT_NUMBERS.items():
            if any(isinstance(value, types) for value in values):
                raise ValueError(
                    f"X must hold columns of numbers for this similarity, but column {name!r} holds {content}; drop or "
                    "encode it, or pass similarity='gower', which takes mixed columns, or a callable: rows then come "
                    "to it as dicts."
                )
