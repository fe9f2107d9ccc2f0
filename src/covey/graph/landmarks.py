"""Similarities estimated from a few landmarks, to spend evaluations where they are likely to pay.

1. Probe: score a few landmarks against a few objects, and predict some of the scores from the others. Where that
   explains next to nothing, do without landmarks.
2. Trial: score two dozen landmarks against all objects, so that their true neighbors are known, and hold some of them
   out. From the others' columns alone, predict the neighbors of those held out: by estimates (3), and by a pivot tree
   that splits between landmarks. In spaces of few dimensions estimates are blurred on the scale of neighbors and trees
   are sharp; there, and wherever estimates find few neighbors, do without landmarks.
3. Score m landmarks against all objects: columns C, and W among the landmarks themselves. The Nystrom approximation
   C W^-1 C' of the whole matrix is a product of vectors E, E'; negative eigenvalues (an indefinite similarity) are
   left out.
4. Score each object's best candidates by E E', found without any evaluation.

Estimates only choose which pairs are scored first. What stands in a list is always a score, and NN-Descent goes on
from there as from any other start.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.graph.evaluator import Evaluator
from covey.graph.exact import nearest_others
from covey.graph.tree import grow
from covey.similarity.named import measure_of, resolve
from covey.similarity.rows import DenseRows
from covey.similarity.space import ScoredPairs, Space
from covey.similarity.spaces.rows import RowSpace

PROBED_OBJECTS = 112
PROBED_LANDMARKS = 16
PROBE_HELD_OUT = 4
EXPLAINED = 0.2
"""The share of variance of the probe's held-out columns below which estimates are of no use: it is .5 and more for
Fashion-MNIST, .2 to .3 for edit distances, and below 0 for warped time series and for many blobs."""
TRIED = 24
TRIAL_HELD_OUT = 6
HITS = 0.25
"""The least share of the neighbors of held-out landmarks that estimates must find. In the spaces of
benchmarks/spaces.py it is .3 to 1 where landmarks save evaluations, and mostly below .25 where they do not."""
SHARP_TREE = 0.5
"""Where one tree finds as large a share of these neighbors, a forest finds nearly all at less cost."""
SMALLEST_EIGENVALUE = 1e-4
"""Relative to the largest; below, the approximation amplifies noise."""
CANDIDATES = 30
"""How many others an object meets by estimate, beyond the size of its list: on Fashion-MNIST 20 lose .006 of the recall
and save 2 % of the evaluations."""


def survey(evaluator: Evaluator, known: ScoredPairs | None, rng: np.random.Generator) -> bool:
    """Start the lists from landmarks if they predict who is near, and tell whether they do."""
    space, size = evaluator.space, evaluator.lists.indices.shape[1]
    n = space.n_left
    landmarks, others = np.split(rng.permutation(n).astype(np.int32), [number_of_landmarks(n)])
    columns = Columns(space, landmarks, known)
    probe = np.concatenate([landmarks[:PROBED_LANDMARKS], others[:PROBED_OBJECTS]])
    columns.enter(evaluator.score(*columns.missing(probe, PROBED_LANDMARKS)))
    used, held_out = np.split(np.arange(PROBED_LANDMARKS), [PROBED_LANDMARKS - PROBE_HELD_OUT])
    if columns.explained(others[:PROBED_OBJECTS], used, held_out) < EXPLAINED:
        return False
    everyone = np.arange(n, dtype=np.int32)
    columns.enter(evaluator.score(*columns.missing(everyone, TRIED)))
    if not trial(columns, size, rng):
        return False
    columns.enter(evaluator.score(*columns.missing(everyone, landmarks.size)))
    estimator = Estimator(columns.vectors(np.arange(landmarks.size)))
    evaluator.meet(*estimator.candidates(min(CANDIDATES + size, n - 1), space.n_jobs))
    return True


def trial(columns: "Columns", size: int, rng: np.random.Generator) -> bool:
    """Whether estimates find the `size` nearest of landmarks held out, a few at a time, and a tree does not."""
    by_estimate, by_tree = [], []
    for held_out in np.split(np.arange(TRIED), TRIED // TRIAL_HELD_OUT):
        used = np.delete(np.arange(TRIED), held_out)
        vectors, leaf = columns.vectors(used), columns.leaves(used, rng)
        for place in held_out:
            landmark = columns.landmarks[place]
            guess = vectors @ vectors[landmark]
            guess[landmark] = -np.inf
            by_estimate.append(columns.hits(place, np.argsort(-guess, kind="stable")[: CANDIDATES + size], size))
            by_tree.append(columns.hits(place, np.flatnonzero(leaf == leaf[landmark]), size))
    found, found_by_tree = float(np.mean(by_estimate)), float(np.mean(by_tree))
    return found >= HITS and found > found_by_tree and found_by_tree < SHARP_TREE


class Estimator:
    """Estimates of similarities by products of short vectors."""

    def __init__(self, vectors: Floats) -> None:
        self._rows = DenseRows(vectors.astype(np.float32))

    def estimate(self, i: Indices, j: Indices) -> Floats:
        return self._rows.sums("dot", i, self._rows, j)

    def candidates(self, size: int, n_jobs: int | None) -> tuple[Indices, Indices]:
        """Pairs of each object with the `size` others of the largest estimates."""
        dot = resolve("dot")
        space = RowSpace(dot, measure_of(dot), self._rows, self._rows, n_jobs)
        lists, _ = nearest_others(space, size)
        return np.repeat(np.arange(self._rows.n, dtype=np.int32), size), lists.indices.ravel()


class Columns:
    """The similarities of objects to landmarks, filled as far as they were scored."""

    def __init__(self, space: Space, landmarks: Indices, known: ScoredPairs | None) -> None:
        self.landmarks = landmarks
        self.values = np.full((space.n_left, landmarks.size), np.nan)
        self._place = np.full(space.n_left, -1)
        self._place[landmarks] = np.arange(landmarks.size)
        self.values[landmarks, np.arange(landmarks.size)] = space.with_itself()[landmarks]
        if known is not None:
            self.enter(known)

    def enter(self, pairs: ScoredPairs) -> None:
        """Both directions count half in an estimate."""
        mean = (pairs.forward + pairs.backward) / 2
        for x, landmark in ((pairs.i, pairs.j), (pairs.j, pairs.i)):
            is_landmark = self._place[landmark] >= 0
            self.values[x[is_landmark], self._place[landmark[is_landmark]]] = mean[is_landmark]

    def missing(self, objects: Indices, n_landmarks: int) -> tuple[Indices, Indices]:
        """The pairs still to score for these objects and the first landmarks, each once."""
        row, place = np.nonzero(np.isnan(self.values[objects, :n_landmarks]))
        x, landmark = objects[row], self.landmarks[place]
        low, high = np.minimum(x, landmark).astype(np.int64), np.maximum(x, landmark)
        _, first = np.unique(low * len(self.values) + high, return_index=True)
        return x[first], landmark[first]

    def vectors(self, used: Integers) -> Floats:
        """The Nystrom vectors of all objects from the landmarks at these places; NaN where these are not filled."""
        columns = self.values[:, used]
        within = columns[self.landmarks[used]]
        eigenvalues, basis = np.linalg.eigh((within + within.T) / 2)
        kept = eigenvalues > SMALLEST_EIGENVALUE * max(eigenvalues.max(), 0)
        return columns @ (basis[:, kept] / np.sqrt(eigenvalues[kept]))

    def explained(self, objects: Indices, used: Integers, held_out: Integers) -> float:
        """The share of variance that some landmarks explain of these objects' columns of the landmarks held out."""
        vectors = self.vectors(used)
        truth = self.values[np.ix_(objects, held_out)]
        guess = vectors[objects] @ vectors[self.landmarks[held_out]].T
        spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
        return 1 - float(((truth - guess) ** 2).sum()) / spread if spread > 0 else 0.0

    def leaves(self, used: Integers, rng: np.random.Generator) -> Indices:
        """The leaf of each object in a tree that splits between pairs of these landmarks: no evaluations."""

        def lean(order: Indices, starts: Integers, sizes: Integers) -> Floats:
            first = rng.integers(used.size, size=sizes.size)
            second = (first + rng.integers(1, used.size, size=sizes.size)) % used.size
            p, q = (np.repeat(used[place], sizes) for place in (first, second))
            return self.values[order, p] - self.values[order, q]

        order, sizes = grow(len(self.values), lean, rng)
        leaf = np.empty(order.size, dtype=np.int32)
        leaf[order] = np.repeat(np.arange(sizes.size), sizes)
        return leaf

    def hits(self, place: int, candidates: NDArray[np.integer[Any]], size: int) -> float:
        """What share of the `size` true neighbors of a landmark these candidates hold, by similarity."""
        truth = self.values[:, place].copy()
        truth[self.landmarks[place]] = -np.inf
        last = np.partition(truth, -size)[-size]
        return min(1.0, np.count_nonzero(truth[candidates] >= last) / size)


def number_of_landmarks(n: int) -> int:
    """34 for 6 000 objects, which costs least for its recall on Fashion-MNIST; never fewer than a trial takes."""
    return max(TRIED, round(0.44 * np.sqrt(n)))
