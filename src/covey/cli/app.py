"""The application: its commands, its settings, its help, and how an error ends it. `covey/__main__.py` starts it."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Annotated, Any

from covey.cli.classify.command import classify
from covey.cli.classify.rules import RULES as CLASSIFY_RULES
from covey.cli.compare.command import compare
from covey.cli.compare.rules import RULES as COMPARE_RULES
from covey.cli.errors import MisuseError
from covey.cli.inspect.command import inspect
from covey.cli.inspect.rules import RULES as INSPECT_RULES
from covey.cli.interrupts import interruptible
from covey.cli.options import OBJECTS, READING, RUN
from covey.cli.reproduce import reproduce
from covey.cli.rules import Rule, as_list, check
from covey.cli.select.command import select
from covey.cli.select.options import BESIDE, CHOICE, CLUSTER, LONG
from covey.cli.select.rules import RULES as SELECT_RULES
from covey.cli.startup import EXIT_CODE
from covey.cli.terminal import complain, show_traceback
from covey.cli.typer_dataclasses import command, option, typer
from covey.runtime.interruptible import Interrupt
from covey.runtime.wording import visible

PANELS = (None, CHOICE, BESIDE, OBJECTS, READING, RUN, LONG, CLUSTER)
"""The order in which panels are shown; the first is the one of options without a panel."""


class PlainHelp:
    """Leaves types out of the help where they say nothing: flags have no value, and arguments are named by themselves.

    Panels come in the order of what most users look for first. This is for commands and groups of commands. Which of
    the options and arguments exist is known here only, because typer adds some of its own.
    """

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = list(super().get_params(ctx))  # type: ignore[misc]
        params.sort(key=lambda param: PANELS.index(getattr(param, "rich_help_panel", None)))
        for param in params:
            if getattr(param, "is_flag", False):
                param.metavar = ""
            elif isinstance(param, typer.core.TyperArgument):
                param.display_type_rich = _no_type
        return params


def _no_type(ctx: Any) -> None:
    """Stand for the method by which typer asks an argument for its type."""


class Command(PlainHelp, typer.core.TyperCommand):
    """A command of the application."""


class Group(PlainHelp, typer.core.TyperGroup):
    """The application itself, which is a group of commands."""

    def make_context(self, *args: Any, **more: Any) -> Any:
        with _visible_errors():
            return super().make_context(*args, **more)

    def invoke(self, ctx: Any) -> Any:
        with _visible_errors():
            return super().invoke(ctx)


@contextmanager
def _visible_errors() -> Iterator[None]:
    """Let errors about wrong usage, which typer prints, show what was typed, but nothing that steers terminals.

    Names of files are among the arguments, and a pattern of the shell may stand for files that somebody else has named.
    """
    try:
        yield
    except Exception as error:
        if hasattr(error, "format_message"):
            text = "\n".join(visible(line) for line in str(error.format_message()).split("\n"))
            error.format_message = lambda: text
        raise


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
