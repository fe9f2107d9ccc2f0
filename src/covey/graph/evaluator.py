"""Scoring pairs on behalf of an approximate graph.

A pair *meets* when it is considered for the first time. It is then scored, and the score is offered to the lists of
both objects; or an upper bound shows that it can enter neither list. A pair that has met is not scored again, as long
as met pairs are remembered (`pair_memory.py`).
"""

import threading

import numpy as np

from covey.arrays import Floats, Indices
from covey.graph.lists import FRESH, WAITING, NeighborLists
from covey.graph.pair_memory import PairSet, pair_set
from covey.graph.screen import Screen
from covey.runtime.executor import BATCH
from covey.similarity.space import RenumberedSpace, ScoredPairs, Space, UpperBounds

ALL_PAIRS_BLOCK = 1 << 20
"""About how many pairs are written down at a time when all pairs meet; it bounds the memory that this takes."""


class Evaluator:
    """Scores pairs that have not met before, and offers each score to the lists of both objects.

    Parameters
    ----------
    space : Space
        The objects; both of its sides are the same.
    size : int
        The length of the lists.
    bounds : UpperBounds, optional
        Upper bounds of similarities, which spare scoring pairs that can enter no list.
    met : PairSet, optional
        The memory of met pairs. By default it is empty, and of the kind that suits the space.
    """

    def __init__(self, space: Space, size: int, bounds: UpperBounds | None = None, met: PairSet | None = None) -> None:
        self.space = space
        self.lists = NeighborLists.empty(space.n_left, size)
        self._bounds = bounds
        self.screen: Screen | None = None
        self.met = pair_set(space) if met is None else met
        self._lock = threading.Lock()

    def bound(self) -> None:
        """Use the upper bounds of the space from now on, if it has any."""
        self._bounds = self.space.bounds()

    @property
    def bounded(self) -> bool:
        """Whether upper bounds rule out pairs."""
        return self._bounds is not None

    @property
    def forgetful(self) -> bool:
        """Whether no met pair is remembered, so that pairs may meet, and be counted, again."""
        return self.met.forgetful

    @property
    def remembers_all(self) -> bool:
        """Whether there is a bit for every pair, so that even all pairs can be remembered."""
        return self.met.remembers_all

    def renumber(self, order: Indices) -> None:
        """Give the objects other numbers: object t is then the one that was order[t].

        Similar objects with near numbers lie near each other in memory, which makes rounds faster. The evaluator must
        be forgetful, because remembered pairs would keep their old numbers.
        """
        self.met = self.met.renumbered(order)
        self.lists = self.lists.renumbered(order)
        self.space = RenumberedSpace(self.space, order)
        self._bounds = None if self._bounds is None else self._bounds.renumbered(order)

    def admit(self, pairs: ScoredPairs) -> None:
        """Let pairs meet that were scored elsewhere: they enter the lists and are not scored again."""
        self.met.add(pairs.i, pairs.j)
        self._offer(pairs)

    def score(self, i: Indices, j: Indices) -> ScoredPairs:
        """Score these pairs, none of which may have met before, and return their similarities."""
        self.met.add(i, j)
        return self._score(i, j)

    def meet(self, i: Indices, j: Indices) -> None:
        """Let those of these pairs meet that have not met before."""
        unmet = self.met.add(i, j)
        self.consider(i[unmet], j[unmet])

    def meet_all(self) -> None:
        """Let all pairs meet that have not met before, block by block."""
        n = self.space.n_left
        step = max(1, ALL_PAIRS_BLOCK // n)
        for start in range(0, n - 1, step):
            i, j = np.meshgrid(np.arange(start, min(start + step, n)), np.arange(start + 1, n), indexing="ij")
            above = i < j
            self.meet(i[above].astype(np.int32), j[above].astype(np.int32))

    def lengthen(self, factor: float) -> None:
        """Make the lists longer by a factor, and let all their entries be joined once more.

        The new places start empty. Objects that fell out of the shorter lists do not come back, although they may
        belong there; but all of them are less similar than the entries that stayed.
        """
        size = int(np.ceil(factor * self.lists.indices.shape[1]))
        self.lists = self.lists.lengthened(min(size, self.space.n_left - 1))

    def meet_and_bound(self, i: Indices, j: Indices) -> Floats:
        """Let the pairs meet, and return for each s(i[t], j[t]) or an upper bound of it.

        That is enough for a tree, which only decides by it where to split. If the space has upper bounds, these are
        returned; the pairs then count as evaluations, but not as met, and may be counted again. Else a pair that has
        just been scored gets its score. A pair that met before gets the score that is still in the lists, or, if it
        has left them, the least similarity that they hold: its own is no larger.
        """
        if self._bounds is not None:
            self.space.count(i.size)
            return self._bounds.of(i, j)
        unmet = self.met.add(i, j)
        scored = self._score(i[unmet], j[unmet])
        limits = np.empty(i.size)
        limits[unmet] = np.where(i[unmet] < j[unmet], scored.forward, scored.backward)
        i, j = i[~unmet], j[~unmet]
        limits[~unmet] = self.lists.look_up(i, j)
        if self.space.symmetric:
            limits[~unmet] = np.minimum(limits[~unmet], self.lists.look_up(j, i))
        return limits

    def meet_likely(self, i: Indices, j: Indices) -> None:
        """Let those of these pairs meet that have not met before and that the screen, if there is one, lets pass."""
        unmet = self.met.add(i, j)
        self.consider(*self.likely(i[unmet], j[unmet]))

    def likely(self, i: Indices, j: Indices) -> tuple[Indices, Indices]:
        """Return those of the pairs, which have just met, that the screen lets pass; the others have not met then.

        Without a screen all of them pass.
        """
        if self.screen is None:
            return i, j
        passed = self.screen.passed_by(i, j)
        self.met.remove(i[~passed], j[~passed])
        return i[passed], j[passed]

    def consider(self, i: Indices, j: Indices) -> None:
        """Score the pairs, except those that an upper bound keeps out of both lists."""
        bounds = self._bounds
        if bounds is None:
            self._score(i, j)
        else:
            batches = [slice(start, start + BATCH) for start in range(0, i.size, BATCH)]
            self.space.executor.run(lambda batch: self._score_unless_ruled_out(i[batch], j[batch], bounds), batches)

    def _score_unless_ruled_out(self, i: Indices, j: Indices, bounds: UpperBounds) -> None:
        """Score the pairs that no upper bound rules out.

        All pairs count as evaluations, because a bound that rules a pair out has decided about it like a score.
        """
        limits = bounds.of(i, j)
        self.space.count(i.size)
        n = self.lists.drop_hopeless(i, j, limits)
        i, j, limits = i[:n], j[:n], limits[:n]
        exact = ScoredPairs(i, j, limits, limits) if bounds.exact else self.space.score_pairs(i, j, counted=False)
        self._offer(exact)

    def _score(self, i: Indices, j: Indices) -> ScoredPairs:
        scored = self.space.score_pairs(i, j)
        self._offer(scored)
        return scored

    def next_round(self) -> int:
        """Begin a round: entries that are FRESH become WAITING, and their number is returned."""
        fresh = self.lists.states == FRESH
        self.lists.states[fresh] = WAITING
        return int(np.count_nonzero(fresh))

    def _offer(self, pairs: ScoredPairs) -> None:
        with self._lock:
            self.lists.offer(pairs.i, pairs.j, pairs.forward)
            self.lists.offer(pairs.j, pairs.i, pairs.backward)
