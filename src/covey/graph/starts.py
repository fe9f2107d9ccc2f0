"""The two ways in which NN-Descent starts: from landmarks where they predict neighbors well, else from a forest.

`start_from_landmarks` predicts the similarities of all pairs from those to a few objects, the *landmarks*.

1. Probe: score a few landmarks against a few objects, and predict some of the scores from the others. If that explains
   next to nothing, give up on landmarks.
2. Trial: score two dozen landmarks against all objects, so that their true neighbors are known. Hold some landmarks
   out, and predict their neighbors from the other landmarks alone: by the estimates of step 3, and by a pivot tree that
   splits between landmarks. If estimates find few neighbors, or if the tree finds more or at least half of them, give
   up on landmarks. (In spaces of few dimensions, estimates are too blurred to tell neighbors apart, while trees are
   sharp.)
3. Score m landmarks against all objects. This gives the columns C, and W, the similarities among the landmarks. The
   Nystrom approximation C W^-1 C' of all similarities is a product E E', where each object has a short vector, its row
   of E. Negative eigenvalues of W, which an indefinite similarity has, are left out.
4. For each object, find the others with the largest estimates by E E', which takes no evaluations, and score these.

Estimates only choose which pairs are scored first. Lists hold nothing but scores, and NN-Descent goes on from them as
from any other start.

`plant_forest` needs nothing but a similarity. It grows pivot trees:

1. Draw two members p and q of a node as pivots, and score every member x against both.
2. Split the node at the median of s(x, p) - s(x, q), the *preference* of x for p. Members of equal preference are split
   at random, so that two trees rarely part the same objects.
3. Go on until all nodes are small (leaves). In each leaf, score all pairs.

This takes about two evaluations per object and level, and per object half as many as a leaf has members. The splitting
itself (`grow`) only needs preferences, so that the trial of landmarks uses it, too.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.graph.evaluator import Evaluator
from covey.graph.screen import Estimator, Screen
from covey.runtime.executor import one_blas_thread
from covey.similarity.space import ScoredPairs, Space

LEAF = 30
"""The most objects in a leaf. All pairs of a leaf are scored, so larger leaves find more neighbors and cost more. A
leaf of 30 shows an object about three times as many others as a list of ten can hold; the forest was measured with this
size on Fashion-MNIST."""


def grow(
    n: int, prefer: Callable[[Indices, Integers, Integers], Floats], rng: np.random.Generator
) -> tuple[Indices, Integers]:
    """Grow a tree of n objects; return the objects leaf by leaf, and the sizes of the leaves.

    All nodes of a level are split at once. `prefer(order, starts, sizes)` returns the preference of each object of
    `order` for the first half of its node; node t holds the objects order[starts[t] : starts[t] + sizes[t]].
    """
    order = rng.permutation(n).astype(np.int32)
    sizes = np.array([n])
    while sizes.max() > LEAF:
        starts = np.cumsum(sizes) - sizes
        preferences = prefer(order, starts, sizes)
        order = halve(order, preferences, sizes, _medians(preferences, starts, sizes))
        sizes = np.column_stack([sizes - sizes // 2, sizes // 2]).ravel()
    return order, sizes


def places(starts: Integers, sizes: Integers, size: int) -> Integers:
    """Return the places of the members of all nodes that have this size, with a row for each node."""
    return starts[sizes == size][:, None] + np.arange(size)


def _medians(preferences: Floats, starts: Integers, sizes: Integers) -> Floats:
    """Return the upper median of the preferences in each node.

    The nodes of a level have at most two different sizes, so the loop makes at most two steps.
    """
    medians = np.empty(sizes.size)
    for size in np.unique(sizes):
        members = preferences[places(starts, sizes, size)]
        medians[sizes == size] = np.partition(members, size // 2, axis=1)[:, size // 2]
    return medians


@njit(cache=True, nogil=True)
def halve(order, preferences, sizes, medians):  # type: ignore[no-untyped-def]
    """Within each node, put the half with the larger preferences in front.

    The order within both halves stays as it was. Members with the median preference fill up the front half, first come,
    first served.
    """
    halved = np.empty_like(order)
    start = 0
    for node in range(sizes.size):
        size, median = sizes[node], medians[node]
        members, values = order[start : start + size], preferences[start : start + size]
        n_front = size - size // 2
        room = n_front  # how many members with the median preference the front half can hold
        for value in values:
            room -= value > median
        front, back = start, start + n_front
        for t in range(size):
            if values[t] > median or (values[t] == median and room > 0):
                room -= values[t] == median
                halved[front] = members[t]
                front += 1
            else:
                halved[back] = members[t]
                back += 1
        start += size
    return halved


PROBED_OBJECTS, PROBED_LANDMARKS, PROBE_HELD_OUT = 112, 16, 4
"""The size of the probe: this many objects are scored against this many landmarks, of which this many are predicted. A
larger probe is more certain, a smaller one cheaper: this one takes at most 1 912 evaluations, .4 % of the pairs of 1
000 objects."""

LEAST_EXPLAINED = 0.2
"""The share of the variance of held-out columns that the probe must explain. Measured shares are .5 and more for
Fashion-MNIST, .2 to .3 for edit distances, and below 0 for warped time series and for many blobs."""

TRIAL_LANDMARKS, TRIAL_HELD_OUT = 24, 6
"""The size of the trial: this many landmarks are scored against all objects, and this many at a time are held out. Each
more landmark makes the trial more certain and costs n evaluations, which are of use only if the trial succeeds."""

LEAST_HIT_RATE = 0.25
"""The share of the neighbors of held-out landmarks that estimates must find. In the spaces of benchmarks/spaces.py it
is .3 to 1 where landmarks save evaluations, and mostly below .25 where they do not."""

SHARP_TREE = 0.5
"""Estimates are not used if one tree finds this share of the same neighbors: a forest then finds nearly all of them at
less cost. A larger value would use landmarks more often."""

SMALLEST_EIGENVALUE = 1e-4
"""Smaller eigenvalues, as a share of the largest, are left out, because dividing by their roots amplifies noise. A
larger value blurs the estimates."""

CANDIDATES, TRIED = 10, 30
"""How many others an object meets by estimate, beyond the length of its list, and how many the trial looks at. Few are
enough at first, because estimates get better once lists are known (`screen.py`)."""

PLAIN = 2.0**20
"""Similarities between this and its inverse are estimated as they are. Others are scaled, so that the squares of their
estimates, and numbers a billion times larger, have a place in single precision."""

LANDMARKS_PER_ROOT = 0.6
"""There are this many landmarks times the square root of the number of objects: 46 for 6 000 objects. More of them make
better estimates and take more evaluations. That the number grows with the root is an assumption."""


def start_from_landmarks(evaluator: Evaluator, scored: ScoredPairs | None, rng: np.random.Generator) -> bool:
    """Fill the lists from landmarks if these predict neighbors well; return whether they do.

    Similarities of pairs in `scored` are used and not computed again.
    """
    space, size = evaluator.space, evaluator.lists.indices.shape[1]
    n = space.n_left
    landmarks, others = np.split(rng.permutation(n).astype(np.int32), [number_of_landmarks(n)])
    columns = Columns(space, landmarks, scored)
    probe = np.concatenate([landmarks[:PROBED_LANDMARKS], others[:PROBED_OBJECTS]])
    columns.enter(evaluator.score(*columns.missing(probe, PROBED_LANDMARKS)))
    used, held_out = np.split(np.arange(PROBED_LANDMARKS), [PROBED_LANDMARKS - PROBE_HELD_OUT])
    # The last bits of products and eigenvectors differ with the number of BLAS threads, and with them the candidates.
    with one_blas_thread:
        if columns.explained(others[:PROBED_OBJECTS], used, held_out) < LEAST_EXPLAINED:
            return False
    everyone = np.arange(n, dtype=np.int32)
    columns.enter(evaluator.score(*columns.missing(everyone, TRIAL_LANDMARKS)))
    with one_blas_thread:
        if not passes_trial(columns, size, rng):
            return False
    columns.enter(evaluator.score(*columns.missing(everyone, landmarks.size)))
    with one_blas_thread:
        estimator = Estimator(columns.vectors(np.arange(landmarks.size)))
    evaluator.meet(*estimator.candidates(min(CANDIDATES + size, n - 1), space.n_jobs))
    evaluator.screen = Screen(estimator, landmarks, columns.values, columns.unit, space.executor)
    return True


def passes_trial(columns: "Columns", size: int, rng: np.random.Generator) -> bool:
    """Return whether estimates find enough of the nearest of held-out landmarks, and more of them than a tree does."""
    by_estimate, by_tree = [], []
    for held_out in np.split(np.arange(TRIAL_LANDMARKS), TRIAL_LANDMARKS // TRIAL_HELD_OUT):
        used = np.delete(np.arange(TRIAL_LANDMARKS), held_out)
        vectors, leaf = columns.vectors(used), columns.leaves(used, rng)
        for place in held_out:
            landmark = columns.landmarks[place]
            guess = vectors @ vectors[landmark]
            guess[landmark] = -np.inf
            by_estimate.append(columns.hits(place, np.argsort(-guess, kind="stable")[: TRIED + size], size))
            by_tree.append(columns.hits(place, np.flatnonzero(leaf == leaf[landmark]), size))
    hit_rate, of_tree = float(np.mean(by_estimate)), float(np.mean(by_tree))
    return hit_rate >= LEAST_HIT_RATE and hit_rate > of_tree and of_tree < SHARP_TREE


class Columns:
    """The similarities of all objects to the landmarks, a column for each landmark; NaN where nothing was scored yet.

    The *place* of a landmark is the number of its column.
    """

    def __init__(self, space: Space, landmarks: Indices, scored: ScoredPairs | None) -> None:
        self.landmarks = landmarks
        self.values = np.full((space.n_left, landmarks.size), np.nan)
        self._place = np.full(space.n_left, -1)
        self._place[landmarks] = np.arange(landmarks.size)
        self.values[landmarks, np.arange(landmarks.size)] = space.with_itself()[landmarks]
        self._unit: float | None = None  # as long as no pair has entered
        if scored is not None:
            self.enter(scored)

    def enter(self, pairs: ScoredPairs) -> None:
        """Write down pairs of objects and landmarks. An asymmetric similarity enters as the mean of both directions.

        All are divided by a power of 2 that the first pairs decide, because estimates are made in single precision,
        which holds no number above 1e38.
        """
        mean = (pairs.forward + pairs.backward) / 2
        if self._unit is None and mean.size:
            self._unit = _unit_of(mean)
            self.values /= self._unit
        mean = mean if self._unit is None else mean / self._unit
        for x, landmark in ((pairs.i, pairs.j), (pairs.j, pairs.i)):
            is_landmark = self._place[landmark] >= 0
            self.values[x[is_landmark], self._place[landmark[is_landmark]]] = mean[is_landmark]

    @property
    def unit(self) -> float:
        """What all similarities are divided by."""
        return 1.0 if self._unit is None else self._unit

    def missing(self, objects: Indices, n_landmarks: int) -> tuple[Indices, Indices]:
        """Return the pairs of these objects with the first landmarks that are still to be scored, each once."""
        row, place = np.nonzero(np.isnan(self.values[objects, :n_landmarks]))
        x, landmark = objects[row], self.landmarks[place]
        low, high = np.minimum(x, landmark).astype(np.int64), np.maximum(x, landmark)
        _, first = np.unique(low * len(self.values) + high, return_index=True)
        return x[first], landmark[first]

    def vectors(self, used: Integers) -> Floats:
        """Return the short vectors of all objects, by Nystrom's approximation from the landmarks at the places `used`.

        Objects that are not yet scored against all of these landmarks get NaN.
        """
        columns = self.values[:, used]
        within = columns[self.landmarks[used]]
        eigenvalues, basis = np.linalg.eigh((within + within.T) / 2)
        large = eigenvalues > SMALLEST_EIGENVALUE * max(eigenvalues.max(), 0)
        return columns @ (basis[:, large] / np.sqrt(eigenvalues[large]))

    def explained(self, objects: Indices, used: Integers, held_out: Integers) -> float:
        """Return the share of the variance of similarities to held-out landmarks that the used ones explain."""
        vectors = self.vectors(used)
        truth = self.values[np.ix_(objects, held_out)]
        guess = vectors[objects] @ vectors[self.landmarks[held_out]].T
        spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
        return 1 - float(((truth - guess) ** 2).sum()) / spread if spread > 0 else 0.0

    def leaves(self, used: Integers, rng: np.random.Generator) -> Indices:
        """Return the leaf of each object in a tree whose pivots are pairs of these landmarks, without an evaluation."""

        def prefer(order: Indices, starts: Integers, sizes: Integers) -> Floats:
            first = rng.integers(used.size, size=sizes.size)
            second = (first + rng.integers(1, used.size, size=sizes.size)) % used.size
            p, q = (np.repeat(used[place], sizes) for place in (first, second))
            return self.values[order, p] - self.values[order, q]

        order, sizes = grow(len(self.values), prefer, rng)
        leaf = np.empty(order.size, dtype=np.int32)
        leaf[order] = np.repeat(np.arange(sizes.size), sizes)
        return leaf

    def hits(self, place: int, candidates: NDArray[np.integer[Any]], size: int) -> float:
        """Return the share of a landmark's nearest that the candidates hold; equally similar ones count alike."""
        truth = self.values[:, place].copy()
        truth[self.landmarks[place]] = -np.inf
        last = np.partition(truth, -size)[-size]
        return min(1.0, np.count_nonzero(truth[candidates] >= last) / size)


