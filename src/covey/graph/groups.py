"""Neighbor lists from overlapping groups, for many objects whose pairs are cheap by the block.

Where matrix products estimate whole blocks of pairs, looking at all pairs of a block takes about as long as scoring one
pair in fifty of it. So the objects are cut into groups of similar ones, and all pairs within each group are looked at:

1. Draw *pivots* from the objects, and find the few nearest to each object. The object joins the groups of all of these.
   Two similar objects therefore share a group with a high chance, even if they lie near the edge of one.
2. Split a group that is too large: draw pivots from its members, and let each member go to its nearest one alone.
3. In each group, screen all pairs by products, score those that may enter a list, and offer the scores.

That is a *round*. Between rounds neighbors of neighbors meet, as in NN-Descent (`descent.py`), which finds most of what
one round has missed. The true neighbors of a sample of objects tell how many are found (`recall.py`). As long as they
are too few, the lists get longer once, and further rounds follow with other pivots, up to `MOST_ROUNDS`.

First the sample says what share of neighbors would be in a common group. If this is so little, or if there are so few
objects, that groups would take longer than the exact graph, the exact graph is made.

The result is the same for any number of threads and any block size. Pivots are drawn by one generator, and those of a
group by one that belongs to it; nearest pivots follow from scores; and lists obey their total order. All pairs within
groups, and those of objects and pivots, count as evaluations.
"""

import threading
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.graph.candidates import invert
from covey.graph.descent import SMALLEST_LIST, Descent, warn_of_missed
from covey.graph.evaluator import Evaluator
from covey.graph.exact import insert_sorted, nearest, nearest_others
from covey.graph.lists import NeighborLists
from covey.graph.pair_memory import ForgottenPairs
from covey.graph.recall import SAMPLE, Recall, SampledNeighbors
from covey.similarity.space import ScoredPairs, Space

MEMBERSHIPS = 4
"""How many groups an object joins. With 3 a round finds fewer neighbors and with 6 in smaller groups no more, for the
same evaluations (`benchmarks/groups.py`)."""

LARGEST, LARGEST_WIDE, WIDE = 2000, 500, 512
"""The most members of a group: the first number, or the second if a product reads at least `WIDE` numbers of a row and
takes longer than all else. Larger groups find more neighbors in a round."""

FULL = 0.6
"""How full groups are on average. Pivots draw unequal numbers of objects, and few groups should have to be split."""

MOST_PIVOTS = 4096
"""The most pivots that all objects are compared with. Below some million objects, splitting is then rare, which loses
neighbors: with 1024 pivots, a round found .79 of the neighbors of a million rows, and with 4096 .88."""

AT_ONCE = 1 << 17
"""How many objects look for their pivots at a time. It bounds the memory for what they have found so far."""

MOST_PARTS = 200
"""The most parts into which a group is split at a time."""

UNDIVIDED = 0.9
"""A group of which one part keeps this share does not divide: its members are equally similar to all pivots."""

LANES_A_NEIGHBOR = 4
"""How many lanes `find_best` has for each neighbor. With fewer the first hurdle is lower, and with more there are more
maxima to go through."""

SETTLED = 0.02
"""Neighbors of neighbors go on meeting until a round of meetings changes no more than this share of the entries."""

MOST_MEETINGS = 4
"""How often neighbors of neighbors meet at most between two rounds of groups."""

SHARE_OF_GROUPS = 0.65
"""The share of its time that a round spends in groups, and not in meetings. Progress bars go by it, because meetings
take few evaluations and much time."""

MOST_ROUNDS = 4
"""The most rounds. The work is so bounded by a multiple of the first pass."""

PAIR_IN_GROUP, PAIR_IN_MEETING = 2.5, 50
"""How long a pair in a group, and one of neighbors of neighbors, takes beside a pair of the exact graph: 1.7 and 22
times as long for dense rows, and 3.3 and 75 times for CSR rows. Numbers and not the clock decide, so that the same
objects get the same graph on any machine."""

MOST_SURE = 0.99
"""No share of neighbors counts as larger, as a sample says no more."""

