"""Storage of rows of numbers, dense or CSR, for the named similarities. `bit_rows.py` stores rows of packed bits.

All kinds answer the same questions by index. `sums` adds up a statistic over the coordinates of a pair of rows,
`own_terms` does the same for each row with itself, and `products` multiplies blocks of rows. Float32 stays float32.
Booleans and small integers become float32, which holds them exactly. All other numbers become float64.
"""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Positions
from covey.runtime.steps import in_steps, stop_if_abandoned
from covey.similarity.kernels import STATISTICS, csr_products, csr_shared_sum, csr_sum, dense_weighted_sum

COLUMNS_A_PAIR = 64
"""CSR rows are spread out only if there is at least one pair for this many columns. This keeps the time for clearing
the array small beside the time for the pairs. The value trades time only; it comes from no recorded measurement."""

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
    rounds_to_bytes : bool
        Whether `bounds.py` can keep the rows in one byte a number.
    """

    hubs: bool
    exact_up_to: int
    rounds_to_bytes: bool

    def __init__(self, values: Any) -> None:
        self.values = values
        self.n, self.width = values.shape
        self._own_terms: dict[str, Floats] = {}

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
    @abstractmethod
    def n_terms(self) -> int:
        """How many products are added up for a pair of rows, at most."""

    @abstractmethod
    def sums(self, statistic: str, i: Indices, other: Any, j: Indices) -> Floats:
        """Return the sum of a statistic over the coordinates of row i[t] of these and row j[t] of the other side."""

    @abstractmethod
    def nonzero(self, positions: Positions) -> Flags:
        """Say for each of these rows whether it holds anything but zeros."""

    @abstractmethod
    def weighted_sum(self, weights: Floats) -> Floats:
        """Return the sum of all rows, each times its weight.

        The order of the additions does not depend on the number of threads.
        """

    @abstractmethod
    def products(self, rows: slice, other: Any, columns: slice) -> NDArray[Any]:
        """Return the matrix product of some rows with some rows of the other side."""


class DenseRows(Rows):
    """Rows of an array."""

    hubs = False
    exact_up_to = 10_000
    """Beyond this the cost of all pairs, which grows with the square of the number, exceeds that of NN-Descent. It was
    set with the benchmark suite; no table of the crossing was kept. A larger value buys exact graphs with time."""
    rounds_to_bytes = True

    def __init__(self, values: NDArray[Any]) -> None:
        super().__init__(np.ascontiguousarray(values))

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
    exact_up_to = 20_000
    """It is larger than for dense rows, because NN-Descent is slower and less exact on sparse text: its recall was 0.92
    on TF-IDF rows with lists of twice the length."""
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
