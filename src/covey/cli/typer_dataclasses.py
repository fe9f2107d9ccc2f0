"""Options of the command line, declared as dataclasses.

A command is a function of dataclasses. Their fields are its options:

    @dataclass(frozen=True)
    class Running:
        quiet: Annotated[bool, option("--quiet", "-q", what="Show no progress.")] = False

    def count(source: Source, running: Running) -> None:
        '''The text of the command's help.'''

`command(count)` is a function that typer understands: it has one parameter for each field, makes the dataclasses of
the values that the user has passed, and calls `count` with them. So commands share options without repeating them.

The class attribute `PANEL` names the panel of the help that shows options which name none themselves. A dataclass may
have a method `check`, which refuses values that cannot be meant. It is called before the command, and imports nothing
that takes time, so that the user gets an answer at once. It may also have a method `around`, which returns a context
manager; the command runs inside it.
"""

import inspect
from collections.abc import Callable
from contextlib import ExitStack
from copy import copy
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import wraps
from typing import Annotated, Any, get_args, get_type_hints

from covey.runtime.libraries import require

typer = require("typer", "cli")

VALUES: dict[type, str] = {int: "<number>", float: "<number>", str: "<text>"}
"""What the help calls the value of an option, by its type."""


def option(*names: str, what: str, panel: str | None = None, **more: Any) -> Any:
    """Return an option with these names and this help text, shown in a panel of the help if one is named."""
    return typer.Option(*names, help=what, rich_help_panel=panel, **more)


def argument(metavar: str, what: str) -> Any:
    """Return an argument, which is passed without a name."""
    return typer.Argument(metavar=metavar, help=what)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function with the fields of its parameters, which are dataclasses, as its parameters."""
    groups = get_type_hints(function)
    groups.pop("return", None)
    parameters = [parameter for group in groups.values() for parameter in _parameters(group)]

    @wraps(function)
    def run(**values: Any) -> None:
        made = {name: group(**{f.name: values[f.name] for f in fields(group)}) for name, group in groups.items()}
        for options in made.values():
            if hasattr(options, "check"):
                options.check()
        with ExitStack() as stack:
            for options in made.values():
                if hasattr(options, "around"):
                    stack.enter_context(options.around())
            function(**made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def words(values: Any) -> list[str]:
    """Return what a user types to pass the values of a dataclass of options; defaults are left out."""
    hints = get_type_hints(type(values), include_extras=True)
    typed = []
    for field in fields(values):
        value = getattr(values, field.name)
        if value != field.default:
            declared = hints[field.name].__metadata__[0]
            # Until typer reads a declaration, the first name is where the default is going to be; arguments have none.
            names = [name for name in (declared.default,) if isinstance(name, str)]
            typed += [*names, *([] if value is True else [str(value)])]
    return typed


def _parameters(group: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_in_words(hints[field.name], getattr(group, "PANEL", None)),
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]


def _in_words(hint: Any, panel: str | None) -> Any:
    """Return the type and declaration of an option, which then says in words what its value is.

    Names among which the user has to choose, and limits of numbers, are put into the text of the help, where they take
    less room than in a column of their own. The option is shown in the panel, unless it has one of its own.
    """
    declared = copy(hint.__metadata__[0])
    kinds = [kind for kind in get_args(hint.__origin__) or (hint.__origin__,) if kind is not type(None)]
    if not isinstance(declared, typer.models.OptionInfo):
        return hint
    declared.rich_help_panel = declared.rich_help_panel or panel
    if declared.metavar is None and len(kinds) == 1:
        declared.metavar = "<name>" if issubclass(kinds[0], StrEnum) else VALUES.get(kinds[0])
        if issubclass(kinds[0], StrEnum) and not all(name in str(declared.help) for name in kinds[0]):
            declared.help = f"{declared.help} One of {', '.join(kinds[0])}."
    if declared.min is not None or declared.max is not None:
        limits = _limits(declared.min, declared.max)
        declared.help = f"{declared.help} ({limits.capitalize()}.)"
        declared.callback = _within(declared.min, declared.max, limits)
        declared.min = declared.max = None
    return Annotated[hint.__origin__, declared]


def _limits(low: float | None, high: float | None) -> str:
    """Return in words which numbers an option takes."""
    if low is not None and high is not None:
        return f"from {low:g} to {high:g}"
    return f"at least {low:g}" if low is not None else f"at most {high:g}"


def _within(low: float | None, high: float | None, limits: str) -> Callable[[Any], Any]:
    """Return a function that refuses other numbers."""

    def check(value: Any) -> Any:
        if value is not None and ((low is not None and value < low) or (high is not None and value > high)):
            raise typer.BadParameter(f"must be {limits}, got {value}.")
        return value

    return check
