"""The command `covey`, which is also ``python -m covey``: its commands, its settings, and how it ends.

Exit codes: 0 the work is done, 1 the input is at fault (one line says why; --debug shows where), 2 the command was used
wrongly, 130 Ctrl-C has stopped it.
"""

import sys
from typing import Annotated, Any

from covey.cli.interrupts import EXIT_CODE, is_interrupt, remember_interrupts
from covey.cli.misuse import MisuseError
from covey.cli.terminal import complain, show_traceback

try:
    from covey.cli.classify import classify
    from covey.cli.compare import compare
    from covey.cli.declaration import command, option, typer
    from covey.cli.demo import demo
    from covey.cli.help import Command, Group
    from covey.cli.inspect import inspect
    from covey.cli.reproduce import reproduce
    from covey.cli.select import select
except ModuleNotFoundError as error:
    raise SystemExit(f"covey: {error}") from None

app: Any = typer.Typer(
    name="covey",
    cls=Group,
    help="covey picks the few objects that stand for the many, from clusters of anything with a pairwise similarity.",
    epilog="Start with: covey select data.csv --label kind -o few.csv",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="markdown",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for function in (select, classify, compare, inspect, demo, reproduce):
    app.command(cls=Command)(command(function))


class Debug:
    """Whether an error shows where it happened."""

    on = False


def show_version(asked: bool) -> None:
    """Print the version and end, if the user has asked for it."""
    if asked:
        from covey import __version__

        print(f"covey {__version__}")
        raise typer.Exit


@app.callback()
def settings(
    debug: Annotated[bool, option("--debug", what="On an error, show where it happened.")] = False,
    version: Annotated[
        bool, option("--version", what="Show the version and leave.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    Debug.on = Debug.on or debug


def main() -> None:
    """Run the command; an error becomes one line, and Ctrl-C an exit code."""
    if "--debug" in sys.argv:  # anywhere, because it is added at the end when something has gone wrong
        sys.argv.remove("--debug")
        Debug.on = True
    remember_interrupts()
    try:
        app()
    except (Exception, KeyboardInterrupt) as error:
        if is_interrupt(error):
            raise SystemExit(EXIT_CODE) from None
        if Debug.on:
            sys.excepthook = show_traceback
            raise
        complain(error)
        raise SystemExit(2 if isinstance(error, MisuseError) else 1) from None


if __name__ == "__main__":
    main()
