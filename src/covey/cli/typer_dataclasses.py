"""Options of the command line, declared as dataclasses.

A command is a function of one dataclass, whose fields are its options:

    @dataclass(frozen=True)
    class CountOptions(Source):
        quiet: Annotated[bool, option("--quiet", "-q", what="Show no progress.")] = False

    def count(options: CountOptions) -> None:
        '''The text of the command's help.'''

`command(count, check)` is a function that typer understands: it has one parameter for each field, makes the dataclass
of the values that the user has passed, lets `check` refuse it, and calls `count`. Commands share options by sharing
base classes; dataclasses take the fields of the last base class first.

A value that typer cannot read by its type has a function `read`, which raises ValueError with the rest of a sentence
that begins with the option's name. It imports nothing that takes time, so that the user gets an answer at once.

The class attribute `PANEL` names the panel of the help that shows the options of this class which name none themselves.
"""

import inspect
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import MISSING, fields
from enum import StrEnum
from functools import cache, wraps
from typing import Annotated, Any, Optional, TypeVar, get_args, get_type_hints

from covey.cli.errors import MisuseError
from covey.runtime.libraries import require

typer = require("typer", "cli")

Group = TypeVar("Group")
VALUES: dict[type, str] = {int: "<number>", float: "<number>", str: "<text>"}
"""What the help calls the value of an option, by its type."""


def option(
    *names: str, what: str, panel: str | None = None, read: Callable[[Any], Any] | None = None, **more: Any
) -> Any:
    """Return an option with these names and this help text, shown in a panel of the help if one is named."""
    declared = typer.Option(*names, help=what, rich_help_panel=panel, **more)
    declared.read = read
    return declared


def argument(metavar: str, what: str) -> Any:
    """Return an argument, which is passed without a name."""
    return typer.Argument(metavar=metavar, help=what)


def command(function: Callable[..., None], check: Callable[[Any], None]) -> Callable[..., None]:
    """Flatten the dataclass of options into one keyword argument for each option, the form that typer needs."""
    hints = get_type_hints(function)
    hints.pop("return", None)
    parameters = [parameter for group in hints.values() for parameter in _parameters(group)]

    @wraps(function)
    def run(**values: Any) -> None:
        made = {name: group(**values) for name, group in hints.items()}
        for options in made.values():
            check(options)
        function(**made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


@cache
def fields_by_option(group: Any) -> Mapping[str, Any]:
    """Return the field behind each name of an option, or of an argument, of a dataclass of options."""
    by_name: dict[str, Any] = {}
    for field in fields(group):
        declared = _declared(group)[field.name]
        names = [declared.metavar]
        if isinstance(declared, typer.models.OptionInfo):
            names = [name for text in _names(declared) for name in text.split("/")]
        by_name |= dict.fromkeys(names, field)
    return by_name


def part(options: Any, group: type[Group]) -> Group:
    """Return the options that one of the base classes declares."""
    return group(**{field.name: getattr(options, field.name) for field in fields(group)})  # type: ignore[arg-type]


def words(values: Any) -> list[str]:
    """Return what a user types to pass the values of a dataclass of options; defaults are left out."""
    group: Any = type(values)
    declared = _declared(group)
    typed = []
    for field in fields(values):
        value = getattr(values, field.name)
        if value != field.default:
            typed += [*_names(declared[field.name])[:1], *([] if value is True else [str(value)])]
    return typed


def _names(declared: Any) -> list[str]:
    """Return the names of an option; arguments have none.

    Until typer reads a declaration, the first name is where the default is going to be.
    """
    return [name for name in (declared.default, *(declared.param_decls or ())) if isinstance(name, str)]


@cache
def _declared(group: Any) -> Mapping[str, Any]:
    """Return the declaration of each field."""
    hints = get_type_hints(group, include_extras=True)
    return {field.name: hints[field.name].__metadata__[0] for field in fields(group)}


def _parameters(group: Any) -> list[inspect.Parameter]:
    """Return a parameter for each field of a dataclass."""
    hints = get_type_hints(group, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=_in_words(hints[field.name], _panel(group, field.name)),
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in fields(group)
    ]


def _panel(group: type, name: str) -> str | None:
    """Return the panel of the class that declares a field."""
    owner = next(base for base in group.__mro__ if name in inspect.get_annotations(base))
    return getattr(owner, "PANEL", None)


def _in_words(hint: Any, panel: str | None) -> Any:
    """Return the type and declaration of an option, which then says in words what its value is.

    Names among which the user has to choose, and limits of numbers, are put into the text of the help, where they take
    less room than in a column of their own. The option is shown in the panel, unless it has one of its own.
    """
    declared, kind = copy(hint.__metadata__[0]), hint.__origin__
    if not isinstance(declared, typer.models.OptionInfo):
        return hint
    if declared.read is not None:
        [taken, *_] = get_type_hints(declared.read).values()
        kind = Optional[taken] if type(None) in get_args(kind) else taken  # noqa: UP045 - typer reads this form
        declared.callback = _reading(_names(declared)[0], declared.read)
    declared.rich_help_panel = declared.rich_help_panel or panel
    kinds = [each for each in get_args(kind) or (kind,) if each is not type(None)]
    if declared.metavar is None and len(kinds) == 1:
        declared.metavar = "<name>" if issubclass(kinds[0], StrEnum) else VALUES.get(kinds[0])
        if issubclass(kinds[0], StrEnum) and not all(name in str(declared.help) for name in kinds[0]):
            declared.help = f"{declared.help} One of {', '.join(kinds[0])}."
    if declared.min is not None or declared.max is not None:
        limits = _limits(declared.min, declared.max)
        declared.help = f"{declared.help} ({limits.capitalize()}.)"
        declared.callback = _within(declared.min, declared.max, limits)
        declared.min = declared.max = None
    return Annotated[kind, declared]


def _reading(name: str, read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that reads the value of the option `name`, if it has one."""

    def value_of(text: Any) -> Any:
        try:
            return None if text is None else read(text)
        except ValueError as error:
            raise MisuseError(f"{name} {error}") from error

    return value_of


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
