"""Whether methods differ, and which: Friedman's test over blocks, then Shaffer's static procedure for every pair.

With k methods and N blocks:

1. In each block (a cluster, a data set) rank the methods by their score. The best has rank 1, and equal methods share
   the mean of their ranks.
2. Friedman's test tells whether ranks drawn at random could have means so far apart.
3. For each pair of methods, the difference of their mean ranks is nearly normal, with variance k (k + 1) / (6 N). That
   gives a p-value for the hypothesis that the two are equal.
4. Shaffer (1986) adjusts these p-values. Only certain numbers of the k (k - 1) / 2 hypotheses can be true at once,
   because equality is transitive. The i-th smallest p-value is multiplied by the largest number of hypotheses that can
   still be true when the i - 1 before it are rejected, and it never falls below its predecessor.

The tests assume that blocks are independent. Clusters that one classifier tells apart are not: what one wins another
loses. Read the result of such blocks as a description, not as a proof.

`difference` compares two methods over the folds of one cross-validation, which are not independent either.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from covey.arrays import Floats


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods rank over blocks, and which of them differ; `compare` makes it.

    Attributes
    ----------
    names : tuple of str
        The methods.
    ranks : float array
        The mean rank of each method; 1 is the best.
    n_blocks : int
        How many blocks there are.
    statistic, p_value : float
        Friedman's chi-squared statistic, corrected for ties, and its p-value.
    f_statistic, f_p_value : float
        Iman and Davenport's statistic, which is less conservative than Friedman's, and its p-value.
    adjusted : float array of shape (k, k)
        The p-value of each pair, adjusted by Shaffer's static procedure; 1 on the diagonal.
    """

    names: tuple[str, ...]
    ranks: Floats
    n_blocks: int
    statistic: float
    p_value: float
    f_statistic: float
    f_p_value: float
    adjusted: Floats

    def groups(self, level: float = 0.05) -> list[tuple[str, ...]]:
        """The largest groups of methods that follow each other by rank, and of which no two differ significantly.

        Parameters
        ----------
        level : float, default=0.05
            Two methods differ significantly if their adjusted p-value is not above this.
        """
        order = np.argsort(self.ranks, kind="stable")
        found: list[tuple[int, int]] = []
        for start in range(order.size):
            stop = start + 1
            while stop < order.size and np.all(self.adjusted[order[start:stop], order[stop]] > level):
                stop += 1
            if stop - start > 1 and not (found and found[-1][1] >= stop):
                found.append((start, stop))
        return [tuple(self.names[at] for at in order[start:stop]) for start, stop in found]


def compare(scores: Any, names: Sequence[str]) -> Comparison:
    """Rank methods over blocks and test which of them differ.

    Parameters
    ----------
    scores : array of shape (n_blocks, n_methods)
        The score of each method in each block; larger is better.
    names : sequence of str
        The names of the methods, at least three.

    Returns
    -------
    Comparison

    Examples
    --------
    >>> import numpy as np
    >>> from covey.evaluation import compare
    >>> scores = np.random.default_rng(0).random((30, 3)) + [0.8, 0.1, 0]
    >>> found = compare(scores, ["a", "b", "c"])
    >>> found.ranks.round(2).tolist(), found.groups()
    ([1.17, 2.23, 2.6], [('b', 'c')])
    """
    from scipy import stats

    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ValueError(f"scores must have a column for each of the {len(names)} names, got shape {values.shape}.")
    n, k = values.shape
    if k < 3 or n < 2 or not np.isfinite(values).all():
        raise ValueError(f"scores must be finite numbers of 3 methods or more in 2 blocks or more, got shape {(n, k)}.")
    ranks = stats.rankdata(-values, axis=1).mean(axis=0)
    if np.ptp(values, axis=1).any():
        statistic, p_value = map(float, stats.friedmanchisquare(*values.T))
    else:  # all methods are equal in every block, which Friedman's statistic cannot express
        statistic, p_value = 0.0, 1.0
    rest = n * (k - 1) - statistic
    f_statistic = (n - 1) * statistic / rest if rest > 0 else np.inf
    f_p_value = float(stats.f.sf(f_statistic, k - 1, (k - 1) * (n - 1)))
    pairs = np.array(list(combinations(range(k), 2)))
    z = np.abs(ranks[pairs[:, 0]] - ranks[pairs[:, 1]]) / np.sqrt(k * (k + 1) / (6 * n))
    adjusted = np.ones((k, k))
    adjusted[pairs[:, 0], pairs[:, 1]] = shaffer(2 * stats.norm.sf(z), k)
    adjusted = np.minimum(adjusted, adjusted.T)
    return Comparison(tuple(names), ranks, n, statistic, p_value, float(f_statistic), f_p_value, adjusted)