LITTLE, LONGER = 0.75, 2
"""Lists get longer by the second number after the first round, if it has found less than the first. Neighbors of
neighbors find little in data without structure as long as lists are short: for 300 000 uniform rows in 32 dimensions
and 15 neighbors, two rounds end at a recall of .7 with lists of 15, and of .94 with lists of 30."""


def group(
    space: Space, k: int, rng: np.random.Generator, scored: ScoredPairs | None = None, *, recall: float
) -> tuple[NeighborLists, Recall | None]:
    """Return lists of at least k others of a screened space, and an estimate of their recall of the true k nearest.

    The work goes on until the estimate reaches `recall`, or its bound. The pairs of `scored` enter the lists. The
    estimate is None if the lists are exact, because groups would have taken as long.
    """
    k = min(k, space.n_left - 1)
    sampled = SampledNeighbors(space, k, rng)
    search = _Search(space, max(k, SMALLEST_LIST))
    if search.costs_more_than_all_pairs(search.share_together(sampled, rng), recall):
        return nearest_others(space, k)[0], None
    search.meet_in_groups(rng)
    search.begin_meetings(rng, scored)
    while True:
        search.meet_neighbors()
        estimate = sampled.recall(search.similarities(sampled.sample))
        if estimate.value >= recall or search.n_rounds == MOST_ROUNDS:
            break
        if search.n_rounds == 1 and estimate.value < LITTLE:
            search.lengthen(LONGER)
        search.meet_in_groups(rng)
    warn_of_missed(estimate, recall)
    lists = search.lists()
    complete(lists, space, k)
    return lists, estimate


