"""Communities: groups of objects that have more links among themselves than chance would give them.

The method is that of Louvain (Blondel et al. 2008). It looks for a high modularity: the share of links within groups,
less the share that links of random ends would have there, times a *resolution*.

1. Every object is a group of its own. Object by object, each moves to the group of a linked object that gains most,
   until no move gains anything.
2. The groups become the objects of a smaller problem, and step 1 is repeated until nothing changes.
3. A group that is not connected is split, so that chains of links join any two of its objects.

For a given number of groups, the resolution is raised until there are at least as many. Then the two groups with most
links, in relation to the product of their numbers of links, are merged until the number is right.

Objects are visited in the order of their numbers, so that the result is always the same. Memory is that of the links.
"""

import heapq

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import connected_components

from covey.arrays import Floats, Indices, Integers, Positions
from covey.runtime.steps import FEW, in_steps

FINER = 1.5
"""By how much the resolution grows from one trial to the next, while there are too few groups. No comparison with other
values is on record."""
ROUNDING = 1e-12
"""A move has to gain more than this, in units of all links. Less is a rounding error, and objects might move in circles
for ever."""


def communities(links: sp.csr_array, n_groups: int | None = None) -> Positions:
    """Return the number of each object's group, from 0.

    Parameters
    ----------
    links : CSR array of shape (n, n)
        The weights of the links, which are symmetric and not negative.
    n_groups : int, optional
        How many groups there should be, at most n. By default, the modularity decides.
    """
    groups = _split(links, _louvain(links, 1.0))
    if n_groups is None:
        return groups
    resolution = 1.0
    while groups.max() + 1 < n_groups:
        resolution *= FINER
        groups = _split(links, _louvain(links, resolution))
    return _merged(links, groups, n_groups)


def _louvain(links: sp.csr_array, resolution: float) -> Positions:
    """Return the groups of the highest modularity that single moves find."""
    groups = np.arange(links.shape[0])
    while True:
        n_links = np.asarray(links.sum(axis=1), dtype=np.float64).ravel()
        moved = _move(links.indptr, links.indices, links.data, n_links, max(float(n_links.sum()), 1.0), resolution)
        found, numbers = np.unique(moved, return_inverse=True)
        groups = numbers[groups]
        if found.size == links.shape[0]:
            return groups
        links = _between(links, numbers)


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
    while n_waiting and most:
        most -= 1
        x = queue[first]
        first, n_waiting = (first + 1) % n, n_waiting - 1
        waits[x] = False
        own = group[x]
        in_group[own] -= n_links[x]
        for at in range(starts[x], starts[x + 1]):
            if others[at] != x:
                to_group[group[others[at]]] += weights[at]
        by_chance = resolution * n_links[x] / total
        best, most = own, to_group[own] - by_chance * in_group[own] + ROUNDING * total
        for at in range(starts[x], starts[x + 1]):
            gain = to_group[group[others[at]]] - by_chance * in_group[group[others[at]]]
            if gain > most:
                best, most = group[others[at]], gain
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


def _split(links: sp.csr_array, groups: Positions) -> Positions:
    """Return the connected parts of the groups as groups of their own."""
    x = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    within = groups[x] == groups[links.indices]
    kept = sp.csr_array((np.ones(within.sum()), (x[within], links.indices[within])), shape=links.shape)
    return np.asarray(connected_components(kept, directed=False)[1], dtype=np.intp)


def _between(links: sp.csr_array, groups: Positions) -> sp.csr_array:
    """Return the sums of the links between groups; those within a group stand on the diagonal."""
    n = groups.size
    of_group = sp.csr_array((np.ones(n), groups, np.arange(n + 1)), shape=(n, int(groups.max()) + 1))
    to_group, sums = of_group.T.tocsr(), []
    in_steps(to_group.shape[0], lambda part: sums.append(to_group[part] @ links @ of_group))
    return sp.csr_array(sp.vstack(sums, format="csr"))


def _merged(links: sp.csr_array, groups: Positions, n_groups: int) -> Positions:
    """Merge the two groups that are linked best, again and again, until there are this many."""
    between = _between(links, groups)
    n_links: Floats = np.asarray(between.sum(axis=1)).ravel()
    sizes = np.bincount(groups)
    linked = [
        {int(b): float(w) for b, w in zip(between.indices[i:j], between.data[i:j], strict=True) if b != a}
        for a, (i, j) in enumerate(zip(between.indptr[:-1], between.indptr[1:], strict=True))
    ]
    into = np.arange(sizes.size)

    def rated(a: int, b: int) -> tuple[float, int, int]:
        return -linked[a][b] / (n_links[a] * n_links[b]), a, b

    waiting = [rated(a, b) for a in range(sizes.size) for b in linked[a] if a < b]
    heapq.heapify(waiting)
    for _ in range(sizes.size - n_groups):
        while waiting and (waiting[0][2] not in linked[waiting[0][1]] or waiting[0] != rated(*waiting[0][1:])):
            heapq.heappop(waiting)  # one of the two groups was merged since
        a, b = waiting[0][1:] if waiting else _smallest(into, sizes)
        into[into == b] = a
        n_links[a] += n_links[b]
        sizes[a] += sizes[b]
        for c, w in linked[b].items():
            linked[c].pop(b)
            if c != a:
                linked[a][c] = linked[c][a] = linked[a].get(c, 0.0) + w
        linked[b] = {}
        for c in linked[a]:
            heapq.heappush(waiting, rated(*sorted((a, c))))
    return np.unique(into[groups], return_inverse=True)[1]


def _smallest(into: Positions, sizes: Integers) -> tuple[int, int]:
    """Return the two smallest groups, the larger one first: where nothing is linked, small groups are given up."""
    alive = np.unique(into)
    second, first = alive[np.argsort(sizes[alive], kind="stable")[:2]][::-1]
    return int(second), int(first)
