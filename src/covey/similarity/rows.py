"""Rows of numbers, dense or CSR: the storage behind the named similarities.

Both kinds answer the same questions by index: the sum of a statistic over the coordinates of a pair of rows (`sums`),
the same of each row with itself (`own_terms`), and matrix products of blocks with their rounding. Float32 stays
float32; booleans and small integers become float32, which holds them exactly; the rest becomes float64.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Positions
from covey.similarity.kernels import STATISTICS, csr_shared_sum, csr_sum, dense_weighted_sum


class Rows:
    """What dense and CSR rows have in common.

    Attributes
    ----------
    hubs : bool
        Whether rows of this kind often have hubs: a few that are near to very many others.
    exact_up_to : int
        Up to so many rows all pairs are screened by matrix products about as fast as NN-Descent scores its few.
    rounds_to_bytes : bool
        Whether `bounds.py` can keep the rows in a byte a number.
    """

    hubs: bool
    exact_up_to: int
    rounds_to_bytes: bool

    def __init__(self, values: Any) -> None:
        self.values = values
        self.n, self.width = values.shape
        self._own_terms: dict[str, Floats] = {}

    def own_terms(self, statistic: str | None) -> Floats:
        """The statistic of each row with itself; 0 if there is none. It is computed when it is first asked for."""
        if statistic is None:
            return np.zeros(self.n)
        if statistic not in self._own_terms:
            every = np.arange(self.n, dtype=np.int32)
            self._own_terms[statistic] = self.sums(statistic, every, self, every)
        return self._own_terms[statistic]

    @property
    def n_terms(self) -> int:
        """How many products at most are added up for a pair of rows."""
        raise NotImplementedError

    def sums(self, statistic: str, i: Indices, other: Any, j: Indices) -> Floats:
        """The sum of the statistic over the coordinates of each pair of a row of these and a row of the other side."""
        raise NotImplementedError

    def nonzero(self, positions: Positions) -> Flags:
        """Which of these rows hold anything but zeros."""
        raise NotImplementedError

    def weighted_sum(self, weights: Floats) -> Floats:
        """The sum of all rows, each times its weight, in an order of additions that no number of threads changes."""
        raise NotImplementedError

    def products(self, rows: slice, other: Any, columns: slice) -> NDArray[Any]:
        """The matrix product of some rows with some rows of the other side."""
        raise NotImplementedError


class DenseRows(Rows):
    hubs = False
    exact_up_to = 10_000
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
        return self.values[rows] @ other.values[columns].T


class CsrRows(Rows):
    hubs = True
    exact_up_to = 20_000
    rounds_to_bytes = False

    def __init__(self, values: sp.csr_array) -> None:
        if not values.has_canonical_format or (values.data == 0).any():
            values = values.copy()  # the user's matrix stays as it is
            values.sum_duplicates()
            values.eliminate_zeros()
        super().__init__(values)

    def widened(self, width: int) -> "CsrRows":
        """The same rows with further columns, all empty."""
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
        # Spreading a row out takes as long as the rows are wide: it must serve enough pairs.
        if shared and self.width <= 64 * i.size:
            csr_shared_sum(term, self.width, *arguments)
        else:
            csr_sum(term, *arguments)
        return out

    def nonzero(self, positions: Positions) -> Flags:
        return np.diff(self.values.indptr)[positions] > 0

    def weighted_sum(self, weights: Floats) -> Floats:
        return np.asarray(weights @ self.values, dtype=np.float64)

    def products(self, rows: slice, other: "CsrRows", columns: slice) -> NDArray[Any]:
        return (self.values[rows] @ other.values[columns].T).toarray()


def rows_of(values: Any, dtype: Any = None) -> Rows:
    """Checked numbers as rows, in this precision or the one that fits them."""
    values = values.astype(float_type(values.dtype) if dtype is None else dtype, copy=False)
    return CsrRows(values) if sp.issparse(values) else DenseRows(values)


def float_type(dtype: np.dtype[Any]) -> Any:
    """The precision that numbers of a type are computed in."""
    exact_in_float32 = dtype.kind == "b" or (dtype.kind in "iuf" and dtype.itemsize <= 2)
    return np.float32 if exact_in_float32 or dtype == np.float32 else np.float64
