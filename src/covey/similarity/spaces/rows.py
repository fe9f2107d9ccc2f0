"""Rows of numbers under a named similarity."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.similarity.bounds import SHORTEST, WIDEST, Bounds
from covey.similarity.rows import CsrRows, DenseRows
from covey.similarity.similarity import LARGEST, Similarity
from covey.similarity.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Positions = NDArray[np.intp]


class RowSpace(Space):
    """A named similarity on dense or CSR rows: compiled, threaded, screened where matrix products help."""

    threaded = True
    cheap = True

    def __init__(self, similarity: Similarity, left: DenseRows | CsrRows, right: Any, square: bool) -> None:
        super().__init__(left.n, right.n, symmetric=square)
        self._similarity, self._measure, self._left, self._right = similarity, similarity.measure, left, right
        self.hubs = isinstance(left, CsrRows)
        # exp(-d) of far objects is 0: they tie, and a tie goes by index, which no estimate of d foresees.
        self.screened = self._measure.estimate is not None and similarity.conversion != "exponential"
        if self.screened:
            self.exact_up_to = 10_000 if isinstance(left, DenseRows) else 20_000
        self._left_terms = self._terms(left)
        self._right_terms = self._left_terms if right is left else self._terms(right)

    def _terms(self, rows: DenseRows | CsrRows) -> Floats:
        if self._measure.term is None:
            return np.zeros(rows.n)
        terms = rows.with_itself(self._measure.term)
        # Squared lengths are multiplied with each other, and must not lose their digits in products of the rows' type.
        info = np.finfo(rows.values.dtype)
        self._refuse(rows, np.flatnonzero(~(terms < min(LARGEST, float(info.max) / 4))), "large", "down")
        if self._measure.name == "cosine":  # they are divided by, too
            short = np.flatnonzero(terms < max(1e-150, float(info.tiny) / float(info.eps)))
            self._refuse(rows, short[rows.nonzero(short)], "small", "up")
        return terms

    def _refuse(self, rows: DenseRows | CsrRows, wrong: Positions, extreme: str, remedy: str) -> None:
        if wrong.size:
            raise ValueError(
                f"X holds numbers too {extreme} for {rows.values.dtype} arithmetic, first in row {wrong[0]}; "
                f"scale X {remedy}."
            )

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        sums = self._left.sums(self._measure.statistic, i, self._right, j)
        values = self._measure.finish(sums, self._left_terms[i], self._right_terms[j], self._left.width)
        return self._similarity.convert(values)

    def with_itself(self) -> Floats:
        return self._similarity.convert(self._measure.with_itself(self._left_terms))

    def mean(self, multiplicity: NDArray[np.int64]) -> float | None:
        """For cosine and dot the pairs' sum is |sum of rows|^2 less the rows' own squares: O(n d)."""
        if self._measure.name not in ("cosine", "dot"):
            return None
        n, weights, own = int(multiplicity.sum()), multiplicity.astype(np.float64), self._left_terms
        if self._measure.name == "cosine":
            weights *= np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
            own = (own > 0).astype(np.float64)
        total = self._left.weighted_sum(weights)
        # NumPy's sums add in one order; the order of a BLAS product depends on its threads.
        return float(((total * total).sum() - (multiplicity * own).sum()) / (n * (n - 1)))

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        assert self._measure.estimate is not None
        products = self._left.products(rows, self._right, columns)
        return self._measure.estimate(products, self._left_terms[rows], self._right_terms[columns])

    def slack(self, rows: slice) -> Floats:
        assert self._measure.slack is not None
        rounding = max(self._left.rounding, self._right.rounding, key=lambda rounding: rounding.relative)
        return self._measure.slack(rounding, self._left_terms[rows], self._right_terms)

    def bounds(self, n_jobs: int | None) -> Bounds | None:
        if not (self.screened and isinstance(self._left, DenseRows) and self._left.width <= WIDEST):
            return None
        small = np.flatnonzero(self._left_terms < SHORTEST**2)
        if self._left.nonzero(small).any():
            return None
        return Bounds(self._similarity, self._left, self._left_terms, n_jobs)
