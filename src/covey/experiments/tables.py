"""Tables from records: each method on each problem beside the paper's numbers, and what follows from them."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from statistics import fmean, pstdev
from typing import Any

import numpy as np

from covey.evaluation import Column, Table
from covey.experiments.methods import DELTA_MEDOIDS, SAME_SIZE, SPARSE, by_descent
from covey.experiments.problems import PROBLEMS, Problem
from covey.experiments.runner import Record
from covey.experiments.specs import Results

MEASURED = (
    "Selected is the share of all objects to represent; scan rate, of all pairs within clusters, how many similarities "
    "were computed (the classifier's not counted)."
)
PRECISION, RECALL, SHARE = Column("precision", ".3f"), Column("recall", ".3f"), Column("selected, %", ".2f")


@dataclass(frozen=True)
class Row:
    """A method on a problem: means over clusters, then over seeds, with the spread (standard deviation) over seeds.

    Attributes
    ----------
    problem, method : str
    precision, recall, f1 : float
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
    f1: float
    percentage: float
    scan_rate: float
    spread: tuple[float, float, float]
    seconds: float
    paper: tuple[float, float, float] | None


def _titled(whose: str, column: Column) -> Column:
    return Column(f"{whose}: {column.title}", column.form)


def summarise(records: Iterable[Record], problems: Mapping[str, Problem] = PROBLEMS) -> list[Row]:
    """A row for each problem and method, in the order in which they were recorded."""
    by_fit: dict[tuple[str, str], dict[int, list[Record]]] = {}
    for record in records:
        by_fit.setdefault((record.problem, record.method), {}).setdefault(record.seed, []).append(record)
    rows = []
    for (problem, method), seeds in by_fit.items():
        fits = list(seeds.values())
        precision, recall, f1 = by_seed(r for fit in fits for r in fit).T.tolist()
        percentage = [100 * sum(r.selected for r in fit) / sum(r.size for r in fit) for fit in fits]
        scan_rate = [sum(r.n_evaluations for r in fit) / max(sum(map(_n_pairs, fit)), 1) for fit in fits]
        known = problems.get(problem)
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
                None if known is None else known.paper.get(method),
            )
        )
    return rows


def _n_pairs(record: Record) -> float:
    """Of the cluster; both directions count if the similarity is asymmetric, which the scan rate knows."""
    return record.n_evaluations / record.scan_rate if record.scan_rate else 0.0


def methods_table(results: Results) -> Iterable[Table]:
    """All methods on all problems, beside the paper."""
    theirs = any(problem.paper for problem in results.problems.values())
    columns, rows = [Column("data"), Column("method")], []
    for column in (PRECISION, RECALL, SHARE):
        columns += [column, *([_titled("paper", column)] if theirs else [])]
    columns += [Column("F1", ".3f"), Column("scan rate", ".3f"), Column("fit, s", ".1f")]
    columns += [Column(f"± {column.title}", column.form) for column in (PRECISION, RECALL, SHARE)]
    for row in summarise(results.records, results.problems):
        ours = (row.precision, row.recall, row.percentage)
        paper = zip(ours, row.paper or (None, None, None), strict=True) if theirs else zip(ours, strict=True)
        pairs = [value for pair in paper for value in pair]
        rows.append((row.problem, row.method, *pairs, row.f1, row.scan_rate, row.seconds, *row.spread))
    yield Table("methods", columns, rows)


def domination_table(results: Results) -> Iterable[Table]:
    """For each of the paper's rows of CRS, the smallest selection measured here that is at least as good."""
    measured = summarise(results.records, results.problems)
    rows = []
    for name, problem in results.problems.items():
        for method, (precision, recall, share) in problem.paper.items():
            if not method.startswith("CRS"):
                continue
            as_good = [r for r in measured if r.problem == name and r.precision >= precision and r.recall >= recall]
            best = min((r for r in as_good if r.percentage < share), key=lambda r: r.percentage, default=None)
            found = (best.method, best.precision, best.recall, best.percentage) if best else ("none", None, None, None)
            rows.append((method, precision, recall, share, *found))
    paper, here = ([_titled(whose, column) for column in (PRECISION, RECALL, SHARE)] for whose in ("paper", "here"))
    columns = [Column("the paper's row"), *paper, Column("measured here"), *here]
    yield Table("domination", columns, rows)


