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
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey._evaluator import Evaluator
from covey._forest import plant_forest
from covey._landmarks import survey
from covey._lists import KNOWN, NeighborLists
from covey._pairs import ScoredPairs
from covey._parallel import run, share_out
from covey.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

SMALLEST_LIST = 10
"""Shorter lists do not percolate: with 5 entries recall stays below .7."""
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
    """Approximate lists of the max(k, 10) most similar others, and how many of the true k they are estimated to hold.

    `known` pairs are taken in and not scored again.
    """
    size = min(max(k, SMALLEST_LIST), space.n_left - 1)
    evaluator = Evaluator(space, size)
    if known is not None:
        evaluator.admit(known)
    order = np.arange(space.n_left, dtype=np.int32)
    surveyed = FEW <= space.n_left <= (MANY if space.cheap else MANY_COSTLY)
    if not (surveyed and survey(evaluator, known, rng, n_jobs)):
        order = plant_forest(evaluator, rng, n_jobs)
    n_sampled = int(np.ceil(sample_rate * size))
    for _ in range(MAX_ROUNDS):
        if evaluator.next_round() <= tol * evaluator.lists.indices.size:
            break
        join_round(evaluator, order, n_sampled, int(rng.integers(1 << 63)), n_jobs)
    return evaluator.lists, estimate_recall(evaluator, k, rng, n_jobs)


def estimate_recall(evaluator: Evaluator, k: int, rng: np.random.Generator, n_jobs: int | None) -> Recall:
    """Score all that a few objects have not met, and see which of their k neighbors were there before.

    A pair that was scored and is in neither list is worse than all they hold, so those lists are then exact.
    """
    n = evaluator.space.n_left
    everyone = np.arange(n, dtype=np.int32)
    controls = rng.choice(everyone, min(CONTROLS, n), replace=False)
    before = evaluator.lists.indices[controls, :k].copy()
    evaluator.screen = None
    evaluator.meet(np.repeat(controls, n - 1), np.concatenate([np.delete(everyone, c) for c in controls]), n_jobs)
    after = evaluator.lists.indices[controls, :k]
    return Recall.of([float(np.isin(a, b).mean()) for a, b in zip(before, after, strict=True)])


def join_round(evaluator: Evaluator, order: Indices, n_sampled: int, seed: int, n_jobs: int | None) -> None:
    """One round of NN-Descent, in blocks of owners; a pair's owner is its smaller index.

    Owners that are near in `order` meet much the same objects, which then stay in the processor's cache.
    """
    new, old = sample_candidates(evaluator.lists, n_sampled, np.uint64(seed))
    new_of, old_of = _invert(new), _invert(old)
    n_new, n_old = (new >= 0).sum(axis=1), (old >= 0).sum(axis=1)
    most = new_of.T @ (n_new + n_old) + old_of.T @ n_new  # pairs that each owner may have

    # Without threads nobody waits for a share, and processes gain from large batches.
    step = share_out(evaluator.space.n_left, OWNERS) if evaluator.space.threaded else 16 * OWNERS

    def join_block(start: int) -> None:
        owners = order[start : start + step]
        i, j = np.empty((2, int(most[owners].sum())), dtype=np.int32)
        met = np.full(evaluator.space.n_left, -1, dtype=np.int32)
        n = join(owners, met, new_of.indptr, new_of.indices, old_of.indptr, old_of.indices, new, old, i, j)
        evaluator.meet(i[:n], j[:n])

    run(join_block, range(0, evaluator.space.n_left, step), n_jobs, evaluator.space.threaded)


def sample_candidates(lists: NeighborLists, n_sampled: int, seed: np.uint64) -> tuple[Indices, Indices]:
    """Each object's new and old candidates, its own and reversed ones, padded with -1; what is taken is KNOWN."""
    n, size = lists.indices.shape
    new = np.full((n, 2 * n_sampled), -1, dtype=np.int32)
    old = np.full((n, size + n_sampled), -1, dtype=np.int32)
    choose(lists.indices, lists.states, n_sampled, seed, new, old)
    reverse(new[:, :n_sampled], new[:, n_sampled:], seed)
    reverse(old[:, :size], old[:, size:], seed)
    return new, old


def _invert(candidates: Indices) -> sp.csc_array:
    """Column u holds the objects that have u among their candidates."""
    n = len(candidates)
    listed = candidates >= 0
    starts = np.concatenate([[0], np.cumsum(listed.sum(axis=1))])
    columns = candidates[listed]
    return sp.csr_array((np.ones(columns.size, dtype=np.int32), columns, starts), shape=(n, n)).tocsc()


@njit(cache=True, nogil=True)
def mix(seed, a, b):  # type: ignore[no-untyped-def]
    """A hash of two indices (splitmix64): the same draw wherever and whenever it is made."""
    z = seed ^ ((np.uint64(a) << np.uint64(32)) | np.uint64(b))
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def keep_smallest(items, keys, n, item, key):  # type: ignore[no-untyped-def]
    """Put an item into a short list of those with the smallest keys; how many it then holds."""
    at = n
    if n == items.size:
        if key >= keys[n - 1]:
            return n
        at = n - 1
    while at > 0 and keys[at - 1] > key:
        items[at], keys[at] = items[at - 1], keys[at - 1]
        at -= 1
    items[at], keys[at] = item, key
    return min(n + 1, items.size)


@njit(cache=True, nogil=True)
def choose(indices, states, n_sampled, seed, new, old):  # type: ignore[no-untyped-def]
    """Sample each list's waiting entries into `new` and mark them known; the known ones go into `old`."""
    size = indices.shape[1]
    keys = np.empty(n_sampled, dtype=np.uint64)
    slots = np.empty(n_sampled, dtype=np.int32)
    for row in range(indices.shape[0]):
        n_new, n_old = 0, 0
        for at in range(size):
            if indices[row, at] >= 0:
                if states[row, at] == KNOWN:
                    old[row, n_old] = indices[row, at]
                    n_old += 1
                else:
                    n_new = keep_smallest(slots, keys, n_new, at, mix(seed, row, indices[row, at]))
        for t in range(n_new):
            new[row, t] = indices[row, slots[t]]
            states[row, slots[t]] = KNOWN


@njit(cache=True, nogil=True)
def reverse(forward, backward, seed):  # type: ignore[no-untyped-def]
    """Fill backward[u] with a sample of the objects that list u."""
    n, most = backward.shape
    keys = np.empty((n, most), dtype=np.uint64)
    filled = np.zeros(n, dtype=np.int32)
    for row in range(n):
        for at in range(forward.shape[1]):
            if forward[row, at] >= 0:
                u = forward[row, at]
                filled[u] = keep_smallest(backward[u], keys[u], filled[u], row, mix(seed, u, row))


@njit(cache=True, nogil=True)
def join(owners, met, new_starts, new_of, old_starts, old_of, new, old, i, j):  # type: ignore[no-untyped-def]
    """The pairs (owner, v > owner) that meet in some object's candidates, at least one of them new there, once each.

    `met` remembers which owner each object has met last.
    """
    n = 0
    for owner in owners:
        for at in range(new_starts[owner], new_starts[owner + 1]):
            meeting = new_of[at]
            for candidates in (new, old):
                for v in candidates[meeting]:
                    if v > owner and met[v] != owner:
                        i[n], j[n], met[v] = owner, v, owner
                        n += 1
        for at in range(old_starts[owner], old_starts[owner + 1]):
            for v in new[old_of[at]]:
                if v > owner and met[v] != owner:
                    i[n], j[n], met[v] = owner, v, owner
                    n += 1
    return n
