"""Communities: groups of objects that have more links among themselves than chance would give them.

The method of Louvain (Blondel et al. 2008) looks for a high modularity: the share of links within groups, less the
share that links of random ends would have there, times a *resolution*.

1. Every object is a group of its own. Object by object, each moves to the group of a linked object that gains most,
   until no move gains anything.
2. The groups become the objects of a smaller problem, and step 1 is repeated until nothing changes.
3. A group that is not connected is split, so that chains of links join any two of its objects.

Modularity cuts a large group even where nothing divides it. So groups are merged again, as in Chameleon (Karypis et al.
1999): the links between two groups are compared with those that a cut through either group would cut. The ratio to the
geometric mean of both is the *closeness* of two groups. The closest are merged first, down to `CLOSE`.

For a given number of groups, the resolution is raised until there are at least as many. If groups that are not close
have to be merged to reach the number, edges that are too long to be links count as well, and the closeness is
multiplied by the share that the edges between two groups have of all edges of one of them, whose share is larger. So
the groups that are kept are rather large ones.

Objects are visited in the order of their numbers, so that the result is always the same. Memory is that of the links.
"""

import heapq
import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numba import njit

from covey.arrays import Floats, Indices, Integers, Positions
from covey.graph.clusters.links import pieces
from covey.runtime.interruptible import FEW, in_steps

FINER = 1.5
"""By how much the resolution grows from one trial to the next, while there are too few groups."""
ROUNDING = 1e-12
"""A move has to gain more than this, in units of all links. Less is a rounding error, and objects might move in circles
for ever."""
CLOSE = 0.55
"""Groups of this closeness are merged. In the mixtures of `tests/graph/mixtures.py` the mean adjusted Rand index is
.995 where groups lie apart and .837 elsewhere; 0.65 gives .993 and .849, and 0.7 gives .993 and .855. The lower it is,
the more seldom is a single normal distribution cut."""
WHOLE = 3
"""A group of fewer objects is not cut: whoever is linked to it is close to it. With 2 and 4, the means of the mixtures
are within .004 of those with 3."""


def communities(links: sp.csr_array, multiplicity: Integers, smallest: int = 1) -> Positions:
    """Return the number of each object's group, from 0; -1 for objects that belong to none.

    Parameters
    ----------
    links : CSR array of shape (n, n)
        The weights of the links, which are symmetric and not negative.
    multiplicity : int array of shape (n,)
        How many equal objects each object stands for.
    smallest : int, default=1
        A smaller group joins the group that it is closest to. Its objects belong to none if it is linked to no other.
    """
    merging = Merging(links, louvain(links), multiplicity)
    merging.run(lambda closeness: closeness >= CLOSE)
    merging.join_small(smallest)
    return merging.groups(smallest)


def n_communities(
    links: sp.csr_array, all_links: sp.csr_array, n_groups: int, multiplicity: Integers, smallest: int = 1
) -> Positions:
    """Return this many groups, from 0; -1 for objects that belong to none.

    Close groups are merged along `links`, and then others along `all_links`, until there are so many. If too many
    remain that have no link to each other, those with the fewest objects belong to none. The result has fewer groups
    only if there are not so many of the smallest size at any resolution.
    """
    resolution, groups = 1.0, louvain(links)
    while True:
        merging = Merging(links, groups, multiplicity)
        merging.join_small(smallest)
        if merging.n_groups(smallest) >= n_groups or groups.max() + 1 == links.shape[0]:
            break
        resolution *= FINER
        groups = louvain(links, resolution)
    merging.run(lambda closeness: closeness >= CLOSE and merging.n_groups(smallest) > n_groups)
    merging = Merging(all_links, merging.into, multiplicity)
    merging.run(lambda _: merging.n_groups(smallest) > n_groups, merging.weighed_closeness)
    return merging.groups(smallest, n_groups)


