"""NN-Descent (Dong, Moses and Li, 2011) on indices. It never sees data.

A neighbor of a neighbor is likely a neighbor. One round:

1. Of each object's list sample the entries not yet joined (new) and take the joined ones (old).
2. Reverse both, sampled likewise, and unite: an object meets those that list it, too.
3. Join: within each united list, every new entry meets every new and every old one. Pairs already evaluated are
   skipped; the others are scored and offered to both ends.
4. Stop when a round changed less than `tol` of all entries.

The start is what saves evaluations: landmarks where they tell something (`_landmarks.py`), else a forest of pivot
trees (`_forest.py`).

Every draw is a hash of (seed, round, object), every pair belongs to its smaller index, and lists obey a total order:
the outcome and the number of evaluations are the same for any number of threads and any block size.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from covey._candidates import Candidates
from covey._evaluator import Evaluator
from covey._forest import plant_forest
from covey._landmarks import survey
from covey._lists import NeighborLists
from covey._pairs import ScoredPairs
from covey._parallel import run, share_out
from covey.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

SMALLEST_LIST = 10
"""Shorter lists do not percolate: with 5 entries recall stays below .7."""
LONGER = 2
"""Times as long are lists where hubs stand in the way: recall .92 and not .67 for 18 846 texts and 15 neighbors."""
MORE_REVERSED = 2
"""Times as many reversed entries are joined where bounds settle most pairs: recall .989, not .984, in the same time."""
FEW = 500
"""With fewer objects a probe of landmarks would cost more than it saves."""
MANY, MANY_COSTLY = 10_000, 30_000
"""With more, looking for candidates by estimate takes longer than evaluations that are cheap, or not."""
CONTROLS = 5
"""How many objects are solved exactly to estimate the recall."""
MAX_ROUNDS = 50
OWNERS = 1024
"""Of how many objects at most the pairs are joined at a time."""


@dataclass(frozen=True)
class Recall:
    """The share of true neighbors that an approximate graph has found.

    Attributes
    ----------
    value : float
        The mean over a few control objects, whose neighbors were found exactly in the end.
    low, high : float
        The 95 % Wilson interval, with the control objects as the sample: an object's neighbors tend to be found or
        missed together.
    """

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, shares: list[float]) -> "Recall":
        z, n, share = 1.96, len(shares), float(np.mean(shares))
        middle, reach = share + z * z / (2 * n), z * np.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
        low, high = ((middle + side * reach) / (1 + z * z / n) for side in (-1, 1))
        return cls(share, max(0.0, float(low)), min(1.0, float(high)))


def descend(
    space: Space,
    k: int,
    *,
    sample_rate: float,
    tol: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    known: ScoredPairs | None = None,
) -> tuple[NeighborLists, Recall]:
    """Approximate lists of at least max(k, 10) others, and what share of the true k nearest they are estimated to hold.

    `known` pairs are taken in; as long as pairs are remembered, they are not scored again.
    """
    many = space.n_left > MANY
    longer = LONGER if space.hubs and many else 1
    size = min(longer * max(k, SMALLEST_LIST), space.n_left - 1)
    evaluator = Evaluator(space, size, space.bounds(n_jobs) if many else None)
    if known is not None:
        evaluator.admit(known)
    order = np.arange(space.n_left, dtype=np.int32)
    surveyed = FEW <= space.n_left <= (MANY if space.cheap else MANY_COSTLY)
    if not (surveyed and survey(evaluator, known, rng, n_jobs)):
        order = plant_forest(evaluator, rng, n_jobs)
    numbers = order if evaluator.forgetful else None
    if numbers is not None:
        evaluator.renumber(numbers)
        order = np.arange(space.n_left, dtype=np.int32)
    n_sampled = int(np.ceil(sample_rate * size))
    n_reversed = n_sampled * (MORE_REVERSED if evaluator.bounded and not evaluator.forgetful else 1)
    for _ in range(MAX_ROUNDS):
        if evaluator.next_round() <= tol * evaluator.lists.indices.size:
            break
        join_round(evaluator, order, n_sampled, n_reversed, int(rng.integers(1 << 63)), n_jobs)
    recall = estimate_recall(evaluator, k, rng, n_jobs)
    return evaluator.lists if numbers is None else evaluator.lists.renumbered(np.argsort(numbers)), recall


def estimate_recall(evaluator: Evaluator, k: int, rng: np.random.Generator, n_jobs: int | None) -> Recall:
    """Score all that a few objects have not met, and see which of their k neighbors were there before.

    A pair that was scored and is in neither list is worse than all they hold, so those lists are then exact.
    """
    n = evaluator.space.n_left
    everyone = np.arange(n, dtype=np.int32)
    controls = rng.choice(everyone, min(CONTROLS, n), replace=False)
    before = evaluator.lists.indices[controls, :k].copy()
    evaluator.meet(np.repeat(controls, n - 1), np.concatenate([np.delete(everyone, c) for c in controls]), n_jobs)
    after = evaluator.lists.indices[controls, :k]
    return Recall.of([float(np.isin(a, b).mean()) for a, b in zip(before, after, strict=True)])


def join_round(
    evaluator: Evaluator, order: Indices, n_sampled: int, n_reversed: int, seed: int, n_jobs: int | None
) -> None:
    """One round of NN-Descent, in blocks of owners; a pair's owner is its smaller index.

    Owners that are near in `order` meet much the same objects, which then stay in the processor's cache.
    """
    candidates = Candidates.sample(evaluator.lists, n_sampled, n_reversed, seed, n_jobs)
    # Without threads nobody waits for a share, and processes gain from large batches.
    step = share_out(evaluator.space.n_left, OWNERS) if evaluator.space.threaded else 16 * OWNERS
    blocks = [order[start : start + step] for start in range(0, order.size, step)]
    run(lambda owners: evaluator.join(candidates, owners), blocks, n_jobs, evaluator.space.threaded)
