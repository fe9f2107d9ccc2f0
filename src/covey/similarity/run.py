"""A run: what all similarities that a fit computes have in common, and the evaluations of each of its spaces.

A fit opens a run (`Collection.open_run`) and works on a collection that carries it. So do the parts of the collection
and their spaces:

- A `Run` says what happens if the similarity fails or hangs, and where the run keeps what it has paid for.
- `Evaluations` belong to one space. They count its evaluations, and hold what is called before the first of them and
  after each step. A space that wraps another one may share them.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import StrOptions

from covey.runtime.parameters import Interval
from covey.runtime.workers import end_idle_processes
from covey.similarity.calls.failures import Failures, OnError, tell
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.fingerprint import code_fingerprint
from covey.similarity.measures import similarity_fingerprint
from covey.similarity.similarity import Similarity

CheckpointPath = str | os.PathLike[str] | None
"""Where a checkpoint lies, or None if there is none."""

CONSTRAINTS: Mapping[str, Any] = {
    "checkpoint": [str, os.PathLike, None],
    "on_error": [StrOptions({"raise", "lowest"})],
    "timeout": [Interval(Real, 0, None, closed="neither"), None],
}
"""The constraints of the parameters of a run, in scikit-learn's words."""

WITHOUT_EFFECT = {"n_jobs", "verbose", "checkpoint", "similarity", "on_error", "timeout"}
"""Parameters that finished parts do not depend on, because covey's own similarities do not fail, or that a checkpoint
compares in another way."""


class Evaluations:
    """The evaluations of a space. Several threads may count at once.

    Attributes
    ----------
    n : int
        How many similarities were computed so far.
    n_checks : int
        How many of these have only checked whether the similarity can be trusted (`calls/spot_check.py`).
    n_expected : int or None
        How many similarities will have been computed in the end, or None as long as this is not known.
    """

    def __init__(self) -> None:
        self.n = self.n_checks = 0
        self.n_expected: int | None = None
        self._interrupt: Callable[[], None] | None = None
        self._before_first: Callable[[], None] | None = None
        self._lock = threading.Lock()

    def before_first(self, do: Callable[[], None]) -> None:
        """Have something done once, before the first pairs are scored."""
        self._before_first = do

    def interrupt_by(self, stop: Callable[[], None]) -> None:
        """Have something called whenever some pairs have been scored. It may raise an error to end the work."""
        self._interrupt = stop

    @property
    def interruptible(self) -> bool:
        """Whether something is called whenever some pairs have been scored."""
        return self._interrupt is not None

    def begin(self) -> None:
        """Do what has to be done before the first pairs are scored, once."""
        if self._before_first is not None:
            with self._lock:
                do, self._before_first = self._before_first, None
            if do is not None:
                do()

    def note_checks(self, n: int) -> None:
        """Say that this many of the evaluations so far have only checked the similarity."""
        self.n_checks += n

    def count(self, n: int) -> None:
        """Add to the number of evaluations."""
        with self._lock:
            self.n += n
        if self._interrupt is not None:
            self._interrupt()


@dataclass(frozen=True, eq=False)
class Run:
    """What a fit does if its similarity fails or hangs, and where it keeps what it has paid for.

    Attributes
    ----------
    failures : Failures or None
        Notes the pairs for which the similarity fails, if such pairs do not end the work.
    timeout : float or None
        How many seconds one evaluation may take.
    checkpoint : Checkpoint or None
        The open file in which the run keeps what it has paid for.
    """

    failures: Failures | None = None
    timeout: float | None = None
    checkpoint: Checkpoint | None = None
    _warned: set[str] = field(default_factory=set)

    def warn_once(self, topic: str, category: type[Warning], message: str) -> None:
        """Warn the user of something, unless the run has warned of the same topic already."""
        if topic not in self._warned:
            self._warned.add(topic)
            tell(category, message)

    def __reduce__(self) -> Any:
        """Pickle all but the checkpoint, which belongs to this process."""
        return Run, (self.failures, self.timeout)

    def seed(self, random_state: Any) -> Any:
        """Return the random state of the run, which is that of the checkpoint if there is one and none was passed."""
        if self.checkpoint is None:
            return random_state
        if not (random_state is None or isinstance(random_state, Integral)):
            raise ValueError(
                "random_state must be an int or None if there is a checkpoint, because a run that goes on has to draw "
                f"the same numbers again, got {random_state!r}."
            )
        return self.checkpoint.seed if random_state is None else random_state


@contextmanager
def open_run(
    similarity: Similarity,
    checkpoint: CheckpointPath = None,
    on_error: OnError = "raise",
    timeout: float | None = None,
    *,
    within: Run,
) -> Iterator[Run]:
    """Open a run. At the end, its checkpoint is closed, and the user is warned of failures.

    A run without a checkpoint that is to do nothing about failures goes on as the run that it is opened `within`.
    """
    failures = Failures() if on_error == "lowest" else None
    run = within if failures is None and timeout is None else replace(within, failures=failures, timeout=timeout)
    try:
        if checkpoint is None:
            yield run
        else:
            with Checkpoint(str(checkpoint), similarity_fingerprint(similarity), repr(similarity)) as file:
                yield replace(run, checkpoint=file)
    except KeyboardInterrupt:
        end_idle_processes()
        raise
    if run.failures is not None:
        run.failures.warn()


def identity(parameters: Mapping[str, Any], **others: Any) -> dict[str, Any]:
    """Return what the finished parts of a run depend on, by name, as values that JSON can hold."""
    effective = {name: value for name, value in parameters.items() if name.rsplit("__", 1)[-1] not in WITHOUT_EFFECT}
    return {name: _in_short(value) for name, value in {**effective, **others}.items()}


def _in_short(value: Any) -> Any:
    """Return a value that JSON can hold and that changes when this one does."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Integral):
        return int(value)
    return float(value) if isinstance(value, Real) else code_fingerprint(value)
