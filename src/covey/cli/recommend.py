"""Which k to take, and whether to sharpen, going by the records of a comparison; nothing if all answers are chance.

1. A method is only recommended if one with some k, sharpened or not, answers better than chance (`chance_of`).
2. Of those whose F1 is within one standard error of the best, the one that selects fewest objects is recommended. This
   is the one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and Regression Trees, 1984).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from covey.experiments.records import Record
from covey.experiments.tables import by_seed, standard_error

SIGNIFICANCE = 0.05
"""How likely, at most, something may seem better than chance where nothing is: the usual 5 percent."""
PAIRED = 2
"""How many times larger the variance of the agreement is than that of independent answers, at most.

In a cross-validation, two objects that are closest to each other answer for each other, so that both answers agree with
the labels or none does. If all objects were such pairs, the variance would be twice that of single answers; with random
labels we measured 1.4 to 2.0 times.
"""


@dataclass(frozen=True)
class Candidate:
    """A method that can be recommended.

    Attributes
    ----------
    words : str
        What a sentence calls it.
    options : tuple of str
        The options of `covey select` that use it.
    k : int
    """

    words: str
    options: tuple[str, ...]
    k: int


@dataclass(frozen=True)
class Recommendation:
    """The name of a method and why it is recommended; or None, and why none can be recommended.

    Attributes
    ----------
    method : str or None
    reason : str
    words : str
        What a sentence calls the method.
    runner_up : str or None
        The method with the best F1 of all others that can be recommended.
    """

    method: str | None
    reason: str
    words: str = ""
    runner_up: str | None = None

    @property
    def sentence(self) -> str:
        """The recommendation in a sentence."""
        if self.method is None:
            return f"No recommendation: {self.reason}"
        return f"Recommended: {self.words}: {self.reason}"


@dataclass(frozen=True)
class Tried:
    """How well a method did: its F1 in each fold, and the share of the objects that it selects."""

    words: str
    scores: list[float]
    share: float

    @property
    def f1(self) -> float:
        return fmean(self.scores)


def recommend(
    records: Sequence[Record], candidates: Mapping[str, Candidate], n_similarities: int = 1
) -> Recommendation | None:
    """Recommend one of the candidates, which are given by the names of methods, or say why none can be.

    None if no candidate was tried. The records are under the best of `n_similarities` that were tried.
    """
    methods: dict[str, list[Record]] = {}
    for record in records:
        methods.setdefault(record.method, []).append(record)
    tried = {name: own for name, own in methods.items() if name in candidates}
    if not tried:
        return None
    level = SIGNIFICANCE / (len(tried) * n_similarities)  # Bonferroni's correction for all that could have won
    if not any(chance_of(own) < level for own in tried.values()):
        others = [name for name, own in methods.items() if name not in candidates and chance_of(own) < level]
        return Recommendation(None, _nothing_found(others, n_similarities))
    return _smallest_near_the_best({name: _tried(candidates[name], own) for name, own in tried.items()})


def _tried(candidate: Candidate, records: Sequence[Record]) -> Tried:
    share = sum(record.selected for record in records) / sum(record.size for record in records)
    return Tried(candidate.words, by_seed(records)[:, 2].tolist(), share)


def _smallest_near_the_best(tried: Mapping[str, Tried]) -> Recommendation:
    """Recommend the method that selects fewest objects of those within one standard error of the best."""
    best = max(tried.values(), key=lambda own: own.f1)
    error = standard_error(best.scores)
    near = [name for name, own in tried.items() if own.f1 >= best.f1 - error]
    name = min(near, key=lambda name: (tried[name].share, -tried[name].f1))
    own = tried[name]
    runner_up = max((other for other in tried if other != name), key=lambda other: tried[other].f1, default=None)
    if own is best:
        reason = f"it has the best F1, {own.f1:.3f}, and nothing as good selects fewer objects."
        return Recommendation(name, reason, own.words, runner_up)
    reason = (
        f"its F1 of {own.f1:.3f} is within one standard error ({error:.3f}) of the best, "
        f"{best.f1:.3f} by {best.words}, and it selects {own.share:.2%} of the objects instead of {best.share:.2%}."
    )
    return Recommendation(name, reason, own.words, runner_up)


def _nothing_found(others: Sequence[str], n_similarities: int) -> str:
    """Say that no k beats chance, which other methods do, and what to look at then."""
    found = f"; {', '.join(others)} does" if others else ", and neither does any other method"
    under = "this similarity" if n_similarities == 1 else f"any of {n_similarities} similarities"
    little = "says little" if n_similarities == 1 else "seems to say little"
    return (
        f"no k answers better than chance{found}. Under {under}, what is compared {little} about the label; check "
        "--label and --features, or try another --similarity."
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
