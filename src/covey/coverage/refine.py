"""Fewer representatives for the same coverage: a short local search after greedy picking.

One step does this:

1. Remove a representative that is drawn at random, and another one nearby.
2. While coverage falls short, add the object with the largest gain among those that cover something which the removed
   ones have left uncovered. Add at most as many as were removed.
3. Keep the step if coverage suffices and fewer were added than removed, or as many and no fewer objects are covered
   than before. Else undo it.

So a representative that is not needed is dropped, and two that one object can replace are replaced. Steps that exchange
equally good representatives are kept as well, because they open the way to further ones.

Draws come from a fixed seed and the number of steps is given, so the same graph always has the same answer.
"""

import numpy as np
from numba import njit

from covey.arrays import Flags, Integers
from covey.coverage.edges import Adjacency
from covey.runtime.interruptible import in_steps

STEPS = 10
"""How many steps are made per object. More steps take longer and never make the result larger. With 10, prototypes of
Fashion-MNIST get 5.5 to 6.6 % smaller (`benchmarks/quality.py`)."""

MOST_STEPS = 5_000_000
"""How many steps are made at most, which bounds the time for more than 500 000 objects. A step took 12 us of processor
time among 1 000 000 objects with 15 neighbors each, on a busy machine (`benchmarks/coverage.py`)."""

SEED = np.uint64(0x9E3779B97F4A7C15)
"""Where the draws start. Any number but 0 would do; this one is 2^64 divided by the golden ratio."""


def improve(
    adjacency: Adjacency,
    counts_itself: Flags,
    multiplicity: Integers,
    chosen: Integers,
    *,
    n_fixed: int,
    n_required: int,
    n_steps: int,
) -> Integers:
    """Search for representatives, at most as many as `chosen`, that cover objects of a multiplicity of `n_required`.

    The first `n_fixed` of the chosen ones stay in any case. `counts_itself` says which objects count in their own gain;
    an orphan that stays an outlier does not.
    """
    starts, ends, coverers, _, covered_starts, covered_by_each = adjacency
    graph = (starts, ends, coverers, covered_starts, covered_by_each, counts_itself, multiplicity)
    n, chosen = counts_itself.size, chosen.copy()
    place = np.full(n, -1, np.int32)  # the place of each representative in `chosen`, else -1
    n_covering = np.zeros(n, np.int32)  # how many representatives cover each object
    gains = np.where(counts_itself, multiplicity, 0)  # how many objects each one would newly cover
    size, covered, seed = chosen.size, 0, SEED
    in_steps(n, lambda part: count_gains(starts, ends, coverers, multiplicity, part.start, part.stop, gains))

    def begin(part: slice) -> None:
        nonlocal covered
        covered += add_all(graph, chosen, part.start, part.stop, place, n_covering, gains)

    def search(part: slice) -> None:
        nonlocal size, covered, seed
        state = (size, covered, np.uint64(seed), place, n_covering, gains)
        size, covered, seed = make_steps(graph, chosen, *state, n_fixed, n_required, part.stop - part.start)

    in_steps(chosen.size, begin)
    in_steps(n_steps, search)
    return chosen[:size]


@njit(cache=True, nogil=True)
def count_gains(starts, ends, coverers, multiplicity, first, end, gains):  # type: ignore[no-untyped-def]
    """Add the objects from `first` to before `end` to the gains of those that cover them."""
    for x in range(first, end):
        for u in coverers[starts[x] : ends[x]]:
            gains[u] += multiplicity[x]


@njit(cache=True, nogil=True)
def add_all(graph, chosen, first, end, place, n_covering, gains):  # type: ignore[no-untyped-def]
    """Make the objects at these places of `chosen` representatives; return how many objects are newly covered."""
    n_changed = 0
    for t in range(first, end):
        place[chosen[t]] = t
        n_changed += add(graph, chosen[t], n_covering, gains)
    return n_changed


@njit(cache=True, nogil=True)
def make_steps(graph, chosen, size, covered, seed, place, n_covering, gains, n_fixed, n_required, n_steps):  # type: ignore[no-untyped-def]
    """Make this many steps; return how many representatives there are then, how many objects they cover, and the next
    seed."""
    removed, added = np.empty(2, np.int64), np.empty(2, np.int64)
    for _ in range(n_steps):
        if size == n_fixed:
            break
        seed = draw(seed)
        removed[0] = chosen[n_fixed + np.int64(seed % np.uint64(size - n_fixed))]
        removed[1] = nearby(graph, removed[0], place, n_fixed, seed >> np.uint64(32))
        n_removed = 2 if removed[1] != removed[0] else 1
        before, n_added = covered, 0
        for r in removed[:n_removed]:
            covered -= remove(graph, r, n_covering, gains)
        best = np.int64(0)
        while covered < n_required and n_added < n_removed and best >= 0:
            best = best_near(graph, removed[:n_removed], n_covering, gains, seed)
            if best >= 0:
                covered += add(graph, best, n_covering, gains)
                added[n_added] = best
                n_added += 1
        if covered < n_required or (n_added == n_removed and covered < before):
            for r in added[:n_added]:
                remove(graph, r, n_covering, gains)
            for r in removed[:n_removed]:
                add(graph, r, n_covering, gains)
            covered = before
        else:
            size = replace(chosen, size, place, removed[:n_removed], added[:n_added])
    return size, covered, seed


