"""Tables that only the paper's report has: what follows from the paper's numbers, and the data behind them."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from covey.datasets.network import CLUSTERS, make_network_hosts
from covey.displays.table import Table, TableColumn
from covey.experiments.names import crs_name
from covey.experiments.paper.names import CRS_METHODS, SAME_SIZE
from covey.experiments.paper.printed import SCAN_RATES
from covey.experiments.specs import Results
from covey.experiments.tables import PRECISION, RECALL, SHARE, Row, by_seed, summarise, titled

SCANNED = (
    "The paper's own formula divides by four times too many pairs, so that its 0.063 and 0.13 are about 0.25 and 0.52 "
    "of all pairs."
)
"""The caption of `scan_rate_table` if the paper's rates stand in it."""


def domination_table(results: Results) -> Iterable[Table]:
    """Yield for each of the paper's rows of CRS, the smallest selection measured here that is at least as good.

    Nothing if there is none for any of the rows.
    """
    measured = summarise(results.records, results.problems)
    rows = []
    for name, problem in results.problems.items():
        for method in (method for method in problem.paper if method in CRS_METHODS):
            precision, recall, share = problem.paper[method]
            as_good = [r for r in measured if r.problem == name and r.precision >= precision and r.recall >= recall]
            best = min((r for r in as_good if r.percentage < share), key=lambda r: r.percentage, default=None)
            found = (best.method, best.precision, best.recall, best.percentage) if best else ("none", None, None, None)
            rows.append((method, precision, recall, share, *found))
    if all(row[-1] is None for row in rows):
        return
    paper, here = ([titled(whose, column) for column in (PRECISION, RECALL, SHARE)] for whose in ("paper", "here"))
    columns = [TableColumn("the paper's row"), *paper, TableColumn("measured here"), *here]
    yield Table("domination", columns, rows)


def against_random_table(results: Results) -> Iterable[Table]:
    """CRS-k10 and a random choice of the same size, paired by seed, with Wilcoxon's one-sided signed-rank test."""
    from scipy.stats import wilcoxon

    ours_name = crs_name(10)
    rows: list[tuple[Any, ...]] = []
    for problem in results.problems:
        ours, random = (
            by_seed(r for r in results.records if (r.problem, r.method) == (problem, method))
            for method in (ours_name, SAME_SIZE)
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
        TableColumn("data"),
        TableColumn("seeds", "d"),
        *(titled(whose, column) for whose in (ours_name, "random") for column in (PRECISION, RECALL)),
        TableColumn("p, precision", ".2g"),
        TableColumn("p, recall", ".2g"),
        TableColumn("p, F1", ".2g"),
    ]
    if rows:
        yield Table("against-random", columns, rows)


def scan_rate_table(results: Results) -> Iterable[Table]:
    """Yield the share of all pairs that each method evaluates, beside the paper's if the problems hold it."""
    beside_paper = any(problem.paper for problem in results.problems.values())
    rows = [
        (row.method, row.scan_rate, *([SCAN_RATES.get(row.method)] if beside_paper else []), *_scores(row))
        for row in summarise(results.records, results.problems)
    ]
    columns = [
        TableColumn("method"),
        TableColumn("scan rate", ".4f"),
        *([TableColumn("the paper's")] if beside_paper else []),
    ]
    if rows:
        yield Table("scan-rates", [*columns, PRECISION, RECALL, SHARE], rows, SCANNED if beside_paper else "")


def _scores(row: Row) -> tuple[float, float, float]:
    return row.precision, row.recall, row.percentage


def clusters_table(results: Results) -> Iterable[Table]:
    """Sizes and homogeneities of the clusters, and how many objects CRS-k10 selects of each."""
    rows = [
        (r.problem, r.cluster, r.size, r.homogeneity, r.selected)
        for r in results.records
        if r.seed == 0 and r.homogeneity is not None
    ]
    columns = [TableColumn("data"), TableColumn("cluster"), TableColumn("size", "d"), TableColumn("homogeneity", ".3f")]
    if rows:
        yield Table("clusters", [*columns, TableColumn(f"selected by {crs_name(10)}", "d")], rows)


def generator_table(results: Results) -> Iterable[Table]:
    """Yield the clusters of the generator of network hosts, for three seeds, beside the paper's own table."""
    made = [make_network_hosts(seed) for seed in range(3)]
    sizes = [dict(zip(*np.unique(hosts.target, return_counts=True), strict=True)) for hosts in made]
    rows = [
        (label, size, int(sizes[0][label]), homogeneity, *(hosts.homogeneity[label] for hosts in made))
        for label, (size, homogeneity) in CLUSTERS.items()
    ]
    columns = [
        TableColumn("cluster"),
        TableColumn("paper: size", "d"),
        TableColumn("size", "d"),
        TableColumn("paper: homogeneity", ".2f"),
    ]
    yield Table("generator", [*columns, *(TableColumn(f"homogeneity, seed {seed}", ".4f") for seed in range(3))], rows)
