"""The space of rows of numbers under a similarity that is made of one sum over coordinates."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers, Positions
from covey.similarity.bounds import SHORTEST, WIDEST, Bounds
from covey.similarity.rows import Rows
from covey.similarity.similarity import LARGEST_TERM, Measure, Rounding, Similarity
from covey.similarity.space import Space, UpperBounds
from covey.similarity.sums import unit_of


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
            self.exact_up_to = left.exact_up_to
        self._left_terms = self._terms(left, np.arange(left.n) if names is None else names)
        self._right_terms = self._left_terms if right is left else self._terms(right, np.arange(right.n))

    def _terms(self, rows: Rows, names: Positions) -> Floats:
        """Return the own terms of the rows. Refuse rows whose numbers are too large or too small to compute with."""
        terms = rows.own_terms(self._measure.term)
        if self._measure.term is None:
            return terms
        # Products of rows must not overflow in the rows' type. But for the dot product itself, squared lengths are also
        # multiplied with each other.
        info = np.finfo(rows.precision)
        most = np.inf if self._measure.is_product and not self._measure.ignores_length else LARGEST_TERM
        too_long = np.flatnonzero(~(terms < min(most, float(info.max) / 4)))
        _refuse(rows, names[too_long], "large", "down")
        if self._measure.ignores_length:  # rows are also divided by their lengths, which must not vanish
            short = np.flatnonzero(terms < max(1 / LARGEST_TERM, float(info.tiny) / float(info.eps)))
            _refuse(rows, names[short[rows.nonzero(short)]], "small", "up")
        return terms

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        sums = self._left.sums(self._measure.statistic, i, self._right, j)
        values = self._measure.finish(sums, self._left_terms[i], self._right_terms[j], self._left.width)
        return self._similarity.convert(values)

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
        # Rows are as long as the roots of their own terms. Very long or short ones are scaled by a power of 2.
        unit = math.ldexp(1.0, math.frexp(unit_of(own))[1] // 2)
        total = self._left.weighted_sum(weights / unit)
        # The columns of sets come in another order in each process, and `fsum` gives the same sum in any order.
        ordered = math.fsum(total * total) - (multiplicity * (own / unit / unit)).sum()
        return float(ordered / (n * (n - 1)) * unit * unit)

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        assert self._measure.estimate is not None
        products = self._left.products(rows, self._right, columns)
        return self._measure.estimate(products, self._left_terms[rows], self._right_terms[columns])

    def slack(self, rows: slice) -> Floats:
        assert self._measure.slack is not None
        rounding = max(map(_rounding, (self._left, self._right)), key=lambda rounding: rounding.relative)
        return self._measure.slack(rounding, self._left_terms[rows], self._right_terms)

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
        return Bounds(self._left.values, self._left_terms, is_dot, self._finish(), self.executor)

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
