"""The seam: objects on two sides, asked by index for their similarity.

Everything to the right of this stage (graphs, coverage, classification) knows indices, not data. It asks a `Space` to
`score` aligned arrays of indices, i on the left side and j on the right. Both sides are the same objects for a cluster;
for a classifier they are queries and representatives. Evaluations are counted here, once, exactly.

A space that can be screened also gives `estimates` of whole blocks by matrix products. They only decide which pairs
are worth scoring: whatever the block size or the BLAS library, the scores themselves come from `score`.

A space also carries the threads that may work on it. Nobody to its right hands on a number of threads.
"""

import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.runtime.executor import Executor


@dataclass(frozen=True)
class ScoredPairs:
    """Unordered pairs i < j with their similarity in both directions (the same array if symmetric)."""

    i: Indices
    j: Indices
    forward: Floats
    backward: Floats

    def find(self, x: int, y: int) -> float | None:
        """s(x, y), if the pair is among these."""
        found = np.flatnonzero((self.i == min(x, y)) & (self.j == max(x, y)))
        return float((self.forward if x < y else self.backward)[found[0]]) if found.size else None


class UpperBounds(Protocol):
    """Numbers that similarities cannot exceed, much cheaper than the similarities.

    They are `exact` if each bound is the similarity itself.
    """

    exact: bool

    def of(self, i: Indices, j: Indices) -> Floats:
        """Numbers that s(i[t], j[t]) does not exceed."""
        ...

    def renumbered(self, order: Indices) -> Self:
        """The bounds of the same objects under other numbers: t for order[t]."""
        ...


class Space(ABC):
    """Objects on two sides whose similarity is asked by index.

    Attributes
    ----------
    n_left, n_right : int
        How many objects each side has.
    symmetric : bool
        Both sides are the same objects and s(i, j) = s(j, i).
    n_jobs : int or None
        How many threads or processes may work on the space, as joblib counts them.
    executor : Executor
        Runs tasks that call `score`, on several threads if these gain anything.
    threaded : bool
        `score` may be called by several threads at once, and gains from it.
    screened : bool
        `estimates` and `slack` are there.
    cheap : bool
        A score takes no longer than the bookkeeping around it.
    hubs : bool
        A few objects tend to be near to very many: neighbors of neighbors lead to them, and seldom past them.
    exact_up_to : int
        Up to so many objects all pairs are scored about as fast as the few that NN-Descent needs.
    n_evaluations : int
        How many similarities were computed so far.
    n_expected : int or None
        How many there will be in all, once somebody knows.
    """

    threaded = False
    screened = False
    cheap = False
    hubs = False
    exact_up_to = 0

    def __init__(self, n_left: int, n_right: int, symmetric: bool, n_jobs: int | None) -> None:
        self.n_left, self.n_right, self.symmetric = n_left, n_right, symmetric
        self.n_jobs, self.executor = n_jobs, Executor(n_jobs if self.threaded else 1)
        self.n_evaluations = 0
        self.n_expected: int | None = None
        self._lock = threading.Lock()
        self._of_copies: Floats | None = None

    def score(self, i: Indices, j: Indices, counted: bool = True) -> Floats:
        """The similarities s(left[i[t]], right[j[t]]); not counted if they were when they were estimated."""

        def score_batch(a: Indices, b: Indices) -> Floats:
            values = self._evaluate(a, b)
            if counted:
                self.count(a.size)
            return values

        return self.executor.in_batches(score_batch, i, j) if self.threaded else score_batch(i, j)

    def score_pairs(self, i: Indices, j: Indices, counted: bool = True) -> ScoredPairs:
        """Score unordered pairs, always from the lower to the higher index, and back if the space is not symmetric."""
        i, j = np.minimum(i, j), np.maximum(i, j)
        forward = self.score(i, j, counted)
        return ScoredPairs(i, j, forward, forward if self.symmetric else self.score(j, i, counted))

    def count(self, evaluations: int) -> None:
        with self._lock:
            self.n_evaluations += evaluations

    def n_done(self) -> int:
        """How many similarities were computed, those of a call under way included: for whoever shows progress."""
        return self.n_evaluations

    @property
    def n_pairs(self) -> int:
        """All the evaluations there are between different objects of one side."""
        ordered = self.n_left * (self.n_left - 1)
        return ordered // 2 if self.symmetric else ordered

    @property
    def scan_rate(self) -> float:
        """The evaluations as a share of all pairs."""
        return self.n_evaluations / max(self.n_pairs, 1)

    def with_itself(self) -> Floats:
        """s(i, i) for each object, where it is known without an evaluation; else 1."""
        return np.ones(self.n_left)

    def of_copies(self, i: Indices) -> Floats:
        """s(i[t], i[t]): how similar two copies of an object are, evaluated when it is first asked for."""
        if self._of_copies is None:
            self._of_copies = np.full(self.n_left, np.nan)
        missing = i[np.isnan(self._of_copies[i])]
        if missing.size:
            self._of_copies[missing] = self.score(missing, missing)
        return self._of_copies[i]

    def mean(self, multiplicity: Integers) -> float | None:
        """The exact mean similarity of two objects, each there so many times, if it costs no evaluations."""
        return None

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Numbers that order the columns within each row as `score` does, up to the row's `slack`."""
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def slack(self, rows: slice) -> Floats:
        """How far the `estimates` of each row may be off."""
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def bounds(self) -> UpperBounds | None:
        """Upper bounds of scores that are much cheaper than scores, if there are any."""
        return None

    @abstractmethod
    def _evaluate(self, i: Indices, j: Indices) -> Floats: ...


class RenumberedSpace(Space):
    """The objects of a square space under other numbers: t for its order[t]. That space counts."""

    def __init__(self, space: Space, order: Indices) -> None:
        self.threaded, self.cheap = space.threaded, space.cheap
        super().__init__(space.n_left, space.n_right, space.symmetric, space.n_jobs)
        self._space, self._order = space, order

    def count(self, evaluations: int) -> None:
        self._space.count(evaluations)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self._space._evaluate(self._order[i], self._order[j])
