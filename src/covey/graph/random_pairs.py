"""The recall of an approximate graph, that is the share of true neighbors in it, estimated from random pairs.

A pair that was never scored may be a neighbor that was missed. So draw D of all P pairs at random, score those that
have not met before, and count how often one of them enters a list: d times, say. All P pairs would then enter about P d
/ D times. There are n lists of k entries, so u = P d / (D n k) is the number of entrances per entry.

A list that holds each true neighbor with probability p reaches down to the (k / p)-th nearest object. The objects
missing from it that would enter number k / p - k, so u = (1 - p) / p. Hence the recall is p = 1 / (1 + u).

A pair counts only if it is more similar than the last entry of a list, because equally similar objects are
interchangeable.
"""

import numpy as np
from numpy.typing import NDArray

from covey.graph.evaluator import Evaluator
from covey.graph.recall import Recall

PAIRS_PER_OBJECT = 4
"""How many pairs are drawn for a first estimate, per object. More pairs make it more certain and cost evaluations. With
lists of 10 and a recall of .95, about four of all drawn pairs enter a list, whatever n is; by the formula above, the
standard error of the estimate is then .023."""

MORE_PAIRS_PER_OBJECT = 8
"""How many more pairs are drawn, per object, before a graph is called bad. The standard error is then .013."""


class RandomPairs:
    """Draws random pairs of an evaluator's objects and counts how often one enters a list of the k best."""

    def __init__(self, evaluator: Evaluator, k: int, rng: np.random.Generator) -> None:
        self._evaluator, self._k, self._rng = evaluator, k, rng

    def estimate_recall(self, enough: float = np.inf) -> Recall:
        """Estimate the recall; more pairs are drawn unless the first ones give an estimate of at least `enough`."""
        n_found, n_drawn = self._draw(PAIRS_PER_OBJECT)
        recall = self._recall(n_found, n_drawn)
        if recall.value < enough:
            more_found, more_drawn = self._draw(MORE_PAIRS_PER_OBJECT)
            recall = self._recall(n_found + more_found, n_drawn + more_drawn)
        return recall

    def _recall(self, n_found: int, n_drawn: int) -> Recall:
        """The recall if this many of the drawn pairs entered lists."""
        n = self._evaluator.space.n_left
        share = min(n_drawn / (n * (n - 1) / 2), 1.0)  # two draws may share pairs, so the sum may exceed 1
        return Recall.of(n_found, n * self._k * share)

    def _draw(self, pairs_per_object: int) -> tuple[int, int]:
        """Let random pairs meet; how many better entries the lists got, and how many different pairs were drawn."""
        n = self._evaluator.space.n_left
        i = self._rng.integers(n, size=pairs_per_object * n)
        j = (i + self._rng.integers(1, n, size=i.size)) % n
        codes = np.sort(np.minimum(i, j) * n + np.maximum(i, j))
        codes = codes[np.append(True, np.diff(codes) > 0)]  # for millions of codes, np.unique is slower
        last = self._similarities()[:, -1:].copy()
        before = np.count_nonzero(self._similarities() > last)
        self._evaluator.meet((codes // n).astype(np.int32), (codes % n).astype(np.int32))
        return int(np.count_nonzero(self._similarities() > last) - before), codes.size

    def _similarities(self) -> NDArray[np.float64]:
        """The similarities of the k best entries of each list, as they are now."""
        return self._evaluator.lists.similarities[:, : self._k]
