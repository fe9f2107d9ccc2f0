"""What an edge of a neighbor graph is worth to a search for clusters.

Similarities have no common scale: a cosine of 0.9 may be near or far. So an edge is measured by the edges around it.

1. Each edge gets a *length*: the distance that its similarity was converted from, or the largest similarity less its
   own. If some similarity says that objects have nothing in common, the length is minus the logarithm of the share that
   the similarity has of the largest, both counted from there. So it grows without end as objects have less in common,
   and edges of objects that have nothing in common are left out.
2. Around each object there is a *usual length*: the longest that it, or one of its three nearest others, has to its own
   nearest other. A cluster of three objects has a usual length of its own, so that clusters may be small. An object
   that stands for three times as many equal ones as its nearest others is such a cluster; whether its edges join it is
   asked of the others alone.
3. The *volume* of an edge is its length in units of the usual length at its ends, to the power of the dimension of the
   data there: how many balls of the usual radius a ball of this radius has room for. The dimension is estimated by the
   method TwoNN (Facco et al. 2017) from the two nearest others of an object and of its neighbors. Since these are
   few, the geometric mean with the estimate from all objects is taken.
4. An edge weighs 1 up to a volume of 1, and 1 / volume beyond. One with a volume above `FAR` joins nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from covey.arrays import Flags, Floats, Integers, Positions
from covey.similarity.similarity import Similarity

NEAREST = 3
"""How many nearest others have a say in the usual length around an object. With 3, the objects of a cluster of three
are asked about each other alone, and with 10 about a foreign cluster as well."""
FAR = 8.0
"""An edge of a larger volume joins nothing. In the 150 random mixtures of `tests/graph/mixtures.py` whose groups lie 10
standard deviations apart, the links of 8 join no two groups and leave 2 pairs of objects without a link to their group.
5 leaves 14 pairs, and 12 joins groups in two mixtures."""
DIMENSIONS = 1.0, 8.0
"""The least and the largest dimension that is believed. Ties of the two nearest others, which similarities of strings
and sets have many of, make the estimate grow without end."""
SHORTEST = 1e-9
"""Lengths below this share of the longest are rounding errors."""


@dataclass(frozen=True, eq=False)
class Lengths:
    """The lengths of edges between different objects, in both directions, and in each row the shortest first.

    Attributes
    ----------
    n : int
        How many objects there are.
    x, y : int array
        The ends of each edge. Each edge is there in both directions.
    length : float array
        At least 0. Where both directions were listed, it is the shorter one.
    listed : int array
        In how many directions each edge was listed, 1 or 2.
    """

    n: int
    x: Positions
    y: Positions
    length: Floats
    listed: Integers

    @cached_property
    def starts(self) -> Positions:
        """Where the edges of each object begin, and where those of the last one end."""
        return np.searchsorted(self.x, np.arange(self.n + 1))

    @cached_property
    def rank(self) -> Positions:
        """How many shorter edges the object x has."""
        return np.arange(self.x.size) - self.starts[self.x]

    @cached_property
    def shortest(self) -> float:
        """The shortest length that is not a rounding error; 1 if there is none."""
        longest = self.length.max(initial=0.0)
        return float(self.length[self.length > SHORTEST * longest].min(initial=longest)) or 1.0


def lengths_of(edges: sp.csr_array, similarity: Similarity, nothing: float | None) -> Lengths:
    """Return the lengths of edges; row x holds the similarities of x's neighbors.

    Edges at or below the similarity `nothing`, which says that two objects have nothing in common, are left out. So are
    those of infinite length.
    """
    n = edges.shape[0]
    x, y, values = np.repeat(np.arange(n), np.diff(edges.indptr)), edges.indices.astype(np.intp), edges.data
    usable = x != y if nothing is None else (x != y) & (values > nothing)
    x, y, length = x[usable], y[usable], _converted(values[usable], similarity, nothing)
    x, y, length = (part[np.isfinite(length)] for part in (x, y, length))
    pair = np.minimum(x, y) * np.int64(n) + np.maximum(x, y)
    order = np.argsort(pair, kind="stable")
    pair, length = pair[order], length[order]
    first = np.flatnonzero(np.append(True, np.diff(pair) != 0)[: pair.size])
    listed = np.diff(np.append(first, pair.size))
    a, b = np.divmod(pair[first], n)
    length = np.minimum.reduceat(length, first) if first.size else length
    x, y, length, listed = np.append(b, a), np.append(a, b), np.append(length, length), np.append(listed, listed)
    order = np.argsort(length, kind="stable")  # equally long ones stay in the order of y
    order = order[np.argsort(x[order], kind="stable")]
    return Lengths(n, x[order], y[order], length[order], listed[order])


def _converted(values: Floats, similarity: Similarity, nothing: float | None) -> Floats:
    """Return lengths of similarities, which are larger than `nothing`; the unit of length does not matter."""
    if similarity.conversion is not None and similarity.conversion != "negative":
        with np.errstate(divide="ignore"):
            return -np.log(values) if similarity.conversion == "exponential" else 1.0 / values - 1.0
    largest = float(values.max(initial=-np.inf))
    # The similarity of equal objects is 0 for distances with a minus, and 1 for most others.
    top = next((top for top in (0.0, 1.0) if largest <= top), largest)
    if nothing is None:
        return np.asarray(top - values)
    return -np.log((values - nothing) / (top - nothing))


def links_of(lengths: Lengths, multiplicity: Integers) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the weights of the edges that join, and those of all edges, as symmetric arrays.

    Each object stands for as many equal ones as its `multiplicity` says.
    """
    usual, of_others = _usual_lengths(lengths)
    weights = lengths.listed / np.maximum(_volumes(lengths, usual), 1.0)
    copies = multiplicity >= NEAREST * _most_near(lengths, multiplicity)
    near = _volumes(lengths, np.where(copies, of_others, usual)) <= FAR
    return _array(lengths, weights, near), _array(lengths, weights, np.ones(near.size, dtype=np.bool_))


