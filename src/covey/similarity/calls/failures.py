"""What users are told of custom similarities that go wrong.

A similarity may fail for a pair: a custom function may raise an error, return something that is not a number, or hang.
Then the work ends with an error, or the pair counts as least similar. One such pair among millions need not cost a
day's work. If the user says ``on_error="lowest"``, the work goes on:

1. A caller (`callers.py`) returns NaN for pairs that have failed, and says what has happened.
2. `Failures` counts them and keeps the first examples.
3. A failed pair then gets the lowest similarity that the fit has seen until then, the pairs that were asked for along
   with it included. So a failed pair is hardly ever among the neighbors of an object, and it does not pull a mean
   further down than any other pair could.

The pairs of a fit are asked for in the same order for any number of processes, so that the values are always the same.

Other warnings about a similarity are each given once in a run (`Run.warn_once`), so that a fit of many clusters warns
once. On a worker of a Dask cluster, `heard_by` passes warnings on to the process of the user.
"""

import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from covey.exceptions import FailedPairsWarning

OnError = Literal["raise", "lowest"]
"""What to do if a similarity fails: end the work, or go on."""

MOST_EXAMPLES = 5
"""How many failures are described."""
NOTHING_ELSE = 100
"""How many evaluations must fail, without any that does not, until the fit ends all the same: a typing error in a
function should not cost a day."""


@dataclass
class Failures:
    """The evaluations that have failed during a fit.

    Attributes
    ----------
    n, n_asked : int
        How many have failed, and how many there were.
    n_before : int
        How many of those that have failed did so in an earlier run, whose checkpoint this run uses.
    examples : list of str
        Sentences that describe the first failures of this run.
    """

    n: int = 0
    n_asked: int = 0
    n_before: int = 0
    examples: list[str] = field(default_factory=list)
    _lowest: float = np.inf

    def note(self, n_asked: int, n: int, examples: list[str]) -> None:
        """Count this many evaluations, of which n have failed. The examples describe some of these.

        Raise an error if nothing but failures was seen in many evaluations: then the function itself is at fault.
        """
        self.n_asked, self.n = self.n_asked + n_asked, self.n + n
        self.examples.extend(examples[: MOST_EXAMPLES - len(self.examples)])
        if self.n == self.n_asked >= NOTHING_ELSE:
            raise RuntimeError(
                f"The similarity failed for all of the first {self.n} pairs; correct it. {' '.join(self.examples)}"
            )

    def note_stored(self, n: int) -> None:
        """Count this many failures of an earlier run."""
        self.n, self.n_asked, self.n_before = self.n + n, self.n_asked + n, self.n_before + n

    def settled(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return similarities in which each NaN has become the lowest similarity that was seen so far.

        If there is none at all yet, it becomes 0.
        """
        failed = np.isnan(values)
        self._lowest = min(self._lowest, float(values[~failed].min(initial=np.inf)))
        if not failed.any():
            return values
        return np.where(failed, self._lowest if np.isfinite(self._lowest) else 0.0, values)

    def warn(self) -> None:
        """Warn the user if there were any failures."""
        if self.n:
            pairs = "1 pair, which counts" if self.n == 1 else f"{self.n} pairs, which count"
            before = f" {self.n_before} of them failed in the run that made the checkpoint." if self.n_before else ""
            warnings.warn(
                " ".join([f"The similarity failed for {pairs} as least similar.{before}", *self.examples]),
                FailedPairsWarning,
                stacklevel=7,
            )


_listener = threading.local()
"""Who hears of warnings in this thread instead of the user."""


def tell(category: type[Warning], message: str) -> None:
    """Warn the user, or who hears of warnings instead."""
    listener = getattr(_listener, "tell", None)
    if listener is None:
        warnings.warn(message, category, stacklevel=4)
    else:
        listener(category, message)


@contextmanager
def heard_by(listener: Callable[[type[Warning], str], None]) -> Iterator[None]:
    """Pass warnings in this thread on to a function instead of the user."""
    _listener.tell = listener
    try:
        yield
    finally:
        del _listener.tell
