"""Tables made of records. Each function takes a spec's `Results`, except those that serve others as well."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean, pstdev, stdev

import numpy as np
from numpy.typing import NDArray

from covey.displays.report import Column, Table
from covey.experiments.records import Record
from covey.experiments.specs import Problem, Results

MEASURED = (
    "Selected is the share of all objects to represent; scan rate, of all pairs within clusters, how many similarities "
    "were computed (the classifier's not counted)."
)
"""A sentence for the note of a section: what the columns of `methods_table` mean."""
PRECISION, RECALL, SHARE = Column("precision", ".3f"), Column("recall", ".3f"), Column("selected, %", ".2f")


@dataclass(frozen=True)
class Row:
    """A method on a problem: means over clusters, then over seeds, with the spread (standard deviation) over seeds.

    Attributes
    ----------
    problem, method : str
    precision, recall, f1 : float
    percentage : float
        The share of all objects that is selected, in percent.
    scan_rate : float
    spread : tuple of float
        The standard deviations of precision, recall and percentage over seeds.
    seconds : float
        How long a fit takes.
    paper : tuple of float or None
        Precision, recall and percentage as a paper reports them.
    k, curve : int or None, str or None
        The number of neighbors, if the method has one, and what methods that differ only in k are called together.
    f1_error, f1_spread : float
        The standard error of F1 over seeds, and its standard deviation.
    n_evaluations : float
        How often the similarity was computed to select representatives in a fit.
    n_seeds : int
    """

    problem: str
    method: str
    precision: float
    recall: float
    f1: float
    percentage: float
    scan_rate: float
    spread: tuple[float, float, float]
    seconds: float
    paper: tuple[float, float, float] | None
    k: int | None = None
    curve: str | None = None
    f1_error: float = 0.0
    f1_spread: float = 0.0
    n_evaluations: float = 0.0
    n_seeds: int = 1


def summarise(records: Iterable[Record], problems: Mapping[str, Problem]) -> list[Row]:
    """A row for each problem and method, in the order in which they were recorded.

    The problems tell what a paper reports. Rows of problems that are not among them are made without it.
    """
    by_fit: dict[tuple[str, str], dict[int, list[Record]]] = {}
    for record in records:
        by_fit.setdefault((record.problem, record.method), {}).setdefault(record.seed, []).append(record)
    rows = []
    for (problem, method), seeds in by_fit.items():
        fits = list(seeds.values())
        precision, recall, f1 = by_seed(r for fit in fits for r in fit).T.tolist()
        percentage = [100 * sum(r.selected for r in fit) / sum(r.size for r in fit) for fit in fits]
        n_evaluations = [sum(r.n_evaluations for r in fit) + fit[0].shared_evaluations for fit in fits]
        scan_rate = [n / max(sum(map(_n_pairs, fit)), 1) for n, fit in zip(n_evaluations, fits, strict=True)]
        rows.append(
            Row(
                problem,
                method,
                fmean(precision),
                fmean(recall),
                fmean(f1),
                fmean(percentage),
                fmean(scan_rate),
                (pstdev(precision), pstdev(recall), pstdev(percentage)),
                fmean(fit[0].seconds for fit in fits),
                problems[problem].paper.get(method) if problem in problems else None,
                fits[0][0].k,
                fits[0][0].curve,
                standard_error(f1),
                pstdev(f1),
                fmean(n_evaluations),
                len(fits),
            )
        )
    return rows


def by_seed(records: Iterable[Record]) -> NDArray[np.float64]:
    """Precision, recall and F1 of a method on a problem: means over clusters, one row for each seed."""
    scores: dict[int, list[tuple[float, float, float]]] = {}
    for r in records:
        f1 = 2 * r.precision * r.recall / (r.precision + r.recall) if r.precision + r.recall else 0.0
        scores.setdefault(r.seed, []).append((r.precision, r.recall, f1))
    return np.array([np.mean(clusters, axis=0) for _, clusters in sorted(scores.items())])


def standard_error(scores: Sequence[float]) -> float:
    """The standard error of the mean of scores over seeds; 0 if there is only one.

    Examples
    --------
    >>> standard_error([0.5, 1.0])
    0.25
    """
    return stdev(scores) / len(scores) ** 0.5 if len(scores) > 1 else 0.0


def _n_pairs(record: Record) -> float:
    """How many pairs the cluster has. Both directions count if the similarity is asymmetric: the scan rate knows it."""
    return record.n_evaluations / record.scan_rate if record.scan_rate else record.size * (record.size - 1) / 2


def titled(whose: str, column: Column) -> Column:
    """The same column, but its title says whose numbers it holds."""
    return Column(f"{whose}: {column.title}", column.form)


def methods_table(results: Results) -> Iterable[Table]:
    """All methods on all problems; if a paper reports numbers, they stand beside those measured here."""
    beside_paper = any(problem.paper for problem in results.problems.values())
    columns, rows = [Column("data"), Column("method")], []
    for column in (PRECISION, RECALL, SHARE):
        columns += [column, *([titled("paper", column)] if beside_paper else [])]
    columns += [Column("F1", ".3f"), Column("scan rate", ".3f"), Column("fit, s", ".1f")]
    columns += [Column(f"± {column.title}", column.form) for column in (PRECISION, RECALL, SHARE)]
    for row in summarise(results.records, results.problems):
        ours = (row.precision, row.recall, row.percentage)
        paper = zip(ours, row.paper or (None, None, None), strict=True) if beside_paper else zip(ours, strict=True)
        pairs = [value for pair in paper for value in pair]
        rows.append((row.problem, row.method, *pairs, row.f1, row.scan_rate, row.seconds, *row.spread))
    yield Table("methods", columns, rows)


def records_table(records: Iterable[Record]) -> Table:
    """The records themselves, without those of their values that do not fit into a cell."""
    names = [f.name for f in fields(Record) if f.name not in ("predicted", "representatives")]
    return Table("records", [Column(name) for name in names], [[getattr(r, name) for name in names] for r in records])
