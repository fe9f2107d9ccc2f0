"""The work-bench of approximate graphs: pairs are scored once, and every score feeds both ends' lists."""

import threading

import numpy as np

from covey.arrays import Floats, Indices
from covey.graph.lists import FRESH, WAITING, NeighborLists
from covey.graph.met import BitmapPairs, ForgottenPairs, pair_set
from covey.runtime.executor import BATCH
from covey.similarity.space import RenumberedSpace, ScoredPairs, Space, UpperBounds

EVERYONE = 1 << 20
"""About how many pairs are listed at a time when all of them meet."""


class Evaluator:
    """Scores pairs not met before and offers each to both ends' lists."""

    def __init__(self, space: Space, size: int, bounds: UpperBounds | None = None) -> None:
        self.space = space
        self.lists = NeighborLists.empty(space.n_left, size)
        self._bounds = bounds
        self.met = pair_set(space.n_left, space.cheap)
        self._lock = threading.Lock()

    @property
    def bounded(self) -> bool:
        return self._bounds is not None

    @property
    def forgetful(self) -> bool:
        """Whether no pair is remembered."""
        return isinstance(self.met, ForgottenPairs)

    @property
    def has_room_for_all(self) -> bool:
        """Whether all pairs can be remembered, a bit each."""
        return isinstance(self.met, BitmapPairs)

    def renumber(self, order: Indices) -> None:
        """Let object t be what order[t] was: those that are similar then lie near each other in memory."""
        self.lists = self.lists.renumbered(order)
        self.space = RenumberedSpace(self.space, order)
        self._bounds = None if self._bounds is None else self._bounds.renumbered(order)

    def admit(self, pairs: ScoredPairs) -> None:
        """Take in pairs that were scored elsewhere."""
        self.met.add(pairs.i, pairs.j)
        self._offer(pairs)

    def score(self, i: Indices, j: Indices) -> ScoredPairs:
        """Score pairs that were not met before."""
        self.met.add(i, j)
        return self._score(i, j)

    def meet(self, i: Indices, j: Indices) -> None:
        """Score the pairs not met before."""
        unmet = self.met.add(i, j)
        self.consider(i[unmet], j[unmet])

    def meet_everyone(self) -> None:
        """Score all pairs not met before, in blocks."""
        n = self.space.n_left
        step = max(1, EVERYONE // n)
        for start in range(0, n - 1, step):
            i, j = np.meshgrid(np.arange(start, min(start + step, n)), np.arange(start + 1, n), indexing="ij")
            above = i < j
            self.meet(i[above].astype(np.int32), j[above].astype(np.int32))

    def lengthen(self, factor: float) -> None:
        """Make the lists longer by a factor, and let all their entries be joined once more.

        What fell out of the shorter lists is not there again, but it is worse than all that those held.
        """
        size = int(np.ceil(factor * self.lists.indices.shape[1]))
        self.lists = self.lists.lengthened(min(size, self.space.n_left - 1))

    def meet_and_tell(self, i: Indices, j: Indices) -> Floats:
        """As `meet`, but tell s(i[t], j[t]), or an upper bound of it: it only steers where a tree splits.

        Where the space has bounds, the bounds are told, and the pairs may meet, and be counted, again. Else a pair met
        before is told by the lists; if it has left them, the least similarity that they hold is told.
        """
        if self._bounds is not None:
            self.space.count(i.size)
            return self._bounds.of(i, j)
        unmet = self.met.add(i, j)
        scored = self._score(i[unmet], j[unmet])
        told = np.empty(i.size)
        told[unmet] = np.where(i[unmet] < j[unmet], scored.forward, scored.backward)
        i, j = i[~unmet], j[~unmet]
        told[~unmet] = self.lists.look_up(i, j)
        if self.space.symmetric:
            told[~unmet] = np.minimum(told[~unmet], self.lists.look_up(j, i))
        return told

    def consider(self, i: Indices, j: Indices) -> None:
        """Score the pairs, or at least settle that they enter no list."""
        bounds = self._bounds
        if bounds is None:
            self._score(i, j)
        else:
            batches = [slice(at, at + BATCH) for at in range(0, i.size, BATCH)]
            self.space.executor.run(lambda batch: self._settle(i[batch], j[batch], bounds), batches)

    def _settle(self, i: Indices, j: Indices, bounds: UpperBounds) -> None:
        """Score the pairs that no bound rules out; those that one does are settled, hence counted, as well."""
        limits = bounds.of(i, j)
        self.space.count(i.size)
        n = self.lists.sift(i, j, limits)
        i, j, limits = i[:n], j[:n], limits[:n]
        exact = ScoredPairs(i, j, limits, limits) if bounds.exact else self.space.score_pairs(i, j, counted=False)
        self._offer(exact)

    def _score(self, i: Indices, j: Indices) -> ScoredPairs:
        scored = self.space.score_pairs(i, j)
        self._offer(scored)
        return scored

    def next_round(self) -> int:
        """Let fresh entries wait to be joined, and tell how many they are."""
        fresh = self.lists.states == FRESH
        self.lists.states[fresh] = WAITING
        return int(np.count_nonzero(fresh))

    def _offer(self, pairs: ScoredPairs) -> None:
        with self._lock:
            self.lists.offer(pairs.i, pairs.j, pairs.forward)
            self.lists.offer(pairs.j, pairs.i, pairs.backward)
