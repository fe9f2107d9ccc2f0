"""`covey reproduce`: run the experiments of the paper again."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from covey.cli.interrupts import unfinished
from covey.cli.options import Running
from covey.cli.terminal import log_to_terminal
from covey.cli.typer_dataclasses import argument, option
from covey.runtime.wording import visible


@dataclass(frozen=True)
class ReproduceOptions(Running):
    """How much is run, and where results go."""

    folder: Annotated[
        Path, argument("FOLDER", "Where results go. A run that was stopped goes on from what is there.")
    ] = Path("covey-reproduction")
    quick: Annotated[
        bool, option("--quick", what="Keep only 100 objects of each cluster; the run then takes minutes.")
    ] = False
    seeds: Annotated[
        int | None,
        option(
            "--seeds",
            what="How often random choices are repeated: by default 5 times, or 2 with --quick. Comparisons with a "
            "random selection are repeated 20 times, or 5 with --quick.",
            min=1,
        ),
    ] = None
    data_home: Annotated[
        Path | None,
        option(
            "--data-home",
            what="The folder that holds the data sets. The folder in COVEY_DATA and the system's folders are tried "
            "after it.",
            metavar="<folder>",
        ),
    ] = None
    download: Annotated[
        bool,
        option("--download", what="Download data sets that are not on this machine. Nothing else uses the network."),
    ] = False


def reproduce(options: ReproduceOptions) -> None:
    """Run the experiments of the paper again, and look at the report.

    The folder gets one page that opens offline (report.html), the tables as CSV, the figures as SVG and PNG, and a
    record of every fit. Ctrl-C stops the run, and the same command continues it.

    Example: `covey reproduce --quick results`
    """
    from covey.experiments.paper import reproduce as experiments
    from covey.storage.atomic import check_folder

    log_to_terminal(quiet=options.quiet)
    check_folder(options.folder)
    with unfinished("what was finished is kept; run the same command again to go on"):
        page = experiments.reproduce(
            options.folder,
            quick=options.quick,
            seeds=options.seeds,
            data_home=options.data_home,
            download=options.download,
            n_jobs=options.n_jobs,
            verbose=options.verbose,
        )
    print(visible(str(page)))
