"""A progress bar for work that takes long, with the rate and the time left.

    with progress("classifying", total=1000, unit="rows") as bar:
        for block in blocks:
            bar.advance(len(block))

The bar appears once the work has taken more than two seconds, and only on a terminal. It needs the library rich, which
the extra `cli` installs; without it nothing is drawn.
"""

import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from importlib.util import find_spec
from threading import Timer
from typing import Any, Self

DELAY = 2.0
"""How many seconds the work goes on before a bar appears. A bar that vanishes at once would only distract. The value is
a matter of taste."""


class Bar:
    """Receives reports of progress. This class shows nothing; `TerminalBar` does."""

    shown = False

    def advance(self, amount: float = 1) -> None:
        """Report that so much more has been done."""

    def note(self, text: str) -> None:
        """Set the text that says what is being done now."""

    def watch(self, done_and_total: Callable[[], tuple[float, float | None]]) -> None:
        """Let the bar call a function whenever it is drawn.

        The function returns how much is done and how much there is in all, or None if the latter is not known.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class TerminalBar(Bar):
    """Draws the bar on the terminal with rich."""

    shown = True

    def __init__(self, title: str, total: float | None, unit: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
        from rich.table import Column

        def text(form: str, **column: Any) -> ProgressColumn:
            return TextColumn(form, markup=False, table_column=Column(no_wrap=True, **column))

        self._start = time.monotonic()
        self._done, self._total, self._note = 0.0, total, ""
        self._done_and_total: Callable[[], tuple[float, float | None]] | None = None
        bar = self

        class Drawn(Progress):
            def get_renderables(self) -> Any:
                with suppress(Exception):  # an error of the bar must not stop the work
                    self.update(bar._task, **bar._state())
                return super().get_renderables()

        form = "{task.fields[done]} " + unit
        columns = text("{task.description}"), BarColumn(bar_width=12), text(form), text("{task.fields[times]}")
        note = text("{task.fields[note]}", overflow="ellipsis", ratio=1)
        self._bar = Drawn(*columns, note, console=Console(stderr=True), transient=True, expand=True)
        self._task = self._bar.add_task(title, total=total, note="", times="", done="")
        self._timer = Timer(DELAY, self._bar.start)
        self._timer.daemon = True

    def advance(self, amount: float = 1) -> None:
        self._done += amount

    def note(self, text: str) -> None:
        self._note = text

    def watch(self, done_and_total: Callable[[], tuple[float, float | None]]) -> None:
        self._done_and_total = done_and_total

    def _state(self) -> dict[str, Any]:
        """Return what is drawn: how much is done, the rate, the time since the start and the time left."""
        done, total = (self._done, self._total) if self._done_and_total is None else self._done_and_total()
        elapsed = time.monotonic() - self._start
        times = f"{_short(done / elapsed)}/s {_clock(elapsed)}"
        if total and done:
            times += f" left {_clock(max(total - done, 0) * elapsed / done)}"
        return {"completed": done, "total": total, "done": _short(done), "times": times, "note": self._note}

    def __enter__(self) -> Self:
        self._timer.start()
        return self

    def __exit__(self, *error: Any) -> None:
        self._timer.cancel()
        self._timer.join()
        self._bar.stop()


def _clock(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _short(number: float) -> str:
    """Format a number in about three digits, with a letter for thousands, millions and billions."""
    for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g} {letter}"
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def progress(title: str, total: float | None, unit: str, *, shown: bool = True) -> Bar:
    """Return a bar to be entered by ``with``. Pass None as `total` if it is not known how much there is to do."""
    if not shown or not sys.stderr.isatty() or find_spec("rich") is None:
        return Bar()
    return TerminalBar(title, total, unit)
