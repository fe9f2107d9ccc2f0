"""Neighbor lists from overlapping groups, for many objects whose pairs are cheap by the block.

Where matrix products estimate whole blocks of pairs, looking at all pairs of a block takes about as long as scoring one
pair in fifty of it. So the objects are cut into groups of similar ones, and all pairs within each group are looked at:

1. Draw *pivots* from the objects, and find the few nearest to each object. The object joins the groups of all of these.
   Two similar objects therefore share a group with a high chance, even if they lie near the edge of one.
2. Split a group that is too large: draw pivots from its members, and let each member go to its nearest one alone.
3. In each group, screen all pairs by products, score those that may enter a list, and offer the scores.

That is a *round*. Between rounds neighbors of neighbors meet, as in NN-Descent (`descent.py`), which finds most of what
one round has missed. The true neighbors of a sample of objects tell how many are found (`recall.py`). As long as they
are too few, further rounds follow with other pivots, up to `MOST_ROUNDS`.

First the sample says what share of neighbors would be in a common group, and so how many rounds it takes. If these
would take longer than the exact graph, because that share is little or objects are few, the exact graph is made.

The result is the same for any number of threads and any block size. Pivots are drawn by one generator, and those of a
group by one that belongs to it; nearest pivots follow from scores; and lists obey their total order. All pairs within
groups, and those of objects and pivots, count as evaluations.
"""

import threading
from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Floats, Indices, Integers
from covey.graph.candidates import invert
from covey.graph.descent import SMALLEST_LIST, Descent
from covey.graph.evaluator import Evaluator
from covey.graph.exact import nearest, nearest_others
from covey.graph.lists import NeighborLists
from covey.graph.pair_memory import ForgottenPairs
from covey.graph.recall import Recall, SampledNeighbors
from covey.graph.shortlists import select_largest
from covey.similarity.space import ScoredPairs, Space

MEMBERSHIPS = 4
"""How many groups an object joins. With 3 a round finds fewer neighbors and with 6 in smaller groups no more, for the
same evaluations."""

LARGEST, LARGEST_WIDE, WIDE = 2000, 500, 512
"""The most members of a group: the first number, or the second if a product reads at least `WIDE` numbers of a row and
takes longer than all else. Larger groups find more neighbors in a round."""

FULL = 0.6
"""How full groups are on average. Pivots draw unequal numbers of objects, and few groups should have to be split."""

CELLS_NEAR = 24
"""On two levels of pivots, how many times as many pivots are looked at as there are for each of the first level. With
fewer, more neighbors join other groups, and with more the search takes longer."""

AT_ONCE = 1 << 17
"""How many objects look for their pivots at a time. It bounds the memory for what they have found so far."""

NEEDED = (
    "method 'groups' needs a similarity that matrix products estimate: cosine, dot, euclidean or sqeuclidean of rows "
    "of numbers, or jaccard of packed bits; use "
)
"""What an error says where groups are not possible, before it names what is."""

STRIP = 256
"""How many members of a group meet the others at a time: their estimates then stay in the processor's cache."""

MOST_PARTS = 200
"""The most parts into which a group is split at a time."""

UNDIVIDED = 0.9
"""A group of which one part keeps this share does not divide: its members are equally similar to all pivots."""

LANES_A_NEIGHBOR = 4
"""How many lanes `find_best` has for each neighbor. With fewer the first hurdle is lower, and with more there are more
maxima to go through."""

SETTLED = 0.02
"""Neighbors of neighbors go on meeting until a round of meetings changes no more than this share of the entries."""

MOST_MEETINGS = 2
"""How often neighbors of neighbors meet at most between two rounds of groups. The first meeting finds most."""

SHARE_OF_GROUPS = 0.6
"""The share of its time that a round spends in groups, and not in meetings. Progress bars go by it, because meetings
take few evaluations and much time."""

MOST_ROUNDS = 6
"""The most rounds. The work is so bounded by a multiple of the first pass."""

PAIR_IN_GROUP, PAIR_IN_MEETING = 3.5, 50
"""How long a pair in a group, and one of neighbors of neighbors, takes beside a pair of the exact graph: about 2 and 25
times as long for dense rows of 64 columns, and 4 and 70 times for those of 32 and for CSR rows. Numbers and not the
clock decide, so that the same objects get the same graph on any machine."""

