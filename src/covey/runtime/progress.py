"""A progress bar for work that takes long, with the rate and the time left.

    with progress("classifying", total=1000, unit="rows") as bar:
        for block in blocks:
            bar.advance(len(block))

The bar appears once the work has taken more than two seconds, and only on a terminal. It needs the library rich, which
the extra `cli` installs. Where no bar can be drawn, as in a log file, a line is logged every ten seconds instead.
"""

import logging
import math
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from importlib.util import find_spec
from threading import Event, Lock, Thread, Timer
from typing import Any, Self

logger = logging.getLogger("covey.progress")

DELAY = 2.0
"""How many seconds the work goes on before a bar appears. A bar that vanishes at once would only distract."""
INTERVAL = 10.0
"""How many seconds lie between two lines, at least. Work that takes less time logs none, and an hour makes 360."""


class Bar:
    """Receives reports of progress. This class shows nothing; `TerminalBar` and `LoggedLines` do."""

    shown = False

    def advance(self, amount: float = 1) -> None:
        """Report that so much more has been done."""

    def note(self, text: str) -> None:
        """Set the string that says what is being done now."""

    def watch(self, done_and_total: Callable[[], tuple[float, float | None]]) -> None:
        """Let the bar call a function whenever it is drawn.

        The function returns how much is done and how much there is in all, or None if the latter is not known.
        """

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: Any) -> None:
        pass


class CountingBar(Bar):
    """Keeps what was reported, for bars that show it."""

    def __init__(self, total: float | None) -> None:
        self._start = time.monotonic()
        self._done, self._total, self._note = 0.0, total, ""
        self._done_and_total: Callable[[], tuple[float, float | None]] | None = None

    def advance(self, amount: float = 1) -> None:
        self._done += amount

    def note(self, text: str) -> None:
        self._note = text

    def watch(self, done_and_total: Callable[[], tuple[float, float | None]]) -> None:
        self._done_and_total = done_and_total

    def _numbers(self) -> tuple[float, float | None, float, float | None]:
        """Return how much is done, how much there is in all, the seconds since the start, and the seconds left."""
        done, total = (self._done, self._total) if self._done_and_total is None else self._done_and_total()
        elapsed = time.monotonic() - self._start
        return done, total, elapsed, max(total - done, 0) * elapsed / done if total and done else None


class TerminalBar(CountingBar):
    """Draws the bar on the terminal with rich."""

    shown = True

    def __init__(self, title: str, total: float | None, unit: str | None) -> None:
        super().__init__(total)
        from rich.console import Console
        from rich.progress import BarColumn, Progress, ProgressColumn, TextColumn
        from rich.table import Column

        def text(form: str, **column: Any) -> ProgressColumn:
            return TextColumn(form, markup=False, table_column=Column(no_wrap=True, **column))

        bar = self

        class Drawn(Progress):
            def get_renderables(self) -> Any:
                with suppress(Exception):  # an error of the bar must not stop the work
                    self.update(bar._task, **bar._state())
                return super().get_renderables()

        self._unit = unit
        form = "" if unit is None else "{task.fields[done]} " + unit
        columns = text("{task.description}"), BarColumn(bar_width=12), text(form), text("{task.fields[times]}")
        note = text("{task.fields[note]}", overflow="ellipsis", ratio=1)
        self._bar = Drawn(*columns, note, console=Console(stderr=True), transient=True, expand=True)
        self._task = self._bar.add_task(title, total=total, note="", times="", done="")
        self._timer = Timer(DELAY, self._bar.start)
        self._timer.daemon = True

    def _state(self) -> dict[str, Any]:
        """Return what is drawn: how much is done, the rate, the time since the start and the time left."""
        done, total, elapsed, left = self._numbers()
        rate = "" if self._unit is None else f"{_short(done / elapsed)}/s "
        times = f"{rate}{_clock(elapsed)}" + ("" if left is None else f" left {_clock(left)}")
        return {"completed": done, "total": total, "done": _short(done), "times": times, "note": self._note}

    def __enter__(self) -> Self:
        try:
            self._timer.start()
        except BaseException:  # Ctrl-C may come while the thread begins
            self._timer.cancel()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._timer.cancel()
            self._timer.join()
        finally:
            self._timer.cancel()  # once more, for Ctrl-C may have come before the first time
            self._bar.stop()


class LoggedLines(CountingBar):
    """Logs a line every ten seconds. Of several that are under way at once, one speaks at a time."""

    _lock = Lock()
    _last_line = -math.inf

    def __init__(self, title: str, total: float | None, unit: str | None) -> None:
        super().__init__(total)
        self._title, self._unit = title, unit
        self._over = Event()
        self._thread = Thread(target=self._log_lines, daemon=True)

    def line(self) -> str:
        """Return the line that is logged now."""
        done, total, elapsed, left = self._numbers()
        what = f"{self._title}, {self._note}" if self._note else self._title
        share = [f"{min(done / total, 1):.0%}".replace("%", " %")] if total else []
        times = [_clock(elapsed), *([] if left is None else [f"about {_clock(left)} left"])]
        counted = [] if self._unit is None else [f"{done:,.0f} {self._unit}"]
        return f"{what}: {', '.join([*counted, *share, *times])}"

    def __enter__(self) -> Self:
        try:
            self._thread.start()
        except BaseException:  # Ctrl-C may come while the thread begins
            self._over.set()
            raise
        return self

    def __exit__(self, *error: Any) -> None:
        try:
            self._over.set()
            self._thread.join()
        finally:
            self._over.set()  # once more, for Ctrl-C may have come before the first time

    def _log_lines(self) -> None:
        while not self._over.wait(INTERVAL):
            with suppress(Exception), self._lock:  # an error of the bar must not stop the work
                if time.monotonic() - LoggedLines._last_line >= INTERVAL:
                    LoggedLines._last_line = time.monotonic()
                    log_to_standard_error_if_nowhere()
                    logger.info("%s", self.line())


def log_to_standard_error_if_nowhere() -> None:
    """Let what covey logs for a user who asks for messages be seen, even if logging is not set up."""
    ours = logging.getLogger("covey")
    if not ours.hasHandlers():
        ours.addHandler(logging.StreamHandler())
        ours.setLevel(logging.INFO)


def _clock(seconds: float) -> str:
    """Format a duration as hours, minutes and seconds."""
    return str(timedelta(seconds=round(seconds)))


def _short(number: float) -> str:
    """Format a number in about three digits, with a letter for thousands, millions and billions."""
    for letter, size in (("G", 1e9), ("M", 1e6), ("k", 1e4)):
        if number >= size:
            return f"{number / (1e3 if letter == 'k' else size):.3g} {letter}"
    return f"{number:,.0f}" if number >= 10 else f"{number:.2g}"


def progress(title: str, total: float | None, unit: str | None, *, shown: bool = True) -> Bar:
    """Return a bar to be entered by ``with``.

    Pass None as `total` if it is not known how much there is to do, and None as `unit` if nothing is counted: then only
    the time is shown.
    """
    if not shown:
        return Bar()
    can_draw = sys.stderr.isatty() and find_spec("rich") is not None
    return (TerminalBar if can_draw else LoggedLines)(title, total, unit)