def louvain(links: sp.csr_array, resolution: float = 1.0) -> Positions:
    """Return the connected groups of the highest modularity that single moves find."""
    groups, coarse = np.arange(links.shape[0]), links
    while True:
        n_links = np.asarray(coarse.sum(axis=1), dtype=np.float64).ravel()
        total = float(n_links.sum()) or 1.0
        moved = _move(coarse.indptr, coarse.indices, coarse.data, n_links, total, resolution)
        present, numbers = np.unique(moved, return_inverse=True)
        groups = numbers[groups]
        if present.size == coarse.shape[0]:
            return pieces(links, groups)
        coarse = _between(coarse, numbers)


def _move(
    starts: Indices, others: Indices, weights: Floats, n_links: Floats, total: float, resolution: float
) -> Positions:
    """Return the group of each object, named by one of its objects, after all moves that gain modularity."""
    n = n_links.size
    group, in_group, to_group = np.arange(n), n_links.copy(), np.zeros(n)
    queue, waits = np.arange(n), np.ones(n, dtype=np.bool_)
    first, n_waiting, size = 0, n, FEW
    links = (starts, others, weights, n_links, total, resolution)

    def visit(part: slice) -> None:
        nonlocal first, n_waiting
        state = (group, in_group, to_group, queue, waits, first, n_waiting)
        first, n_waiting = _visit(*links, *state, part.stop - part.start)

    while n_waiting:
        size = in_steps(n_waiting, visit, size)
    return group


@njit(cache=True, nogil=True)
def _visit(  # type: ignore[no-untyped-def]
    starts, others, weights, n_links, total, resolution, group, in_group, to_group, queue, waits, first, n_waiting, most
):
    """Let at most this many waiting objects move, one after the other; where the queue begins then, and how long it is.

    `to_group` holds zeros between two visits.
    """
    n = n_links.size
    n_visits = min(most, n_waiting)  # whoever begins to wait meanwhile is visited the next time
    for _ in range(n_visits):
        x = queue[first]
        first, n_waiting = (first + 1) % n, n_waiting - 1
        waits[x] = False
        own = group[x]
        in_group[own] -= n_links[x]
        for at in range(starts[x], starts[x + 1]):
            if others[at] != x:
                to_group[group[others[at]]] += weights[at]
        by_chance = resolution * n_links[x] / total
        best, best_gain = own, to_group[own] - by_chance * in_group[own] + ROUNDING * total
        for at in range(starts[x], starts[x + 1]):
            gain = to_group[group[others[at]]] - by_chance * in_group[group[others[at]]]
            if gain > best_gain:
                best, best_gain = group[others[at]], gain
        for at in range(starts[x], starts[x + 1]):
            to_group[group[others[at]]] = 0.0
        in_group[best] += n_links[x]
        if best == own:
            continue
        group[x] = best
        for at in range(starts[x], starts[x + 1]):  # their best groups may be others now
            y = others[at]
            if group[y] != best and not waits[y]:
                queue[(first + n_waiting) % n] = y
                waits[y], n_waiting = True, n_waiting + 1
    return first, n_waiting


def _between(links: sp.csr_array, groups: Positions) -> sp.csr_array:
    """Return the sums of the links between groups; those within a group stand on the diagonal."""
    n = groups.size
    of_group = sp.csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, int(groups.max()) + 1))
    to_group, sums = of_group.T.tocsr(), []
    in_steps(to_group.shape[0], lambda part: sums.append(to_group[part] @ links @ of_group))
    return sp.csr_array(sp.vstack(sums, format="csr"))


