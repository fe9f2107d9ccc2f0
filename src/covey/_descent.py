"""NN-Descent (Dong, Moses and Li, 2011) on indices, started from a pivot forest. It never sees data.

A neighbor of a neighbor is likely a neighbor. One round:

1. Of each object's list sample the entries not yet joined (new) and take the joined ones (old).
2. Reverse both, sampled likewise, and unite: an object meets those that list it, too.
3. Join: within each united list, every new entry meets every new and every old one. Pairs already evaluated are
   skipped; the others are scored and offered to both ends.
4. Stop when a round changed less than `tol` of all entries.

The start is what saves evaluations. A pivot tree draws two members of a node as pivots, scores every member against
both, splits at the median of s(x, p) - s(x, q), and goes on until leaves are small; a leaf scores all its pairs.

Every draw is a hash of (seed, round, object), every pair belongs to its smaller index, and lists obey a total order:
the outcome and the number of evaluations are the same for any number of threads and any block size.
"""

import threading

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey._lists import FRESH, KNOWN, WAITING, NeighborLists
from covey._pairs import ScoredPairs, pair_set, score_pairs
from covey._parallel import run, share_out
from covey.space import Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

SMALLEST_LIST = 10
"""Shorter lists do not percolate: with 5 entries recall stays below .7."""
N_TREES = 2
LEAF = 30
MAX_ROUNDS = 50
OWNERS = 1024
"""Of how many objects at most the pairs are joined at a time."""


class Evaluator:
    """Scores pairs not met before and offers each to both ends' lists."""

    def __init__(self, space: Space, size: int) -> None:
        self.space = space
        self.lists = NeighborLists.empty(space.n_left, size)
        self._pairs = pair_set(space.n_left)
        self._lock = threading.Lock()

    def admit(self, pairs: ScoredPairs) -> None:
        """Take in pairs that were scored elsewhere."""
        self._pairs.add(pairs.i, pairs.j)
        self._offer(pairs)

    def meet(self, i: Indices, j: Indices, n_jobs: int | None = 1) -> None:
        """Score the pairs not met before; threads may call this at once if no two of them share a smaller index."""
        unseen = self._pairs.add(i, j)
        self._offer(score_pairs(self.space, i[unseen], j[unseen], n_jobs=n_jobs))

    def meet_and_tell(self, i: Indices, j: Indices, n_jobs: int | None) -> Floats:
        """As `meet`, but tell s(i[t], j[t]).

        A pair met before is told by the lists. If it has left them, it is worse than all they hold, and the upper
        bound that follows stands in: it only steers where a tree splits.
        """
        unseen = self._pairs.add(i, j)
        scored = score_pairs(self.space, i[unseen], j[unseen], n_jobs=n_jobs)
        self._offer(scored)
        told = self.lists.recall(i, j)
        if self.space.symmetric:
            told = np.minimum(told, self.lists.recall(j, i))
        told[unseen] = np.where(i[unseen] < j[unseen], scored.forward, scored.backward)
        return told

    def _offer(self, pairs: ScoredPairs) -> None:
        with self._lock:
            self.lists.offer(pairs.i, pairs.j, pairs.forward)
            self.lists.offer(pairs.j, pairs.i, pairs.backward)


def descend(
    space: Space,
    k: int,
    *,
    sample_rate: float,
    tol: float,
    rng: np.random.Generator,
    n_jobs: int | None = None,
    known: ScoredPairs | None = None,
) -> NeighborLists:
    """Approximate lists of the max(k, 10) most similar others; `known` pairs are taken in and not scored again."""
    size = min(max(k, SMALLEST_LIST), space.n_left - 1)
    evaluator = Evaluator(space, size)
    if known is not None:
        evaluator.admit(known)
    for _ in range(N_TREES):
        order = plant(evaluator, rng, n_jobs)
    lists = evaluator.lists
    n_sampled = int(np.ceil(sample_rate * size))
    for _ in range(MAX_ROUNDS):
        n_changed = int(np.count_nonzero(lists.states == FRESH))
        if n_changed <= tol * lists.indices.size:
            break
        lists.states[lists.states == FRESH] = WAITING
        join_round(evaluator, order, n_sampled, int(rng.integers(1 << 63)), n_jobs)
    return lists


def plant(evaluator: Evaluator, rng: np.random.Generator, n_jobs: int | None) -> Indices:
    """Grow one pivot tree, all nodes of a level at once; every score made on the way feeds the lists.

    Returns the objects leaf by leaf: those that are near in this order are similar.
    """
    order = np.arange(evaluator.space.n_left, dtype=np.int32)
    sizes = np.array([order.size])
    while sizes.max() > LEAF:
        starts = np.cumsum(sizes) - sizes
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        node = np.repeat(np.arange(sizes.size), sizes)
        leaning = _lean(evaluator, order, order[starts + first][node], order[starts + second][node], n_jobs)
        order = order[np.lexsort((order, -leaning, node))]
        sizes = np.column_stack([sizes - sizes // 2, sizes // 2]).ravel()
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[starts[sizes == size][:, None] + np.arange(size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel(), n_jobs)
    return order


def _lean(evaluator: Evaluator, x: Indices, p: Indices, q: Indices, n_jobs: int | None) -> Floats:
    """How much more each x resembles its pivot p than its pivot q."""
    free = (x != p) & (x != q)
    pivots = np.column_stack([p[free], q[free]])
    told = evaluator.meet_and_tell(np.repeat(x[free], 2), pivots.ravel(), n_jobs).reshape(-1, 2)
    leaning = np.where(x == p, np.inf, -np.inf)
    leaning[free] = told[:, 0] - told[:, 1]
    return leaning


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
        n = join(owners, new_of.indptr, new_of.indices, old_of.indptr, old_of.indices, new, old, i, j)
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
def join(owners, new_starts, new_of, old_starts, old_of, new, old, i, j):  # type: ignore[no-untyped-def]
    """The pairs (owner, v > owner) that meet in some object's candidates, at least one of them new there."""
    n = 0
    for owner in owners:
        for at in range(new_starts[owner], new_starts[owner + 1]):
            meeting = new_of[at]
            for candidates in (new, old):
                for v in candidates[meeting]:
                    if v > owner:
                        i[n], j[n] = owner, v
                        n += 1
        for at in range(old_starts[owner], old_starts[owner + 1]):
            for v in new[old_of[at]]:
                if v > owner:
                    i[n], j[n] = owner, v
                    n += 1
    return n
