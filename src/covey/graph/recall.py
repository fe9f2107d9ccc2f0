"""The recall of an approximate graph, that is the share of true neighbors in it.

Where matrix products make it cheap, the true neighbors of a sample of objects tell (`SampledNeighbors`).

Elsewhere it is estimated from random pairs (`RandomPairs`), which may serve the graph as well. A pair that was never
scored may be a neighbor that was missed. So draw D of all P pairs at random, score those that have not met before, and
count how often one of them enters a list: d times, say. All P pairs would then enter about P d / D times. There are n
lists of k entries, so u = P d / (D n k) is the number of entrances per entry.

A list that holds each true neighbor with probability p reaches down to the (k / p)-th nearest object. The objects
missing from it that would enter number k / p - k, so u = (1 - p) / p. Hence the recall is p = 1 / (1 + u).

That holds if all lists lack equally many objects. A list that lacks m of them has missed m / (m + k) of its neighbors,
which is at most all of them, however many it lacks. So some of the lists that a random pair has entered are looked into
with more random pairs, to see about how many they lack, and each entrance counts 1 / (m + k).

A pair counts only if it is more similar than the last entry of a list, because equally similar objects are
interchangeable. For the same reason, an entry is true if it is at least as similar as the true k-th. Where the last t
entries of a list are equally similar, it takes t missing objects to make one of them false. So the share of false
entries, 1 - p, is lowered by what the ties of the lists spare, if the number of missing objects of a list is geometric
(`Ties`).
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real

import numpy as np
from numba import njit
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from covey.arrays import Floats, Integers
from covey.graph.evaluator import Evaluator
from covey.graph.exact import nearest
from covey.runtime.parameters import Interval
from covey.similarity.space import Space

RECALL = 0.95
"""The share of the true neighbors that an approximate graph should hold, unless the user asks for another one."""

TARGETS = Interval(Real, 0, 1, closed="neither")
"""The shares that may be asked for. Nothing but an exact graph is sure to hold all neighbors."""

TOLERATED = 0.02
"""A graph is bad if its estimated recall lies this far below the one that is wanted; NN-Descent is then extended. The
gap allows for the error of the estimate: for ten neighbors and a recall of .95 its standard error is .023, or .013 once
more pairs are drawn. So few graphs that have the recall that is wanted are extended without need."""

TOLERATED_MISSES = 0.4
"""The gap is at most this share of the neighbors that may be missed, which is the same for a recall of .95. An estimate
of a higher recall has a smaller error."""

PAIRS_PER_OBJECT = 4
"""How many pairs are drawn for a first estimate, per object. More pairs make it more certain and cost evaluations. With
lists of 10 and a recall of .95, about four of all drawn pairs enter a list, for any n; by the formula above, the
standard error of the estimate is then .023."""

MORE_PAIRS_PER_OBJECT = 8
"""How many more pairs are drawn, per object, before a graph is called bad. The standard error is then .013."""


@dataclass(frozen=True)
class Recall:
    """The share of true neighbors that an approximate graph has found, as a sample suggests.

    NN-Descent and groups find most neighbors, not all. This says how many, without computing the exact graph. An entry
    counts as found if it is at least as similar as the true last neighbor. If the estimate stays too far below the
    `recall` that was asked for, a `sklearn.exceptions.ConvergenceWarning` says so.

    Attributes
    ----------
    value : float
        The estimate. For NN-Descent it comes from random pairs, and assumes that near and farther neighbors are missed
        equally often; it is too low if some objects have missed all of their neighbors. For groups it comes from the
        true neighbors of a sample of objects.
    low, high : float
        The 95 % interval of the estimate. It follows from the Poisson distribution of the number of missed neighbors
        that random pairs find, or from how much the sampled objects differ.

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


def tolerated(wanted: float) -> float:
    """Return how far an estimated recall may lie below the one that is wanted."""
    return min(TOLERATED, TOLERATED_MISSES * (1 - wanted))


def warn_of_missed(graphs: str, recalls: Sequence[Recall | None], wanted: float) -> None:
    """Say once how many neighbors the graphs of some clusters have missed, if more than wanted and tolerated.

    The recall of an exact graph is None.
    """
    bad = [one.value for one in recalls if one is not None and one.value < wanted - tolerated(wanted)]
    if not bad:
        return
    subject = f"The {graphs} holds about"
    if len(recalls) > 1:
        subject = f"The {graphs}s of {len(bad)} of {len(recalls)} clusters hold at most about"
    longer = "ask for more neighbors, or pass" if graphs == "neighbor graph" else "or pass"
    warnings.warn(
        f"{subject} {max(bad):.0%} of the true neighbors, judging by a sample, and not the {wanted:.0%} that recall "
        f"asks for, which would take far longer; be content with a lower recall, {longer} method='exact' "
        "(graph='exact' for CRS).",
        ConvergenceWarning,
        stacklevel=3,
    )


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


LEAST_LOSS = 0.5
"""Ties lower the share of false entries to no less than this share of it. A few lists with many ties may lack far more
objects than the others, and how many each of them lacks is not known, so that the estimate stays cautious."""


