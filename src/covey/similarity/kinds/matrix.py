"""Objects of which only a matrix of their similarities or distances is known, which the user has computed.

A part of the objects keeps the matrix of all, to be compared with other parts. The representatives of a classifier are
columns: queries are rows of similarities to all objects of the fit.
"""

import sys
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Floats, Hashes, Indices, Integers, Positions
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_in_matrix
from covey.similarity.fingerprint import code_fingerprint
from covey.similarity.inputs import check_input, check_rows, first_marked, looks_like_distances
from covey.similarity.similarity import LARGEST, Similarity
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

    def __init__(self, similarity: Similarity, matrix: Any, *, square: bool, n_jobs: int | None) -> None:
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
    """Return whether a matrix equals its transpose. It is compared by blocks of rows, which take little memory."""
    if sp.issparse(matrix):
        return (matrix != matrix.T).nnz == 0
    step = 1024
    return all(
        np.array_equal(matrix[start : start + step, start:], matrix[start:, start : start + step].T)
        for start in range(0, len(matrix), step)
    )


class MatrixCollection(Collection):
    """Objects of which only a square matrix of their similarities or distances is known.

    `whole` is the matrix of all objects of X. A part of the objects keeps it, to be compared with other parts.
    """

    def __init__(
        self,
        similarity: Similarity,
        objects: Any,
        rows: Positions | None = None,
        given: Any = None,
        whole: Any = None,
    ) -> None:
        super().__init__(similarity, objects, rows, given)
        self._whole = objects if whole is None else whole

    def __reduce__(self) -> Any:
        return type(self), (self.similarity, self.objects, self.rows, None, self._whole)

    @classmethod
    def of(cls, X: Any, similarity: Similarity, estimator: Any = None) -> "MatrixCollection":
        """Check X and make a collection of it."""
        matrix = check_rows(X, estimator)
        _check_entries(matrix, similarity)
        _check_matrix(matrix, similarity)
        return cls(similarity, matrix, given=X)

    def alone(self) -> "MatrixCollection":
        return type(self)(self.similarity, self.objects, self.rows)

    def representatives(self, positions: Positions) -> "MatrixColumns":
        return MatrixColumns(self.similarity, self.rows[positions], n_columns=len(self))

    @property
    def n_columns(self) -> int:
        return int(self.objects.shape[1])

    def against(self, others: Self, n_jobs: int | None = None) -> MatrixSpace:
        if others is self:
            return MatrixSpace(self.similarity, self.objects, square=True, n_jobs=n_jobs)
        part = self._whole[np.ix_(self.rows, others.rows)]
        return MatrixSpace(self.similarity, part, square=False, n_jobs=n_jobs)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> MatrixSpace:
        return self.representatives(np.arange(len(self))).space_of_queries(X, estimator, n_jobs)

    def distinct(self) -> Distinct:
        return distinct_in_matrix(self.objects, of_distances=self.similarity.conversion is not None)

    def content_hashes(self) -> Hashes:
        raise TypeError(
            "Objects of a precomputed matrix have no content of their own that can be hashed; pass the objects and a "
            "similarity that compares them."
        )

    def fingerprint(self) -> str:
        matrix = self.objects
        entries = [matrix.data, matrix.indices, matrix.indptr] if sp.issparse(matrix) else [matrix]
        return code_fingerprint(self.rows, entries)

    def _joined(self, parts: Sequence[Collection]) -> Collection:
        raise TypeError(
            "Objects of different precomputed matrices cannot be joined, because nothing says how similar they are to "
            "each other; pass one matrix of all objects."
        )

    def _take(self, positions: Positions) -> Self:
        part = self.objects[np.ix_(positions, positions)]
        return type(self)(self.similarity, part, self.rows[positions], whole=self._whole)


class MatrixColumns:
    """Representatives of which only their columns in the rows of queries are known.

    `objects` holds these columns. They are the rows of the representatives in the matrix that was passed to `fit`.
    """

    nothing_in_common = None

    def __init__(self, similarity: Similarity, objects: Positions, n_columns: int) -> None:
        self._similarity, self.objects, self._n_columns = similarity, objects, n_columns

    def prepared(self) -> Self:
        return self

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> MatrixSpace:
        X = check_input(X)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != self._n_columns:
            raise ValueError(
                f"X must have one column for each of the {self._n_columns} objects passed to fit when similarities "
                f"are precomputed, got {shape[1]} columns."
            )
        queries = check_rows(X, estimator, compared=True)
        _check_entries(queries, self._similarity)
        return MatrixSpace(self._similarity, queries[:, self.objects], square=False, n_jobs=n_jobs)


def _check_entries(matrix: Any, similarity: Similarity) -> None:
    """Refuse entries that neither the matrix of a fit nor the rows of queries may hold."""
    if similarity.conversion is not None:
        if sp.issparse(matrix):
            raise TypeError(
                "X must be a dense matrix for precomputed distances, since 0 is a distance, too; "
                "pass a sparse one as graph=covey.NeighborGraph.from_csr(X, from_distance='inverse')."
            )
        if matrix.min() < 0:
            raise ValueError(f"X must not hold negative numbers as precomputed distances, got {matrix.min()}.")
    if matrix.max() >= LARGEST or matrix.min() <= -LARGEST:
        value, where = first_marked(matrix, np.abs(matrix.data if sp.issparse(matrix) else matrix) >= LARGEST)
        raise ValueError(
            f"X must hold numbers below {LARGEST:g} in magnitude when it is precomputed, so that they can be "
            f"computed with, got {value} at {where}; scale X down."
        )


def _check_matrix(matrix: Any, similarity: Similarity) -> None:
    """Refuse a matrix that is not square, and one of distances that is called one of similarities."""
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(
            "X must be a square matrix for similarity='precomputed', one row and one column for each object, "
            f"got shape {matrix.shape}."
        )
    if similarity.conversion is None and looks_like_distances(matrix):
        raise ValueError(
            "X looks like distances: its diagonal is smaller than the rest, but similarity='precomputed' means larger "
            "is closer; pass covey.from_distance('precomputed'), or fill the diagonal if these are similarities."
        )
