"""Clusters by density: HDBSCAN (Campello, Moulavi and Sander 2013) on a neighbor graph.

1. The core length of an object is the length to its (s - 1)th nearest other, where s is the least size of a cluster; of
   equal objects, each counts. Two objects are as far apart as the largest of their own length and both core lengths.
2. Joining the nearest first gives a tree of groups. Parts that no edge joins are joined by twice the longest length.
3. From the root down, a group lives until it falls into two of at least s objects each; smaller parts only leave it.
   A group is stable if many objects stay in it while the level 1 / length rises: the sum over its objects of the level
   at which they leave, less the level at which the group came into being.
4. Groups are chosen that do not overlap, and whose stabilities have the largest sum. The root is never chosen.

scikit-learn's HDBSCAN does the same, but it does not know objects that stand for several equal ones.
"""

import numpy as np
import scipy.sparse as sp
from numba import njit
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree

from covey.arrays import Floats, Integers, Positions
from covey.graph.clusters.links import Lengths, pieces


def density_clusters(
    lengths: Lengths, links: sp.csr_array, multiplicity: Integers, smallest: int
) -> tuple[Positions, Floats]:
    """Return the number of each object's cluster, from 0 and -1 for objects that belong to none, and its strength.

    Parameters
    ----------
    lengths : Lengths
        The lengths of the edges of the graph.
    links : CSR array
        The edges that join. What no chain of them joins to the rest of its cluster is a cluster of its own, or belongs
        to none if it is smaller than the `smallest` cluster.
    multiplicity : int array
        How many equal objects each object stands for.
    """
    groups, strength = _hdbscan(lengths, multiplicity, smallest)
    groups = pieces(links, groups)
    sizes = np.bincount(groups[groups >= 0], weights=multiplicity[groups >= 0])
    number = np.append(np.where(sizes >= smallest, np.cumsum(sizes >= smallest) - 1, -1), -1)
    groups = number[groups]
    strength[groups < 0] = 0.0
    return groups, strength


def _hdbscan(lengths: Lengths, multiplicity: Integers, smallest: int) -> tuple[Positions, Floats]:
    """Return the groups that HDBSCAN chooses, and how strongly objects belong to them."""
    n = lengths.n
    if n == 1:
        return np.full(1, -1, dtype=np.intp), np.zeros(1)
    left, right, length = _tree(lengths, multiplicity, smallest)
    levels = 1.0 / length
    sizes = np.append(multiplicity, np.zeros(n - 1, dtype=np.int64))
    parts = condense(left, right, levels, sizes, smallest, 1.0 / lengths.shortest)
    group, left_at, parent, stability, last = parts
    chosen = _choose(parent, stability)
    own = chosen[group]
    with np.errstate(invalid="ignore"):
        strength = np.where(own >= 0, np.minimum(left_at, last[own]) / last[own], 0.0)
    return np.unique(np.append(own, -1), return_inverse=True)[1][:-1] - 1, strength


def _tree(lengths: Lengths, multiplicity: Integers, smallest: int) -> tuple[Positions, Positions, Floats]:
    """Return which two nodes are joined and at which length, the shortest first; join t makes the node n + t."""
    n, shortest = lengths.n, lengths.shortest
    core = core_lengths(lengths, multiplicity, smallest)
    apart = np.maximum(np.maximum(core[lengths.x], core[lengths.y]), np.maximum(lengths.length, shortest))
    graph = sp.csr_array((apart, (lengths.x, lengths.y)), shape=(n, n))
    tree = minimum_spanning_tree(graph).tocoo()
    first = np.unique(connected_components(graph, directed=False)[1], return_index=True)[1]
    ends = np.append(tree.row, np.repeat(first[0], first.size - 1)), np.append(tree.col, first[1:])
    length = np.append(tree.data, np.full(first.size - 1, 2 * apart.max(initial=shortest)))
    order = np.lexsort((ends[1], ends[0], length))
    left, right = join(ends[0][order].astype(np.intp), ends[1][order].astype(np.intp), n)
    return left, right, length[order]


