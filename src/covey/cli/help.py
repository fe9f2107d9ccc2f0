"""How the help of commands reads."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from covey.cli.options import OBJECTS, READING, RUN
from covey.cli.select.options import BESIDE, CHOICE, CLUSTER, LONG
from covey.cli.typer_dataclasses import typer
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
