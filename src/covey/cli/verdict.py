"""The verdict of a comparison: what to use, why, how sure that is, and what it costs.

What is recommended, and why, comes from `recommend.py`. How sure it is comes from the folds: by how much the F1 of the
recommended method differs from that of all objects, and from that of the best other method that could have been
recommended, with intervals (`covey.evaluation.difference`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from covey.cli.recommend import Recommendation
from covey.displays.report import Verdict
from covey.evaluation.statistics import difference
from covey.experiments.curves import chance
from covey.experiments.names import ALL
from covey.experiments.records import Record
from covey.experiments.tables import Row, by_seed, summarise
from covey.runtime.wording import percent

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


def judge(records: Sequence[Record], found: Recommendation, command: str | None) -> Verdict:
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


def _how_sure(records: Sequence[Record], found: Recommendation) -> list[str]:
    """Return how the recommended method compares with all objects and with its rival; nothing of a single fold."""
    ours = _f1_by_fold(records, found.method)
    others = {"all objects": _f1_by_fold(records, ALL), found.rival: _f1_by_fold(records, found.runner_up)}
    tried = {other: theirs for other, theirs in others.items() if len(ours) > 1 and theirs}
    told = [_compared(other, ours, theirs) for other, theirs in tried.items()]
    return [*told, FOLDS_OVERLAP] if any(theirs != ours for theirs in tried.values()) else told


def _f1_by_fold(records: Sequence[Record], method: str | None) -> list[float]:
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


def _cost(row: Row, records: Sequence[Record]) -> str:
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
