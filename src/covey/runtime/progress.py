"""How far a long piece of work is: a bar with rate and time left, on a terminal only, once it takes over two seconds.

    with progress("classifying", total=1000, unit="rows") as bar:
        for block in blocks:
            bar.advance(len(block))

Nothing is drawn in a pipe, nor without the library rich (in the extra `cli`).
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
"""Seconds of work before a bar appears: shorter work needs none."""


class Bar:
    """Takes notice of progress; this one shows nothing."""

    shown = False

    def advance(self, amount: float = 1) -> None:
        """So much more is done."""

    def note(self, text: str) -> None:
        """What is being done now."""

    def watch(self, outlook: Callable[[], tuple[float, float | None]]) -> None:
        """Ask how much is done, and how much there is in all if known, whenever the bar is drawn."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class TerminalBar(Bar):
    shown = True

    def __init__(self, title: str, total: float | None, unit: str) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
        from rich.table import Column

        def text(form: str, **column: Any) -> ProgressColumn:
            return TextColumn(form, markup=False, table_column=Column(no_wrap=True, **column))

        self._start = time.monotonic()
        self._done, self._total, self._note = 0.0, total, ""
        self._outlook: Callable[[], tuple[float, float | None]] | None = None
        bar = self

        class Drawn(Progress):
            def get_renderables(self) -> Any:
                with suppress(Exception):  # whatever is wrong with the bar must not stop the work
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

    def watch(self, outlook: Callable[[], tuple[float, float | None]]) -> None:
        self._outlook = outlook

    def _state(self) -> dict[str, Any]:
        """What is drawn: how much is done, the rate, the time since the start and the time left."""
        done, total = (self._done, self._total) if self._outlook is None else self._outlook()
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
    return str(timedelta(seconds=round(seconds)))


def _short(number: float) -> str:
    """Three digits or so, and a letter for thousands, millions and billions."""
    for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g} {letter}"
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def progress(title: str, total: float | None, unit: str, *, shown: bool = True) -> Bar:
    """A bar to enter; `total` is None if nobody can know it."""
    if not shown or not sys.stderr.isatty() or find_spec("rich") is None:
        return Bar()
    return TerminalBar(title, total, unit)