class Merging:
    """Groups that are merged two by two, the closest first.

    Parameters
    ----------
    links : CSR array of shape (n, n)
        The links along which groups are merged.
    groups : int array of shape (n,)
        The group of each object, from 0.
    multiplicity : int array of shape (n,)
        How many equal objects each object stands for.

    Attributes
    ----------
    linked : list of dict
        For each group the groups that it is linked to, with the sums of the weights.
    sizes : int array
        How many objects each group has, and 0 for those that were merged into others.
    """

    def __init__(self, links: sp.csr_array, groups: Positions, multiplicity: Integers) -> None:
        between = _between(links, groups)
        self._links, self._groups = links, groups
        self._n_links: Floats = np.asarray(between.sum(axis=1)).ravel()
        self._starts = np.append(0, np.cumsum(np.bincount(groups)))
        self.sizes = np.bincount(groups, weights=multiplicity).astype(np.int64)
        self.linked: list[dict[int, float]] = [
            {int(b): float(w) for b, w in zip(between.indices[i:j], between.data[i:j], strict=True) if b != a}
            for a, (i, j) in enumerate(zip(between.indptr[:-1], between.indptr[1:], strict=True))
        ]
        self._cuts: list[float | None] = [None] * self.sizes.size
        self._target = np.arange(self.sizes.size)

    def closeness(self, a: int, b: int) -> float:
        """Return the links between two groups, in relation to those that a cut through either group would cut."""
        return _ratio(self.linked[a][b], math.sqrt(self._cut(a) * self._cut(b)))

    def weighed_closeness(self, a: int, b: int) -> float:
        """Return the closeness times the larger of the shares that the links between two groups have of theirs."""
        return self.closeness(a, b) * float(self.linked[a][b] / min(self._n_links[a], self._n_links[b]))

    def largest_closeness(self, a: int) -> float:
        """Return how close the closest other group is, in relation to the narrower of the two cuts; 1 at most."""
        ratios = (_ratio(weight, min(self._cut(a), self._cut(b))) for b, weight in self.linked[a].items())
        return min(max(ratios, default=0.0), 1.0)

    def _cut(self, a: int) -> float:
        """Return how many links the best cut of a group in two that Louvain's method finds cuts; 0 for small groups."""
        cut = self._cuts[a]
        if cut is None:
            cut = self._cuts[a] = cut_through(_block(self._by_group, self._starts[a], self._starts[a + 1]))
        return cut

    @cached_property
    def _by_group(self) -> sp.csr_array:
        """The links of the objects in the order of their groups, so that a group is a block."""
        order = np.argsort(self._groups, kind="stable")
        ordered = self._links[order][:, order]
        ordered.sort_indices()
        return ordered

    def run(
        self,
        goes_on: Callable[[float], bool],
        rate: Callable[[int, int], float] | None = None,
        among: Callable[[int, int], bool] = lambda a, b: True,
    ) -> None:
        """Merge the two groups with the highest rate, by default the closest, as long as it is enough to go on.

        Of equal rates, that of the groups with most links comes first. Only pairs of groups are looked at `among` which
        merging is allowed.
        """
        rate = self.closeness if rate is None else rate
        age = [0] * self.sizes.size

        def rated(a: int, b: int) -> tuple[float, float, int, int, int, int]:
            return -rate(a, b), -self.linked[a][b], a, b, age[a], age[b]

        waiting = [rated(a, b) for a in range(self.sizes.size) for b in self.linked[a] if a < b and among(a, b)]
        heapq.heapify(waiting)
        while waiting:
            minus_rate, _, a, b, age_a, age_b = heapq.heappop(waiting)
            if (age_a, age_b) != (age[a], age[b]) or not among(a, b):
                continue  # one of the two groups has changed since
            if not goes_on(-minus_rate):
                return
            self._merge(a, b)
            age[a], age[b] = age[a] + 1, age[b] + 1
            for c in self.linked[a]:
                if among(a, c):
                    heapq.heappush(waiting, rated(min(a, c), max(a, c)))

    def join_small(self, smallest: int) -> None:
        """Merge groups of fewer objects into the groups that they are closest to."""
        if smallest > 1:
            self.run(lambda _: True, among=lambda a, b: bool(min(self.sizes[a], self.sizes[b]) < smallest))

    def _merge(self, a: int, b: int) -> None:
        """Merge the group b into the group a.

        To cut both anew would take a search in all their links. A cut through both is at least as wide as the widest
        known: through one of them, or between them.
        """
        self._cuts[a] = max(self._cut(a), self._cut(b), self.linked[a][b])
        self._n_links[a] += self._n_links[b]
        self.sizes[a] += self.sizes[b]
        self.sizes[b] = 0
        for c, w in self.linked[b].items():
            self.linked[c].pop(b)
            if c != a:
                self.linked[a][c] = self.linked[c][a] = self.linked[a].get(c, 0.0) + w
        self.linked[b] = {}
        self._target[b] = a

    def n_groups(self, smallest: int) -> int:
        """Return how many groups have at least this many objects."""
        return int((self.sizes >= smallest).sum())

    @property
    def into(self) -> Positions:
        """The group that each object is in by now, from 0."""
        target = self._target
        while not np.array_equal(target[target], target):
            target = target[target]
        return np.unique(target[self._groups], return_inverse=True)[1]

    def groups(self, smallest: int, most: int | None = None) -> Positions:
        """Return the groups of at least this many objects, and -1 elsewhere; `most` keeps only the largest ones."""
        groups = self.into
        sizes = self.sizes[self.sizes > 0]
        large = np.flatnonzero(sizes >= smallest)
        large = np.sort(large[np.argsort(-sizes[large], kind="stable")][:most])
        number = np.full(sizes.size, -1, dtype=np.intp)
        number[large] = np.arange(large.size)
        return number[groups]


