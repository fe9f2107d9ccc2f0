"""Which k to take, and whether to sharpen, going by the records of a comparison; nothing if all answers are chance.

1. Only CRS can be recommended, with some k, sharpened or not. These are the variants. A variant must answer better than
   chance (`chance_of`).
2. There must be several variants to choose from.
3. Of the variants whose F1 is within one standard error of the best, the one that selects fewest objects is
   recommended. This is the one-standard-error rule of Breiman, Friedman, Olshen and Stone (Classification and
   Regression Trees, 1984).
4. If another method is at least as good with fewer objects, the reason names it.

The verdict of a comparison: what to use, why, how sure that is, and what it costs.

What is recommended, and why, comes from `recommend.py`. How sure it is comes from the folds: by how much the F1 of the
recommended method differs from that of all objects, and from that of the best other method that could have been
recommended, with intervals (`covey.evaluation.difference`).

The methods that `covey compare` has been asked for: in which order they run, and the sections of their report.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Self

from covey.displays.report import Verdict
from covey.evaluation.statistics import difference
from covey.experiments import confusions, curves, figures, tables
from covey.experiments.confusions import confusion
from covey.experiments.curves import chance
from covey.experiments.names import ALL, CRS_CURVE, DELTA_MEDOIDS, RANDOM, SHARPENED_CURVE, SPARSE
from covey.experiments.records import TrialRecord
from covey.experiments.specs import SelectorFactory, Spec
from covey.experiments.tables import Row, by_seed, standard_error, summarise
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


def chance_of(records: Sequence[TrialRecord]) -> float:
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


def judge(records: Sequence[TrialRecord], found: Recommendation, command: str | None) -> Verdict:
    """Return what the comparison comes to, for the top of the report."""
    if found.method is None:
        return Verdict("No method can be recommended.", [("Why", _capital(found.reason))], recommends=False)
    rows = {row.method: row for row in summarise(records, {})}
    points = [
        ("Why", _capital(found.reason)),
        ("How good", _how_good(rows, found, chance(records))),
        ("How sure", " ".join(_how_sure(records, found))),
        ("What it costs", _cost(rows[found.method], [r for r in records if r.method == found.method])),
    ]
    headline = f"Use {found.words}." if found.is_choice else f"Only {found.words} was tried."
    return Verdict(headline, [(title, words) for title, words in points if words], command, found.is_choice)


def sentences(verdict: Verdict) -> list[str]:
    """Return what the terminal and the JSON file say beside the recommendation and its reason.

    A terminal may not have the sign that a page writes for minus, so that it gets a hyphen.
    """
    return [f"{title}: {words}".replace(MINUS, "-") for title, words in verdict.points if title != "Why"]


def _how_good(rows: Mapping[str, Row], found: Recommendation, guessed: float) -> str:
    """Return the quality of the recommended method, whether it is flattered, and what it lies between."""
    flattered = " in the folds that also chose it, which flatters it a little" if found.runner_up else ""
    others = [f"all objects get {rows[ALL].f1:.3f}"] if ALL in rows else []
    others += [f"labels drawn at random get {guessed:.3f}"]
    return f"Its F1 is {rows[found.method or ''].f1:.3f}{flattered}; {', and '.join(others)}."


def _how_sure(records: Sequence[TrialRecord], found: Recommendation) -> list[str]:
    """Return how the recommended method compares with all objects and with its rival; nothing of a single fold."""
    ours = _f1_by_fold(records, found.method)
    others = {"all objects": _f1_by_fold(records, ALL), found.rival: _f1_by_fold(records, found.runner_up)}
    tried = {other: theirs for other, theirs in others.items() if len(ours) > 1 and theirs}
    told = [_compared(other, ours, theirs) for other, theirs in tried.items()]
    return [*told, FOLDS_OVERLAP] if any(theirs != ours for theirs in tried.values()) else told


def _f1_by_fold(records: Sequence[TrialRecord], method: str | None) -> list[float]:
    """Return the F1 of a method in each fold; nothing if the method was not tried."""
    own = [record for record in records if record.method == method]
    return [float(f1) for f1 in by_seed(own)[:, 2]] if own else []


def _compared(other: str, ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Return in a sentence by how much the F1 of the recommended method differs from that of another."""
    if ours == theirs:
        return f"In every fold, its F1 is the same as that of {other}."
    found = difference(ours, theirs)
    mean, low, high = (f"{value:+z.3f}".replace("-", MINUS) for value in (found.mean, found.low, found.high))
    interval = f"{mean}, 95 % interval {low} to {high}"
    if not found.is_clear:
        return f"The folds cannot tell its F1 from that of {other} ({interval})."
    return f"Its F1 is clearly {'above' if found.mean > 0 else 'below'} that of {other} ({interval})."


