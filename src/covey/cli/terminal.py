"""What the command line prints: tables, sentences and errors.

Labels, names of columns and names of files come from other people. Before they are printed, every character that is
not printable is escaped, so that nothing from a file can send commands to the terminal, hide text or reverse it. These
are all control characters, marks of the direction of writing, and characters without width.

Rows and JSON that are written to standard output are for other programs and hold the data unchanged. Only where it is a
terminal, they are escaped, too.
"""

import logging
import re
import shutil
import sys
import traceback
import warnings
from itertools import accumulate
from types import TracebackType
from typing import Any, TextIO

from covey.runtime.wording import one_line, several, shortened, visible

FEWEST_ROWS = 10
"""How many rows of a table are shown even on a terminal that is not that high."""
LONGEST_CELL = 40
"""How many characters of a value a table of many rows shows, so that a few columns fit beside each other."""
NO_TERMINAL = 100
"""How wide a table may be where there is no terminal, such as in a log; people can read lines of this length."""
LONGEST_LINE = 2000
"""How many characters of an error are printed. A message may quote a name from a file, and names have no limit."""


def cell(value: Any) -> str:
    """Return a value as a table shows it; None is an empty cell."""
    return "" if value is None else f"{value:.3f}" if isinstance(value, float) else str(value)


def show(columns: list[str], rows: Any, *, to_error: bool = False) -> None:
    """Print a table to standard output, or to standard error; the first column is text, the others are numbers."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    for at, column in enumerate(columns):
        table.add_column(Text(visible(column)), justify="left" if at == 0 else "right", no_wrap=at > 0, overflow="fold")
    for row in rows:
        table.add_row(*(Text(visible(cell)) for cell in row))
    console = Console(stderr=to_error)
    if not console.is_terminal:
        console.width = 1000  # a pipe has no edge to break lines at
    console.print(table)


def show_some(frame: Any) -> None:
    """Print the first rows and columns of a frame, as many as there is room for, and say how many are left out."""
    size = shutil.get_terminal_size()
    n_rows = max(size.lines - 4, FEWEST_ROWS)  # below the title, above the last sentence and the prompt
    cells = {
        name: [shortened(cell(value), LONGEST_CELL) for value in frame[name].head(n_rows).tolist()]
        for name in frame.columns
    }
    widths = [max(map(len, (str(name), *column))) + 2 for name, column in cells.items()]
    fitting = [name for name, end in zip(cells, accumulate(widths), strict=True) if end <= size.columns]
    shown = fitting or list(cells)[:1]
    show(shown, zip(*(cells[name] for name in shown), strict=True))
    left = [
        several(len(frame) - n_rows, "more row") if len(frame) > n_rows else "",
        several(len(cells) - len(shown), "more column") if len(cells) > len(shown) else "",
    ]
    if any(left):
        print(f"and {' and '.join(filter(None, left))}; --out writes all of them to a file.")


def width() -> int:
    """Return how many characters a line on standard error has; 100 if that is not a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    return console.width if console.is_terminal else NO_TERMINAL


def say(text: str) -> None:
    """Print a line to standard error, because standard output may hold the result."""
    print(visible(text), file=sys.stderr)


def complain(error: BaseException) -> None:
    """Say in one line what an error says."""
    say(f"covey: {one_line(error, longest=LONGEST_LINE)}")


class VisibleOutput:
    """Standard output for rows of text: as it is for other programs, and escaped on a terminal."""

    def __init__(self) -> None:
        self._file, self._is_terminal = sys.stdout, sys.stdout.isatty()

    def write(self, text: str) -> int:
        """Write a string; ends of lines and tabs stay as they are."""
        if self._is_terminal:
            parts = re.split(r"([\n\t])", text)
            text = "".join(part if part in ("\n", "\t") else visible(part) for part in parts)
        return self._file.write(text)


class VisibleFormatter(logging.Formatter):
    """Escapes log lines, which may hold names from files."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def log_to_terminal(*, quiet: bool) -> None:
    """Let warnings and lines of progress go to standard error, unless only errors may be printed.

    What the library has to say to a programmer by Python's warnings is said in one line, too.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(VisibleFormatter("covey: %(message)s"))
    logging.basicConfig(handlers=[handler], level=logging.ERROR if quiet else logging.WARNING)
    warnings.showwarning = _log_warning
    logging.getLogger("covey.progress").setLevel(logging.ERROR if quiet else logging.INFO)


def _log_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Log what a warning says, without the place in the code; this takes the place of `warnings.showwarning`."""
    logging.getLogger("covey").warning("%s", " ".join(str(message).split()))


def show_traceback(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print where an error happened, line by line; this takes the place of `sys.excepthook`."""
    for line in "".join(traceback.format_exception(kind, error, trace)).splitlines():
        say(line)
