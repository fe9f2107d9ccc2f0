"""What the paper's report consists of: its methods, the tables and the figure that only it has, and its sections.

`PAPER` declares every section: which fits it needs, and what it shows of them.
"""

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from covey.datasets.network import CLUSTERS, make_network_hosts
from covey.displays.drawing import figure, plain
from covey.displays.picture import Picture
from covey.displays.table import Table, TableColumn
from covey.experiments import figures, tables
from covey.experiments.methods import BASELINES, DELTA_MEDOIDS, SPARSE, crs, crs_name
from covey.experiments.paper.problems import (
    BLOBS,
    CRS_METHODS,
    DESCENT_KS,
    EMAIL,
    EXACT_KS,
    FASHION,
    FIGURE_CLUSTERS,
    NETWORK,
    NEWS,
    PAPER_METHODS,
    SAME_SIZE,
    SCAN_RATES,
    SELECTIVE,
    SITES,
    SPIRALS,
    by_descent,
)
from covey.experiments.specs import Results, SelectorFactory, Spec
from covey.experiments.tables import PRECISION, RECALL, SHARE, Row, by_seed, summarise, titled
from covey.selectors.baselines import RandomSelector
from covey.selectors.crs import CRS


class RandomOfSameSize(RandomSelector):
    """A random choice that takes from each cluster as many objects as another selector does."""

    def __init__(self, selector: Any, *, random_state: Any = None, verbose: int = 0) -> None:
        self.selector = selector
        self.random_state = random_state
        self.verbose = verbose

    @property
    def similarity(self) -> Any:
        """That of the other selector."""
        return self.selector.similarity

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the other selector to learn how many objects it takes, then draw as many."""
        prototypes = clone(self.selector).fit(X, y).prototypes_
        self.n = {label: prototype.indices.size for label, prototype in prototypes.items()}
        return super().fit(X, y)


METHODS: dict[str, SelectorFactory] = {
    **BASELINES,
    **{crs_name(k): crs(k) for k in EXACT_KS},
    SELECTIVE: crs(1, coverage=1.0, threshold=0.955),
    SAME_SIZE: SelectorFactory(
        lambda s, seed, n_jobs: RandomOfSameSize(
            CRS(10, similarity=s, random_state=seed, n_jobs=n_jobs), random_state=seed
        )
    ),
    **{by_descent(k): crs(k, graph="nn-descent") for k in DESCENT_KS},
}


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
    """Compare CRS-k10 with random choices of the same size, paired by seed, by Wilcoxon's one-sided test."""
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
    """Return sizes and homogeneities of the clusters, and how many objects CRS-k10 selects of each."""
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