def _cost(row: Row, records: Sequence[TrialRecord]) -> str:
    """Return what the recommended method keeps and computes, on average over folds."""
    n_folds = len({record.seed for record in records})
    kept, size = (round(sum(getattr(r, name) for r in records) / n_folds) for name in ("selected", "size"))
    seconds = f"{row.seconds:.1f} s" if row.seconds >= 0.1 else "less than 0.1 s"
    share = percent(row.percentage / 100)
    return (
        f"It keeps {share} of the objects: {kept:,} of the {size:,} it selects from, on average over folds. "
        f"Selecting them took {row.n_evaluations:,.0f} evaluations and {seconds}; an answer then takes {kept:,} "
        f"evaluations instead of {size:,}."
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]


SELECTED = 0.1
"""The share of the objects that a method is expected to select, where the data decide it. It only weighs a little in
what a method is expected to cost."""
PASSES = {CRS_CURVE: 1, DELTA_MEDOIDS: 2, SPARSE: 10, SHARPENED_CURVE: 1}
"""How often a method is expected to go through the pairs within clusters: CRS evaluates them, delta-medoids sums them
up as well, and DS3 iterates over them. The numbers are such that the methods are expected in about the order of their
seconds; `benchmarks/method_costs.py` measures how far that is true."""
USUAL_K = 10
"""The number of neighbors that `covey select` uses if nobody says another."""
MOST_SHOWN = 12
"""With more methods than this, figures that show one beside the other have only one k of each curve: bars and names of
more would be too small to read."""


@dataclass(frozen=True)
class Chosen:
    """The methods to compare by name, and those of them that can be recommended."""

    methods: dict[str, SelectorFactory]
    candidates: dict[str, Candidate]

    def in_order(self, sizes: Sequence[int], n_folds: int) -> list[str]:
        """Return the methods in the order in which they are of most use if there is little time.

        Each gets one k before any gets another; what is expected to cost least for clusters of these sizes comes first.
        The next k is always the one that is farthest from all before it, so that whatever is done covers the range of
        k.
        """
        ks = _spread_out(sorted({candidate.k for candidate in self.candidates.values()}))
        rounds: dict[str, tuple[int, float]] = {}
        for name, method in self.methods.items():
            first = 0 if method.k is None else ks.index(method.k)
            rounds[name] = (first, expected_pairs(method.curve or name, sizes, n_folds))
        return sorted(self.methods, key=lambda name: rounds[name])

    def described(self, names: Collection[str]) -> str:
        """Return the names of methods for a sentence, all of them; those that differ only in k are named together."""
        curves: dict[str, list[str]] = {}
        for name, method in self.methods.items():
            if name in names:
                curves.setdefault(method.curve or name, []).extend([] if method.k is None else [str(method.k)])
        return "; ".join(f"{curve} with k = {', '.join(ks)}" if ks else curve for curve, ks in curves.items())

    def only(self, names: Collection[str]) -> "Chosen":
        """Return some of the methods."""
        return Chosen(
            {name: method for name, method in self.methods.items() if name in names},
            {name: candidate for name, candidate in self.candidates.items() if name in names},
        )

    def beside(self, name: str) -> tuple[str, ...]:
        """Return the methods that figures show one beside the other, if one of them is looked at more closely."""
        if len(self.methods) <= MOST_SHOWN or name not in self.candidates:
            return tuple(self.methods)
        k = self.candidates[name].k
        return tuple(other for other, method in self.methods.items() if method.k in (None, k))


