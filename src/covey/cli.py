"""The command line: parse and call, no logic.

Exit codes: 0 done, 1 the input is at fault (one clear line; --debug shows where), 2 wrong usage, 130 stopped by Ctrl-C.
"""

import logging
import sys
from pathlib import Path
from typing import Annotated, Any

from covey._extras import require

try:
    typer = require("typer", "cli")
except ModuleNotFoundError as error:
    raise SystemExit(f"covey: {error}") from None

app: Any = typer.Typer(
    name="covey",
    help="covey picks the few objects that stand for the many.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Jobs = Annotated[
    int, typer.Option("--jobs", "-j", help="Threads or processes; -1 for all cores. The result is the same.")
]


class Debug:
    """Whether an error shows where it happened."""

    on = False


def version(asked: bool) -> None:
    if asked:
        from covey import __version__

        print(f"covey {__version__}")
        raise typer.Exit


@app.callback()
def settings(
    debug: Annotated[bool, typer.Option("--debug", help="On an error, show where it happened.")] = False,
    show_version: Annotated[
        bool, typer.Option("--version", callback=version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    Debug.on = debug


@app.command()
def demo() -> None:
    """See covey at work on handwritten digits and on town names, in a few seconds."""
    from covey.demo import main

    main()


@app.command()
def reproduce(
    folder: Annotated[Path, typer.Argument(help="Where results go; a stopped run goes on from there.")] = Path(
        "covey-reproduction"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="100 objects of each cluster: minutes.")] = False,
    seeds: Annotated[
        int | None, typer.Option(min=1, help="How often what is random is repeated; 5, or 2 with --quick.")
    ] = None,
    data_home: Annotated[
        Path | None, typer.Option(help="Where the data sets are; then COVEY_DATA and the system's folders are tried.")
    ] = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
) -> None:
    """Run the experiments of the paper again, and look at the report.

    The folder gets one page that opens offline (report.html), the tables as CSV, the figures as SVG and PNG, and a
    record of every fit. Ctrl-C stops; the same command goes on.

    Example: `covey reproduce --quick results`
    """
    from covey.experiments import reproduce as run

    speak(quiet)
    with resumable(f"covey reproduce {'--quick ' if quick else ''}{folder}"):
        page = run(folder, quick=quick, seeds=seeds, data_home=data_home, n_jobs=jobs, verbose=not quiet)
    print(page)


class resumable:  # noqa: N801
    """Says how to go on when Ctrl-C stops the work."""

    def __init__(self, command: str) -> None:
        self.command = command

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, *rest: Any) -> None:
        if kind is KeyboardInterrupt:
            print(f"\ncovey: stopped; what was finished is kept. To go on: {self.command}", file=sys.stderr)


def speak(quiet: bool) -> None:
    """Warnings go to standard error; progress is a bar's business."""
    logging.basicConfig(format="covey: %(message)s", level=logging.ERROR if quiet else logging.WARNING)


def main() -> None:
    """Run the command; errors are one line."""
    try:
        app()
    except Exception as error:
        if Debug.on:
            raise
        print(f"covey: {error}", file=sys.stderr)
        raise SystemExit(1) from None


if __name__ == "__main__":
    main()
