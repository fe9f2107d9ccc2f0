"""Tables made of records. Each function takes a spec's `Results`, except those that serve others as well."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from statistics import fmean, median, stdev
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.displays.table import Table, TableColumn
from covey.experiments.records import TrialRecord
from covey.experiments.specs import Problem, Results

MEASURED = (
    "Selected is the share of all objects to represent; scan rate, of all pairs within clusters, how many similarities "
    "were computed (the classifier's not counted); fit, s is the median time of a fit in seconds."
)
"""A sentence for the note of a section: what the columns of `methods_table` mean."""
SCORES = ("F1", "precision", "recall")
MOST_CLUSTERS = 30
"""How many clusters `by_cluster` shows at most."""
PRECISION, RECALL, SHARE = (
    TableColumn("precision", ".3f"),
    TableColumn("recall", ".3f"),
    TableColumn("selected, %", ".2f"),
)


@dataclass(frozen=True)
class Row:
    """How a method did on a problem: means over clusters, then over seeds.

    `covey.experiments.tables.summarise` makes it.

    Attributes
    ----------
    problem, method : str
        Their names.
    precision, recall, f1 : float
        How well the representatives classify the queries.
    percentage : float
        The share of all objects that is selected, in percent.
    scan_rate : float
        The evaluations of a fit as a share of those that all pairs within clusters would take.
    spread : tuple of float
        The standard deviations of precision, recall and percentage over seeds, as they are estimated from a sample.
    seconds : float
        How long a fit takes: the median over seeds, because the first fit may also have to compile.
    paper : tuple of float or None
        Precision, recall and percentage as a paper reports them.
    k, curve : int or None, str or None
        The number of neighbors, if the method has one, and what methods that differ only in k are called together.
    f1_error, f1_spread : float
        The standard error of F1 over seeds, and its standard deviation.
    n_evaluations : float
        How often the similarity was computed to select representatives in a fit. It is S in the paper.
    n_seeds : int
        How many seeds there were.
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


def summarise(records: Iterable[TrialRecord], problems: Mapping[str, Problem]) -> list[Row]:
    """Sum up what was recorded: one row for each method on each problem.

    Rows are means over clusters, then over seeds, in the order in which methods and problems first come in the records.
    `problems` tells what a paper reports; it may lack problems, or be empty.
    """
    by_fit: dict[tuple[str, str], dict[int, list[TrialRecord]]] = {}
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
                (_spread(precision), _spread(recall), _spread(percentage)),
                median(fit[0].seconds for fit in fits),
                problems[problem].paper.get(method) if problem in problems else None,
                fits[0][0].k,
                fits[0][0].curve,
                standard_error(f1),
                _spread(f1),
                fmean(n_evaluations),
                len(fits),
            )
        )
    return rows


def by_seed(records: Iterable[TrialRecord]) -> NDArray[np.float64]:
    """Return precision, recall and F1 of a method on a problem: means over clusters, one row for each seed."""
    scores: dict[int, list[tuple[float, float, float]]] = {}
    for r in records:
        scores.setdefault(r.seed, []).append((r.precision, r.recall, _f1(r)))
    return np.array([np.mean(clusters, axis=0) for _, clusters in sorted(scores.items())])


def standard_error(scores: Sequence[float]) -> float:
    """Return the standard error of the mean of scores over seeds; 0 if there is only one.

    Examples
    --------
    >>> standard_error([0.5, 1.0])
    0.25
    """
    return _spread(scores) / len(scores) ** 0.5


def _spread(values: Sequence[float]) -> float:
    """Return the standard deviation of values over seeds, as it is estimated from a sample; 0 if there is only one."""
    return stdev(values) if len(values) > 1 else 0.0


def each_once(records: Iterable[TrialRecord], what: str) -> list[Any]:
    """Return the methods, the clusters or the seeds of the records, each once, in the order in which they first come.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> each_once([SimpleNamespace(method="CRS-k5"), SimpleNamespace(method="DS3")], "method")
    ['CRS-k5', 'DS3']
    """
    return list(dict.fromkeys(getattr(record, what) for record in records))


def _n_pairs(record: TrialRecord) -> float:
    """Return how many pairs the cluster has. Both directions count if the similarity is asymmetric."""
    return record.n_evaluations / record.scan_rate if record.scan_rate else record.size * (record.size - 1) / 2


def titled(whose: str, column: TableColumn) -> TableColumn:
    """Return the same column, but its title says whose numbers it holds."""
    return TableColumn(f"{whose}: {column.title}", column.form)


