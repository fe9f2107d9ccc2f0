"""Multipliers for the lower bound of a large cover, by a method that only goes through the edges again and again.

`lower_bound.py` states the linear program: x says how much of each object is chosen, y how much it counts as covered,
and u_j, the multiplier of object j, what covering it is worth. This is the primal-dual hybrid gradient method of
Chambolle and Pock (2011), with the steps of Pock and Chambolle (2011), and with restarts as in PDLP (Applegate et al.,
2021):

1. Move x and y against their gradients. Cut x to [0, 1]; make y the nearest one in [0, 1] of which enough is covered.
2. Move u along the gradient at 2 * new - old of x and y, and cut it to at least 0.
3. After `ROUND` iterations, go on from the mean of the round if that gives a better bound than its last point.

The *load* of an object is what the multipliers of all that it covers add up to. Where it exceeds 1, a bound loses.
So each u_j is divided by the largest load above 1 among the coverers of j, after which no load exceeds 1. This is what
becomes a bound. The number of iterations follows from the number of edges alone, and all sums are made in one order, so
that the answer is the same everywhere.
"""

from collections.abc import Callable

import numpy as np
from numba import njit

from covey.arrays import Floats
from covey.coverage.edges import Adjacency
from covey.runtime.interruptible import MANY, in_steps

ROUND = 50
"""After how many iterations the method may restart. With 25 and 100, the bounds of three graphs of 20 000 objects, ten
neighbors each, were up to 0.7 % lower after 100 iterations (`benchmarks/coverage.py` prints how bounds grow)."""

BALANCE = 0.5
"""How long the steps of u are beside those of x and y. From 0.25 to 1, the bounds hardly differed; with 4, they were up
to 4 % lower after 100 iterations."""

MOST_ROUNDS = 20
"""How many rounds are made at most. On the same graphs, bounds grew by 0.3 % from 300 to 1 000 iterations."""

WORK = 10_000_000_000
"""How many edges are gone through at most, but for the first two rounds. It allows 1 000 000 objects with 15 neighbors
each six rounds, of 3.5 to 6.5 s of processor time each on a busy machine (`benchmarks/coverage.py`)."""

CLOSE = 1e-6
"""By which share of what is required the sum of all y may be off. No bound depends on it."""