def shaffer(p_values: Any, n_methods: int) -> Floats:
    """Adjust the p-values of all pairs of methods by Shaffer's static procedure; their order is kept.

    Parameters
    ----------
    p_values : sequence of float
        One for each of the k (k - 1) / 2 pairs of k methods.
    n_methods : int
        How many methods there are: k.

    Examples
    --------
    >>> from covey.evaluation import shaffer
    >>> shaffer([0.01, 0.04, 0.5], 3).tolist()
    [0.03, 0.04, 0.5]
    """
    p = np.asarray(p_values, dtype=np.float64)
    m = n_methods * (n_methods - 1) // 2
    if p.shape != (m,):
        raise ValueError(f"p_values must be the {m} of all pairs of {n_methods} methods, got shape {p.shape}.")
    possible = np.array(true_together(n_methods))
    order = np.argsort(p, kind="stable")
    most = possible[np.searchsorted(possible, m - np.arange(m), side="right") - 1]
    adjusted = np.empty(m)
    adjusted[order] = np.minimum(1, np.maximum.accumulate(most * p[order]))
    return adjusted


@lru_cache
def true_together(k: int) -> tuple[int, ...]:
    """The numbers of hypotheses "these two of k methods are equal" that can be true at once, ascending.

    Methods that are equal form groups, and a group of j methods makes j (j - 1) / 2 hypotheses true.
    """
    if k <= 1:
        return (0,)
    return tuple(sorted({j * (j - 1) // 2 + x for j in range(1, k + 1) for x in true_together(k - j)}))


@dataclass(frozen=True)
class Difference:
    """By how much one method is better than another: the mean over folds, and an interval around it."""

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


def difference(ours: Sequence[float], theirs: Sequence[float], *, confidence: float = 0.95) -> Difference:
    """Compare two methods by their scores in the same folds of one cross-validation.

    The folds are not independent: any two of k share most of the objects that methods learn from, so that the usual
    interval of paired differences is too short. Nadeau and Bengio (Machine Learning 52, 2003) add the share of the
    objects tested by those learned from, 1 / (k - 1), to the 1 / k that the variance is multiplied by. It is a
    correction by a rule of thumb: read the interval as a guide, not as a proof.

    Parameters
    ----------
    ours, theirs : sequences of float
        The scores in each of k folds, at least two.
    confidence : float, default=0.95
        How often such intervals hold the difference.

    Examples
    --------
    >>> from covey.evaluation import difference
    >>> found = difference([0.91, 0.93, 0.92, 0.95, 0.94], [0.90, 0.90, 0.91, 0.91, 0.93])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), found.is_clear
    (0.02, -0.006, 0.046, False)
    """
    from scipy import stats

    gains = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    k = gains.size
    if k < 2:
        raise ValueError(f"scores must be those of at least two folds, got {k}.")
    mean, error = float(gains.mean()), float(np.sqrt(gains.var(ddof=1) * (1 / k + 1 / (k - 1))))
    half = float(stats.t.ppf((1 + confidence) / 2, k - 1)) * error
    return Difference(mean, mean - half, mean + half)
