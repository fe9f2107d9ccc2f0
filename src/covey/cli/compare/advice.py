"""The advice of `covey compare`: which method to use, why, how sure that is, and what it costs.

1. Only CRS can be recommended, with some k, sharpened or not. These are the variants. A variant must answer better than
   chance (`covey.evaluation.agreement_p_value`).
2. There must be several variants to choose from.
3. Of the variants whose F1 is within one standard error of the best, the one that selects fewest objects is
   recommended. This is the one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and
   Regression Trees, 1984).
4. If another method is at least as good with fewer objects, the reason names it.
5. How sure this is comes from the folds: by how much the F1 of the recommended method differs from that of all objects,
   and from that of the best other variant, with intervals (`covey.evaluation.difference`).
"""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Self

from covey.cli.compare.methods import Candidate, Methods
from covey.cli.options import Source
from covey.cli.typer_dataclasses import words
from covey.displays.report import Verdict
from covey.evaluation import agreement_p_value, difference
from covey.experiments.figures import chance, confusion
from covey.experiments.methods import ALL
from covey.experiments.records import TrialRecord
from covey.experiments.tables import Row, by_seed, standard_error, summarise
from covey.runtime.wording import percent

SIGNIFICANCE = 0.05
"""How likely, at most, something may seem better than chance where nothing is: the usual 5 percent."""


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
        Whether the method was chosen among several. If not, it is not a recommendation.
    """

    method: str | None
    reason: str
    words: str = ""
    runner_up: str | None = None
    rival: str = ""
    is_choice: bool = True

    @property
    def sentence(self) -> str:
        if self.method is None or not self.is_choice:
            return f"No recommendation: {self.reason}"
        return f"Recommended: {self.words}: {self.reason}"


@dataclass(frozen=True)
class Performance:
    """How a method did: what a sentence calls it, its F1 in each fold, and which share of the objects it selects."""

    words: str
    scores: list[float]
    share: float

    @classmethod
    def of(cls, words: str, records: Sequence[TrialRecord]) -> Self:
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
    records: Sequence[TrialRecord], candidates: Mapping[str, Candidate], n_similarities: int = 1
) -> Recommendation | None:
    """Recommend one of the candidates, which are given by the names of methods, or say why none can be.

    None if no candidate was tried. The records are under the best of `n_similarities` that were tried.
    """
    methods: dict[str, list[TrialRecord]] = {}
    for record in records:
        methods.setdefault(record.method, []).append(record)
    tried = {name: own for name, own in methods.items() if name in candidates}
    if not tried:
        return None
    level = SIGNIFICANCE / (len(tried) * n_similarities)  # Bonferroni's correction for all that could have won
    better = [name for name, own in methods.items() if agreement_p_value(confusion(own)[1]) < level]
    variants = {name: Performance.of(candidates[name].words, tried[name]) for name in better if name in tried}
    if not variants:
        return Recommendation(None, _nothing_found(better, n_similarities))
    if len(tried) == 1:
        [(name, own)] = variants.items()
        reason = (
            f"only {own.words} was tried of all that can be recommended, so that there is nothing to choose from; pass "
            "several numbers as -k, or a longer --time-limit."
        )
        return Recommendation(name, reason, own.words, is_choice=False)
    others = [Performance.of(name, own) for name, own in methods.items() if name not in candidates and name != ALL]
    return _smallest_near_the_best(variants, len(tried), others)


def _smallest_near_the_best(
    variants: Mapping[str, Performance], n_tried: int, others: Sequence[Performance]
) -> Recommendation:
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


def _rival(own: Performance, other: Performance | None) -> str:
    """Return what a sentence calls the runner-up, if there is one."""
    if other is None:
        return ""
    return f"the {'best' if other.f1 > own.f1 else 'next best'} variant, {other.words}"


def _as_good(others: Sequence[Performance]) -> str:
    """Name the methods that cannot be recommended, but are as good with fewer objects."""
    named = [f"{own.words} (F1 {own.shown} with {percent(own.share)} of the objects)" for own in others]
    verb = "is" if len(named) == 1 else "are"
    return f" But {' and '.join(named)} {verb} at least as good with fewer objects." if named else ""


def _nothing_found(others: Sequence[str], n_similarities: int) -> str:
    """Return in words that no k beats chance, which other methods do, and what to look at then."""
    verb = "does" if len(others) == 1 else "do"
    rest = f"; {', '.join(others)} {verb}" if others else ", and neither does any other method"
    under = "this similarity" if n_similarities == 1 else f"any of {n_similarities} similarities"
    little = "says little" if n_similarities == 1 else "seems to say little"
    return (
        f"no k answers better than chance{rest}. Under {under}, what is compared {little} about the label; check "
        "--label and --features, or try another --similarity."
    )


FOLDS_OVERLAP = (
    "The objects that methods learn from overlap between folds, so the intervals are widened (Nadeau and Bengio, 2003) "
    "and still only a guide."
)
"""What is said about intervals over folds."""
MINUS = "\N{MINUS SIGN}"
"""What stands before negative numbers on a page."""


@dataclass(frozen=True)
class Advice:
    """What is recommended: the method, if one is, the verdict for the page, and sentences for the terminal."""

    method: str | None = None
    verdict: Verdict | None = None
    sentences: Sequence[str] = ()


def advise(records: Sequence[TrialRecord], methods: Methods, source: Source, n_similarities: int) -> Advice:
    """Return the method that is recommended, if one is, why, how sure that is, what it costs, and how to select by it.

    The records are under the best of `n_similarities` that were tried, which the options name.
    """
    advised = recommend(records, methods.candidates, n_similarities)
    if advised is None:
        return Advice()
    if advised.method is None:
        return Advice(None, judge(records, advised, None), [advised.sentence])
    command = how_to_select(source, methods.candidates[advised.method])
    verdict = judge(records, advised, command)
    recommended = advised.method if advised.is_choice else None
    return Advice(recommended, verdict, [advised.sentence, *sentences(verdict), f"To select like this: {command}"])


def how_to_select(source: Source, candidate: Candidate) -> str:
    """Return the command that selects from all of the data by a candidate."""
    return shlex.join(["covey", "select", *words(source), *candidate.options])


def judge(records: Sequence[TrialRecord], advised: Recommendation, command: str | None) -> Verdict:
    """Return what the comparison comes to, for the top of the report."""
    if advised.method is None:
        return Verdict("No method can be recommended.", [("Why", _capital(advised.reason))], recommends=False)
    rows = {row.method: row for row in summarise(records, {})}
    points = [
        ("Why", _capital(advised.reason)),
        ("How good", _how_good(rows, advised, chance(records))),
        ("How sure", " ".join(_how_sure(records, advised))),
        (
            "What it costs",
            _cost(rows[advised.method], [r for r in records if r.method == advised.method]),
        ),
    ]
    headline = f"Use {advised.words}." if advised.is_choice else f"Only {advised.words} was tried."
    return Verdict(headline, [(title, words) for title, words in points if words], command, advised.is_choice)


def sentences(verdict: Verdict) -> list[str]:
    """Return what the terminal and the JSON file say beside the recommendation and its reason.

    A terminal may not have the character that a page writes for minus, so that it gets a hyphen.
    """
    return [f"{title}: {words}".replace(MINUS, "-") for title, words in verdict.points if title != "Why"]


def _how_good(rows: Mapping[str, Row], advised: Recommendation, guessed: float) -> str:
    """Return the quality of the recommended method, whether it is flattered, and what it lies between."""
    flattered = " in the folds that also chose it, which flatters it a little" if advised.runner_up else ""
    others = [f"all objects get {rows[ALL].f1:.3f}"] if ALL in rows else []
    others += [f"labels drawn at random get {guessed:.3f}"]
    return f"Its F1 is {rows[advised.method or ''].f1:.3f}{flattered}; {', and '.join(others)}."


def _how_sure(records: Sequence[TrialRecord], advised: Recommendation) -> list[str]:
    """Return how the recommended method compares with all objects and with its rival; nothing of a single fold."""
    ours = _f1_by_fold(records, advised.method)
    others = {
        "all objects": _f1_by_fold(records, ALL),
        advised.rival: _f1_by_fold(records, advised.runner_up),
    }
    tried = {other: theirs for other, theirs in others.items() if len(ours) > 1 and theirs}
    differences = [_difference(other, ours, theirs) for other, theirs in tried.items()]
    return [*differences, FOLDS_OVERLAP] if any(theirs != ours for theirs in tried.values()) else differences


def _f1_by_fold(records: Sequence[TrialRecord], method: str | None) -> list[float]:
    """Return the F1 of a method in each fold; nothing if the method was not tried."""
    own = [record for record in records if record.method == method]
    return [float(f1) for f1 in by_seed(own)[:, 2]] if own else []


def _difference(other: str, ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return in a sentence by how much the F1 of the recommended method differs from that of another."""
    if ours == theirs:
        return f"In every fold, its F1 is the same as that of {other}."
    estimate = difference(ours, theirs)
    mean, low, high = (f"{value:+z.3f}".replace("-", MINUS) for value in (estimate.mean, estimate.low, estimate.high))
    interval = f"{mean}, 95 % interval {low} to {high}"
    if not estimate.is_clear:
        return f"The folds cannot tell its F1 from that of {other} ({interval})."
    return f"Its F1 is clearly {'above' if estimate.mean > 0 else 'below'} that of {other} ({interval})."


def _cost(row: Row, records: Sequence[TrialRecord]) -> str:
    """Return what the recommended method keeps and computes, on average over folds."""
    n_folds = len({record.seed for record in records})
    selected, size = (round(sum(getattr(r, name) for r in records) / n_folds) for name in ("selected", "size"))
    seconds = f"{row.seconds:.1f} s" if row.seconds >= 0.1 else "less than 0.1 s"
    share = percent(row.percentage / 100)
    return (
        f"It keeps {share} of the objects: {selected:,} of the {size:,} it selects from, on average over folds. "
        f"Selecting them took {row.n_evaluations:,.0f} evaluations and {seconds}; an answer then takes {selected:,} "
        f"evaluations instead of {size:,}."
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
