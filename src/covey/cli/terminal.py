"""What the command line prints: tables, sentences and errors, in which nothing from a file commands the terminal."""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any


def shown(value: Any) -> str:
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def show(columns: list[str], rows: Any) -> None:
    """A table on standard output; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(column, justify="left" if at == 0 else "right", no_wrap=at > 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = Console()
    if not console.is_terminal:
        console.width = 1000  # a pipe has no edge to break lines at
    console.print(table)


def visible(text: str) -> str:
    """The text, with all that is no printable sign in Python's notation, so that no escape sequence is left in it."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def say(text: str) -> None:
    """To standard error: standard output may hold the result."""
    print(visible(text), file=sys.stderr)


class VisibleFormatter(logging.Formatter):
    """Log lines may hold names from files."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


@contextmanager
def unfinished(what_then: str) -> Iterator[None]:
    """Tell what has become of the work when Ctrl-C stops it."""
    try:
        yield
    except KeyboardInterrupt:
        print(file=sys.stderr)  # below the ^C of the terminal
        say(f"covey: stopped; {what_then}")
        raise


def speak(quiet: bool) -> None:
    """Warnings go to standard error; progress is a bar's business."""
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter("covey: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR if quiet else logging.WARNING)


def show_where(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """The stack of an error, line by line."""
    for line in "".join(traceback.format_exception(kind, error, trace)).splitlines():
        say(line)
