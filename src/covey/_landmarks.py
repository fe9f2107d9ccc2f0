"""Similarities estimated from a few landmarks, to spend evaluations where they are likely to pay.

1. Probe: score a few landmarks against a few objects, and predict some of the scores from the others. Where that
   explains little (edit distances, warped time series), estimates would mislead: do without.
2. Score m landmarks against all objects: columns C, and W among the landmarks themselves. The Nystrom approximation
   C W^-1 C' of the whole matrix is a product of vectors E, E'; negative eigenvalues (an indefinite similarity) are
   left out.
3. Score each object's best candidates by E E', found without any evaluation.
4. In the rounds of NN-Descent, score a pair only if its estimate, plus a margin for its error, reaches one of the two
   lists. The margin is what 93 % of the estimates of listed pairs stay within.

Estimates only choose which pairs are scored. What stands in a list is always a score.
"""

import numpy as np
from numpy.typing import NDArray

from covey._evaluator import Evaluator
from covey._exact import nearest_others
from covey._lists import NeighborLists
from covey._pairs import ScoredPairs
from covey.rows import DenseRows
from covey.similarity import resolve
from covey.space import RowSpace, Space

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

PROBED_OBJECTS = 112
PROBED_LANDMARKS = 16
HELD_OUT = 4
EXPLAINED = 0.5
"""The share of variance of held-out columns that makes estimates worth while."""
SMALLEST_EIGENVALUE = 1e-4
"""Relative to the largest; below, the approximation amplifies noise."""
CANDIDATES = 3
"""How many times the list's size an object meets by estimate."""
MARGIN = 0.93


def survey(evaluator: Evaluator, known: ScoredPairs | None, rng: np.random.Generator, n_jobs: int | None) -> bool:
    """Start the lists from landmarks, if a probe finds that they tell something; whether they do."""
    space, size = evaluator.space, evaluator.lists.indices.shape[1]
    n = space.n_left
    landmarks, others = np.split(rng.permutation(n).astype(np.int32), [number_of_landmarks(n, size)])
    columns = Columns(space, landmarks, known)
    probe = np.concatenate([landmarks[:PROBED_LANDMARKS], others[:PROBED_OBJECTS]])
    columns.enter(evaluator.score(*columns.missing(probe, PROBED_LANDMARKS), n_jobs))
    if columns.explained(others[:PROBED_OBJECTS], PROBED_LANDMARKS - HELD_OUT, HELD_OUT) < EXPLAINED:
        return False
    everyone = np.arange(n, dtype=np.int32)
    columns.enter(evaluator.score(*columns.missing(everyone, columns.landmarks.size), n_jobs))
    estimator = Estimator(columns.vectors(columns.landmarks.size))
    evaluator.meet(*estimator.candidates(min(CANDIDATES * size, n - 1), n_jobs), n_jobs)
    estimator.calibrate(evaluator.lists)
    evaluator.screen = estimator
    return True


class Estimator:
    """Estimates of similarities by products of short vectors."""

    def __init__(self, vectors: Floats) -> None:
        self._rows = DenseRows(vectors.astype(np.float32))
        self.margin = 0.0

    def estimate(self, i: Indices, j: Indices) -> Floats:
        return self._rows.sums("dot", i, self._rows, j)

    def candidates(self, size: int, n_jobs: int | None) -> tuple[Indices, Indices]:
        """Pairs of each object with the `size` others of the largest estimates."""
        space = RowSpace(resolve("dot"), self._rows, self._rows, square=True)
        lists, _ = nearest_others(space, size, n_jobs)
        return np.repeat(np.arange(self._rows.n, dtype=np.int32), size), lists.indices.ravel()

    def promising(self, i: Indices, j: Indices, bars: Floats) -> NDArray[np.bool_]:
        """Which pairs may well score above the bar of one of their two lists."""
        return self.estimate(i, j) + self.margin >= np.minimum(bars[i], bars[j])

    def calibrate(self, lists: NeighborLists) -> None:
        """Set the margin by the errors on what the lists hold."""
        i = np.repeat(np.arange(self._rows.n, dtype=np.int32), lists.indices.shape[1])
        listed = lists.indices.ravel() >= 0
        i, j = i[listed], lists.indices.ravel()[listed]
        self.margin = float(np.quantile(lists.similarities.ravel()[listed] - self.estimate(i, j), MARGIN))


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

    def vectors(self, n_landmarks: int) -> Floats:
        """The Nystrom vectors of all objects from the first landmarks; NaN where these are not filled."""
        columns = self.values[:, :n_landmarks]
        within = columns[self.landmarks[:n_landmarks]]
        eigenvalues, basis = np.linalg.eigh((within + within.T) / 2)
        kept = eigenvalues > SMALLEST_EIGENVALUE * max(eigenvalues.max(), 0)
        return columns @ (basis[:, kept] / np.sqrt(eigenvalues[kept]))

    def explained(self, objects: Indices, n_landmarks: int, n_held_out: int) -> float:
        """The share of variance that the first landmarks explain of these objects' columns of the next ones."""
        held_out = slice(n_landmarks, n_landmarks + n_held_out)
        vectors = self.vectors(n_landmarks)
        truth = self.values[objects, held_out]
        guess = vectors[objects] @ vectors[self.landmarks[held_out]].T
        spread = float(((truth - truth.mean(axis=0)) ** 2).sum())
        return 1 - float(((truth - guess) ** 2).sum()) / spread if spread > 0 else 0.0


def number_of_landmarks(n: int, size: int) -> int:
    """62 for 6 000 objects and lists of 10, 85 for lists of 15; at most a quarter of all."""
    return min(round((0.2 + 0.06 * size) * np.sqrt(n)), n // 4)