@njit(cache=True, nogil=True)
def add(graph, r, n_covering, gains):  # type: ignore[no-untyped-def]
    """Make r a representative; return how many objects are newly covered."""
    starts, ends, coverers, reverse_starts, reverse, counts_itself, multiplicity = graph
    n_changed = 0
    for t in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
        x = r if t < reverse_starts[r] else reverse[t]  # the first is r itself
        if n_covering[x] == 0:
            n_changed += multiplicity[x]
            change_gains(starts, ends, coverers, counts_itself, x, -multiplicity[x], gains)
        n_covering[x] += 1
    return n_changed


@njit(cache=True, nogil=True)
def remove(graph, r, n_covering, gains):  # type: ignore[no-untyped-def]
    """Let r not be a representative any more; return how many objects are no longer covered."""
    starts, ends, coverers, reverse_starts, reverse, counts_itself, multiplicity = graph
    n_changed = 0
    for t in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
        x = r if t < reverse_starts[r] else reverse[t]
        n_covering[x] -= 1
        if n_covering[x] == 0:
            n_changed += multiplicity[x]
            change_gains(starts, ends, coverers, counts_itself, x, multiplicity[x], gains)
    return n_changed


@njit(cache=True, nogil=True)
def change_gains(starts, ends, coverers, counts_itself, x, change, gains):  # type: ignore[no-untyped-def]
    """Change the gains of all objects that cover x, because x has become covered or uncovered."""
    gains[x] += change if counts_itself[x] else 0
    for u in coverers[starts[x] : ends[x]]:
        gains[u] += change


@njit(cache=True, nogil=True)
def nearby(graph, r, place, n_fixed, seed):  # type: ignore[no-untyped-def]
    """Return a representative near r that may be removed, or r itself if there is none.

    From r, go to a random object that r covers, and from there to a random object that covers it. The first other
    representative that covers this one is returned; if there is none, this object itself, if it is a representative.
    """
    starts, ends, coverers, reverse_starts, reverse, _, _ = graph
    x, n_covered = r, reverse_starts[r + 1] - reverse_starts[r]
    if n_covered > 0:
        x = reverse[reverse_starts[r] + np.int64(seed % np.uint64(n_covered))]
    n_coverers = ends[x] - starts[x]
    if n_coverers > 0:
        x = coverers[starts[x] + np.int64((seed >> np.uint64(8)) % np.uint64(n_coverers))]
    for u in coverers[starts[x] : ends[x]]:
        if place[u] >= n_fixed and u != r:
            return u
    return x if place[x] >= n_fixed else r


@njit(cache=True, nogil=True)
def best_near(graph, removed, n_covering, gains, seed):  # type: ignore[no-untyped-def]
    """Return the object with the largest gain of those that cover what the removed ones left uncovered, or -1.

    Of equal gains, the first index from a drawn number on wins.
    """
    starts, ends, coverers, reverse_starts, reverse, counts_itself, _ = graph
    best, start = -1, np.int64(seed % np.uint64(gains.size))
    for r in removed:
        for t in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
            x = r if t < reverse_starts[r] else reverse[t]
            if n_covering[x] == 0:
                if counts_itself[x]:
                    best = better(best, x, gains, start)
                for u in coverers[starts[x] : ends[x]]:
                    best = better(best, u, gains, start)
    return best


@njit(cache=True, nogil=True)
def better(a, b, gains, start):  # type: ignore[no-untyped-def]
    """Return the object with the larger gain.

    Of equal ones, the first index from `start` on wins; 0 comes after the last.
    """
    if a < 0 or gains[b] > gains[a]:
        return b
    if gains[b] < gains[a]:
        return a
    return b if (b < start, b) < (a < start, a) else a


@njit(cache=True, nogil=True)
def replace(chosen, size, place, removed, added):  # type: ignore[no-untyped-def]
    """Replace representatives in `chosen` and `place`; return how many there are then."""
    for r in removed:
        size -= 1
        chosen[place[r]], place[chosen[size]] = chosen[size], place[r]
        place[r] = -1
    for r in added:
        chosen[size], place[r] = r, size
        size += 1
    return size


@njit(cache=True, nogil=True)
def draw(seed):  # type: ignore[no-untyped-def]
    """Return the next random number, by xorshift64 (Marsaglia, 2003)."""
    seed ^= seed << np.uint64(13)
    seed ^= seed >> np.uint64(7)
    return seed ^ (seed << np.uint64(17))