MOST_SURE = 0.99
"""No share of neighbors counts as larger, as a sample says no more."""


class Groups(NamedTuple):
    """Overlapping groups: the objects of each, and in row x of `joined` the groups of object x.

    The first of these is that of its nearest pivot.
    """

    members: list[Indices]
    joined: Indices


class Grouping:
    """How the objects of a square space are divided into groups.

    Attributes
    ----------
    in_round : float
        How many evaluations an object takes, about, to find its groups and to meet all others in them.
    """

    def __init__(self, space: Space) -> None:
        self.space = space
        self._largest = LARGEST_WIDE if space.n_terms >= WIDE else LARGEST
        n_pivots = space.n_left * MEMBERSHIPS / (FULL * self._largest)
        self._n_pivots = int(np.clip(n_pivots, min(MEMBERSHIPS, space.n_left), space.n_left))
        self._n_near = int(np.sqrt(CELLS_NEAR * self._n_pivots))  # looking for pivots takes least on equal levels
        self._two_levels = self._n_near <= self._n_pivots // 2
        n_looked_at = 2 * self._n_near if self._two_levels else self._n_pivots
        self.in_round = n_looked_at + MEMBERSHIPS * FULL * self._largest / 2

    def share_together(self, i: Indices, j: Indices, rng: np.random.Generator) -> float:
        """Return the share of some pairs that would be in a common group."""
        objects, places = np.unique(np.concatenate([i, j]), return_inverse=True)
        joined = self._nearest_pivots(objects.astype(np.int32), self._draw_pivots(rng))
        return float(together(joined, *np.split(places, 2)).mean())

    def draw(self, rng: np.random.Generator) -> Groups:
        """Draw pivots, and divide all objects into groups."""
        n = self.space.n_left
        pivots = self._nearest_pivots(np.arange(n, dtype=np.int32), self._draw_pivots(rng))
        starts, members = np.zeros(n + 1, dtype=np.int64), np.empty(pivots.size, dtype=np.int32)
        invert(pivots, starts, members)
        seed = int(rng.integers(1 << 62))

        def split(pivot: int) -> list[Indices]:
            own = members[starts[pivot] : starts[pivot + 1]]
            return self._split(own, np.random.default_rng([seed, pivot])) if own.size else []

        parts = self.space.executor.run(split, range(self._n_pivots), products=True)
        first = 0  # number of the first group that a pivot's objects were split into
        for pivot, few in enumerate(parts):
            for number, part in enumerate(few, first):
                rows = pivots[part]
                rows[rows == pivot] = -1 - number  # below 0, so that it is not taken for a pivot
                pivots[part] = rows
            first += len(few)
        return Groups([part for few in parts for part in few], -1 - pivots)

    def costs_more_than_all_pairs(self, n_rounds: int, in_meetings: float = 0.0) -> bool:
        """Return whether so many rounds, and what an object takes between them, are likely to take longer than all
        pairs, in evaluations of the exact graph.
        """
        costs = PAIR_IN_GROUP * n_rounds * self.in_round + in_meetings
        return bool(costs > self.space.n_pairs / self.space.n_left)

    def _draw_pivots(self, rng: np.random.Generator) -> Indices:
        return np.sort(rng.choice(self.space.n_left, self._n_pivots, replace=False)).astype(np.int32)

    def _nearest_pivots(self, objects: Indices, pivots: Indices) -> Indices:
        """Return the numbers of the pivots whose groups each object joins.

        Among many pivots they are looked for on two levels. An object looks for the nearest of a few pivots first, and
        then only among those that lie nearest to that one.
        """
        n_joined = min(MEMBERSHIPS, pivots.size)
        if not self._two_levels:
            return self._nearest_among(objects, pivots, n_joined)
        first = pivots[:: pivots.size // self._n_near]
        near = nearest(self.space.between(first, pivots), self._n_near).indices
        cells = self._nearest_among(objects, first, 1)[:, 0]
        order = np.argsort(cells, kind="stable")
        members = np.split(order, np.searchsorted(cells[order], np.arange(1, first.size)))
        found = np.empty((objects.size, n_joined), dtype=np.int32)

        def look_near(cell: int) -> None:
            those, numbers = members[cell], near[cell]
            found[those] = numbers[self._nearest_among(objects[those], pivots[numbers], n_joined)]

        self.space.executor.run(look_near, range(first.size), products=True)
        return found

    def _nearest_among(self, objects: Indices, pivots: Indices, n_joined: int) -> Indices:
        """Return the numbers of the pivots nearest to each object."""
        found = np.empty((objects.size, n_joined), dtype=np.int32)
        for start in range(0, objects.size, AT_ONCE):
            some = slice(start, start + AT_ONCE)
            found[some] = nearest(self.space.between(objects[some], pivots), n_joined).indices
        return found

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
            parts = rng.permutation(members.size) % -(-members.size // self._largest)
            sizes = np.bincount(parts)
        ordered = members[np.argsort(parts, kind="stable")]
        return [part for some in np.split(ordered, np.cumsum(sizes)[:-1]) for part in self._split(some, rng)]


def together(joined: Indices, i: Integers, j: Integers) -> Flags:
    """Return which pairs share a group, given the groups of each object."""
    shared, of_others = np.zeros(i.size, dtype=np.bool_), joined[j]
    for column in range(joined.shape[1]):
        shared |= (joined[i, column][:, None] == of_others).any(axis=1)
    return shared


def rounds_needed(share: float, wanted: float) -> int:
    """Return how many rounds find the share of neighbors that is wanted if one puts this share into a common group.

    Then r rounds find 1 - (1 - share)^r of all neighbors.
    """
    n = np.log(1 - min(wanted, MOST_SURE)) / np.log(1 - np.clip(share, 0.01, MOST_SURE))
    return int(min(np.ceil(n), MOST_ROUNDS))


def group(
    space: Space, k: int, rng: np.random.Generator, scored: ScoredPairs | None = None, *, recall: float
) -> tuple[NeighborLists, Recall | None]:
    """Return lists of at least k others of a screened space, and an estimate of their recall of the true k nearest.

    The work goes on until the estimate reaches `recall`, or its bound. The pairs of `scored` enter the lists. The
    estimate is None if the lists are exact, because groups would have taken as long.
    """
    k = min(k, space.n_left - 1)
    search = _GroupRounds(space, max(k, SMALLEST_LIST))
    search.expect(1)
    sampled = SampledNeighbors(space, k, rng)
    i, j = np.repeat(sampled.sample, k), sampled.neighbors.ravel()
    n_rounds = rounds_needed(search.grouping.share_together(i, j, rng), recall)
    if search.costs_more_than_all_pairs(n_rounds):
        return nearest_others(space, k)[0], None
    search.expect(n_rounds)
    search.meet_in_groups(rng)
    search.begin_meetings(rng, scored)
    while True:
        search.meet_neighbors(n_rounds)
        estimate = sampled.recall(search.similarities(sampled.sample))
        if estimate.value >= recall or search.n_rounds == MOST_ROUNDS:
            break
        search.expect(max(n_rounds - search.n_rounds, 1))
        search.meet_in_groups(rng)
    lists = search.lists()
    complete(lists, space, k)
    return lists, estimate


class _GroupRounds:
    """The lists of all objects, and the rounds that fill them."""

    def __init__(self, space: Space, size: int) -> None:
        self.space, self.grouping, self.n_rounds = space, Grouping(space), 0
        self.evaluator = Evaluator(space, min(size, space.n_left - 1), met=ForgottenPairs(space.n_left))
        self._hurdles = np.full(space.n_left, -np.inf)
        self._numbers = np.arange(space.n_left, dtype=np.int32)
        self._lock = threading.Lock()

    def meet_in_groups(self, rng: np.random.Generator) -> None:
        """Make a round of groups."""
        groups = self.grouping.draw(rng)
        if self.n_rounds == 0:  # similar objects are to lie near each other in memory later
            self._order = np.argsort(groups.joined[:, 0], kind="stable").astype(np.int32)
        largest_first = sorted(groups.members, key=len, reverse=True)  # threads then end at about one time
        self.space.executor.run(self._meet, largest_first, products=True)
        self.n_rounds += 1

    def expect(self, n_rounds: float) -> None:
        """Say how many evaluations there will be if so many rounds are left.

        Meetings are expected to take as many evaluations as groups would take in the same time, so that what is left of
        the evaluations tells about the time that is left.
        """
        left = n_rounds * self.space.n_left * self.grouping.in_round / SHARE_OF_GROUPS
        self.space.expect(int(self.space.n_evaluations + left))

    def _meet(self, members: Indices) -> None:
        """Let all members of a group meet."""
        n = members.size
        if n < 2:
            return
        space, lists, numbers = self.space.among(members), self.evaluator.lists, self._numbers[members]
        space.count(n * (n - 1) // 2)
        for start in range(0, n, STRIP):
            rows = slice(start, min(start + STRIP, n))
            estimates = space.estimates(rows, slice(0, n))
            np.fill_diagonal(estimates[:, rows], -np.inf)
            i, j = best_of_rows(estimates, space.slack(rows), members[rows], self._hurdles, lists.indices.shape[1])
            i += np.int32(start)
            kept = drop_listed(lists.indices, numbers, i, j)
            i, j = i[:kept], j[:kept]
            scores = space.score(i, j, counted=False)
            with self._lock:
                lists.offer(numbers[i], numbers[j], scores)

    def begin_meetings(self, rng: np.random.Generator, scored: ScoredPairs | None) -> None:
        """Renumber the objects group by group, so that similar ones lie near each other in memory."""
        if scored is not None:
            self.evaluator.admit(scored)
        self.evaluator.bound()
        self._descent = Descent.along(self._order, self.evaluator, 0.0, rng)
        self._numbers[self._order] = np.arange(self._order.size, dtype=np.int32)

    def meet_neighbors(self, n_rounds: int) -> None:
        """Let neighbors of neighbors meet until lists hardly change any more, in one of so many rounds."""
        for meeting in range(MOST_MEETINGS):
            left = (1 - SHARE_OF_GROUPS) * (1 - meeting / MOST_MEETINGS)
            self.expect(max(n_rounds - self.n_rounds, 0) + left)
            self._descent.join_until_stable(*self._descent.samples(1.0), tol=SETTLED, most=1)
        self.expect(max(n_rounds - self.n_rounds, 0))

    def similarities(self, objects: Indices) -> Floats:
        """Return the similarities of the entries of some objects' lists."""
        return self.evaluator.lists.similarities[self._numbers[objects]]

    def lists(self) -> NeighborLists:
        """Return the lists under the numbers of the objects."""
        return self._descent.lists()

    def costs_more_than_all_pairs(self, n_rounds: int) -> bool:
        """Return whether so many rounds are likely to take longer than the exact graph.

        Joining lists of s entries lets about s^2 / 2 pairs of an object meet, and later meetings half as many.
        """
        size = self.evaluator.lists.indices.shape[1]
        in_meetings = (1 + n_rounds) / 2 * size**2 / 2
        return self.grouping.costs_more_than_all_pairs(n_rounds, PAIR_IN_MEETING * in_meetings)


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
    best estimate, because k different columns reach it; so only columns that clear this hurdle are looked at again.
    Both passes over a row are free of branches that the processor would have to guess.
    """
    n, width = 0, estimates.shape[1]
    largest, limit = np.empty(lanes, estimates.dtype), np.empty(1, estimates.dtype)
    columns, (best, smaller) = np.empty(width, np.int32), np.empty((2, max(width, lanes)), estimates.dtype)
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
        limit[0] = needed = max(hurdle, select_largest(largest, smaller, k) - margin) - margin
        if limit[0] > needed:
            limit[0] = np.nextafter(limit[0], -np.inf)  # rounding must keep out no column
        n_columns, least = 0, limit[0]
        for column in range(width):
            columns[n_columns] = column
            n_columns += values[column] >= least
        if n_columns >= k:
            for t in range(n_columns):
                best[t] = values[columns[t]]
            # A score lies within the slack of its estimate: k scores reach the k-th best estimate less the slack.
            hurdle = max(hurdle, select_largest(best[:n_columns], smaller, k) - margin)
            hurdles[objects[row]] = hurdle
        for t in range(n_columns):
            estimate = values[columns[t]]
            if estimate >= hurdle - margin and estimate > -np.inf:
                i[n], j[n] = row, columns[t]
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
