"""Which k to take, and whether to sharpen, going by the records of a comparison; nothing if all answers are chance.

1. Only CRS can be recommended, with some k, sharpened or not. These are the variants. A variant must answer better than
   chance (`chance_of`).
2. There must be several variants to choose from.
3. Of the variants whose F1 is within one standard error of the best, the one that selects fewest objects is
   recommended. This is the one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and
   Regression Trees, 1984).
4. If another method is at least as good with fewer objects, the reason names it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from covey.experiments.confusions import confusion
from covey.experiments.names import ALL
from covey.experiments.records import Record
from covey.experiments.tables import by_seed, standard_error
from covey.runtime.wording import percent

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
        The method that is recommended, or the only one that could have been.
    reason : str
    words : str
        What a sentence calls the method.
    runner_up : str or None
        The method with the best F1 of all others that can be recommended.
    rival : str
        What a sentence calls the runner-up, which may well be better, but selects more objects.
    is_choice : bool
        Whether the method was chosen among several. If not, it is no recommendation.
    """

    method: str | None
    reason: str
    words: str = ""
    runner_up: str | None = None
    rival: str = ""
    is_choice: bool = True

    @property
    def sentence(self) -> str:
        """The recommendation in a sentence."""
        if self.method is None or not self.is_choice:
            return f"No recommendation: {self.reason}"
        return f"Recommended: {self.words}: {self.reason}"


@dataclass(frozen=True)
class Outcome:
    """How a method did: what a sentence calls it, its F1 in each fold, and which share of the objects it selects."""

    words: str
    scores: list[float]
    share: float

    @classmethod
    def of(cls, words: str, records: Sequence[Record]) -> Self:
        """Sum up the records of a method."""
        share = sum(record.selected for record in records) / sum(record.size for record in records)
        return cls(words, by_seed(records)[:, 2].tolist(), share)

    @property
    def f1(self) -> float:
        """The mean F1 of the folds."""
        return fmean(self.scores)

    @property
    def shown(self) -> str:
        """The mean F1 as precise as it is shown."""
        return f"{self.f1:.3f}"


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
    able = [name for name, own in methods.items() if chance_of(own) < level]
    variants = {name: Outcome.of(candidates[name].words, tried[name]) for name in able if name in tried}
    if not variants:
        return Recommendation(None, _nothing_found(able, n_similarities))
    if len(tried) == 1:
        [(name, own)] = variants.items()
        reason = (
            f"only {own.words} was tried of all that can be recommended, so that there is nothing to choose from; pass "
            "several numbers as -k, or a longer --time-limit."
        )
        return Recommendation(name, reason, own.words, is_choice=False)
    others = [Outcome.of(name, own) for name, own in methods.items() if name not in candidates and name != ALL]
    return _smallest_near_the_best(variants, len(tried), others)


def _smallest_near_the_best(variants: Mapping[str, Outcome], n_tried: int, others: Sequence[Outcome]) -> Recommendation:
    """Recommend the variant that selects fewest objects of those within one standard error of the best.

    The variants are those of the `n_tried` that answer better than chance.
    """
    pool = "CRS variants tried" if len(variants) == n_tried else "CRS variants that answer better than chance"
    best = max(variants.values(), key=lambda own: own.f1)
    error = standard_error(best.scores)
    near = [name for name, own in variants.items() if own.f1 >= best.f1 - error]
    name = min(near, key=lambda name: (variants[name].share, -variants[name].f1))
    own = variants[name]
    if len(variants) == 1:
        reason = f"it is the only one of {n_tried} CRS variants tried that answers better than chance, F1 {own.shown}."
    elif own.shown == best.shown:
        has = "it has the best F1" if own.f1 == best.f1 else "to three digits, it has the best F1"
        reason = f"{has} of the {pool}, {own.shown}, and none of them that is as good selects fewer objects."
    else:
        reason = (
            f"its F1 of {own.shown} is within one standard error ({error:.3f}) of the best of the {pool}, {best.shown} "
            f"by {best.words}, and it selects fewer objects: {percent(own.share)} instead of {percent(best.share)}."
        )
    smaller = [other for other in others if other.f1 >= own.f1 and other.share < own.share]
    runner_up = max((other for other in variants if other != name), key=lambda other: variants[other].f1, default=None)
    return Recommendation(
        name, reason + _as_good(smaller), own.words, runner_up, _rival(own, variants.get(runner_up or ""))
    )


def _rival(own: Outcome, other: Outcome | None) -> str:
    """Return what a sentence calls the runner-up, if there is one."""
    if other is None:
        return ""
    return f"the {'best' if other.f1 > own.f1 else 'next best'} variant, {other.words}"


def _as_good(others: Sequence[Outcome]) -> str:
    """Name the methods that cannot be recommended, but are as good with fewer objects."""
    named = [f"{own.words} (F1 {own.shown} with {percent(own.share)} of the objects)" for own in others]
    verb = "is" if len(named) == 1 else "are"
    return f" But {' and '.join(named)} {verb} at least as good with fewer objects." if named else ""


def _nothing_found(others: Sequence[str], n_similarities: int) -> str:
    """Say that no k beats chance, which other methods do, and what to look at then."""
    verb = "does" if len(others) == 1 else "do"
    found = f"; {', '.join(others)} {verb}" if others else ", and neither does any other method"
    under = "this similarity" if n_similarities == 1 else f"any of {n_similarities} similarities"
    little = "says little" if n_similarities == 1 else "seems to say little"
    return (
        f"no k answers better than chance{found}. Under {under}, what is compared {little} about the label; check "
        "--label and --features, or try another --similarity."
    )


def chance_of(records: Sequence[Record]) -> float:
    """Return how likely answers agree with the labels this often if they have nothing to do with them.

    All answers of a method are put into one table of labels against answers. The number of answers that agree is nearly
    normal if labels and answers have nothing to do with each other. Its mean and variance are those of Cohen's kappa
    under that hypothesis (Fleiss, Cohen and Everitt, Psychological Bulletin 72, 1969), the variance times `PAIRED`.
    """
    from scipy.stats import norm

    _, table = confusion(records)
    n = table.sum()
    if not n:
        return 1.0
    true, answered = table.sum(axis=1) / n, table.sum(axis=0) / n
    agreed, expected = table.trace() / n, float(true @ answered)
    variance = PAIRED * (expected + expected**2 - float((true * answered) @ (true + answered))) / n
    if variance <= 0 or agreed <= expected:
        return 1.0
    return float(norm.sf((agreed - expected) / variance**0.5))
