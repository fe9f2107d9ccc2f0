"""Options of the command line, declared as dataclasses.

A command is a function of dataclasses. Their fields are its options:

    @dataclass(frozen=True)
    class Running:
        quiet: Annotated[bool, option("--quiet", "-q", what="Show no progress.")] = False

    def count(source: Source, running: Running) -> None:
        '''The text of the command's help.'''

`command(count)` is a function that typer understands: it has one parameter for each field, makes the dataclasses of
the values that the user has passed, and calls `count` with them. So commands share options without repeating them.
"""

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, get_type_hints

from covey.runtime.extras import require

typer = require("typer", "cli")


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
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]
