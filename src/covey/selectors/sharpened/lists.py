"""Which objects a candidate would serve: the nearest others of each object, and the same lists in reverse.

The lists come from a neighbor graph of all objects, so that every object is a candidate. If there are few
representatives, each of them serves more objects than a list is long. Such lists would not show what a candidate does
to objects further away. So the lists then hold the nearest of a *pool*: the objects around the present representatives,
and a few random ones. As the pool is a small part of all objects, lists of the same length reach much further. Each
round draws a new pool.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from covey.arrays import Floats, Indices, Integers, Positions
from covey.graph.build import build, choose_method
from covey.graph.exact import nearest
from covey.graph.lists import NeighborLists
from covey.similarity.collection import Collection
from covey.similarity.space import Space

NEAR, RANDOM, AROUND = 20, 3, 100
"""How many neighbors of each representative are drawn for a pool, how many random objects for each, and among how many
nearest objects of a representative the neighbors are drawn."""

POOLED_FROM = 8
"""Pools are used if all neighbors that would be drawn are at most one in this many of all objects. There are then fewer
than one representative in 160 objects, and the lists of a pool reach at least eight times as far."""


class Lists(NamedTuple):
    """Lists of all objects, one behind the other in the same arrays, in both directions.

    The list of object x holds its nearest others, the best first: `others[starts[x] : starts[x + 1]]`, with their
    `similarities` s(x, other). The reverse list of a candidate c holds the objects that list it, with the same
    similarities s(object, c): `rows[row_starts[c] : row_starts[c + 1]]`. An object that is more similar to x than
    `floors[x]` is in the list of x, unless the neighbor graph has missed it.
    """

    starts: Integers
    others: Indices
    similarities: Floats
    row_starts: Integers
    rows: Indices
    row_similarities: Floats
    floors: Floats


def no_lists(n: int) -> Lists:
    """Return empty lists of n objects."""
    return in_both_directions(NeighborLists.empty(n, 0), floors=np.full(n, -np.inf))


def nearest_of_all(collection: Collection, space: Space, k: int, rng: np.random.Generator) -> Lists:
    """Return the k nearest others of each object, by a neighbor graph of all objects in their space.

    The lists also get the best of the pairs that the collection remembers from before, up to k more for each object.
    """
    graph = build(space, k, choose_method("auto", space, k), rng)
    lists = NeighborLists(graph.indices, graph.similarities, np.zeros(graph.indices.shape, dtype=np.uint8))
    known = collection.known_pairs()
    if known[0].size:
        lists = lists.lengthened(2 * graph.indices.shape[1])
        lists.offer(*known)
    return in_both_directions(lists, floors=graph.similarities[:, -1].copy())


def draw_pool(near: Indices, classes: Positions, representatives: Positions, rng: np.random.Generator) -> Positions:
    """Draw the candidates of a pool: the representatives, some neighbors of the same class of each, and random ones.

    `near` holds the nearest objects of each representative.
    """
    drawn = [representatives, rng.choice(classes.size, RANDOM * representatives.size, replace=False)]
    for r, others in zip(representatives, near, strict=True):
        drawn.append(rng.permutation(others[classes[others] == classes[r]])[:NEAR])
    return np.unique(np.concatenate(drawn))


def nearest_of_pool(space: Space, pool: Positions, k: int) -> Lists:
    """Return the k nearest candidates of each object. The pool is on the right side of the space."""
    lists = nearest(space, min(k + 1, pool.size))
    numbers = pool[lists.indices].astype(np.int32)
    others = np.where(numbers == np.arange(len(numbers))[:, np.newaxis], -1, numbers)
    return in_both_directions(NeighborLists(others, lists.similarities, lists.states), lists.similarities[:, -1].copy())


def in_both_directions(lists: NeighborLists, floors: Floats) -> Lists:
    """Write neighbor lists one behind the other, without their empty places, and reverse them."""
    n = len(lists.indices)
    filled = lists.indices >= 0
    starts = np.concatenate([[0], np.cumsum(filled.sum(axis=1))])
    others, similarities = lists.indices[filled], lists.similarities[filled]
    row_starts = np.concatenate([[0], np.cumsum(np.bincount(others, minlength=n))])
    rows, row_similarities = np.empty_like(others), np.empty_like(similarities)
    reverse(starts, others, similarities, row_starts.copy(), rows, row_similarities)
    return Lists(starts, others, similarities, row_starts, rows, row_similarities, floors)


def on_two_sides(lists: Lists, classes: Positions) -> NeighborLists:
    """Split each list into the objects of the own class and those of all others, as `graph/by_group.py` has them."""
    x = np.repeat(np.arange(classes.size), np.diff(lists.starts))
    places = (2 * x + (classes[x] != classes[lists.others])).astype(np.int32)
    longest = int(np.bincount(places).max(initial=1))
    sides = NeighborLists.empty(2 * classes.size, longest)
    sides.offer(places, lists.others, lists.similarities)
    return sides


@njit(cache=True, nogil=True)
def reverse(starts, others, similarities, places, rows, row_similarities):  # type: ignore[no-untyped-def]
    """Write each entry of the lists into the reverse list of its object; places[c] is where the next one goes."""
    for x in range(starts.size - 1):
        for entry in range(starts[x], starts[x + 1]):
            place = places[others[entry]]
            rows[place], row_similarities[place] = x, similarities[entry]
            places[others[entry]] += 1
