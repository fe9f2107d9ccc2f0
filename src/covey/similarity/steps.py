"""Work in steps that take about the same time, however long one pair takes.

A step is what may be lost if the process is stopped, and what a progress bar and an interrupt have to wait for. A
function of the user's own may take a microsecond or a minute for a pair, so the number of pairs in a step follows from
the time that the last one took.
"""

import time
from collections.abc import Callable, Iterator

from covey.arrays import Floats, Indices

STEP_SECONDS = 0.1
"""How many seconds a step takes, about. Each step costs some 20 microseconds, so that shorter ones would do no harm to
slow functions; but if there is a checkpoint, each step is also written to a file."""
MOST_PAIRS = 1 << 16
"""The most pairs of a step. The objects of a pair and its value take 24 bytes, so that those of a step take one and a
half megabytes."""


class Steps:
    """Lets a function work on pairs in steps, and remembers how large a step may be.

    Parameters
    ----------
    unit : int
        How many pairs the function takes in one call of its own. A step holds a multiple of it.
    """

    def __init__(self, unit: int = 1) -> None:
        self._unit, self._size = unit, unit
        self.n_done, self.seconds = 0, 0.0

    def run(self, function: Callable[[Indices, Indices], Floats], i: Indices, j: Indices) -> Iterator[Floats]:
        """Yield the values of the pairs, those of one step at a time."""
        start = 0
        while start < i.size:
            step = slice(start, start + self._size)
            began = time.perf_counter()
            values = function(i[step], j[step])
            self._learn(values.size, time.perf_counter() - began)
            yield values
            start = step.stop

    def _learn(self, n: int, seconds: float) -> None:
        """Make the next step twice as large if this one was short, and half as large if it was long."""
        self.n_done, self.seconds = self.n_done + n, self.seconds + seconds
        if 2 * seconds < STEP_SECONDS and n == self._size:
            self._size = max(self._unit, min(2 * self._size, MOST_PAIRS // self._unit * self._unit))
        elif seconds > 2 * STEP_SECONDS:
            self._size = max(self._unit, self._size // 2 // self._unit * self._unit)
