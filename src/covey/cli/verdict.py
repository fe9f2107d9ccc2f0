"""The verdict of a comparison: what to use, why, how sure that is, and what it costs.

What is recommended, and why, comes from `recommend.py`. How sure it is comes from the folds: by how much the F1 of the
recommended method differs from that of all objects, and from that of the next best method, with intervals
(`covey.evaluation.difference`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from covey.cli.recommend import Candidate, Recommendation
from covey.displays.report import Verdict
from covey.evaluation.statistics import Difference, difference
from covey.experiments.curves import chance
from covey.experiments.names import ALL
from covey.experiments.records import Record
from covey.experiments.tables import Row, by_seed, summarise

FOLDS_OVERLAP = (
    "Folds share most of their objects, so the intervals are widened (Nadeau and Bengio, 2003) and still only a guide."
)
"""What is said about intervals over folds."""


@dataclass(frozen=True)
class Advice:
    """What is recommended: the method, if one is, the verdict for the page, and sentences for the terminal."""

    method: str | None = None
    verdict: Verdict | None = None
    sentences: Sequence[str] = ()


def judge(
    records: Sequence[Record], candidates: Mapping[str, Candidate], found: Recommendation, command: str | None
) -> Verdict:
    """Return what the comparison comes to, for the top of the report."""
    if found.method is None:
        return Verdict("No method can be recommended.", [("Why", _capital(found.reason))])
    rows = {row.method: row for row in summarise(records, {})}
    points = [
        ("Why", _capital(found.reason)),
        ("How good", _how_good(rows, found.method, chance(records))),
        ("How sure", " ".join(_how_sure(records, candidates, found))),
        ("What it costs", _cost(rows[found.method], [r for r in records if r.method == found.method])),
    ]
    return Verdict(f"Use {found.words}.", [(title, words) for title, words in points if words], command)


def sentences(verdict: Verdict) -> list[str]:
    """Return what the terminal and the JSON file say beside the recommendation and its reason."""
    return [f"{title}: {words}" for title, words in verdict.points if title != "Why"]


def _how_good(rows: Mapping[str, Row], method: str, guessed: float) -> str:
    """Return the quality of a method, and what it lies between."""
    most = f"all objects get {rows[ALL].f1:.3f}, and " if ALL in rows else ""
    return f"Its F1 is {rows[method].f1:.3f}; {most}labels drawn at random {guessed:.3f}."


def _how_sure(records: Sequence[Record], candidates: Mapping[str, Candidate], found: Recommendation) -> list[str]:
    """Return how the recommended method compares with all objects and with the next best; nothing of a single fold."""
    scores = {name: _f1_by_fold(records, name) for name in (found.method, ALL, found.runner_up) if name is not None}
    ours = scores[found.method or ""]
    if len(ours) < 2:
        return []
    told = []
    if scores.get(ALL):
        told.append(_compared("all objects", difference(ours, scores[ALL])))
    if found.runner_up is not None:
        other = candidates[found.runner_up].words
        told.append(_compared(f"the next best, {other}", difference(ours, scores[found.runner_up])))
    return [*told, FOLDS_OVERLAP] if told else []


def _f1_by_fold(records: Sequence[Record], method: str) -> list[float]:
    own = [record for record in records if record.method == method]
    return [float(f1) for f1 in by_seed(own)[:, 2]] if own else []


def _compared(other: str, found: Difference) -> str:
    """Return a difference in a sentence."""
    interval = f"{found.mean:+z.3f}, 95 % interval {found.low:+z.3f} to {found.high:+z.3f}"
    if not found.is_clear:
        return f"The folds cannot tell its F1 from that of {other} ({interval})."
    return f"Its F1 is clearly {'above' if found.mean > 0 else 'below'} that of {other} ({interval})."


def _cost(row: Row, records: Sequence[Record]) -> str:
    """Return what the recommended method keeps and computes in a fold."""
    n_folds = len({record.seed for record in records})
    kept, size = (round(sum(getattr(r, name) for r in records) / n_folds) for name in ("selected", "size"))
    seconds = f"{row.seconds:.1f} s" if row.seconds >= 0.1 else "less than 0.1 s"
    return (
        f"It keeps {row.percentage:.1f} % of the objects ({kept:,} of {size:,} in a fold). Selecting them took "
        f"{row.n_evaluations:,.0f} evaluations and {seconds}; an answer then takes {kept:,} evaluations instead of "
        f"{size:,}."
    )


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
