"""A space: objects on two sides that are asked by index for their similarities.

All later stages (graphs, coverage, classification) know indices and no data. They ask a `Space` to `score` pairs that
are given by two index arrays, i on the left side and j on the right. In a cluster both sides are the same objects. In a
classifier they are queries and representatives. A space counts its evaluations in its `Evaluations` (`run.py`), and
nothing else does.

Some spaces can be screened: they also give `estimates` of whole blocks, mostly by matrix products. Estimates only
decide which pairs are worth scoring. The scores themselves come from `score`, so that they do not depend on the block
size or on the BLAS library.

A space also carries the threads that may work on it, so that no later stage has to hand on a number of threads.

**The seam.** A kind of objects has a space of its own:

- It must define `_evaluate`, which computes similarities and counts nothing.
- It sets `threaded`, `screened`, `cheap`, `asked_once`, `hubs` and `exact_up_to` where the defaults do not hold, the
  first of them before `Space.__init__` is called. If it is `screened`, it defines `estimates` and `slack`, and
  `estimate_of` where it can. It defines `bounds` and `orders` where it can.
- It overrides `with_itself` and `mean` where they follow without an evaluation.
- If it is `screened`, it defines `among` and `between` where it can, which give a part of it, and then sets `n_terms`
  and `groups_from`.
- It overrides `parts` if its similarities come in parts of which some may be lost to an error.

`score`, `score_pairs`, `of_copies` and the counting are the same for all spaces. A `WrappedSpace` evaluates pairs in
another space, and says what it takes from that one. `CachedSpace`, which must not look up what is to be evaluated anew,
also overrides `score_or_nan`, `score_again` and `score_backward`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers, Positions
from covey.runtime.executor import Executor
from covey.similarity.run import Evaluations, Run

INTERRUPTED_AFTER = 1024
"""How many pairs of a function that is not compiled are scored at most between two calls of what `interrupt_by` of
`Evaluations` has been given. At a millisecond a pair, this is every second."""


ScoredPart = tuple[slice | Positions, Floats]
"""Which of the pairs that were asked for it holds, and their similarities."""


@dataclass(frozen=True)
class ScoredPairs:
    """Unordered pairs i < j and their similarities in both directions.

    If the space is symmetric, both directions are the same array.
    """

    i: Indices
    j: Indices
    forward: Floats
    backward: Floats

    def find(self, x: int, y: int) -> float | None:
        """Return s(x, y), or None if the pair is not among these."""
        places = np.flatnonzero((self.i == min(x, y)) & (self.j == max(x, y)))
        return float((self.forward if x < y else self.backward)[places[0]]) if places.size else None


class UpperBounds(Protocol):
    """Numbers that similarities cannot exceed. They are much cheaper to compute than similarities.

    They are `exact` if each bound is the similarity itself.
    """

    exact: bool

    def of(self, i: Indices, j: Indices) -> Floats:
        """Return numbers that s(i[t], j[t]) does not exceed."""
        ...

    def renumbered(self, order: Indices) -> Self:
        """Return the bounds of the same objects under new numbers: object order[t] gets the number t."""
        ...


class Space(ABC):
    """Objects on two sides whose similarities are asked by index.

    Attributes
    ----------
    n_left, n_right : int
        How many objects each side has.
    symmetric : bool
        Whether both sides are the same objects and s(i, j) = s(j, i).
    n_jobs : int or None
        How many threads or processes may work on the space, as joblib counts them.
    executor : Executor
        Runs tasks that call `score`. It uses several threads if the space is `threaded`.
    threaded : bool
        Whether several threads may call `score` at once, and are faster than one.
    screened : bool
        Whether the space has `estimates` and their `slack`.
    cheap : bool
        Whether a score takes no longer than the bookkeeping around it.
    asked_once : bool
        Whether NN-Descent must never score a pair twice, because a score may take any time, as that of a custom
        function may.
    hubs : bool
        Whether a few objects tend to be near to very many others. Neighbors of neighbors then mostly lead to these
        objects and seldom to new ones.
    n_terms : int
        How many numbers of an object a product reads, on average.
    groups_from : int or None
        From this number of objects on, groups are faster than NN-Descent. It is None if the space has no parts that
        could be groups.
    exact_up_to : int
        Up to this number of objects, scoring all pairs is about as fast as NN-Descent, which scores few of them.
    is_part : bool
        Whether this is a part of another space, which counts its evaluations (`among`, `between`).
    run : Run
        What happens if the similarity fails for a pair.
    evaluations : Evaluations
        Counts the similarities that were computed.
    """

    threaded = False
    screened = False
    cheap = False
    asked_once = False
    hubs = False
    n_terms = 0
    groups_from: int | None = None
    exact_up_to = 0
    is_part = False

    def __init__(
        self,
        n_left: int,
        n_right: int,
        *,
        symmetric: bool,
        n_jobs: int | None,
        run: Run | None = None,
        evaluations: Evaluations | None = None,
    ) -> None:
        self.n_left, self.n_right, self.symmetric = n_left, n_right, symmetric
        self.n_jobs, self.executor = n_jobs, Executor(n_jobs if self.threaded else 1)
        self.run = Run() if run is None else run
        self.evaluations = Evaluations() if evaluations is None else evaluations
        self._of_copies: Floats | None = None

    @property
    def n_evaluations(self) -> int:
        """How many similarities were computed so far."""
        return self.evaluations.n

    @property
    def n_expected(self) -> int | None:
        """How many similarities will have been computed in the end, or None as long as this is not known."""
        return self.evaluations.n_expected

    def expect(self, n: int) -> None:
        """Say how many similarities will have been computed in the end. A progress bar shows it.

        A part of a space leaves that to the whole.
        """
        if not self.is_part:
            self.evaluations.n_expected = n

    def score(self, i: Indices, j: Indices, *, counted: bool = True) -> Floats:
        """Return the similarities s(left[i[t]], right[j[t]]).

        Pass ``counted=False`` for pairs that were counted when they were estimated. Pairs for which the similarity has
        failed count as least similar, if the run notes its failures.
        """
        self.evaluations.begin()
        values = self.score_or_nan(i, j, counted=counted)
        failures = self.run.failures
        return values if failures is None else failures.settled(values)

    def score_or_nan(self, i: Indices, j: Indices, *, counted: bool = True) -> Floats:
        """Return the similarities of pairs, and NaN for those for which the similarity has failed."""
        if self.threaded:
            return self.executor.in_batches(self._evaluate, i, j, count=self.count if counted else None)
        return self.joined(self.parts(i, j), i.size, counted=counted)

    def parts(self, i: Indices, j: Indices) -> Iterator[ScoredPart]:
        """Compute the similarities of pairs without counting them, and yield each part as soon as it is there.

        What was yielded is safe from what happens afterwards, so that it can be counted or written to a file.
        Before an error is raised, all that was evaluated before it has been yielded.
        """
        step = max(i.size, 1) if not self.evaluations.interruptible else INTERRUPTED_AFTER
        for start in range(0, i.size, step):
            part = slice(start, start + step)
            yield part, self._evaluate(i[part], j[part])

    def joined(self, parts: Iterable[ScoredPart], n: int, *, counted: bool) -> Floats:
        """Return the similarities of n pairs, which come in parts, and count each part when it is there."""
        values = np.empty(n)
        for where, part in parts:
            values[where] = part
            if counted:
                self.count(part.size)
        return values

    def score_again(self, i: Indices, j: Indices) -> Floats:
        """Evaluate pairs even if their similarities are known, to see whether they are the same again.

        The answer has NaN where the similarity fails.
        """
        return self.score_or_nan(i, j)

    def score_backward(self, i: Indices, j: Indices) -> Floats:
        """Evaluate s(j[t], i[t]) of a square space even if s(i[t], j[t]) is known, to see whether both are the same.

        The answer has NaN where the similarity fails.
        """
        return self.score_or_nan(j, i)

    def score_pairs(self, i: Indices, j: Indices, *, counted: bool = True) -> ScoredPairs:
        """Score unordered pairs from the lower to the higher index, and in the other direction as well if the space is
        not symmetric.
        """
        i, j = np.minimum(i, j), np.maximum(i, j)
        forward = self.score(i, j, counted=counted)
        return ScoredPairs(i, j, forward, forward if self.symmetric else self.score(j, i, counted=counted))

    def count(self, n: int) -> None:
        """Add to the number of evaluations, those of estimated pairs for instance. Several threads may do this."""
        self.evaluations.count(n)

    def n_done(self) -> int:
        """Return how many similarities were computed, including those of a call that has not returned yet.

        A progress bar shows it.
        """
        return self.n_evaluations

    @property
    def n_pairs(self) -> int:
        """How many evaluations all pairs of different objects take, if both sides are the same objects."""
        ordered = self.n_left * (self.n_left - 1)
        return ordered // 2 if self.symmetric else ordered

    @property
    def scan_rate(self) -> float:
        """The number of evaluations as a share of those that all pairs take.

        NN-Descent decides by it, so that checks do not count here: they must not change what it does.
        """
        return (self.evaluations.n - self.evaluations.n_checks) / max(self.n_pairs, 1)

    def among(self, members: Indices) -> "Space":
        """Return the space of some objects of a square space among themselves, numbered anew in this order.

        Its evaluations are those of this space.
        """
        raise TypeError(f"{type(self).__name__} has no parts.")

    def between(self, left: Indices | None, right: Indices | None) -> "Space":
        """Return the space of some objects of each side, numbered anew in this order. None stands for all of a side.

        Its evaluations are those of this space.
        """
        raise TypeError(f"{type(self).__name__} has no parts.")

    def with_itself(self) -> Floats:
        """Return s(i, i) for each object if this takes no evaluation, and 1 otherwise."""
        return np.ones(self.n_left)

    def of_copies(self, i: Indices) -> Floats:
        """Return s(i[t], i[t]), the similarity of two copies of an object.

        Each is evaluated once, when it is first asked for.
        """
        if self._of_copies is None:
            self._of_copies = np.full(self.n_left, np.nan)
        missing = i[np.isnan(self._of_copies[i])]
        if missing.size:
            self._of_copies[missing] = self.score(missing, missing)
        return self._of_copies[i]

    def mean(self, multiplicity: Integers) -> float | None:
        """Return the exact mean similarity of all pairs, or None if this would take evaluations.

        Each object is there as often as its multiplicity says.
        """
        return None

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return numbers that order the columns of each row as `score` does, except where they differ by less than the
        row's `slack`.
        """
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def slack(self, rows: slice) -> Floats:
        """Return for each row how far its `estimates` may be wrong."""
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def estimate_of(self, similarity: float) -> float | None:
        """Return the estimate of a pair that has this similarity, or None if this is not known."""
        return None

    def bounds(self) -> UpperBounds | None:
        """Return upper bounds of scores that are much cheaper than scores, or None if there are none."""
        return None

    def orders(self) -> list[Indices]:
        """Return orders of all objects of the left side in which neighbors tend to be similar, if any are known."""
        return []

    @abstractmethod
    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        """Compute the similarities s(left[i[t]], right[j[t]]) without counting them."""