def _unit_of(values: Floats) -> float:
    """Return a power of 2 that is about as large as the largest of the values in magnitude; 1 if it is plain."""
    largest = float(np.abs(values).max())
    return 1.0 if largest == 0 or 1 / PLAIN < largest < PLAIN else math.ldexp(1.0, max(math.frexp(largest)[1], -1020))


def number_of_landmarks(n: int) -> int:
    """Return how many landmarks n objects get: never fewer than a trial needs."""
    return max(TRIAL_LANDMARKS, round(LANDMARKS_PER_ROOT * np.sqrt(n)))


N_TREES = 2
"""How many trees are grown. On Fashion-MNIST, two trees and the rounds after them need the fewest evaluations for their
recall; four need more."""


NEAR = 5
"""How many objects before and behind it an object meets in each order that its space knows. For 40 000 words it saves a
fourth of the time; twice as many save no more (`benchmarks/strings.py`)."""


def plant_forest(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow the trees, and return the objects leaf by leaf of the last one.

    Objects that lie near each other in this order are similar. If the space knows such orders itself, objects that lie
    near each other there meet before.
    """
    for order in evaluator.space.orders():
        for distance in range(1, min(NEAR, order.size - 1) + 1):
            evaluator.meet(order[:-distance], order[distance:])
    for _ in range(N_TREES):
        order = plant_tree(evaluator, rng)
    return order


def plant_tree(evaluator: Evaluator, rng: np.random.Generator) -> Indices:
    """Grow one tree, let the objects of each leaf meet each other, and return the objects leaf by leaf."""

    def prefer(order: Indices, starts: Integers, sizes: Integers) -> Floats:
        first = rng.integers(sizes)
        second = (first + rng.integers(1, sizes)) % sizes
        p, q = (np.repeat(order[starts + place], sizes) for place in (first, second))
        return _preferences(evaluator, order, p, q)

    order, sizes = grow(evaluator.space.n_left, prefer, rng)
    starts = np.cumsum(sizes) - sizes
    for size in np.unique(sizes):
        a, b = np.triu_indices(size, 1)
        members = order[places(starts, sizes, size)]
        evaluator.meet(members[:, a].ravel(), members[:, b].ravel())
    return order


def _preferences(evaluator: Evaluator, x: Indices, p: Indices, q: Indices) -> Floats:
    """Return how much more similar each x[t] is to its pivot p[t] than to q[t]; infinite for the pivots themselves."""
    free = (x != p) & (x != q)
    pivots = np.column_stack([p[free], q[free]])
    similarities = evaluator.meet_and_bound(np.repeat(x[free], 2), pivots.ravel()).reshape(-1, 2)
    preferences = np.where(x == p, np.inf, -np.inf)
    preferences[free] = similarities[:, 0] - similarities[:, 1]
    return preferences
