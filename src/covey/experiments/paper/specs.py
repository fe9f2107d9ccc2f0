"""Every section of the paper's report, declared: which fits it needs, and what it shows of them."""

from covey.experiments import confusions, figures, tables
from covey.experiments.names import DELTA_MEDOIDS, SPARSE, crs_name
from covey.experiments.paper import figures as paper_figures
from covey.experiments.paper import tables as paper_tables
from covey.experiments.paper.names import (
    BLOBS,
    CRS_METHODS,
    DESCENT_KS,
    EMAIL,
    FASHION,
    NETWORK,
    NEWS,
    PAPER_METHODS,
    SAME_SIZE,
    SITES,
    SPIRALS,
    by_descent,
)
from covey.experiments.specs import Spec

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
        paper_tables.domination_table,
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
        paper_tables.against_random_table,
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
        paper_figures.impact_of_k,
        (FASHION, NETWORK),
        tuple(by_descent(k) for k in DESCENT_KS),
        seeds=1,
        folded=True,
    ),
    Spec(
        "Scan rates on Fashion-MNIST",
        "Unique pairs evaluated, of all n (n - 1) / 2.",
        paper_tables.scan_rate_table,
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
        confusions.confusion_matrices,
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
        paper_tables.generator_table,
        folded=True,
    ),
    Spec(
        "Clusters",
        "Size and homogeneity of each cluster that is represented (half of the hosts, members and sites; seed 0).",
        paper_tables.clusters_table,
        DATA,
        (CRS_K10,),
        seeds=1,
        folded=True,
    ),
)
"""The sections, in the order of the report. The first one shows at a glance what came out; the others are folded."""