class _Search:
    """The lists of all objects, and the rounds that fill them."""

    def __init__(self, space: Space, size: int) -> None:
        self.space, self.n_rounds = space, 0
        self.evaluator = Evaluator(space, min(size, space.n_left - 1), met=ForgottenPairs(space.n_left))
        self._largest = LARGEST_WIDE if space.n_terms >= WIDE else LARGEST
        self._hurdles = np.full(space.n_left, -np.inf)
        self._groups = np.zeros(space.n_left, dtype=np.int64)
        self._numbers = np.arange(space.n_left, dtype=np.int32)
        self._lock = threading.Lock()

    def share_together(self, sampled: SampledNeighbors, rng: np.random.Generator) -> float:
        """Return the share of true neighbors that would be in a common group."""
        pivots = self._draw_pivots(rng)
        objects, places = np.unique(np.hstack([sampled.sample[:, None], sampled.neighbors]), return_inverse=True)
        joined = self._nearest_pivots(objects.astype(np.int32), pivots)[places.reshape(sampled.sample.size, -1)]
        common = joined[:, 1:, :, None] == joined[:, :1, None, :]
        return float(common.any(axis=(2, 3)).mean())

    def _draw_pivots(self, rng: np.random.Generator) -> Indices:
        n = self.space.n_left
        n_pivots = int(np.clip(n * MEMBERSHIPS / (FULL * self._largest), 2, min(MOST_PIVOTS, n)))
        return np.sort(rng.choice(n, n_pivots, replace=False)).astype(np.int32)

    def _nearest_pivots(self, objects: Indices, pivots: Indices) -> Indices:
        """Return the numbers of the pivots whose groups each object joins."""
        found = np.empty((objects.size, min(MEMBERSHIPS, pivots.size)), dtype=np.int32)
        for start in range(0, objects.size, AT_ONCE):
            some = slice(start, start + AT_ONCE)
            found[some] = nearest(self.space.between(objects[some], pivots), found.shape[1]).indices
        return found

    def meet_in_groups(self, rng: np.random.Generator) -> None:
        """Make a round of groups."""
        n, pivots = self.space.n_left, self._draw_pivots(rng)
        n_pivots = pivots.size
        nearest_pivots = self._nearest_pivots(np.arange(n, dtype=np.int32), pivots)
        starts, members = np.zeros(n + 1, dtype=np.int64), np.empty(nearest_pivots.size, dtype=np.int32)
        invert(nearest_pivots, starts, members)
        self._expect(np.diff(starts[: n_pivots + 1]))
        seed = int(rng.integers(1 << 62))

        def meet(number: int) -> None:
            own = members[starts[number] : starts[number + 1]]
            for part, few in enumerate(self._split(own, np.random.default_rng([seed, number]))):
                if self.n_rounds == 0:  # similar objects are to lie near each other in memory later
                    first = few[nearest_pivots[few, 0] == number]
                    self._groups[first] = (number << 32) + part
                self._meet(few)

        largest_first = np.argsort(-np.diff(starts[: n_pivots + 1]), kind="stable")  # threads end at about one time
        self.space.executor.run(meet, largest_first.tolist(), products=True)
        self.n_rounds += 1

    def _expect(self, sizes: Integers) -> None:
        """Say how many evaluations there will be after a round of groups of these sizes, and the meetings after it."""
        small = np.minimum(sizes, FULL * self._largest)
        in_groups = int((sizes * small / 2).sum()) + SAMPLE * self.space.n_left
        self.space.expect(int((self.space.n_evaluations + in_groups) / SHARE_OF_GROUPS))

    def _split(self, members: Indices, rng: np.random.Generator) -> list[Indices]:
        """Return the parts of a group that are small enough."""
        if members.size <= self._largest:
            return [members]
        n_parts = int(np.clip(members.size / (FULL * self._largest), 2, MOST_PARTS))
        pivots = np.sort(rng.choice(members.size, n_parts, replace=False))
        found = nearest(self.space.between(members, members[pivots]), 1)
        parts = found.indices[:, 0].astype(np.int64)
        sizes = np.bincount(parts, minlength=n_parts)
        if sizes.max() > UNDIVIDED * members.size:
            parts = rng.permutation(members.size) // self._largest
            sizes = np.bincount(parts)
        ordered = members[np.argsort(parts, kind="stable")]
        return [part for some in np.split(ordered, np.cumsum(sizes)[:-1]) for part in self._split(some, rng)]

    def _meet(self, members: Indices) -> None:
        """Let all members of a group meet."""
        n = members.size
        if n < 2:
            return
        space, lists, everyone = self.space.among(members), self.evaluator.lists, slice(0, n)
        estimates = space.estimates(everyone, everyone)
        np.fill_diagonal(estimates, -np.inf)
        space.count(n * (n - 1) // 2)
        i, j = best_of_rows(estimates, space.slack(everyone), members, self._hurdles, lists.indices.shape[1])
        numbers = self._numbers[members]
        kept = drop_listed(lists.indices, numbers, i, j)
        i, j = i[:kept], j[:kept]
        scores = space.score(i, j, counted=False)
        with self._lock:
            lists.offer(numbers[i], numbers[j], scores)

    def begin_meetings(self, rng: np.random.Generator, scored: ScoredPairs | None) -> None:
        """Renumber the objects group by group, so that similar ones lie near each other in memory."""
        if scored is not None:
            self.evaluator.admit(scored)
        order = np.argsort(self._groups, kind="stable").astype(np.int32)
        del self._groups
        self.evaluator.bound()
        self._descent = Descent.along(order, self.evaluator, 0.0, rng)
        self._numbers[order] = np.arange(order.size, dtype=np.int32)

    def lengthen(self, factor: float) -> None:
        """Make the lists longer by a factor."""
        self.evaluator.lengthen(factor)
        self._hurdles[:] = -np.inf  # pairs that were too far for the shorter lists may enter

    def meet_neighbors(self) -> None:
        """Let neighbors of neighbors meet until lists hardly change any more."""
        self._descent.join_until_stable(*self._descent.samples(1.0), tol=SETTLED, most=MOST_MEETINGS)

    def similarities(self, objects: Indices) -> Floats:
        """Return the similarities of the entries of some objects' lists."""
        return self.evaluator.lists.similarities[self._numbers[objects]]

    def lists(self) -> NeighborLists:
        """Return the lists under the numbers of the objects."""
        return self._descent.lists()

    def costs_more_than_all_pairs(self, share: float, wanted: float) -> bool:
        """Return whether groups are likely to take longer than the exact graph, if one round finds this share.

        Then r rounds find 1 - (1 - share)^r of all neighbors. Joining lists of s entries lets about s^2 / 2 pairs of an
        object meet.
        """
        n, size = self.space.n_left, self.evaluator.lists.indices.shape[1]
        n_pivots = min(n * MEMBERSHIPS / (FULL * self._largest), MOST_PIVOTS)
        in_groups = n_pivots + MEMBERSHIPS * FULL * self._largest / 2
        n_rounds = np.ceil(np.log(1 - min(wanted, MOST_SURE)) / np.log(1 - np.clip(share, 0.01, MOST_SURE)))
        longer = LONGER * size if share < LITTLE else size
        in_meetings = (size**2 + (n_rounds - 1) * longer**2) / 2
        return bool(PAIR_IN_GROUP * n_rounds * in_groups + PAIR_IN_MEETING * in_meetings > self.space.n_pairs / n)


def complete(lists: NeighborLists, space: Space, k: int) -> None:
    """Find the nearest others of objects whose lists hold less than k.

    They have shared no group with so many, and no neighbors have led to more.
    """
    lacking = np.flatnonzero(lists.indices[:, k - 1] < 0).astype(np.int32)
    if lacking.size:
        found = nearest(space.between(lacking, None), k + 1)
        i, j, similarities = np.repeat(lacking, k + 1), found.indices.ravel(), found.similarities.ravel()
        others = i != j
        lists.offer(i[others], j[others], similarities[others])


def best_of_rows(
    estimates: NDArray[Any], slack: Floats, objects: Indices, hurdles: Floats, k: int
) -> tuple[Indices, Indices]:
    """Raise the hurdle of each row's object, and return the rows and columns of the pairs that may clear it."""
    i, j = np.empty((2, estimates.size), dtype=np.int32)
    lanes = max(64, 1 << (LANES_A_NEIGHBOR * k - 1).bit_length())
    n = find_best(estimates, slack, objects, hurdles, k, lanes, i, j)
    return i[:n], j[:n]


@njit(cache=True, nogil=True)
def find_best(estimates, slack, objects, hurdles, k, lanes, i, j):  # type: ignore[no-untyped-def]
    """Do what `clear_hurdles` does for a single group, for rows of which few columns clear the hurdle.

    The columns are dealt out to lanes in turn. The k-th largest of the maxima of all lanes is no larger than the k-th
    best estimate, because k different columns reach it; so only lanes whose maximum clears this hurdle are looked at.
    The maxima are taken of all lanes at once, which the processor does for several of them in one step.
    """
    n, width = 0, estimates.shape[1]
    largest, best = np.empty(lanes, dtype=estimates.dtype), np.empty(k)
    for row in range(estimates.shape[0]):
        values, margin, hurdle = estimates[row], slack[row], hurdles[objects[row]]
        largest[:] = -np.inf
        whole = width - width % lanes
        for start in range(0, whole, lanes):
            part = values[start : start + lanes]
            for lane in range(lanes):
                largest[lane] = max(largest[lane], part[lane])
        for lane in range(width - whole):
            largest[lane] = max(largest[lane], values[whole + lane])
        best[:] = hurdle
        for lane in range(lanes):
            if largest[lane] > best[k - 1]:
                insert_sorted(best, largest[lane])
        needed = max(hurdle, best[k - 1] - margin) - margin
        first = n
        best[:] = hurdle
        for lane in range(lanes):
            if largest[lane] == -np.inf or largest[lane] < needed:
                continue
            for column in range(lane, width, lanes):
                estimate = values[column]
                if estimate == -np.inf or estimate < needed:
                    continue
                i[n], j[n] = row, column
                n += 1
                if estimate > best[k - 1]:
                    insert_sorted(best, estimate)
        # A score lies within the slack of its estimate: k scores reach the k-th best estimate less the slack.
        hurdles[objects[row]] = max(hurdle, best[k - 1] - margin)
        needed = hurdles[objects[row]] - margin
        collected, n = n, first
        for pair in range(first, collected):
            if values[j[pair]] >= needed:
                i[n], j[n] = i[pair], j[pair]
                n += 1
    return n


@njit(cache=True, nogil=True)
def drop_listed(indices, numbers, i, j):  # type: ignore[no-untyped-def]
    """Move the pairs to the front of which the second object is not in the list of the first; return how many."""
    n = 0
    for t in range(i.size):
        row, other, listed = numbers[i[t]], numbers[j[t]], False
        for slot in range(indices.shape[1]):
            if indices[row, slot] == other:
                listed = True
                break
        if not listed:
            i[n], j[n] = i[t], j[t]
            n += 1
    return n
