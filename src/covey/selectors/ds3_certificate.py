"""Answers to optimisation problems that come with a proof of how good they are."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

ROUNDING = 1e-12
"""Differences of costs below this share of a problem's scale are rounding: sums of some 10 000 numbers in double
precision are not more exact."""


@dataclass(frozen=True)
class Certified:
    """A feasible answer, its cost, a lower bound of the least cost, and the iterations that it took.

    No cost is negative. The scale is what a simple answer costs: an optimum of 0 has no scale of its own.
    """

    answer: NDArray[Any]
    cost: float
    lower_bound: float
    n_iter: int
    scale: float

    @property
    def gap(self) -> float:
        """How much less, relative to the cost, the least cost can be at most: from 0, also up to rounding, to 1."""
        excess = self.cost - max(self.lower_bound, 0.0)
        return 0.0 if excess <= ROUNDING * self.scale else excess / self.cost
