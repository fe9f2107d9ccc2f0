"""NN-Descent (Dong, Moses and Li, 2011) on indices. It never sees data.

A neighbor of a neighbor is likely a neighbor. One round:

1. Of each object's list sample the entries not yet joined (new) and take the joined ones (old).
2. Reverse both, sampled likewise, and unite: an object meets those that list it, too.
3. Join: within each united list, every new entry meets every new and every old one. Pairs already evaluated are
   skipped; the others are scored and offered to both ends.
4. Stop when a round changed less than `tol` of all entries.

The start is what saves evaluations: landmarks where they predict who is near (`_landmarks.py`), else a forest of pivot
trees (`_forest.py`). The end is checked: pairs drawn at random tell how many neighbors were missed (`_recall.py`), and
where these are too many, the descent goes on with another tree and longer lists, until few are missed or all pairs are
scored; where pairs are too many to be remembered, until the lists are ten times as long.

Draws within a round are hashes of the round's seed and the objects, all others are made by one generator, every pair
belongs to its smaller index, and lists obey a total order: the outcome and the number of evaluations are the same for
any number of threads and any block size.
"""

import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from covey.arrays import Indices
from covey.graph.candidates import Candidates
from covey.graph.evaluator import Evaluator
from covey.graph.forest import plant, plant_forest
from covey.graph.landmarks import survey
from covey.graph.lists import NeighborLists
from covey.graph.recall import RandomPairs, Recall
from covey.runtime.executor import share_out
from covey.similarity.space import ScoredPairs, Space

SAMPLE_RATE, TOL = 0.7, 0.001
"""The defaults of NN-Descent's share of list entries that are joined in a round, and of the share of changed entries
that ends it. The second is the value of Dong, Moses and Li; the first lies between the two, .5 and 1, that they try."""
SMALLEST_LIST = 10
"""Shorter lists do not percolate: with 5 entries recall stays below .7."""
LONGER = 2
"""Times as long are lists where hubs stand in the way: recall .92 and not .67 for 18 846 texts and 15 neighbors."""
MORE_REVERSED = 2
"""Times as many reversed entries are joined where bounds settle most pairs: recall .989, not .984, in the same time."""
LANDMARK_SAMPLE = 0.5
"""Times as many entries are sampled in lists that start from landmarks, as most of them are right from the start: on
Fashion-MNIST that saves 3 % of the evaluations and .004 of the recall."""
FEW = 1000
"""With fewer objects, scoring landmarks against all of them would cost more than it saves."""
MANY, MANY_COSTLY = 10_000, 30_000
"""With more objects, looking for candidates by estimate takes longer than scoring pairs does; the second number is for
similarities that are not cheap."""
MAX_ROUNDS = 50
BAD, GOOD = 0.93, 0.95
"""The estimated recall below which the descent goes on, and the one that ends it then. For ten neighbors and a recall
of .95 an estimate has a standard error of .023, and of .013 with more pairs, so that few graphs of .95 and more are
extended without need."""
EXTENSION = 1.1
"""Times as long are the lists in each extension. The steps are small, because lists 1.2 times as long cost half as many
evaluations again: on Fashion-MNIST they lift the recall from .95 to .98."""
MAX_EXTENSIONS = 24
"""Lists are ten times as long then; all pairs are scored long before, unless there are too many of them."""
TOO_MANY = 1 / 3
"""The share of all pairs above which scoring the rest costs no more than going on."""
OWNERS = 1024
"""Of how many objects at most the pairs are joined at a time."""


