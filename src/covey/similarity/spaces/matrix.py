"""The space of a matrix of similarities or distances that the user has computed."""

import sys
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Floats, Indices, Integers
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space
from covey.similarity.sums import Total, added, mean_of, total_of

CHUNK = 1 << 16
"""About how many entries are summed at a time. They take half a megabyte."""


class MatrixSpace(Space):
    """A precomputed similarity, dense or CSR. An entry that a CSR matrix does not store is 0."""

    threaded = True
    screened = True
    cheap = True
    exact_up_to = sys.maxsize  # all similarities are there already and need only be read

    def __init__(self, similarity: Similarity, matrix: Any, square: bool, n_jobs: int | None) -> None:
        n_left, n_right = matrix.shape
        super().__init__(n_left, n_right, symmetric=square and _is_symmetric(matrix), n_jobs=n_jobs)
        self._similarity, self._matrix = similarity, matrix

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        if not i.size:
            return np.empty(0)  # SciPy would return an empty matrix instead of an array
        return self._similarity.convert(np.asarray(self._matrix[i, j], dtype=np.float64))

    def with_itself(self) -> Floats:
        return self._similarity.convert(np.asarray(self._matrix.diagonal(), dtype=np.float64))

    def mean(self, multiplicity: Integers) -> float | None:
        n, step = int(multiplicity.sum()), CHUNK // self.n_right + 1
        totals: list[Total] = []
        for start in range(0, self.n_left, step):
            block: Floats = self.estimates(slice(start, start + step), slice(None))
            every = np.arange(len(block))
            block[every, start + every] *= 1 - 1 / multiplicity[start + every]  # an object makes no pair with itself
            totals.append(total_of(block, multiplicity[start : start + step, None] * multiplicity))
        return mean_of(added(totals), n * (n - 1))

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        block = self._matrix[rows, columns]
        return self._similarity.convert(np.array(block.toarray() if sp.issparse(block) else block, dtype=np.float64))

    def slack(self, rows: slice) -> Floats:
        return np.zeros(len(range(*rows.indices(self.n_left))))

    def estimate_of(self, similarity: float) -> float | None:
        return similarity


def _is_symmetric(matrix: Any) -> bool:
    """Say whether a matrix equals its transpose. It is compared by blocks of rows, which take little memory."""
    if sp.issparse(matrix):
        return (matrix != matrix.T).nnz == 0
    step = 1024
    return all(
        np.array_equal(matrix[start : start + step, start:], matrix[start:, start : start + step].T)
        for start in range(0, len(matrix), step)
    )
