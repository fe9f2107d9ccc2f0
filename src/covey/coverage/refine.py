"""Fewer representatives for the same coverage: a short local search after greedy picking.

One step takes out a representative and one nearby, then puts in, while coverage falls short, the object that gains
most of those that cover something they have left. It stands if fewer went in than came out, or as many and no fewer
objects are covered; else it is undone. So a representative that is not needed is dropped, two that one can replace
are replaced, and steps between equals lead on to others.

Draws come from a fixed seed and the number of steps is given: the same graph always has the same answer.
"""

import numpy as np
from numba import njit

STEPS = 10
"""Times as many steps are made as there are objects."""
SEED = np.uint64(0x9E3779B97F4A7C15)


@njit(cache=True, nogil=True)
def improve(starts, coverers, reverse_starts, reverse, alone, copies, chosen, n_required, n_steps):  # type: ignore[no-untyped-def]
    """Representatives, at most as many as `chosen`, that cover at least `n_required` objects.

    `coverers` by object, `reverse` the objects by coverer; `alone` tells who may be picked for itself, and `copies` how
    many times each object is there and counts.
    """
    graph = (starts, coverers, reverse_starts, reverse, alone, copies)
    chosen, size, covered, seed = chosen.copy(), chosen.size, 0, SEED
    place = np.full(alone.size, -1, np.int64)  # of each object in `chosen`
    times = np.zeros(alone.size, np.int64)  # how many representatives cover each object
    gains = np.where(alone, copies, 0)  # how many objects each would newly cover
    for x in range(alone.size):
        for u in coverers[starts[x] : starts[x + 1]]:
            gains[u] += copies[x]
    for at in range(size):
        place[chosen[at]] = at
        covered += put_in(graph, chosen[at], times, gains)
    out, new = np.empty(2, np.int64), np.empty(2, np.int64)
    for _ in range(n_steps):
        seed = draw(seed)
        out[0] = chosen[np.int64(seed % np.uint64(size))]
        out[1] = nearby(graph, out[0], place, seed >> np.uint64(32))
        n_out = 2 if out[1] != out[0] else 1
        before, n_new = covered, 0
        for r in out[:n_out]:
            covered -= take_out(graph, r, times, gains)
        best = best_near(graph, out[:n_out], times, gains, seed)
        while covered < n_required and n_new < n_out and best >= 0:
            covered += put_in(graph, best, times, gains)
            new[n_new] = best
            n_new += 1
            best = best_near(graph, out[:n_out], times, gains, seed)
        if covered < n_required or (n_new == n_out and covered < before):
            for r in new[:n_new]:
                take_out(graph, r, times, gains)
            for r in out[:n_out]:
                put_in(graph, r, times, gains)
            covered = before
        else:
            size = replace(chosen, size, place, out[:n_out], new[:n_new])
    return chosen[:size]


@njit(cache=True, nogil=True)
def put_in(graph, r, times, gains):  # type: ignore[no-untyped-def]
    """Let r represent; how many objects are newly covered."""
    starts, coverers, reverse_starts, reverse, alone, copies = graph
    n_changed = 0
    for at in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
        x = r if at < reverse_starts[r] else reverse[at]  # first itself
        if times[x] == 0:
            n_changed += copies[x]
            change_gains(starts, coverers, alone, x, -copies[x], gains)
        times[x] += 1
    return n_changed


@njit(cache=True, nogil=True)
def take_out(graph, r, times, gains):  # type: ignore[no-untyped-def]
    """Let r not represent any more; how many objects are not covered then."""
    starts, coverers, reverse_starts, reverse, alone, copies = graph
    n_changed = 0
    for at in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
        x = r if at < reverse_starts[r] else reverse[at]
        times[x] -= 1
        if times[x] == 0:
            n_changed += copies[x]
            change_gains(starts, coverers, alone, x, copies[x], gains)
    return n_changed


@njit(cache=True, nogil=True)
def change_gains(starts, coverers, alone, x, change, gains):  # type: ignore[no-untyped-def]
    gains[x] += change if alone[x] else 0
    for u in coverers[starts[x] : starts[x + 1]]:
        gains[u] += change


@njit(cache=True, nogil=True)
def nearby(graph, r, place, seed):  # type: ignore[no-untyped-def]
    """Another representative, of an object that could represent one of those that r covers; r itself if none is."""
    starts, coverers, reverse_starts, reverse, _, _ = graph
    x, n_covered = r, reverse_starts[r + 1] - reverse_starts[r]
    if n_covered > 0:
        x = reverse[reverse_starts[r] + np.int64(seed % np.uint64(n_covered))]
    n_coverers = starts[x + 1] - starts[x]
    if n_coverers > 0:
        x = coverers[starts[x] + np.int64((seed >> np.uint64(8)) % np.uint64(n_coverers))]
    for u in coverers[starts[x] : starts[x + 1]]:
        if place[u] >= 0 and u != r:
            return u
    return x if place[x] >= 0 else r


@njit(cache=True, nogil=True)
def best_near(graph, out, times, gains, seed):  # type: ignore[no-untyped-def]
    """Of all that cover something that these have left uncovered, the one that gains most; -1 if there is none.

    Of equal ones the lowest from a drawn number on.
    """
    starts, coverers, reverse_starts, reverse, alone, _ = graph
    best, start = -1, np.int64(seed % np.uint64(gains.size))
    for r in out:
        for at in range(reverse_starts[r] - 1, reverse_starts[r + 1]):
            x = r if at < reverse_starts[r] else reverse[at]
            if times[x] == 0:
                if alone[x]:
                    best = better(best, x, gains, start)
                for u in coverers[starts[x] : starts[x + 1]]:
                    best = better(best, u, gains, start)
    return best


@njit(cache=True, nogil=True)
def better(a, b, gains, start):  # type: ignore[no-untyped-def]
    """The object with the larger gain; of equal ones the first from `start` on, around."""
    if a < 0 or gains[b] > gains[a]:
        return b
    if gains[b] < gains[a]:
        return a
    return b if (b < start, b) < (a < start, a) else a


@njit(cache=True, nogil=True)
def replace(chosen, size, place, out, new):  # type: ignore[no-untyped-def]
    """Put the new ones in the old ones' places; how many there are then."""
    for r in out:
        size -= 1
        chosen[place[r]], place[chosen[size]] = chosen[size], place[r]
        place[r] = -1
    for r in new:
        chosen[size], place[r] = r, size
        size += 1
    return size


@njit(cache=True, nogil=True)
def draw(seed):  # type: ignore[no-untyped-def]
    """The next number of xorshift64."""
    seed ^= seed << np.uint64(13)
    seed ^= seed >> np.uint64(7)
    return seed ^ (seed << np.uint64(17))
