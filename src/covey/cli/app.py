"""The application: its commands, its settings, and how an error ends it. `covey/__main__.py` starts it."""

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Annotated, Any

from covey.cli.classify.command import classify
from covey.cli.classify.rules import RULES as CLASSIFY_RULES
from covey.cli.compare.command import compare
from covey.cli.compare.rules import RULES as COMPARE_RULES
from covey.cli.early import EXIT_CODE
from covey.cli.errors import MisuseError
from covey.cli.help import Command, Group
from covey.cli.inspect.command import inspect
from covey.cli.inspect.rules import RULES as INSPECT_RULES
from covey.cli.interrupts import interruptible
from covey.cli.reproduce import reproduce
from covey.cli.rules import Rule, as_list, check
from covey.cli.select.command import select
from covey.cli.select.rules import RULES as SELECT_RULES
from covey.cli.terminal import complain, show_traceback
from covey.cli.typer_dataclasses import command, option, typer
from covey.runtime.interruptible import Interrupt


def demo() -> None:
    """See covey at work on handwritten digits and on mistyped names, in a few seconds, and get a page to open."""
    from covey.demo import main

    main()


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
RULES: dict[Callable[..., None], Sequence[Rule[Any]]] = {
    select: SELECT_RULES,
    classify: CLASSIFY_RULES,
    compare: COMPARE_RULES,
    inspect: INSPECT_RULES,
    demo: (),
    reproduce: (),
}
"""The commands, and the rules about their options."""
for function, rules in RULES.items():
    app.command(cls=Command, epilog=as_list(rules))(command(function, partial(check, rules=rules)))


class Debug:
    """Whether an error shows where it happened."""

    on = False


def show_version(passed: Any) -> None:
    """Print the version and end, if --version was passed."""
    if passed:
        from covey import __version__

        print(f"covey {__version__}")
        raise typer.Exit


@app.callback()
def settings(
    *,
    debug: Annotated[bool, option("--debug", what="On an error, show where it happened.")] = False,
    version: Annotated[
        bool, option("--version", what="Show the version and leave.", callback=show_version, is_eager=True)
    ] = False,
) -> None:
    Debug.on = Debug.on or debug


def run() -> int:
    """Run the command of `sys.argv`, and return its exit code; an error becomes one line."""
    return interruptible(_outcome)


def _outcome() -> int:
    Debug.on = "--debug" in sys.argv  # anywhere, because it is added at the end when something has gone wrong
    if Debug.on:
        sys.argv.remove("--debug")
    try:
        code = _exit_code()
        sys.stdout.flush()  # while an error of it can still be told
    except BrokenPipeError:  # whoever has read the output has left
        return 1
    except Exception as error:
        if Interrupt.at is not None:  # some library has made it of the interrupt
            return EXIT_CODE
        if Debug.on:
            show_traceback(type(error), error, error.__traceback__)
        else:
            complain(error)
        return 2 if isinstance(error, MisuseError) else 1
    return code


def _exit_code() -> int:
    """Run typer's application, which ends by SystemExit in any case."""
    try:
        app()
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else int(stop.code is not None)
    return 0
