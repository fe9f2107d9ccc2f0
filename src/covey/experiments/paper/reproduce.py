"""Run the paper's experiments again and write the report."""

import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

from covey.exceptions import MissingDataError
from covey.experiments.paper.problems import DOWNLOADED, PROBLEMS
from covey.experiments.paper.report import METHODS, PAPER
from covey.experiments.records import FILE, QUICK_FILE, read_records
from covey.experiments.runner import report, with_k
from covey.experiments.specs import Problem
from covey.experiments.tables import records_table
from covey.runtime.progress import progress

logger = logging.getLogger("covey")

SEEDS, QUICK_SEEDS = 5, 2
"""How many seeds a full and a quick report use if nothing else is asked for. Five show how much results vary, in a
quarter of an hour on two cores."""
REPRODUCED = (
    "Cluster Representatives Selection in Non-Metric Spaces for Nearest Prototype Classification (arXiv:2107.01345), "
    "run again with covey."
)
QUICK = (
    "A quick run: 100 objects of each cluster. It shows that everything works. Its numbers mean little, so that the "
    "paper's do not stand beside them."
)
"""The opening words of the report."""


def reproduce(
    folder: Any,
    *,
    quick: bool = False,
    seeds: int | None = None,
    data_home: Any = None,
    download: bool = False,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> Path:
    """Run the paper's experiments again, and write a report with the paper's numbers beside those measured.

    Fits are recorded one by one, so that nothing is lost if the work is stopped. This needs the extra ``paper``.

    Parameters
    ----------
    folder : path
        Gets the page (report.html), tables (CSV), figures (SVG and PNG) and records (JSON Lines, CSV). A run that was
        stopped goes on where it stopped if it is given the same folder.
    quick : bool, default=False
        Keep 100 objects of each cluster. This takes minutes and shows that everything works. The numbers mean little,
        so that the report does not put the paper's beside them.
    seeds : int, optional
        How often what is drawn at random is repeated; 5 by default, 2 if quick.
    data_home : path, optional
        Where the loaders look first. Data sets that are not on the machine are left out.
    download : bool, default=False
        Whether the loaders may download what is not on the machine.
    n_jobs : int or None, default=None
        The number of threads or processes. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar on a terminal.

    Returns
    -------
    Path
        The path of the page.

    Raises
    ------
    FileExistsError
        If the folder holds anything but the results of an earlier run, because files in it are replaced.
    ValueError
        If the folder has results of a data set that is not on the machine now.
    ModuleNotFoundError
        If a library is missing that draws figures or makes pages. The message says how to install it.

    See Also
    --------
    covey.experiments.runner.report : The same for custom experiments.

    Examples
    --------
    A folder with other things in it is left alone:

    >>> import tempfile
    >>> from pathlib import Path
    >>> from covey.experiments.paper.reproduce import reproduce
    >>> folder = Path(tempfile.mkdtemp())
    >>> (folder / "thesis.txt").touch()
    >>> reproduce(folder)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    FileExistsError: folder ... holds other things; choose a new one.
    """
    _check_folder(Path(folder))
    problems, missing = _present(PROBLEMS | DOWNLOADED if download else PROBLEMS, data_home, verbose)
    for name in missing.keys() & {record.problem for record in read_records(folder, quick=quick)}:
        raise ValueError(f"folder {str(folder)!r} has results of {name}, whose data are not there now: {missing[name]}")
    made = report(
        folder,
        PAPER,
        title="The paper's experiments, run again",
        summary=[REPRODUCED, *([QUICK] if quick else []), *missing.values()],
        problems=_without_paper(problems) if quick else problems,
        methods=METHODS,
        seeds=(QUICK_SEEDS if quick else SEEDS) if seeds is None else seeds,
        quick=quick,
        data_home=data_home,
        n_jobs=n_jobs,
        verbose=verbose,
    )
    page = made.write(folder)
    records_table(with_k(record, METHODS) for record in read_records(folder, quick=quick)).write(page.parent)
    return page


def _without_paper(problems: dict[str, Problem]) -> dict[str, Problem]:
    """Return the same problems, without what the paper reports about them."""
    return {name: replace(problem, paper={}) for name, problem in problems.items()}


def _check_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but the results of an earlier run, because they are replaced."""
    if folder.is_dir() and any(folder.iterdir()) and not any((folder / name).exists() for name in (FILE, QUICK_FILE)):
        raise FileExistsError(f"folder {str(folder)!r} holds other things; choose a new one.")


def _present(problems: dict[str, Problem], data_home: Any, verbose: int) -> tuple[dict[str, Problem], dict[str, str]]:
    """Return those of the problems whose data can be had, and a sentence about each of the others."""
    there, missing = {}, {}
    with progress("looking for data", len(problems), "sets", shown=verbose > 0) as bar:
        for name, problem in problems.items():
            bar.note(name)
            try:
                problem.load(0, data_home)
                there[name] = problem
            except MissingDataError as error:
                logger.warning("left out: %s", error)
                missing[name] = f"Left out: {error}"
            bar.advance()
    return there, missing
