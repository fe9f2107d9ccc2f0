"""Answers to optimisation problems that come with a proof of how good they are."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

ROUNDING = 1e-12
"""Costs that differ by less than this share of a problem's scale are equal up to rounding. Sums of some 10 000 numbers
in double precision are no more exact than that."""


@dataclass(frozen=True)
class Certified:
    """A feasible answer, its cost, a lower bound of the least cost, and the number of iterations.

    No cost is negative. The scale is the cost of a simple answer. It is needed because an optimum of 0 gives rounding
    nothing to be compared with.
    """

    answer: NDArray[Any]
    cost: float
    lower_bound: float
    n_iter: int
    scale: float

    @property
    def gap(self) -> float:
        """By which share of the cost the least cost may be lower, at most.

        It is 0 if the two differ only by rounding, and never more than 1.
        """
        excess = self.cost - max(self.lower_bound, 0.0)
        return 0.0 if excess <= ROUNDING * self.scale else excess / self.cost