def multipliers_of(adjacency: Adjacency, n_required: int) -> Floats:
    """Return multipliers u that give a good lower bound."""
    n = adjacency.starts.size
    search = _PrimalDual(adjacency, n_required)
    best, value = search.within_loads(search.u)
    n_rounds = min(MOST_ROUNDS, max(2, WORK // (2 * ROUND * (adjacency.coverers.size + n))))
    for _ in range(n_rounds):
        search.make_round()
        candidates = [search.within_loads(u) for u in (search.u, search.mean_u)]
        last, mean = (value for _, value in candidates)
        if mean > last:
            search.go_on_from_mean()
        for u, worth in candidates:
            if worth > value:
                best, value = u, worth
    return best


def smallest(u: Floats, n: int) -> Floats:
    """Return the n smallest multipliers, the largest of them last."""
    return np.partition(u, n - 1)[:n]


class _PrimalDual:
    """The state of the method: the points x, y and u, and the sums of all points of a round."""

    def __init__(self, adjacency: Adjacency, n_required: int) -> None:
        n = adjacency.starts.size
        self._coverers, self._covered = adjacency[:3], adjacency[4:]
        self._n, self._n_required, self._shift = n, n_required, 0.0
        start = n / (adjacency.coverers.size + n)
        self.x, self.y, self.u = np.full(n, start), np.full(n, n_required / n), np.full(n, start)
        self._ahead = np.empty((2, n))  # x and y ahead of their step
        self._sums = np.zeros((3, n))
        self._step = MANY

    @property
    def mean_u(self) -> Floats:
        """The mean of u over the round."""
        return self._sums[2] / ROUND

    def make_round(self) -> None:
        """Make as many iterations as a round has."""
        x_ahead, y_ahead = self._ahead
        self._sums[:] = 0.0
        for _ in range(ROUND):
            self._over_all(lambda first, end: step_x(*self._covered, self.u, self.x, x_ahead, first, end))
            y_ahead[:] = self.y - self.u / BALANCE
            self._shift = shift_to(y_ahead, self._n_required, self._shift)
            step_y(y_ahead, self._shift, self.y)
            self._over_all(lambda first, end: step_u(*self._coverers, x_ahead, y_ahead, self.u, first, end))
            for total, point in zip(self._sums, (self.x, self.y, self.u), strict=True):
                total += point

    def go_on_from_mean(self) -> None:
        """Make the mean of the round the point from which the next one starts."""
        for total, point in zip(self._sums, (self.x, self.y, self.u), strict=True):
            point[:] = total / ROUND

    def within_loads(self, u: Floats) -> tuple[Floats, float]:
        """Return multipliers that put a load of at most 1 on each object, and the bound that they give."""
        loads, cut = np.empty(self._n), np.empty(self._n)
        self._over_all(lambda first, end: add_loads(*self._covered, u, first, end, loads))
        self._over_all(lambda first, end: cut_to_loads(*self._coverers, loads, u, first, end, cut))
        return cut, float(smallest(cut, self._n_required).sum())

    def _over_all(self, work: Callable[[int, int], object]) -> None:
        """Do compiled work on all objects, in steps that an interrupt can end."""
        self._step = in_steps(self._n, lambda part: work(part.start, part.stop), self._step)


@njit(cache=True, nogil=True)
def step_x(covered_starts, covered, u, x, ahead, first, end):  # type: ignore[no-untyped-def]
    """Make the step of x for the objects from `first` to before `end`."""
    for i in range(first, end):
        load = u[i]
        for j in covered[covered_starts[i] : covered_starts[i + 1]]:
            load += u[j]
        length = 1 / (BALANCE * (covered_starts[i + 1] - covered_starts[i] + 1))
        new = min(max(x[i] - length * (1 - load), 0.0), 1.0)
        ahead[i] = 2 * new - x[i]
        x[i] = new


@njit(cache=True, nogil=True)
def shift_to(y, needed, shift):  # type: ignore[no-untyped-def]
    """Return a number of at least 0 to add to each y so that, cut to [0, 1], they add up to what is needed.

    It is looked for by Newton's method from the given one on, within an interval that only shrinks.
    """
    low, high = 0.0, max(1 - y.min(), 0.0)
    shift = min(shift, high)
    done = False
    for _ in range(100):
        if not done:
            total, n_between = 0.0, 0
            for value in y:
                moved = min(max(value + shift, 0.0), 1.0)
                total += moved
                n_between += 0 < moved < 1
            if total < needed:
                low = shift
            else:
                high = shift
            done = abs(total - needed) <= CLOSE * needed or high <= low
            if not done:
                coming = shift + (needed - total) / max(n_between, 1)
                shift = coming if low < coming < high else (low + high) / 2
    return shift


@njit(cache=True, nogil=True)
def step_y(moved, shift, y):  # type: ignore[no-untyped-def]
    """Make the step of y: `moved` is y less its gradient, and becomes y ahead of its step."""
    for j in range(y.size):
        new = min(max(moved[j] + shift, 0.0), 1.0)
        moved[j] = 2 * new - y[j]
        y[j] = new


@njit(cache=True, nogil=True)
def step_u(starts, ends, coverers, x, y, u, first, end):  # type: ignore[no-untyped-def]
    """Make the step of u for the objects from `first` to before `end`, given x and y ahead of their steps."""
    for j in range(first, end):
        chosen = x[j]
        for i in coverers[starts[j] : ends[j]]:
            chosen += x[i]
        u[j] = max(u[j] + BALANCE / (ends[j] - starts[j] + 2) * (y[j] - chosen), 0.0)


@njit(cache=True, nogil=True)
def add_loads(covered_starts, covered, u, first, end, loads):  # type: ignore[no-untyped-def]
    """Add up the loads of the objects from `first` to before `end`."""
    for i in range(first, end):
        loads[i] = u[i]
        for j in covered[covered_starts[i] : covered_starts[i + 1]]:
            loads[i] += u[j]


@njit(cache=True, nogil=True)
def cut_to_loads(starts, ends, coverers, loads, u, first, end, cut):  # type: ignore[no-untyped-def]
    """Divide each multiplier by the largest load of those that cover the object, where this exceeds 1."""
    for j in range(first, end):
        largest = max(loads[j], 1.0)
        for i in coverers[starts[j] : ends[j]]:
            largest = max(largest, loads[i])
        cut[j] = u[j] / largest
