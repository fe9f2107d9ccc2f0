"""The recall of an approximate graph, that is the share of true neighbors in it.

Where matrix products make it cheap, the true neighbors of a sample of objects tell (`SampledNeighbors`).

Elsewhere it is estimated from random pairs (`RandomPairs`), which may serve the graph as well. A pair that was never
scored may be a neighbor that was missed. So draw D of all P pairs at random, score those that have not met before, and
count how often one of them enters a list: d times, say. All P pairs would then enter about P d / D times. There are n
lists of k entries, so u = P d / (D n k) is the number of entrances per entry.

A list that holds each true neighbor with probability p reaches down to the (k / p)-th nearest object. The objects
missing from it that would enter number k / p - k, so u = (1 - p) / p. Hence the recall is p = 1 / (1 + u).

A pair counts only if it is more similar than the last entry of a list, because equally similar objects are
interchangeable.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats
from covey.graph.evaluator import Evaluator
from covey.graph.exact import nearest
from covey.similarity.space import Space

PAIRS_PER_OBJECT = 4
"""How many pairs are drawn for a first estimate, per object. More pairs make it more certain and cost evaluations. With
lists of 10 and a recall of .95, about four of all drawn pairs enter a list, for any n; by the formula above, the
standard error of the estimate is then .023."""

MORE_PAIRS_PER_OBJECT = 8
"""How many more pairs are drawn, per object, before a graph is called bad. The standard error is then .013."""


@dataclass(frozen=True)
class Recall:
    """The share of true neighbors that an approximate graph has found, as random pairs suggest.

    NN-Descent finds most neighbors, not all. This says how many, without computing the exact graph. If the estimate
    stays below .93 although the descent was extended, a `sklearn.exceptions.ConvergenceWarning` says so.

    Attributes
    ----------
    value : float
        The estimate. It assumes that near and farther neighbors are missed equally often. It is too low if some
        objects have missed all of their neighbors.
    low, high : float
        The 95 % interval of the estimate. It follows from the Poisson distribution of the number of missed neighbors
        that a random sample of pairs finds.

    See Also
    --------
    covey.NeighborGraph : Its attribute `estimated_recall` is one.

    Examples
    --------
    >>> import covey
    >>> from sklearn.datasets import load_digits
    >>> X = load_digits().data
    >>> recall = covey.neighbor_graph(X, 5, method="nn-descent", random_state=0).estimated_recall
    >>> recall.low <= recall.value <= recall.high
    True

    An exact graph has all neighbors, so that nothing is estimated:

    >>> covey.neighbor_graph(X, 5, method="exact").estimated_recall is None
    True
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, n_found: int, n_expected_if_all: float) -> "Recall":
        """Estimate the recall from how often random pairs have entered neighbor lists.

        Parameters
        ----------
        n_found : int
            How often they have.
        n_expected_if_all : float
            How often they would have, if there were one missing entry for each entry of the lists.

        Returns
        -------
        Recall
            The estimate and its 95 % interval.

        Examples
        --------
        >>> import covey
        >>> covey.results.Recall.of(0, 40.0).value, round(covey.results.Recall.of(2, 40.0).value, 2)
        (1.0, 0.95)
        """
        from scipy.stats import chi2

        fewest = chi2.ppf(0.025, 2 * n_found) / 2 if n_found else 0.0
        most = chi2.ppf(0.975, 2 * n_found + 2) / 2
        value, low, high = (float(1 / (1 + n / n_expected_if_all)) for n in (n_found, most, fewest))
        return cls(value, low, high)


SAMPLE = 400
"""How many objects are sampled to estimate the recall from their true neighbors. With 15 neighbors and a recall of .95,
the standard error is then below .005; for a million rows of 64 columns the sample takes as long as 800 evaluations an
object."""


class SampledNeighbors:
    """The true k nearest others of a sample of objects, found among all.

    They cost the evaluations of the sample with all objects, once, and are offered to no list.

    Attributes
    ----------
    sample : int array
        The sampled objects, in ascending order.
    neighbors : int array of shape (n_sampled, k)
        The nearest others of each.
    """

    def __init__(self, space: Space, k: int, rng: np.random.Generator) -> None:
        n = space.n_left
        self.sample = np.sort(rng.choice(n, min(SAMPLE, n), replace=False)).astype(np.int32)
        self._k = min(k, n - 1)
        found = nearest(space.between(self.sample, None), self._k + 1)
        others = found.indices != self.sample[:, np.newaxis]
        others[others.all(axis=1), -1] = False  # an object that so many equal, or exceed, is not among its nearest
        self.neighbors = found.indices[others].reshape(self.sample.size, self._k)
        similarities = found.similarities[others].reshape(self.sample.size, self._k)
        self._last = similarities[:, -1:]

    def recall(self, similarities: Floats) -> Recall:
        """Return the share of these neighbors that lists hold, with an interval of 95 %.

        `similarities` holds those of the sampled objects' entries, the best ones first.
        """
        listed = similarities[:, : self._k] >= self._last
        shares = listed.mean(axis=1)
        error = 1.96 * shares.std() / np.sqrt(shares.size)
        value = float(shares.mean())
        return Recall(value, max(value - error, 0.0), min(value + error, 1.0))


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
        """Return the recall if this many of the drawn pairs entered lists."""
        n = self._evaluator.space.n_left
        share = min(n_drawn / (n * (n - 1) / 2), 1.0)  # two draws may share pairs, so the sum may exceed 1
        return Recall.of(n_found, n * self._k * share)

    def _draw(self, pairs_per_object: int) -> tuple[int, int]:
        """Let random pairs meet; return how many better entries lists got, and how many different pairs were drawn."""
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
        """Return the similarities of the k best entries of each list, as they are now."""
        return self._evaluator.lists.similarities[:, : self._k]
