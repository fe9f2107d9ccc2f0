"""Evaluation: statistical tests of whether methods differ (statistics.py).

`compare` ranks methods over clusters and tests which of them differ, `shaffer` corrects p-values of all pairs, and
`difference` compares two methods over the folds of a cross-validation.
"""

from covey.evaluation.statistics import Comparison, Difference, compare, difference, shaffer

__all__ = ["Comparison", "Difference", "compare", "difference", "shaffer"]
