"""The recall of an approximate graph, that is the share of true neighbors in it. `random_pairs.py` estimates it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Recall:
    """The share of true neighbors that an approximate graph has found.

    Attributes
    ----------
    value : float
        The estimate. It assumes that near and farther neighbors are missed equally often. It is too low if some
        objects have missed all of their neighbors.
    low, high : float
        The 95 % interval of the estimate. It follows from the Poisson distribution of the number of missed neighbors
        that a random sample of pairs finds.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, n_found: int, n_expected_if_all: float) -> "Recall":
        """The recall if random pairs entered lists `n_found` times.

        `n_expected_if_all` is how often they would have entered if there were one missing entry for each entry.
        """
        from scipy.stats import chi2

        fewest = chi2.ppf(0.025, 2 * n_found) / 2 if n_found else 0.0
        most = chi2.ppf(0.975, 2 * n_found + 2) / 2
        value, low, high = (float(1 / (1 + found / n_expected_if_all)) for found in (n_found, most, fewest))
        return cls(value, low, high)
