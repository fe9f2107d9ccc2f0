"""What an edge of a neighbor graph is worth to a search for clusters.

Similarities have no common scale: a cosine of 0.9 may be near or far. So an edge is measured by the edges around it.

1. Edges of objects that have nothing in common are left out. Each other edge gets a *length*: the distance that its
   similarity was converted from, or the largest similarity less its own.
2. Around each object there is a *usual length*: the longest that it, or one of its three nearest others, has to its own
   nearest other. A cluster of three objects has a usual length of its own, so that clusters may be small. An object
   that stands for three equal ones is such a cluster; for it, only the others are asked.
3. The *volume* of an edge is its length in units of the usual length at its ends, to the power of the dimension of the
   data. Where objects lie evenly, it says how many objects a ball of this radius holds for each that is expected near
   by. The dimension is estimated by the method TwoNN (Facco et al. 2017) from the two nearest others of each object.
4. An edge weighs 1 up to a volume of 1, and 1 / volume beyond. One with a volume above `FAR` joins nothing.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from scipy.sparse.csgraph import connected_components

from covey.arrays import Flags, Floats, Integers, Positions
from covey.similarity.similarity import Similarity
from covey.similarity.sums import unit_of

NEAREST = 3
"""How many nearest others have a say in the usual length around an object. With 3, the objects of a cluster of three
are asked about each other alone, and with 10 about a foreign cluster as well."""
FAR = 8.0
"""An edge of a larger volume joins nothing. In the 150 random mixtures of `tests/graph/mixtures.py` whose groups lie 10
standard deviations apart, 8 joins no two groups and cuts off 6 pairs of objects from their groups; 5 cuts off 12, and
12 joins groups in two mixtures."""
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
        """The shortest length that is no rounding error; 1 if there is none."""
        longest = self.length.max(initial=0.0)
        return float(self.length[self.length > SHORTEST * longest].min(initial=longest)) or 1.0


def lengths_of(edges: sp.csr_array, similarity: Similarity, nothing: float | None) -> Lengths:
    """Return the lengths of edges; row x holds the similarities of x's neighbors.

    Edges at or below the similarity `nothing`, which says that two objects have nothing in common, are left out. So are
    those of infinite length.
    """
    n = edges.shape[0]
    x, y, values = np.repeat(np.arange(n), np.diff(edges.indptr)), edges.indices.astype(np.intp), edges.data
    length = _converted(values, similarity)
    kept = (x != y) & np.isfinite(length)
    if nothing is not None:
        kept &= values > nothing
    x, y, length = x[kept], y[kept], length[kept]
    pair = np.minimum(x, y) * np.int64(n) + np.maximum(x, y)
    order = np.argsort(pair, kind="stable")
    pair, length = pair[order], length[order]
    first = np.flatnonzero(np.append(True, np.diff(pair) != 0)[: pair.size])
    listed = np.diff(np.append(first, pair.size))
    a, b = np.divmod(pair[first], n)
    length = np.minimum.reduceat(length, first) if first.size else length
    x, y, length, listed = np.append(b, a), np.append(a, b), np.append(length, length), np.append(listed, listed)
    order = np.lexsort((length, x))  # equally long ones stay in the order of y
    return Lengths(n, x[order], y[order], length[order], listed[order])


def _converted(values: Floats, similarity: Similarity) -> Floats:
    """Return lengths of similarities; the unit of length does not matter."""
    if similarity.conversion is not None and similarity.conversion != "negative":
        with np.errstate(divide="ignore"):
            return -np.log(values) if similarity.conversion == "exponential" else 1.0 / values - 1.0
    values = values / unit_of(values)  # so that differences have floats
    largest = float(values.max(initial=-np.inf))
    # The similarity of equal objects is 0 for distances with a minus, and 1 for most others.
    return np.asarray(next((top for top in (0.0, 1.0) if largest <= top), largest) - values)


def links_of(lengths: Lengths, multiplicity: Integers) -> tuple[sp.csr_array, sp.csr_array]:
    """Return the weights of the edges that join, and those of all edges, as symmetric arrays.

    Each object stands for as many equal ones as its `multiplicity` says.
    """
    x, y, length = lengths.x, lengths.y, lengths.length
    usual = _usual_lengths(lengths, multiplicity)
    with np.errstate(over="ignore"):
        ratio = np.minimum(length / np.maximum(usual[x], usual[y]), 1e30)
    volume = ratio ** dimension(lengths)
    weights = lengths.listed / np.maximum(volume, 1.0)
    return _array(lengths, weights, volume <= FAR), _array(lengths, weights, np.ones(x.size, dtype=np.bool_))


def _array(lengths: Lengths, weights: Floats, kept: Flags) -> sp.csr_array:
    """Return the weights of the edges that are kept."""
    array = sp.csr_array((weights[kept], (lengths.x[kept], lengths.y[kept])), shape=(lengths.n, lengths.n))
    array.sort_indices()
    return array


def _usual_lengths(lengths: Lengths, multiplicity: Integers) -> Floats:
    """Return the usual length around each object; 0 around one without edges."""
    nearest = np.zeros(lengths.n)
    first = lengths.rank == 0
    nearest[lengths.x[first]] = np.maximum(lengths.length[first], lengths.shortest)
    usual, near = np.where(multiplicity < NEAREST, nearest, 0.0), lengths.rank < NEAREST
    np.maximum.at(usual, lengths.x[near], nearest[lengths.y[near]])
    return usual


def dimension(lengths: Lengths) -> float:
    """Estimate the dimension of the data: 1 / the mean of log(second length / first length)."""
    second = np.flatnonzero(lengths.rank == 1)
    shortest = lengths.shortest
    near, next_near = (np.maximum(lengths.length[at], shortest) for at in (second - 1, second))
    total = float(np.log(next_near / near).sum())
    lowest, highest = DIMENSIONS
    return min(max(second.size / total, lowest), highest) if total > 0 else highest


def pieces(links: sp.csr_array, groups: Positions) -> Positions:
    """Return the connected parts of the groups as groups of their own; objects in no group (-1) stay so."""
    x = np.repeat(np.arange(links.shape[0]), np.diff(links.indptr))
    within = groups[x] == groups[links.indices]
    kept = sp.csr_array((np.ones(within.sum()), (x[within], links.indices[within])), shape=links.shape)
    found = np.asarray(connected_components(kept, directed=False)[1], dtype=np.intp)
    found[groups < 0] = -1
    inside = found >= 0
    found[inside] = np.unique(found[inside], return_inverse=True)[1]
    return found