class Ties:
    """How many entries of lists of k become false if objects are missing, given that some are equally similar."""

    def __init__(self, similarities: Floats) -> None:
        self._fallen = np.zeros(similarities.shape[1])
        count_fallen(similarities, self._fallen)
        self._fallen /= similarities.size

    def forgive(self, recall: Recall) -> Recall:
        """Return a recall in which entries count as true that are as similar as the true k-th."""
        return Recall(*(self._forgiven(value) for value in (recall.value, recall.low, recall.high)))

    def _forgiven(self, recall: float) -> float:
        if recall in (0.0, 1.0):
            return recall
        k = self._fallen.size
        missing = np.arange(k)
        mean = k * (1 - recall) / recall
        share = (mean / (1 + mean)) ** missing / (1 + mean)  # the share of lists that lack this many objects
        all_fallen = (mean / (1 + mean)) ** k
        loss = share @ self._fallen + all_fallen
        without_ties = share @ missing / k + all_fallen
        return 1 - (1 - recall) * max(float(loss / without_ties), LEAST_LOSS)


@njit(cache=True, nogil=True)
def count_fallen(similarities, fallen):  # type: ignore[no-untyped-def]
    """Add to fallen[m] how many entries of all lists are less similar than the one which is last if m are missing."""
    size = similarities.shape[1]
    for row in range(similarities.shape[0]):
        below = 0
        for m in range(1, size):
            last = size - 1 - m
            if similarities[row, last] > similarities[row, last + 1] or similarities[row, last] == -np.inf:
                below = m
            fallen[m] += below


LOOKED_INTO, SHARE_OF_OTHERS = 40, 30
"""How many of the lists that a random pair has entered are looked into, and at one in how many of all other objects.
This takes at most 4 / 3 evaluations per object."""


class RandomPairs:
    """Draws random pairs of an evaluator's objects and counts how often one enters a list of the k best."""

    def __init__(self, evaluator: Evaluator, k: int, rng: np.random.Generator) -> None:
        self._evaluator, self._k, self._rng = evaluator, k, rng

    def estimate_recall(self, enough: float = np.inf) -> Recall:
        """Estimate the recall; more pairs are drawn unless the first ones give an estimate of at least `enough`."""
        entered, n_drawn = self._draw(PAIRS_PER_OBJECT)
        recall = self._recall(entered, n_drawn)
        if recall.value < enough:
            more_entered, more_drawn = self._draw(MORE_PAIRS_PER_OBJECT)
            recall = self._recall(np.concatenate([entered, more_entered]), n_drawn + more_drawn)
        return recall

    def _recall(self, entered: Integers, n_drawn: int) -> Recall:
        """Return the recall if the drawn pairs have entered these lists."""
        n, k = self._evaluator.space.n_left, self._k
        share = min(n_drawn / (n * (n - 1) / 2), 1.0)  # two draws may share pairs, so the sum may exceed 1
        n_expected_if_all = n * k * share
        if entered.size:
            most = entered.size / (entered.size + n_expected_if_all)  # if all lists lack equally many objects
            missed = min(most, entered.size / (n * share) * float((1 / (k + self._lacking(entered))).mean()))
            n_expected_if_all = entered.size * (1 - missed) / missed
        return Ties(self._similarities()).forgive(Recall.of(entered.size, n_expected_if_all))

    def _lacking(self, entered: Integers) -> Floats:
        """Return about how many objects some of the lists lack, at least 1 each."""
        n = self._evaluator.space.n_left
        lists = self._rng.choice(entered, min(entered.size, LOOKED_INTO), replace=False)
        size = -(-n // SHARE_OF_OTHERS)
        others = (lists[:, None] + 1 + self._rng.integers(n - 1, size=(lists.size, size))) % n
        n_more = self._entrances(np.repeat(lists, size), others.ravel())
        return np.maximum(n_more[lists] * (n / size), 1.0)

    def _draw(self, pairs_per_object: int) -> tuple[Integers, int]:
        """Let random pairs meet; return the lists that they enter, and how many different pairs were drawn."""
        n = self._evaluator.space.n_left
        i = self._rng.integers(n, size=pairs_per_object * n)
        j = (i + self._rng.integers(1, n, size=i.size)) % n
        return np.repeat(np.arange(n), self._entrances(i, j)), self._codes(i, j).size

    def _entrances(self, i: Integers, j: Integers) -> Integers:
        """Let pairs meet, each once; return how many better entries each list gets."""
        codes = self._codes(i, j)
        n = self._evaluator.space.n_left
        last = self._similarities()[:, -1:].copy()
        before = np.count_nonzero(self._similarities() > last, axis=1)
        self._evaluator.meet((codes // n).astype(np.int32), (codes % n).astype(np.int32))
        return np.count_nonzero(self._similarities() > last, axis=1) - before

    def _codes(self, i: Integers, j: Integers) -> Integers:
        """Return a number for each of the different unordered pairs."""
        n = self._evaluator.space.n_left
        codes = np.sort(np.minimum(i, j) * n + np.maximum(i, j))
        return codes[np.append(True, np.diff(codes) > 0)]  # for millions of codes, np.unique is slower

    def _similarities(self) -> NDArray[np.float64]:
        """Return the similarities of the k best entries of each list, as they are now."""
        return self._evaluator.lists.similarities[:, : self._k]
