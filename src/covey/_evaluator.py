"""The work-bench of approximate graphs: pairs are scored once, and every score feeds both ends' lists."""

import threading
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from covey._lists import FRESH, WAITING, NeighborLists
from covey._pairs import ScoredPairs, pair_set, score_pairs
from covey.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]


class Screen(Protocol):
    def promising(self, i: Indices, j: Indices, bars: Floats) -> NDArray[np.bool_]:
        """Which pairs may well score above the bar of one of their two lists."""
        ...


class Evaluator:
    """Scores pairs not met before and offers each to both ends' lists."""

    def __init__(self, space: Space, size: int) -> None:
        self.space = space
        self.lists = NeighborLists.empty(space.n_left, size)
        self.screen: Screen | None = None
        self._pairs = pair_set(space.n_left, space.cheap)
        self._bars = self.lists.similarities[:, -1].copy()
        self._lock = threading.Lock()

    def admit(self, pairs: ScoredPairs) -> None:
        """Take in pairs that were scored elsewhere."""
        self._pairs.add(pairs.i, pairs.j)
        self._offer(pairs)

    def score(self, i: Indices, j: Indices, n_jobs: int | None) -> ScoredPairs:
        """Score pairs that were not met before."""
        self._pairs.add(i, j)
        scored = score_pairs(self.space, i, j, n_jobs=n_jobs)
        self._offer(scored)
        return scored

    def meet(self, i: Indices, j: Indices, n_jobs: int | None = 1) -> None:
        """Score the pairs not met before; threads may call this at once if no two of them share a smaller index."""
        unseen = self._pairs.add(i, j)
        i, j = i[unseen], j[unseen]
        if self.screen is not None:
            promising = self.screen.promising(i, j, self._bars)
            i, j = i[promising], j[promising]
        self._offer(score_pairs(self.space, i, j, n_jobs=n_jobs))

    def meet_and_tell(self, i: Indices, j: Indices, n_jobs: int | None) -> Floats:
        """As `meet`, but tell s(i[t], j[t]).

        A pair met before is told by the lists. If it has left them, it is worse than all they hold, and the upper
        bound that follows stands in: it only steers where a tree splits.
        """
        unseen = self._pairs.add(i, j)
        scored = score_pairs(self.space, i[unseen], j[unseen], n_jobs=n_jobs)
        self._offer(scored)
        told = np.empty(i.size)
        told[unseen] = np.where(i[unseen] < j[unseen], scored.forward, scored.backward)
        i, j = i[~unseen], j[~unseen]
        told[~unseen] = self.lists.recall(i, j)
        if self.space.symmetric:
            told[~unseen] = np.minimum(told[~unseen], self.lists.recall(j, i))
        return told

    def next_round(self) -> int:
        """Let fresh entries wait to be joined, and tell how many they are; bars stand for the whole round."""
        fresh = self.lists.states == FRESH
        self.lists.states[fresh] = WAITING
        self._bars = self.lists.similarities[:, -1].copy()
        return int(np.count_nonzero(fresh))

    def _offer(self, pairs: ScoredPairs) -> None:
        with self._lock:
            self.lists.offer(pairs.i, pairs.j, pairs.forward)
            self.lists.offer(pairs.j, pairs.i, pairs.backward)