def methods_table(results: Results, marked: str | None = None) -> Iterable[Table]:
    """Yield all methods on all problems; if a paper reports numbers, they stand beside those measured here.

    The row of the method that is `marked` stands out. What was measured with several seeds stands with its standard
    deviation.
    """
    rows = summarise(results.records, results.problems)
    one = len({row.problem for row in rows}) == 1
    shown = _shown(beside_paper=any(problem.paper for problem in results.problems.values()))[1 if one else 0 :]
    at = next((at for at, row in enumerate(rows) if row.method == marked), None)
    if rows:
        lines = [[value(row) for _, value in shown] for row in rows]
        yield Table("methods", [column for column, _ in shown], lines, marked=at)


def _shown(*, beside_paper: bool) -> list[tuple[TableColumn, Callable[[Row], Any]]]:
    """Return the columns of `methods_table`, each with what it shows of a row."""

    def spread(value: Callable[[Row], float], spread: Callable[[Row], float]) -> Callable[[Row], Any]:
        return lambda row: (value(row), spread(row) if row.n_seeds > 1 else None)

    def paper(place: int) -> Callable[[Row], Any]:
        return lambda row: None if row.paper is None else row.paper[place]

    measured = [
        (SHARE, spread(lambda row: row.percentage, lambda row: row.spread[2]), 2),
        (PRECISION, spread(lambda row: row.precision, lambda row: row.spread[0]), 0),
        (RECALL, spread(lambda row: row.recall, lambda row: row.spread[1]), 1),
    ]
    columns: list[tuple[TableColumn, Callable[[Row], Any]]] = [
        (TableColumn("data"), lambda row: row.problem),
        (TableColumn("method"), lambda row: row.method),
        (TableColumn("F1", ".3f", spread=True), spread(lambda row: row.f1, lambda row: row.f1_spread)),
    ]
    for column, value, place in measured:
        columns.append((replace(column, spread=True), value))
        if beside_paper:
            columns.append((titled("paper", column), paper(place)))
    return [
        *columns,
        (TableColumn("scan rate", ".3f"), lambda row: row.scan_rate),
        (TableColumn("evaluations", ",.0f"), lambda row: row.n_evaluations),
        (TableColumn("fit, s", ".3f"), lambda row: row.seconds),
    ]


def by_cluster(results: Results) -> Iterable[Table]:
    """Yield the clusters, those that the first method finds hardest first: F1, precision and recall of each method.

    Nothing if there is no mistake to tell about.
    """
    methods, clusters = each_once(results.records, "method"), each_once(results.records, "cluster")
    sizes = {c: fmean(r.size for r in results.records if r.cluster == c) for c in clusters}
    scores = {
        (m, c): _scores(r for r in results.records if (r.method, r.cluster) == (m, c))
        for m in methods
        for c in clusters
    }
    worst = sorted(clusters, key=lambda cluster: scores[methods[0], cluster][0][0])[:MOST_CLUSTERS]
    if not clusters or scores[methods[0], worst[0]][0][0] == 1:
        return
    titles = [TableColumn(f"{method}: {score}", ".3f", spread=True) for method in methods for score in SCORES]
    rows = [
        (cluster, sizes[cluster], *(own for method in methods for own in scores[method, cluster])) for cluster in worst
    ]
    some = (
        "" if len(worst) == len(clusters) else f"Of {len(clusters)} clusters, the {MOST_CLUSTERS} with the lowest F1."
    )
    yield Table("clusters", [TableColumn("cluster"), TableColumn("objects to select from", ".0f"), *titles], rows, some)


def _scores(records: Iterable[TrialRecord]) -> list[tuple[float, float]]:
    """Return F1, precision and recall of a method for a cluster: the mean over seeds, and the standard deviation."""
    own = [(_f1(r), r.precision, r.recall) for r in records]
    return [(fmean(values), _spread(values)) for values in zip(*own, strict=True)]


def _f1(record: TrialRecord) -> float:
    total = record.precision + record.recall
    return 2 * record.precision * record.recall / total if total else 0.0


def records_table(records: Iterable[TrialRecord]) -> Table:
    """Return the records themselves, without those of their values that do not fit into a cell."""
    names = [f.name for f in fields(TrialRecord) if f.name not in ("predicted", "representatives", "mistaken")]
    return Table(
        "records", [TableColumn(name) for name in names], [[getattr(r, name) for name in names] for r in records]
    )