def _block(links: sp.csr_array, start: int, stop: int) -> sp.csr_array:
    """Return the links among the objects from `start` to `stop`."""
    rows = links[start:stop]
    within = (rows.indices >= start) & (rows.indices < stop)
    starts = np.append(0, np.cumsum(within))[rows.indptr]
    return sp.csr_array((rows.data[within], rows.indices[within] - start, starts), shape=(stop - start, stop - start))


def cut_through(within: sp.csr_array) -> float:
    """Return the sum of the links between the two parts that Louvain's method finds in a group; 0 if it is small.

    The resolution is raised until there are two parts or more. Then those two are merged that have most links, in
    relation to the product of their numbers of links, until there are two.
    """
    if within.shape[0] < WHOLE:
        return 0.0
    resolution, parts = 1.0, louvain(within)
    while parts.max() == 0:
        resolution *= FINER
        parts = louvain(within, resolution)
    return _last_links(_between(within, parts).toarray())


def _last_links(linked: Floats) -> float:
    """Merge the two parts that are linked best, until two are left; how many links these have."""
    n_links = linked.sum(axis=1)
    np.fill_diagonal(linked, 0.0)
    alive = np.arange(n_links.size)
    while alive.size > 2:
        weights = linked[np.ix_(alive, alive)] / np.maximum(np.outer(n_links[alive], n_links[alive]), 1e-300)
        a, b = sorted(alive[list(np.unravel_index(np.argmax(weights), weights.shape))])
        if a == b:  # no two parts are linked
            return 0.0
        linked[a] += linked[b]
        linked[:, a] += linked[:, b]
        linked[a, a] = 0.0
        n_links[a] += n_links[b]
        alive = alive[alive != b]
    return float(linked[alive[0], alive[1]])


def _ratio(between: float, through: float) -> float:
    """Return the links between two groups in relation to those that a cut through a group cuts."""
    return between / through if through > 0 else math.inf


def separation(links: sp.csr_array, groups: Positions, multiplicity: Integers) -> float:
    """Return how separate groups are, from 0 to 1: the mean of 1 - `Merging.largest_closeness` over all objects.

    Objects in no group (-1) are left out. It is NaN if there are fewer than two groups.
    """
    inside = np.flatnonzero(groups >= 0)
    if not inside.size or groups.max() < 1:
        return math.nan
    merging = Merging(sp.csr_array(links[inside][:, inside]), groups[inside], multiplicity[inside])
    closest = np.array([merging.largest_closeness(a) for a in range(merging.sizes.size)])
    return float(np.average(1 - closest, weights=merging.sizes))
