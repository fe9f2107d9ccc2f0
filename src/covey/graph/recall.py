"""The recall of an approximate graph, that is the share of true neighbors in it. `random_pairs.py` estimates it."""

from dataclasses import dataclass


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
    >>> found = covey.neighbor_graph(X, 5, method="nn-descent", random_state=0).estimated_recall
    >>> found.low <= found.value <= found.high
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
        value, low, high = (float(1 / (1 + found / n_expected_if_all)) for found in (n_found, most, fewest))
        return cls(value, low, high)