def _volumes(lengths: Lengths, usual: Floats) -> Floats:
    """Return the volume of each edge, given the usual length around each object."""
    x, y, dimension = lengths.x, lengths.y, dimensions(lengths)
    with np.errstate(over="ignore"):
        ratio = np.minimum(lengths.length / np.maximum(usual[x], usual[y]), 1e30)
    return np.asarray(ratio ** np.minimum(dimension[x], dimension[y]))


def _array(lengths: Lengths, weights: Floats, marked: Flags) -> sp.csr_array:
    """Return the weights of the edges that are marked."""
    array = sp.csr_array((weights[marked], (lengths.x[marked], lengths.y[marked])), shape=(lengths.n, lengths.n))
    array.sort_indices()
    return array


def _usual_lengths(lengths: Lengths) -> tuple[Floats, Floats]:
    """Return the usual length around each object, and the one that its nearest others alone tell of.

    Both are 0 for an object without edges.
    """
    nearest, first = np.zeros(lengths.n), lengths.rank == 0
    nearest[lengths.x[first]] = np.maximum(lengths.length[first], lengths.shortest)
    of_others = _most_near(lengths, nearest)
    return np.maximum(nearest, of_others), of_others


def _most_near(lengths: Lengths, values: Floats | Integers) -> Floats:
    """Return for each object the largest of the values that its nearest others have; 0 if it has no edges."""
    most, near = np.zeros(lengths.n), lengths.rank < NEAREST
    np.maximum.at(most, lengths.x[near], values[lengths.y[near]])
    return most


def dimensions(lengths: Lengths) -> Floats:
    """Estimate the dimension of the data around each object.

    An estimate is 1 / the mean of log(second length / first length) over some objects. Returned is the geometric mean
    of that over the object and its neighbors, and that over all objects.
    """
    n, second = lengths.n, np.flatnonzero(lengths.rank == 1)
    near, next_near = (np.maximum(lengths.length[at], lengths.shortest) for at in (second - 1, second))
    growth, known = np.zeros(n), np.zeros(n)
    growth[lengths.x[second]], known[lengths.x[second]] = np.log(next_near / near), 1.0
    total = growth + np.bincount(lengths.x, weights=growth[lengths.y], minlength=n)
    count = known + np.bincount(lengths.x, weights=known[lengths.y], minlength=n)
    lowest, highest = DIMENSIONS
    local = np.divide(count, total, out=np.full(n, highest), where=total > 0)
    overall = second.size / growth.sum() if growth.any() else highest
    return np.sqrt(np.clip(local, lowest, highest) * np.clip(overall, lowest, highest))


def pieces(links: sp.csr_array, groups: Positions) -> Positions:
    """Return the connected parts of the groups as groups of their own; objects in no group (-1) stay so."""
    x = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    within = groups[x] == groups[links.indices]
    inner = sp.csr_array((np.ones(within.sum()), (x[within], links.indices[within])), shape=links.shape)
    parts = np.asarray(connected_components(inner, directed=False)[1], dtype=np.intp)
    parts[groups < 0] = -1
    inside = parts >= 0
    parts[inside] = np.unique(parts[inside], return_inverse=True)[1]
    return parts
