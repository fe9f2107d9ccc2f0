"""What the command line prints: tables, sentences and errors.

Labels, names of columns and names of files come from other people. Before they are printed, every character that is
not printable is escaped, so that nothing from a file can send commands to the terminal.
"""

import logging
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any


def cell(value: Any) -> str:
    """Return a value as a table shows it; None is an empty cell."""
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def show(columns: list[str], rows: Any) -> None:
    """Print a table to standard output; the first column is text, the others are numbers."""
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
    """Return the text with all characters that are not printable in Python's notation for them."""
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode("ascii") for sign in text)


def say(text: str) -> None:
    """Print a line to standard error, because standard output may hold the result."""
    print(visible(text), file=sys.stderr)


class VisibleFormatter(logging.Formatter):
    """Escapes log lines, which may hold names from files."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


@contextmanager
def unfinished(what_then: str) -> Iterator[None]:
    """Say what has become of the work when Ctrl-C stops it."""
    try:
        yield
    except KeyboardInterrupt:
        print(file=sys.stderr)  # a new line below the ^C that the terminal shows
        say(f"covey: stopped; {what_then}")
        raise


def log_to_terminal(quiet: bool) -> None:
    """Let warnings go to standard error, unless only errors may be printed."""
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter("covey: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR if quiet else logging.WARNING)


def show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print where an error happened, line by line; this takes the place of `sys.excepthook`."""
    for line in "".join(traceback.format_exception(kind, error, trace)).splitlines():
        say(line)