def against_random_table(results: Results) -> Iterable[Table]:
    """CRS and a random choice of the same size, paired by seed; Wilcoxon's one-sided signed-rank test."""
    from scipy.stats import wilcoxon

    rows: list[tuple[Any, ...]] = []
    for problem in results.problems:
        ours, random = (
            by_seed(r for r in results.records if (r.problem, r.method) == (problem, method))
            for method in ("CRS-k10", SAME_SIZE)
        )
        if not len(ours):
            continue
        p_values = [
            float(wilcoxon(ours[:, at], random[:, at], alternative="greater").pvalue)
            if np.any(ours[:, at] != random[:, at])
            else 1.0
            for at in range(3)
        ]
        rows.append((problem, len(ours), *ours.mean(axis=0)[:2], *random.mean(axis=0)[:2], *p_values))
    columns = [
        Column("data"),
        Column("seeds", "d"),
        *(_titled(method, column) for method in ("CRS-k10", "random") for column in (PRECISION, RECALL)),
        Column("p, precision", ".2g"),
        Column("p, recall", ".2g"),
        Column("p, F1", ".2g"),
    ]
    yield Table("against-random", columns, rows)


def by_seed(records: Iterable[Record]) -> np.ndarray[Any, Any]:
    """Precision, recall and F1 of a method on a problem, means over clusters, a row a seed."""
    scores: dict[int, list[tuple[float, float, float]]] = {}
    for r in records:
        f1 = 2 * r.precision * r.recall / (r.precision + r.recall) if r.precision + r.recall else 0.0
        scores.setdefault(r.seed, []).append((r.precision, r.recall, f1))
    return np.array([np.mean(clusters, axis=0) for _, clusters in sorted(scores.items())])


PAPER_SCAN_RATES = {by_descent(10): "0.063", by_descent(15): "0.13", DELTA_MEDOIDS: "0.45 to 0.7", SPARSE: "1"}


def scan_rate_table(results: Results) -> Iterable[Table]:
    """Which share of all pairs was evaluated, beside what the paper says."""
    rows = [
        (row.method, row.scan_rate, PAPER_SCAN_RATES.get(row.method), row.precision, row.recall, row.percentage)
        for row in summarise(results.records, results.problems)
    ]
    columns = [Column("method"), Column("scan rate", ".4f"), Column("the paper's"), PRECISION, RECALL, SHARE]
    yield Table("scan-rates", columns, rows)


def clusters_table(results: Results) -> Iterable[Table]:
    """Sizes and homogeneities of what is represented."""
    rows = [
        (r.problem, r.cluster, r.size, r.homogeneity, r.selected)
        for r in results.records
        if r.seed == 0 and r.homogeneity is not None
    ]
    columns = [Column("data"), Column("cluster"), Column("size", "d"), Column("homogeneity", ".3f")]
    yield Table("clusters", [*columns, Column("selected by CRS-k10", "d")], rows)


def generator_table(results: Results) -> Iterable[Table]:
    """The generator's clusters beside the paper's table."""
    from covey.datasets import make_network_hosts
    from covey.datasets.network import CLUSTERS

    made = [make_network_hosts(seed) for seed in range(3)]
    sizes = [dict(zip(*np.unique(hosts.target, return_counts=True), strict=True)) for hosts in made]
    rows = [
        (label, size, int(sizes[0][label]), homogeneity, *(hosts.homogeneity[label] for hosts in made))
        for label, (size, homogeneity) in CLUSTERS.items()
    ]
    columns = [Column("cluster"), Column("paper: size", "d"), Column("size", "d"), Column("paper: homogeneity", ".2f")]
    yield Table("generator", [*columns, *(Column(f"homogeneity, seed {seed}", ".4f") for seed in range(3))], rows)


def records_table(records: Iterable[Record]) -> Table:
    """The records themselves, but for what does not fit into a cell."""
    names = [f.name for f in fields(Record) if f.name not in ("predicted", "representatives")]
    return Table("records", [Column(name) for name in names], [[getattr(r, name) for name in names] for r in records])
