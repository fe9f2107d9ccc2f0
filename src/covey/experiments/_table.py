"""The paper's table of results, from records: each method on each problem, beside the paper's own numbers."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, pstdev

from covey.experiments._problems import PROBLEMS, Problem
from covey.experiments._runner import Record


@dataclass(frozen=True)
class Row:
    """A method on a problem: means over clusters, then over seeds, with the spread (standard deviation) over seeds.

    Attributes
    ----------
    problem, method : str
    precision, recall : float
    percentage : float
        Selected of all objects.
    scan_rate : float
    spread : tuple of float
        Of precision, recall and percentage.
    seconds : float
    paper : tuple of float or None
        Precision, recall and percentage in the paper.
    """

    problem: str
    method: str
    precision: float
    recall: float
    percentage: float
    scan_rate: float
    spread: tuple[float, float, float]
    seconds: float
    paper: tuple[float, float, float] | None

    def __str__(self) -> str:
        theirs = "" if self.paper is None else "   {:.3f}/{:.3f} ({:.2f} %)".format(*self.paper)
        return (
            f"{self.problem:<20}{self.method:<15}{self.precision:.3f}/{self.recall:.3f} ({self.percentage:.2f} %)"
            f"{theirs}"
        )


def summarise(records: Iterable[Record], problems: Mapping[str, Problem] = PROBLEMS) -> list[Row]:
    """A row for each problem and method, in the order in which they were recorded."""
    by_fit: dict[tuple[str, str], dict[int, list[Record]]] = {}
    for record in records:
        by_fit.setdefault((record.problem, record.method), {}).setdefault(record.seed, []).append(record)
    rows = []
    for (problem, method), seeds in by_fit.items():
        fits = list(seeds.values())
        precision, recall = ([fmean(getattr(r, key) for r in fit) for fit in fits] for key in ("precision", "recall"))
        percentage = [100 * sum(r.selected for r in fit) / sum(r.size for r in fit) for fit in fits]
        scan_rate = [
            sum(r.n_evaluations for r in fit) / max(sum(r.size * (r.size - 1) / 2 for r in fit), 1) for fit in fits
        ]
        known = problems.get(problem)
        rows.append(
            Row(
                problem,
                method,
                fmean(precision),
                fmean(recall),
                fmean(percentage),
                fmean(scan_rate),
                (pstdev(precision), pstdev(recall), pstdev(percentage)),
                fmean(fit[0].seconds for fit in fits),
                None if known is None else known.paper.get(method),
            )
        )
    return rows