def expected_pairs(method: str, sizes: Sequence[int], n_folds: int) -> float:
    """Return how many pairs a fold of a method, or of a curve of methods, is expected to go through.

    It follows from the sizes of the clusters alone, so that the same data always give the same order of methods.
    """
    kept = [size * (n_folds - 1) / n_folds for size in sizes]
    n, n_queries = sum(kept), sum(sizes) / n_folds
    if method in (RANDOM, ALL):
        return n * n_queries * (1.0 if method == ALL else 0.05)
    within = sum(size * size for size in kept) / 2
    # Sharpening compares objects of different clusters, too.
    between = n * n / 2 if method == SHARPENED_CURVE else 0.0
    return PASSES[method] * within + between + SELECTED * n * n_queries


def _spread_out(ks: Sequence[int]) -> list[int]:
    """Return numbers of neighbors so that the first ones tell most: the usual one, then always the farthest."""
    order = sorted(ks, key=lambda k: abs(math.log(k / USUAL_K)))[:1]
    while len(order) < len(ks):
        rest = [k for k in ks if k not in order]
        order.append(max(rest, key=lambda k: min(abs(math.log(k / other)) for other in order)))
    return order


def sections(name: str, chosen: Chosen, looked_at: str, recommended: str | None) -> list[Spec]:
    """Return the sections of the report on the problem `name`; one of the methods is looked at more closely."""
    one, methods, beside = (looked_at,), tuple(chosen.methods), chosen.beside(looked_at)
    with_all = tuple(dict.fromkeys((looked_at, *(method for method in methods if method == ALL))))
    first_fold = "Selected to answer for the first fold, each with the number of objects that it stands for."
    some = "" if len(beside) == len(methods) else f" Of all k, only {chosen.candidates[looked_at].k} is shown."
    note = (
        f"Means over clusters, then over folds, ± the standard deviation over folds. {tables.MEASURED} Sharpening also "
        "compares objects of different clusters, so that its scan rate can be above 1."
    )
    size = f"Up and to the left is better: the same quality with fewer objects. {curves.ERRORS} {curves.CHANCE}"
    evaluations = f"Up and to the left is better: the same quality with fewer evaluations. {curves.ERRORS}"
    by_size = partial(curves.quality_against_size, marked=recommended)
    by_evaluations = partial(curves.quality_against_evaluations, marked=recommended)
    table = partial(tables.methods_table, marked=recommended)
    confused = "The largest first; all folds are counted together, so each object is asked about once."
    heat = "A color means the same share in every report."
    ranked = f"{figures.RANKED}{some}"
    ordered = "Means over folds, ± the standard deviation over folds; the clusters that are hardest to tell come first."
    return [
        Spec("Quality against size", size, by_size, (name,), methods),
        Spec("All methods", note, table, (name,), methods),
        Spec(f"What {looked_at} confuses", confused, confusions.largest_confusions, (name,), one),
        Spec("Confusion matrix", heat, confusions.confusion_matrices, (name,), one),
        Spec("Representatives to look at", first_fold, figures.galleries, (name,), one, seeds=1),
        Spec("What small selections can do", "", curves.quality_by_budget, (name,), methods, folded=True),
        Spec("Quality against evaluations", evaluations, by_evaluations, (name,), methods, folded=True),
        Spec("By cluster", ordered, tables.by_cluster, (name,), with_all, folded=True),
        Spec("Critical differences", ranked, figures.critical_differences, (name,), beside, folded=True),
    ]
