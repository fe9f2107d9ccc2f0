"""How many of the true neighbors an approximate graph has found, estimated by asking for random pairs.

A pair that was never scored may be a neighbor that was missed. Of pairs drawn at random, those not met before are
scored, and some enter the list of one end or of both. If d of D drawn ones do, of P pairs in all, then about P d / D
entries of all n lists of k are yet to be replaced: u = P d / (D n k) for each entry. A list that holds each true
neighbor with probability p reaches down to the (k / p)-th nearest object, so u = (1 - p) / p of its entries can be
replaced, and the recall is p = 1 / (1 + u).

A pair counts if it is more similar than the last entry of a list: equally similar objects are interchangeable.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.graph.evaluator import Evaluator

PAIRS = 4
"""How many pairs an object are drawn for a first estimate. For lists of 10 and a recall of .95, four enter a list."""
MORE_PAIRS = 8
"""How many more are drawn before a graph is called bad."""


@dataclass(frozen=True)
class Recall:
    """The share of true neighbors that an approximate graph has found.

    Attributes
    ----------
    value : float
        The estimate. It assumes that near and farther neighbors are missed alike; if some objects have missed all of
        theirs, it is too low.
    low, high : float
        Its 95 % interval: the number of missed neighbors that a random sample of pairs finds has a Poisson
        distribution.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, n_found: int, n_expected_if_all: float) -> "Recall":
        """From how many missed entries were found, and how many would be if every entry could be replaced once."""
        from scipy.stats import chi2

        fewest = chi2.ppf(0.025, 2 * n_found) / 2 if n_found else 0.0
        most = chi2.ppf(0.975, 2 * n_found + 2) / 2
        value, low, high = (float(1 / (1 + found / n_expected_if_all)) for found in (n_found, most, fewest))
        return cls(value, low, high)


class RandomPairs:
    """Draws pairs of an evaluator's objects to see whether they belong into its lists."""

    def __init__(self, evaluator: Evaluator, k: int, rng: np.random.Generator) -> None:
        self._evaluator, self._k, self._rng = evaluator, k, rng

    def estimate_recall(self, sure_from: float = np.inf) -> Recall:
        """The recall, from more pairs unless the first ones say that it is at least `sure_from`."""
        n_found, n_drawn = self._look(PAIRS)
        recall = self._recall(n_found, n_drawn)
        if recall.value < sure_from:
            more_found, more_drawn = self._look(MORE_PAIRS)
            recall = self._recall(n_found + more_found, n_drawn + more_drawn)
        return recall

    def _recall(self, n_found: int, n_drawn: int) -> Recall:
        n = self._evaluator.space.n_left
        share = min(n_drawn / (n * (n - 1) / 2), 1.0)  # two looks may draw the same pairs
        return Recall.of(n_found, n * self._k * share)

    def _look(self, pairs_an_object: int) -> tuple[int, int]:
        """How many entries of lists are replaced by pairs drawn at random, and how many different ones were drawn."""
        n = self._evaluator.space.n_left
        i = self._rng.integers(n, size=pairs_an_object * n)
        j = (i + self._rng.integers(1, n, size=i.size)) % n
        codes = np.unique(np.minimum(i, j) * n + np.maximum(i, j))
        last = self._similarities()[:, -1:].copy()
        before = np.count_nonzero(self._similarities() > last)
        self._evaluator.meet((codes // n).astype(np.int32), (codes % n).astype(np.int32))
        return int(np.count_nonzero(self._similarities() > last) - before), codes.size

    def _similarities(self) -> NDArray[np.float64]:
        return self._evaluator.lists.similarities[:, : self._k]
