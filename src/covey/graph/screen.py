"""Estimates of similarities that spare NN-Descent the scores of pairs which will hardly enter a list.

Landmarks give each object a short vector, and the products of vectors estimate similarities (`starts.py`). What the
lists have found since is known, too. So before each round

1. the vector of each object moves towards where its products agree with all that is known of the object: its
   similarities to the landmarks and to the entries of its list (`Screen.adapt`);
2. the bar of each object is set: the last similarity of its list, less what the estimates of most entries of lists are
   too low by.

A pair of the round is scored if its estimate reaches the bar of one of the two. Estimates are no bounds, and a few
neighbors do not pass. A pair that was kept out is not scored, not counted, and not remembered: it may come again when
estimates are better, and random pairs (`recall.py`) find it like any other that was missed.
"""

import numpy as np
from numba import njit

from covey.arrays import Flags, Floats, Indices
from covey.graph.exact import nearest_others
from covey.graph.lists import NeighborLists
from covey.runtime.executor import Executor
from covey.similarity.kinds.rows import DenseRows, RowSpace
from covey.similarity.measures import measure_of, resolve

PASSES, STEP = 5, 0.3
"""How often each known similarity of an object moves its vector, and by which share of the way. More and smaller steps
make better estimates and take longer."""

CHUNK_ROWS = 1024
"""How many vectors one task moves."""


class Estimator:
    """Estimates of similarities: the products of the objects' short vectors."""

    def __init__(self, vectors: Floats) -> None:
        self.rows = DenseRows(vectors.astype(np.float32))

    def estimate(self, i: Indices, j: Indices) -> Floats:
        """Return estimates of s(i[t], j[t])."""
        return self.rows.sums("dot", i, self.rows, j)

    def candidates(self, size: int, n_jobs: int | None) -> tuple[Indices, Indices]:
        """Return the pairs of each object with the `size` others that have the largest estimates."""
        dot = resolve("dot")
        space = RowSpace(dot, measure_of(dot), self.rows, self.rows, n_jobs)
        lists, _ = nearest_others(space, size)
        return np.repeat(np.arange(self.rows.n, dtype=np.int32), size), lists.indices.ravel()


class Screen:
    """Decides by estimates which pairs are worth a score.

    Parameters
    ----------
    estimator : Estimator
        The estimates so far.
    landmarks : int array
        The landmarks.
    columns : float array
        The similarity of each object to each landmark.
    unit : float
        All similarities are divided by this before they are estimated.
    executor : Executor
        Shares out the work.
    """

    def __init__(
        self, estimator: Estimator, landmarks: Indices, columns: Floats, unit: float, executor: Executor
    ) -> None:
        self.estimator = estimator
        self._landmarks, self._columns, self._unit = landmarks, columns.astype(np.float32), unit
        self._executor = executor
        self._bars = np.full(len(columns), -np.inf)

    def adapt(self, lists: NeighborLists, spared: float) -> None:
        """Bring the estimates and the bars up to what the lists hold now.

        The bars keep out `spared` of all entries of lists, as a share.
        """
        similarities = lists.similarities / self._unit
        vectors = self.estimator.rows.values
        moved = np.empty_like(vectors)
        known = (self._landmarks, self._columns, lists.indices, similarities.astype(np.float32))
        starts = range(0, len(vectors), CHUNK_ROWS)
        self._executor.run(
            lambda start: move(vectors, *known, start, min(start + CHUNK_ROWS, len(vectors)), moved), starts
        )
        self.estimator = Estimator(moved)
        row, column = np.nonzero(lists.indices >= 0)
        estimates = self.estimator.estimate(row.astype(np.int32), lists.indices[row, column])
        self._bars = similarities[:, -1] - np.quantile(similarities[row, column] - estimates, 1 - spared)

    def passed_by(self, i: Indices, j: Indices) -> Flags:
        """Return whether the estimate of each pair reaches the bar of i[t] or that of j[t]."""
        return self.estimator.estimate(i, j) >= np.minimum(self._bars[i], self._bars[j])


@njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})
def correct(vector, other, similarity):  # type: ignore[no-untyped-def]
    """Move a vector along another one, so that their product comes nearer to a similarity."""
    product, length = np.float32(0), np.float32(0)
    for t in range(vector.size):
        product += vector[t] * other[t]
        length += other[t] * other[t]
    if length > 0:
        factor = np.float32(STEP) * (similarity - product) / length
        for t in range(vector.size):
            vector[t] += factor * other[t]


@njit(cache=True, nogil=True)
def move(vectors, landmarks, columns, indices, similarities, start, stop, moved):  # type: ignore[no-untyped-def]
    """Write into `moved` the vectors of some objects, moved towards where products agree with what is known.

    All vectors move at once. Each makes half of the way, because the vectors of its neighbors come to meet it.
    """
    for x in range(start, stop):
        vector = vectors[x].copy()
        for _ in range(PASSES):
            for t in range(landmarks.size):
                if landmarks[t] != x:
                    correct(vector, vectors[landmarks[t]], columns[x, t])
            for t in range(indices.shape[1]):
                if indices[x, t] >= 0:
                    correct(vector, vectors[indices[x, t]], similarities[x, t])
        moved[x] = (vector + vectors[x]) / np.float32(2)
