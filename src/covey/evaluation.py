"""Evaluation: statistical tests of whether methods differ.

`compare` makes Friedman's test over blocks, and Shaffer's static procedure for every pair of methods; `shaffer` is that
procedure alone.

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

__all__ = ["compare", "difference", "shaffer"]


@dataclass(frozen=True, eq=False)
class Comparison:
    """How methods rank over blocks, and which of them differ.

    `covey.evaluation.compare` makes it, and says what the tests assume.

    Attributes
    ----------
    names : tuple of str
        The names of the k methods.
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

    See Also
    --------
    covey.evaluation.compare : Makes it.

    Examples
    --------
    Over 30 data sets, the first method is better than the two others, which do not differ from each other:

    >>> import numpy as np
    >>> from covey.evaluation import compare
    >>> scores = np.random.default_rng(0).random((30, 3)) + [0.8, 0.1, 0]
    >>> found = compare(scores, ["ours", "old", "random"])
    >>> found.p_value < 0.001, bool(found.adjusted[0, 1] < 0.001), found.groups()
    (True, True, [('old', 'random')])
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
        """Return the largest groups of methods that follow each other by rank, of which no two differ significantly.

        A diagram of critical differences draws each group as a line.

        Parameters
        ----------
        level : float, default=0.05
            Two methods differ significantly if their adjusted p-value is not above this.

        Returns
        -------
        list of tuple of str
            The names in each group of two methods or more, the best method first. Groups may overlap.
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

    A block is a data set, or a cluster. Friedman's test tells whether any methods differ, and Shaffer's static
    procedure tells which [1]_. Both look only at ranks, so that scores of different blocks need not be comparable.

    The tests assume that blocks are independent. The clusters of one data set are not: what one of them wins another
    loses. Read the result over such blocks as a description, not as a proof.

    Parameters
    ----------
    scores : array of shape (n_blocks, n_methods)
        The score of each method in each block; larger is better.
    names : sequence of str
        The names of the methods, at least three.

    Returns
    -------
    Comparison
        The mean rank of each method, the p-values of the tests, and the groups of methods that do not differ.

    Raises
    ------
    ValueError
        If there are fewer than 3 methods or 2 blocks, if a score is not finite, or if `names` has not as many entries
        as the scores have columns.

    See Also
    --------
    covey.evaluation.difference : Compares two methods over the folds of a cross-validation.

    References
    ----------
    .. [1] S. García and F. Herrera, "An extension on 'Statistical comparisons of classifiers over multiple data sets'
       for all pairwise comparisons", Journal of Machine Learning Research 9, 2008.

    Examples
    --------
    >>> from covey.evaluation import compare
    >>> scores = [[0.91, 0.85, 0.80], [0.72, 0.70, 0.66], [0.88, 0.89, 0.70], [0.95, 0.93, 0.91], [0.60, 0.55, 0.52]]
    >>> found = compare(scores, ["CRS", "medoids", "random"])
    >>> found.ranks.tolist(), found.groups()
    ([1.2, 1.8, 3.0], [('CRS', 'medoids'), ('medoids', 'random')])
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
    """Adjust the p-values of all pairs of methods by Shaffer's static procedure.

    Of many tests some reject by chance. The procedure [1]_ makes up for that, and never rejects less than Holm's,
    because it knows that equality is transitive: if one pair of three methods differs, a second pair does so as well.

    Parameters
    ----------
    p_values : sequence of float
        One for each of the k (k - 1) / 2 pairs of k methods.
    n_methods : int
        How many methods there are: k.

    Returns
    -------
    float array
        The adjusted p-values, at most 1, in the order of those given. Reject the hypotheses whose adjusted p-value is
        not above the level of significance.

    Raises
    ------
    ValueError
        If there are more or fewer p-values than pairs.

    References
    ----------
    .. [1] J. P. Shaffer, "Modified sequentially rejective multiple test procedures", Journal of the American
       Statistical Association 81, 1986.

    Examples
    --------
    The smallest of three p-values is multiplied by 3. If that hypothesis is rejected, at most one of the two others can
    be true, so that they stay as they are:

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
    """Return the numbers of hypotheses "these two of k methods are equal" that can be true at once, ascending.

    Methods that are equal form groups, and a group of j methods makes j (j - 1) / 2 hypotheses true.
    """
    if k <= 1:
        return (0,)
    return tuple(sorted({j * (j - 1) // 2 + x for j in range(1, k + 1) for x in true_together(k - j)}))


@dataclass(frozen=True)
class Difference:
    """By how much one method is better than another.

    `covey.evaluation.difference` makes it.

    Attributes
    ----------
    mean : float
        The mean difference over folds; above 0, the first method is better.
    low, high : float
        The ends of a confidence interval around the mean.

    See Also
    --------
    covey.evaluation.difference : Makes it.

    Examples
    --------
    >>> from covey.results import Difference
    >>> Difference(0.02, 0.005, 0.035).is_clear, Difference(0.02, -0.006, 0.046).is_clear
    (True, False)
    """

    mean: float
    low: float
    high: float

    @property
    def is_clear(self) -> bool:
        """Whether the interval lies on one side of 0."""
        return self.low > 0 or self.high < 0


def difference(ours: Sequence[float], theirs: Sequence[float], *, confidence: float = 0.95) -> Difference:
    """Compare two methods by their scores in the same folds of one cross-validation.

    The folds are not independent: any two of them share most of the objects that methods learn from, so that the usual
    interval of paired differences is too short. Nadeau and Bengio [1]_ multiply the variance by 1 / m + 1 / (m - 1)
    instead of 1 / m, for m folds. This is a rule of thumb: read the interval as a guide, not as a proof.

    Parameters
    ----------
    ours, theirs : sequences of float
        The scores in each of at least two folds, larger ones better.
    confidence : float, default=0.95
        How often such intervals hold the difference.

    Returns
    -------
    Difference
        The mean of `ours` less `theirs`, and the interval around it.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or if one method has more scores than the other.

    See Also
    --------
    covey.evaluation.compare : Compares three methods or more over independent blocks.

    References
    ----------
    .. [1] C. Nadeau and Y. Bengio, "Inference for the generalization error", Machine Learning 52, 2003.

    Examples
    --------
    The first method is better in all five folds, and yet this may be chance:

    >>> from covey.evaluation import difference
    >>> found = difference([0.91, 0.93, 0.92, 0.95, 0.94], [0.90, 0.90, 0.91, 0.91, 0.93])
    >>> round(found.mean, 3), round(found.low, 3), round(found.high, 3), found.is_clear
    (0.02, -0.006, 0.046, False)
    """
    from scipy import stats

    if len(ours) != len(theirs):
        raise ValueError(f"both methods must have a score in each fold, got {len(ours)} and {len(theirs)} scores.")
    gains = np.asarray(ours, dtype=np.float64) - np.asarray(theirs, dtype=np.float64)
    k = gains.size
    if k < 2:
        raise ValueError(f"scores must be those of at least two folds, got {k}.")
    mean, error = float(gains.mean()), float(np.sqrt(gains.var(ddof=1) * (1 / k + 1 / (k - 1))))
    half = float(stats.t.ppf((1 + confidence) / 2, k - 1)) * error
    return Difference(mean, mean - half, mean + half)


PAIRED = 2
"""How many times larger the variance of the agreement is than that of independent answers, at most.

In a cross-validation, two objects that are closest to each other answer for each other, so that both answers agree with
the labels or none does. If all objects were such pairs, the variance would be twice that of single answers; with random
labels we measured 1.4 to 2.0 times.
"""


def agreement_p_value(confusion: Any) -> float:
    """Return how likely answers agree with the labels this often if they have nothing to do with them.

    `confusion` counts the answers (columns) to objects of each label (rows). The number of answers that agree is nearly
    normal if labels and answers have nothing to do with each other. Its mean and variance are those of Cohen's kappa
    under that hypothesis (Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969), the variance times `PAIRED`.
    """
    from scipy.stats import norm

    table = np.asarray(confusion)
    n = table.sum()
    if not n:
        return 1.0
    true, answered = table.sum(axis=1) / n, table.sum(axis=0) / n
    agreed, expected = table.trace() / n, float(true @ answered)
    variance = PAIRED * (expected + expected**2 - float((true * answered) @ (true + answered))) / n
    if variance <= 0 or agreed <= expected:
        return 1.0
    return float(norm.sf((agreed - expected) / variance**0.5))
