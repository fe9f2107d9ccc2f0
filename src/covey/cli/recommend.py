"""Which number of neighbors, k, to take, going by the records of a comparison; none if no answer is better than chance.

1. A k is only considered if some k answers better than chance (`chance_of`).
2. Of the k whose F1 is within one standard error of the best, the one that selects fewest objects is recommended. This
   is the one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and Regression Trees, 1984).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from covey.experiments.records import Record
from covey.experiments.tables import by_seed

SIGNIFICANCE = 0.05
"""How likely, at most, some k may seem better than chance where none is: the usual 5 percent."""
PAIRED = 2
"""How many times larger the variance of the agreement is than that of independent answers, at most.

In a cross-validation, two objects that are closest to each other answer for each other, so that both answers agree with
the labels or none does. If all objects were such pairs, the variance would be twice that of single answers; with random
labels we measured 1.4 to 2.0 times.
"""


@dataclass(frozen=True)
class Recommendation:
    """A k and why it is recommended; or None, and why no k can be recommended."""

    k: int | None
    reason: str

    @property
    def sentence(self) -> str:
        return f"Recommended: {self.reason}" if self.k is not None else f"No recommendation: {self.reason}"


@dataclass(frozen=True)
class Tried:
    """How well a k did: its F1 in each fold, and the share of the objects that it selects."""

    scores: list[float]
    share: float

    @property
    def f1(self) -> float:
        return fmean(self.scores)

    @property
    def standard_error(self) -> float:
        return stdev(self.scores) / len(self.scores) ** 0.5 if len(self.scores) > 1 else 0.0


def recommend(records: Sequence[Record], ks: Mapping[str, int]) -> Recommendation | None:
    """Recommend one of the k that were tried, or say why none can be; None if no k was tried.

    `ks` says which methods differ only in k, by their names.
    """
    methods: dict[str, list[Record]] = {}
    for record in records:
        methods.setdefault(record.method, []).append(record)
    curve = {ks[name]: own for name, own in methods.items() if name in ks}
    if not curve:
        return None
    level = SIGNIFICANCE / len(curve)  # Bonferroni's correction for several k
    if not any(chance_of(own) < level for own in curve.values()):
        others = [name for name, own in methods.items() if name not in ks and chance_of(own) < level]
        return Recommendation(None, _nothing_found(others))
    return _smallest_near_the_best({k: _tried(own) for k, own in curve.items()})


def _tried(records: Sequence[Record]) -> Tried:
    share = sum(record.selected for record in records) / sum(record.size for record in records)
    return Tried(by_seed(records)[:, 2].tolist(), share)


def _smallest_near_the_best(tried: Mapping[int, Tried]) -> Recommendation:
    """Recommend the k that selects fewest objects of those within one standard error of the best."""
    best = max(tried, key=lambda k: tried[k].f1)
    error = tried[best].standard_error
    near = [k for k, own in tried.items() if own.f1 >= tried[best].f1 - error]
    k = min(near, key=lambda k: (tried[k].share, -tried[k].f1))
    if k == best:
        reason = f"k = {k}: it has the best F1, {tried[k].f1:.3f}, and no k as good selects fewer objects."
        return Recommendation(k, reason)
    reason = (
        f"k = {k}: its F1 of {tried[k].f1:.3f} is within one standard error ({error:.3f}) of the best, "
        f"{tried[best].f1:.3f} at k = {best}, and it selects {tried[k].share:.2%} of the objects instead of "
        f"{tried[best].share:.2%}."
    )
    return Recommendation(k, reason)


def _nothing_found(others: Sequence[str]) -> str:
    """Say that no k beats chance, which other methods do, and what to look at then."""
    found = f"; {', '.join(others)} does" if others else ", and neither does any other method"
    return (
        f"no k answers better than chance{found}. Under this similarity, what is compared says little about the "
        "label; check --label and --features, or try another --similarity."
    )


def chance_of(records: Sequence[Record]) -> float:
    """Return how likely answers agree with the labels so often if they have nothing to do with them.

    All answers of a method are put into one table of labels against answers. The number of answers that agree is nearly
    normal if labels and answers have nothing to do with each other. Its mean and variance are those of Cohen's kappa
    under that hypothesis (Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969), the variance times `PAIRED`.
    """
    from scipy.stats import norm

    labels = sorted({r.cluster for r in records} | {answer for r in records for answer in r.predicted})
    at = {label: place for place, label in enumerate(labels)}
    table = np.zeros((len(labels), len(labels)))
    for record in records:
        for answer, times in record.predicted.items():
            table[at[record.cluster], at[answer]] += times
    n = table.sum()
    if not n:
        return 1.0
    true, answered = table.sum(axis=1) / n, table.sum(axis=0) / n
    agreed, expected = np.trace(table) / n, float(true @ answered)
    variance = PAIRED * (expected + expected**2 - float((true * answered) @ (true + answered))) / n
    if variance <= 0 or agreed <= expected:
        return 1.0
    return float(norm.sf((agreed - expected) / variance**0.5))
