"""Which k to take, from the records of a comparison; none if no answer is better than chance."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, stdev

import numpy as np

from covey.experiments import tables
from covey.experiments.records import Record

CURVE = "CRS-k"
"""How the names of the methods begin that differ in k only."""
SIGNIFICANCE = 0.05
"""How often, at most, some k may seem better than chance where none is."""
PAIRED = 2
"""In a cross-validation, two objects that are closest to each other answer for each other, so that both answers agree
with the labels or none does. If all objects were such pairs, the variance would be twice that of single answers; with
random labels we measured 1.4 to 2.0 times."""


@dataclass(frozen=True)
class Recommendation:
    """A k and why; or None, and why no k can be recommended."""

    k: int | None
    reason: str

    @property
    def sentence(self) -> str:
        return f"Recommended: {self.reason}" if self.k is not None else f"No recommendation: {self.reason}"


def recommend(records: Sequence[Record]) -> Recommendation | None:
    """Of the k whose F1 is within one standard error of the best, the one that selects fewest objects.

    None if no k was tried.
    """
    curve = {int(name.removeprefix(CURVE)): own for name, own in _by_method(records).items() if name.startswith(CURVE)}
    if not curve:
        return None
    if not any(chance_of(own) < SIGNIFICANCE / len(curve) for own in curve.values()):
        return Recommendation(None, _nothing_found(records, len(curve)))
    tried = {
        k: (tables.by_seed(own)[:, 2].tolist(), sum(r.selected for r in own) / sum(r.size for r in own))
        for k, own in curve.items()
    }
    best = max(tried, key=lambda k: fmean(tried[k][0]))
    values, best_share = tried[best]
    error = stdev(values) / len(values) ** 0.5 if len(values) > 1 else 0.0
    near = [k for k, (scores, _) in tried.items() if fmean(scores) >= fmean(values) - error]
    k = min(near, key=lambda k: (tried[k][1], -fmean(tried[k][0])))
    if k == best:
        return Recommendation(
            k, f"k = {k}: it has the best F1, {fmean(values):.3f}, and no k as good selects fewer objects."
        )
    scores, share = tried[k]
    reason = (
        f"k = {k}: its F1 of {fmean(scores):.3f} is within one standard error ({error:.3f}) of the best, "
        f"{fmean(values):.3f} at k = {best}, and it selects {share:.2%} of the objects instead of {best_share:.2%}."
    )
    return Recommendation(k, reason)


def _by_method(records: Sequence[Record]) -> dict[str, list[Record]]:
    found: dict[str, list[Record]] = {}
    for record in records:
        found.setdefault(record.method, []).append(record)
    return found


def _nothing_found(records: Sequence[Record], n_tried: int) -> str:
    """That no k beats chance, whether any other method does, and what to look at then."""
    methods = _by_method(records)
    level = SIGNIFICANCE / n_tried
    better = [name for name, own in methods.items() if not name.startswith(CURVE) and chance_of(own) < level]
    others = f"; {', '.join(better)} does" if better else ", and neither does any other method"
    return (
        f"no k answers better than chance{others}. Under this similarity, what is compared says little about the "
        "label; check --label and --features, or try another --similarity."
    )


def chance_of(records: Sequence[Record]) -> float:
    """How likely answers agree with the labels so often, or more often, if they have nothing to do with them.

    All answers of a method are put into one table of labels against answers. The number of those that agree is nearly
    normal if labels and answers have nothing to do with each other; its mean and variance are those of Cohen's kappa
    under that hypothesis (Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969), the variance `PAIRED` times.
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