def core_lengths(lengths: Lengths, multiplicity: Integers, smallest: int) -> Floats:
    """Return how far from each object its (smallest - 1)th other is; the farthest neighbor, if there are fewer."""
    before = np.append(0, np.cumsum(multiplicity[lengths.y]))
    near = before[1:] - before[lengths.starts[lengths.x]] + multiplicity[lengths.x] - 1
    core, is_last = np.zeros(lengths.n), np.append(np.diff(lengths.x) != 0, True)[: lengths.x.size]
    reached = np.flatnonzero((near >= smallest - 1) | is_last)[::-1]  # the first of each object is written last
    core[lengths.x[reached]] = lengths.length[reached]
    core[multiplicity >= smallest] = 0.0
    return core


@njit(cache=True, nogil=True)
def join(a, b, n):  # type: ignore[no-untyped-def]
    """Join the objects a[t] and b[t] one pair after the other; the two nodes that each join puts together."""
    above = np.arange(2 * n - 1)
    left, right = np.zeros(n - 1, np.int64), np.zeros(n - 1, np.int64)
    for t in range(n - 1):
        for side in range(2):
            x = a[t] if side == 0 else b[t]
            while above[x] != x:
                above[x] = above[above[x]]
                x = above[x]
            if side == 0:
                left[t] = x
            else:
                right[t] = x
            above[x] = n + t
    return left, right


@njit(cache=True, nogil=True)
def condense(left, right, levels, sizes, smallest, highest):  # type: ignore[no-untyped-def]
    """Follow the groups of a tree from the root down.

    `sizes` holds the sizes of the n objects; those of joins are filled in. Returned are the group that each object
    leaves last and the level at which it does; and the parent of each group, which is -1 for the root, its stability
    and the highest level at which objects leave it. Groups that nothing makes smaller any more, because all their
    objects are equal, end at the `highest` level.
    """
    n = left.size + 1
    for t in range(n - 1):
        sizes[n + t] = sizes[left[t]] + sizes[right[t]]
    group, left_at = np.full(2 * n - 1, -1), np.zeros(2 * n - 1)
    gone = np.zeros(2 * n - 1, np.bool_)  # whether a node has left its group already
    parent, born = np.full(2 * n, -1), np.zeros(2 * n)
    stability, last = np.zeros(2 * n), np.zeros(2 * n)
    group[2 * n - 2], n_groups = 0, 1
    for node in range(2 * n - 2, n - 1, -1):
        t, own = node - n, group[node]
        level = left_at[node] if gone[node] else levels[t]
        splits = sizes[left[t]] >= smallest and sizes[right[t]] >= smallest
        if not gone[node]:
            last[own] = max(last[own], level)
        for child in (left[t], right[t]):
            group[child] = own
            if gone[node] or sizes[child] < smallest:
                left_at[child], gone[child] = level, True
            elif splits:
                parent[n_groups], born[n_groups], group[child] = own, level, n_groups
                n_groups += 1
            if not gone[node] and (sizes[child] < smallest or splits):
                stability[own] += (level - born[own]) * sizes[child]
    for x in range(n):
        if not gone[x]:
            own, level = group[x], max(highest, born[group[x]])
            stability[own] += (level - born[own]) * sizes[x]
            left_at[x], last[own] = level, max(last[own], level)
    return group[:n], left_at[:n], parent[:n_groups], stability[:n_groups], last[:n_groups]


def _choose(parent: Positions, stability: Floats) -> Positions:
    """Return for each group which chosen group it lies in, or -1."""
    best, chosen = np.zeros(parent.size), np.zeros(parent.size, dtype=np.bool_)
    for group in range(parent.size - 1, 0, -1):  # children have higher numbers
        chosen[group] = stability[group] >= best[group]
        best[parent[group]] += max(stability[group], best[group])
    inside = np.full(parent.size, -1, dtype=np.intp)
    for group in range(1, parent.size):
        inside[group] = inside[parent[group]]
        if inside[group] < 0 and chosen[group]:
            inside[group] = group
    return inside