def descend(
    space: Space,
    k: int,
    rng: np.random.Generator,
    *,
    sample_rate: float,
    tol: float,
    known: ScoredPairs | None = None,
) -> tuple[NeighborLists, Recall]:
    """Approximate lists of at least max(k, 10) others, and what share of the true k nearest they are estimated to hold.

    `known` pairs are taken in; as long as pairs are remembered, they are not scored again.
    """
    many = space.n_left > MANY
    longer = LONGER if space.hubs and many else 1
    size = min(longer * max(k, SMALLEST_LIST), space.n_left - 1)
    evaluator = Evaluator(space, size, space.bounds() if many else None)
    if known is not None:
        evaluator.admit(known)
    order = np.arange(space.n_left, dtype=np.int32)
    surveyed = FEW <= space.n_left <= (MANY if space.cheap else MANY_COSTLY)
    landmarks = surveyed and survey(evaluator, known, rng)
    if landmarks:
        sample_rate *= LANDMARK_SAMPLE
    else:
        order = plant_forest(evaluator, rng)
    numbers = order if evaluator.forgetful else None
    if numbers is not None:
        evaluator.renumber(numbers)
        order = np.arange(space.n_left, dtype=np.int32)
    descent = Descent(evaluator, order, tol, rng)
    descent.run(sample_rate)
    if not many:
        descent.join_all()
    recall = descent.go_on(k, sample_rate)
    return evaluator.lists if numbers is None else evaluator.lists.renumbered(np.argsort(numbers)), recall


@dataclass(frozen=True)
class Descent:
    """Rounds of joins, in the given order of the objects: it is best if similar ones lie near each other in it."""

    evaluator: Evaluator
    order: Indices
    tol: float
    rng: np.random.Generator

    def run(self, sample_rate: float) -> None:
        """Join until the lists hardly change."""
        evaluator = self.evaluator
        n_sampled = int(np.ceil(sample_rate * evaluator.lists.indices.shape[1]))
        n_reversed = n_sampled * (MORE_REVERSED if evaluator.bounded and not evaluator.forgetful else 1)
        for _ in range(MAX_ROUNDS):
            if evaluator.next_round() <= self.tol * evaluator.lists.indices.size:
                break
            self._join(n_sampled, n_reversed, int(self.rng.integers(1 << 63)))

    def join_all(self) -> None:
        """Join once more, with no entry of a list left out by sampling: it finds a fifth of what is missing."""
        self.evaluator.lengthen(1.0)
        self.run(sample_rate=1.0)

    def go_on(self, k: int, sample_rate: float) -> Recall:
        """Extend the descent until the estimated recall of the k nearest is good, or nothing more can be done.

        If many neighbors were missed, plant another tree and go on from there; if many still are, make the lists
        longer, too.
        """
        evaluator = self.evaluator
        pairs = RandomPairs(evaluator, k, self.rng)
        recall = pairs.estimate_recall(sure_from=BAD)
        if recall.value >= BAD:
            return recall
        for longer in [1.0] + [EXTENSION] * MAX_EXTENSIONS:
            if evaluator.has_room_for_all and evaluator.space.scan_rate > TOO_MANY:
                evaluator.meet_everyone()
                return Recall(1.0, 1.0, 1.0)
            evaluator.lengthen(longer)
            plant(evaluator, self.rng)
            self.run(sample_rate)
            recall = pairs.estimate_recall()  # a graph that was bad is looked at twice
            if recall.value >= GOOD:
                return recall
        if recall.value < BAD:
            warnings.warn(
                f"The neighbor graph holds about {recall.value:.0%} of the true neighbors, as random pairs tell; "
                "ask for more neighbors, or pass method='exact' (graph='exact' for CRS).",
                ConvergenceWarning,
                stacklevel=2,
            )
        return recall

    def _join(self, n_sampled: int, n_reversed: int, seed: int) -> None:
        """One round, in blocks of owners; a pair's owner is its smaller index.

        Owners that are near in `order` meet much the same objects, which then stay in the processor's cache.
        """
        evaluator, executor = self.evaluator, self.evaluator.space.executor
        candidates = Candidates.sample(evaluator.lists, n_sampled, n_reversed, seed, executor)
        # Without threads nobody waits for a share, and processes gain from large batches.
        step = share_out(evaluator.space.n_left, OWNERS) if evaluator.space.threaded else 16 * OWNERS
        blocks = [self.order[start : start + step] for start in range(0, self.order.size, step)]
        executor.run(lambda owners: evaluator.consider(*candidates.unmet(owners, evaluator.met)), blocks)
