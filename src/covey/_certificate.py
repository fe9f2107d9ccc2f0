"""Answers to optimisation problems that come with a proof of how good they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Certified:
    """A feasible answer, its cost, a lower bound of the least cost, and the iterations that it took."""

    answer: NDArray[Any]
    cost: float
    lower_bound: float
    n_iter: int

    @property
    def gap(self) -> float:
        """How much less, relative to the cost, the least cost can be at most."""
        return max(0.0, self.cost - self.lower_bound) / max(abs(self.cost), np.finfo(float).tiny)
