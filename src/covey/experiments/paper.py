"""The paper's tables and figures, declared; `reproduce` runs them and writes the report."""

import logging
from pathlib import Path
from typing import Any

from covey.datasets import MissingDataError
from covey.experiments import figures, tables
from covey.experiments.methods import DELTA_MEDOIDS, DESCENT_KS, METHODS, PAPER_METHODS, SAME_SIZE, SPARSE, by_descent
from covey.experiments.problems import PROBLEMS, Problem
from covey.experiments.runner import FILE, QUICK_FILE, read_records
from covey.experiments.specs import Spec, report
from covey.runtime.progress import progress

logger = logging.getLogger("covey")

FASHION, NEWS, NETWORK, EMAIL, SITES, BLOBS, SPIRALS = PROBLEMS
DATA = (FASHION, NEWS, NETWORK, EMAIL, SITES)
COMPARED = ("CRS-k10", DELTA_MEDOIDS, SPARSE)

PAPER: tuple[Spec, ...] = (
    Spec(
        "Methods, beside the paper's table",
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
        tables.domination_table,
        (FASHION,),
        tuple(name for name in METHODS if name.startswith("CRS")),
        seeds=1,
    ),
    Spec(
        "Against a random choice of the same size",
        "CRS-k10 and as many objects drawn at random from each cluster, paired by seed: the seed draws the split "
        "(where it is not the official one) and the objects. The p-values are Wilcoxon's, one-sided. Splits of one "
        "data set overlap, so the pairs are not quite independent.",
        tables.against_random_table,
        DATA,
        ("CRS-k10", SAME_SIZE),
        seeds=20,
    ),
    Spec(
        "Representatives to look at",
        "Each with the number of objects that it stands for.",
        figures.galleries,
        DATA,
        ("CRS-k10",),
        seeds=1,
    ),
    Spec(
        "Critical differences",
        figures.RANKED,
        figures.critical_differences,
        DATA,
        PAPER_METHODS,
    ),
    Spec(
        "Impact of k",
        "More neighbors, fewer representatives and more evaluations; precision hardly changes. The clusters are those "
        "of the paper's figure: Dress and Sandal, a medium and the biggest cluster of (synthetic) hosts.",
        figures.impact_of_k,
        (FASHION, NETWORK),
        tuple(by_descent(k) for k in DESCENT_KS),
        seeds=1,
    ),
    Spec(
        "Scan rates on Fashion-MNIST",
        "Unique pairs evaluated, of all n (n - 1) / 2. The paper's own formula divides by four times too many, so its "
        "0.063 and 0.13 are about 0.25 and 0.52 of all pairs.",
        tables.scan_rate_table,
        (FASHION,),
        (by_descent(5), by_descent(10), by_descent(15), DELTA_MEDOIDS, SPARSE),
        seeds=1,
    ),
    Spec(
        "By cluster",
        "The largest clusters of each data set, all methods.",
        figures.bars,
        DATA,
        PAPER_METHODS,
    ),
    Spec(
        "Confusion matrices",
        "CRS-k10, delta-medoids and DS3, all seeds together.",
        figures.confusions,
        (FASHION, NEWS, NETWORK),
        COMPARED,
    ),
    Spec(
        "Structure in the plane",
        "CRS follows the density; delta-medoids spread evenly; DS3 takes fewest.",
        figures.points,
        (BLOBS,),
        ("CRS-k3", "CRS-k5", "CRS-k10", DELTA_MEDOIDS, SPARSE),
        seeds=1,
    ),
    Spec(
        "Two spirals",
        "With more neighbors each representative stands for more, and the shape gets coarser.",
        figures.points,
        (SPIRALS,),
        ("CRS-k3", "CRS-k5", "CRS-k10", "CRS-k15"),
        seeds=1,
    ),
    Spec(
        "The generator of network hosts",
        "Sizes and homogeneities of the paper's table and of the synthetic hosts, all of them.",
        tables.generator_table,
    ),
    Spec(
        "Clusters",
        "Size and homogeneity of each cluster that is represented (half of the hosts, members and sites; seed 0).",
        tables.clusters_table,
        DATA,
        ("CRS-k10",),
        seeds=1,
    ),
)
"""In the order of the report."""


def reproduce(
    folder: Any,
    *,
    quick: bool = False,
    seeds: int | None = None,
    data_home: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Path:
    """Run the paper's experiments again and write the report; returns the page's path.

    Parameters
    ----------
    folder : path
        Gets the page (report.html), tables (CSV), figures (SVG and PNG) and records (JSON Lines, CSV). A run that was
        stopped goes on where it stopped if it is given the same folder.
    quick : bool, default=False
        100 objects of each cluster: minutes, to see that everything works. The numbers mean little.
    seeds : int, optional
        How often what is drawn at random is repeated; 5 by default, 2 if quick.
    data_home : path, optional
        Where the loaders look first. Data sets that are not on the machine and cannot be fetched are left out.
    n_jobs : int or None, default=None
    verbose : int, default=0
        Show a bar on a terminal, and log every fit.
    """
    _check_folder(Path(folder))
    problems, missing = _present(data_home, verbose)
    known = {record.problem for record in read_records(folder, quick)}
    for name, sentence in missing.items():
        if name in known:
            raise ValueError(f"folder {str(folder)!r} has results of {name}, whose data are not there now: {sentence}")
    summary = [
        "Cluster Representatives Selection in Non-Metric Spaces for Nearest Prototype Classification "
        "(arXiv:2107.01345), run again with covey.",
        *(
            ["A quick run: 100 objects of each cluster. It shows that everything works; the numbers mean little."]
            * quick
        ),
        *missing.values(),
    ]
    made = report(
        folder,
        PAPER,
        title="The paper's experiments, run again",
        summary=summary,
        problems=problems,
        methods=METHODS,
        seeds=(2 if quick else 5) if seeds is None else seeds,
        quick=quick,
        data_home=data_home,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    page = made.write(folder)
    tables.records_table(read_records(folder, quick)).write(page.parent)
    return page


def _check_folder(folder: Path) -> None:
    """Results may replace those of an earlier run, and nothing else."""
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in (FILE, QUICK_FILE)):
        raise FileExistsError(f"folder {str(folder)!r} holds other things; choose a new one.")


def _present(data_home: Any, verbose: int) -> tuple[dict[str, Problem], dict[str, str]]:
    """The problems whose data can be had, and a sentence about each of the others."""
    there, missing = {}, {}
    with progress("looking for data", len(PROBLEMS), "sets", shown=verbose > 0) as bar:
        for name, problem in PROBLEMS.items():
            bar.note(name)
            try:
                problem.load(0, data_home)
                there[name] = problem
            except MissingDataError as error:
                logger.warning("left out: %s", error)
                missing[name] = f"Left out: {error}"
            bar.advance()
    return there, missing