def impact_of_k(results: Results) -> Iterable[Picture]:
    """Draw precision, share selected and scan rate against k, a panel for each cluster of the paper's figure."""
    panels = [
        (problem, cluster)
        for problem in results.problems
        for cluster in FIGURE_CLUSTERS.get(problem, ())
        if any(r.problem == problem and r.cluster == cluster for r in results.records)
    ]
    if not panels:
        return
    curves = {
        panel: sorted(
            (r.k, r.precision, r.selected / r.size, r.scan_rate)
            for r in results.records
            if (r.problem, r.cluster) == panel and r.k is not None
        )
        for panel in panels
    }
    n_rows = -(-len(panels) // 2)
    drawn = figure(10, 3.4 * n_rows)
    for axes, (panel, curve) in zip(drawn.subplots(n_rows, 2, squeeze=False).flat, curves.items(), strict=False):
        ks, *columns = zip(*curve, strict=True)
        for values, name, mark in zip(columns, ("precision", "share selected", "scan rate"), "osd", strict=True):
            axes.plot(ks, values, marker=mark, markersize=4, label=name)
        axes.set(title=plain(", ".join(panel)), xlabel="k", ylim=(0, None))
        axes.grid(alpha=0.3)
        axes.legend()
    yield Picture(
        "impact-of-k",
        drawn,
        "Precision, the share of the cluster selected and the scan rate against k, graphs by NN-Descent. The smaller a "
        "cluster, the larger the share of its pairs that is evaluated. Working lists hold ten at least, so it is the "
        "same up to k = 10.",
    )


DATA = (FASHION, NEWS, NETWORK, EMAIL, SITES)
CRS_K3, CRS_K5, CRS_K10, CRS_K15 = map(crs_name, (3, 5, 10, 15))

PAPER: tuple[Spec, ...] = (
    Spec(
        "Methods",
        f"Means over clusters, then over seeds, ± the standard deviation over seeds. {tables.MEASURED} The network is "
        "synthetic, made like the paper's private one; email-Eu-core and WhoTracks.me are real stand-ins for it. CRS "
        "builds exact graphs here, as these clusters are small.",
        tables.methods_table,
        DATA,
        PAPER_METHODS,
    ),
    Spec(
        "Fewer objects than in the paper, at least as good",
        "For each of the paper's rows of CRS on Fashion-MNIST, the smallest selection by CRS measured here that has at "
        "least its precision and its recall.",
        domination_table,
        (FASHION,),
        CRS_METHODS,
        seeds=1,
        folded=True,
    ),
    Spec(
        "Against a random choice of the same size",
        "CRS-k10 and as many objects drawn at random from each cluster, paired by seed: the seed draws the split "
        "(where it is not the official one) and the objects. The p-values are Wilcoxon's, one-sided. Splits of one "
        "data set overlap, so the pairs are not quite independent.",
        against_random_table,
        DATA,
        (CRS_K10, SAME_SIZE),
        seeds=20,
        folded=True,
    ),
    Spec(
        "Representatives to look at",
        "Each with the number of objects that it stands for.",
        figures.galleries,
        DATA,
        (CRS_K10,),
        seeds=1,
        folded=True,
    ),
    Spec(
        "Critical differences",
        figures.RANKED,
        figures.critical_differences,
        DATA,
        PAPER_METHODS,
        folded=True,
    ),
    Spec(
        "Impact of k",
        "More neighbors, fewer representatives and more evaluations; precision hardly changes. The clusters are those "
        "of the paper's figure: Dress and Sandal, a medium and the biggest cluster of (synthetic) hosts.",
        impact_of_k,
        (FASHION, NETWORK),
        tuple(by_descent(k) for k in DESCENT_KS),
        seeds=1,
        folded=True,
    ),
    Spec(
        "Scan rates on Fashion-MNIST",
        "Unique pairs evaluated, of all n (n - 1) / 2.",
        scan_rate_table,
        (FASHION,),
        (by_descent(5), by_descent(10), by_descent(15), DELTA_MEDOIDS, SPARSE),
        seeds=1,
        folded=True,
    ),
    Spec(
        "By cluster",
        "The largest clusters of each data set, all methods.",
        figures.bar_charts,
        DATA,
        PAPER_METHODS,
        folded=True,
    ),
    Spec(
        "Confusion matrices",
        "CRS-k10, delta-medoids and DS3, all seeds together.",
        figures.confusion_matrices,
        (FASHION, NEWS, NETWORK),
        (CRS_K10, DELTA_MEDOIDS, SPARSE),
        folded=True,
    ),
    Spec(
        "Structure in the plane",
        "CRS follows the density; delta-medoids spread evenly; DS3 takes fewest.",
        figures.points,
        (BLOBS,),
        (CRS_K3, CRS_K5, CRS_K10, DELTA_MEDOIDS, SPARSE),
        seeds=1,
        folded=True,
    ),
    Spec(
        "Two spirals",
        "With more neighbors each representative stands for more, and the shape gets coarser.",
        figures.points,
        (SPIRALS,),
        (CRS_K3, CRS_K5, CRS_K10, CRS_K15),
        seeds=1,
        folded=True,
    ),
    Spec(
        "The generator of network hosts",
        "Sizes and homogeneities of the paper's table and of the synthetic hosts, all of them.",
        generator_table,
        folded=True,
    ),
    Spec(
        "Clusters",
        "Size and homogeneity of each cluster that is represented (half of the hosts, members and sites; seed 0).",
        clusters_table,
        DATA,
        (CRS_K10,),
        seeds=1,
        folded=True,
    ),
)
"""The sections, in the order of the report. The first one shows at a glance what came out; the others are folded."""