class WrappedSpace(Space):
    """A space that evaluates its pairs in another one, which it wraps.

    What describes the objects and their similarity, `hubs`, `exact_up_to`, `cheap`, `asked_once`, `n_jobs` and `run`,
    is that of the wrapped space, as a copy. A wrapper that also shares its `threaded` says so before this constructor
    is called. Estimates, bounds and orders belong to the wrapped space alone. Nor are `mean`, `with_itself` and
    `of_copies` forwarded: they are the defaults of `Space`, by the numbers of the wrapper, unless it overrides them.
    """

    def __init__(
        self, space: Space, n_left: int, n_right: int, *, symmetric: bool, evaluations: Evaluations | None = None
    ) -> None:
        super().__init__(
            n_left, n_right, symmetric=symmetric, n_jobs=space.n_jobs, run=space.run, evaluations=evaluations
        )
        self.hubs, self.exact_up_to = space.hubs, space.exact_up_to
        self.cheap, self.asked_once = space.cheap, space.asked_once
        self._space = space


class RenumberedSpace(WrappedSpace):
    """The objects of a square space under new numbers: its object order[t] has the number t here.

    Evaluations are those of the original space.
    """

    def __init__(self, space: Space, order: Indices) -> None:
        self.threaded = space.threaded
        super().__init__(space, space.n_left, space.n_right, symmetric=space.symmetric, evaluations=space.evaluations)
        self._order = order

    def parts(self, i: Indices, j: Indices) -> Iterator[ScoredPart]:
        return self._space.parts(self._order[i], self._order[j])

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self._space._evaluate(self._order[i], self._order[j])


def unordered_codes(i: Indices, j: Indices, n: int) -> Integers:
    """Return a number for each pair of n objects, which is the same for both orders of a pair and no other pair."""
    return np.minimum(i, j).astype(np.int64) * n + np.maximum(i, j)


def draw_pairs(n: int, size: int, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """Draw `size` different unordered pairs of n objects uniformly.

    If `size` is the number of all pairs, return all of them in order.
    """
    n_pairs = n * (n - 1) // 2
    codes = np.arange(n_pairs) if size == n_pairs else rng.choice(n_pairs, size, replace=False, shuffle=False)
    # The pair (i, j) with i < j has the code j (j - 1) / 2 + i. The root may be off by one, because it is rounded.
    j = ((1 + np.sqrt(1 + 8 * codes.astype(np.float64))) / 2).astype(np.int64)
    j -= j * (j - 1) // 2 > codes
    j += j * (j + 1) // 2 <= codes
    return (codes - j * (j - 1) // 2).astype(np.int32), j.astype(np.int32)
