"""The seam: objects and a similarity, asked by index.

Everything to the right of this module (graphs, coverage, classification) knows indices, not data. It asks a `Space`
to `score` aligned arrays of indices, i on the left side and j on the right; both sides are the same objects for a
cluster, queries and representatives for a classifier. Evaluations are counted here, once, exactly.

A space that can be screened also gives `estimates` of whole blocks by matrix products. They only decide which pairs
are worth scoring: whatever the block size or the BLAS, the scores themselves come from `score`.
"""

import sys
import threading
from abc import ABC, abstractmethod
from array import array
from functools import lru_cache
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._bounds import SHORTEST, WIDEST, Bounds
from covey._pool import Pool
from covey.objects import Objects, count
from covey.rows import CsrRows, DenseRows, rows_of
from covey.similarity import Similarity

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Positions = NDArray[np.intp]

CHUNK = 1 << 16
"""The most pairs of Python objects held in lists at a time."""


class Space(ABC):
    """Objects on two sides whose similarity is asked by index.

    Attributes
    ----------
    n_left, n_right : int
        How many objects each side has.
    symmetric : bool
        Both sides are the same objects and s(i, j) = s(j, i).
    threaded : bool
        `score` may be called by several threads at once, and gains from it.
    screened : bool
        `estimates` and `slack` are there.
    cheap : bool
        A score takes no longer than the bookkeeping around it.
    hubs : bool
        A few objects tend to be near to very many: neighbors of neighbors lead to them, and seldom past them.
    exact_up_to : int
        Up to so many objects all pairs are scored about as fast as the few that NN-Descent needs.
    n_evaluations : int
        How many similarities were computed so far.
    n_expected : int or None
        How many there will be in all, once somebody knows.
    """

    threaded = False
    screened = False
    cheap = False
    hubs = False
    exact_up_to = 0

    def __init__(self, n_left: int, n_right: int, symmetric: bool) -> None:
        self.n_left, self.n_right, self.symmetric = n_left, n_right, symmetric
        self.n_evaluations = 0
        self.n_expected: int | None = None
        self._lock = threading.Lock()
        self._of_copies: Floats | None = None

    def score(self, i: Indices, j: Indices, counted: bool = True) -> Floats:
        """The similarities s(left[i[t]], right[j[t]]); not counted if they were when they were estimated."""
        values = self._evaluate(i, j)
        if counted:
            self.count(i.size)
        return values

    def count(self, evaluations: int) -> None:
        with self._lock:
            self.n_evaluations += evaluations

    def n_done(self) -> int:
        """How many similarities were computed, those of a call under way included: for whoever shows progress."""
        return self.n_evaluations

    @property
    def n_pairs(self) -> int:
        """All the evaluations there are between different objects of one side."""
        ordered = self.n_left * (self.n_left - 1)
        return ordered // 2 if self.symmetric else ordered

    @property
    def scan_rate(self) -> float:
        return self.n_evaluations / max(self.n_pairs, 1)

    def with_itself(self) -> Floats:
        """s(i, i) for each object, where it is known without an evaluation; else 1."""
        return np.ones(self.n_left)

    def of_copies(self, i: Indices) -> Floats:
        """s(i[t], i[t]): how similar two copies of an object are, evaluated when it is first asked for."""
        if self._of_copies is None:
            self._of_copies = np.full(self.n_left, np.nan)
        missing = i[np.isnan(self._of_copies[i])]
        if missing.size:
            self._of_copies[missing] = self.score(missing, missing)
        return self._of_copies[i]

    def mean(self, multiplicity: NDArray[np.int64]) -> float | None:
        """The exact mean similarity of two objects, each there so many times, if it costs no evaluations."""
        return None

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Numbers that order the columns within each row as `score` does, up to the row's `slack`."""
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def slack(self, rows: slice) -> Floats:
        """How far the `estimates` of each row may be off."""
        raise TypeError(f"{type(self).__name__} has no estimates.")

    def bounds(self, n_jobs: int | None) -> Bounds | None:
        """Upper bounds of scores that are much cheaper than scores, if there are any."""
        return None

    @abstractmethod
    def _evaluate(self, i: Indices, j: Indices) -> Floats: ...


class RowSpace(Space):
    """A named similarity on dense or CSR rows: compiled, threaded, screened where matrix products help."""

    threaded = True
    cheap = True

    def __init__(self, similarity: Similarity, left: DenseRows | CsrRows, right: Any, square: bool) -> None:
        super().__init__(left.n, right.n, symmetric=square)
        self._similarity, self._measure, self._left, self._right = similarity, similarity.measure, left, right
        self.hubs = isinstance(left, CsrRows)
        # exp(-d) of far objects is 0: they tie, and a tie goes by index, which no estimate of d foresees.
        self.screened = self._measure.estimate is not None and similarity.conversion != "exponential"
        if self.screened:
            self.exact_up_to = 10_000 if isinstance(left, DenseRows) else 20_000
        self._left_terms = self._terms(left)
        self._right_terms = self._left_terms if right is left else self._terms(right)

    def _terms(self, rows: DenseRows | CsrRows) -> Floats:
        if self._measure.term is None:
            return np.zeros(rows.n)
        terms = rows.with_itself(self._measure.term)
        # Squared lengths are multiplied with each other, and must not lose their digits in products of the rows' type.
        info = np.finfo(rows.values.dtype)
        self._refuse(rows, np.flatnonzero(~(terms < min(1e150, float(info.max) / 4))), "large", "down")
        if self._measure.name == "cosine":  # they are divided by, too
            short = np.flatnonzero(terms < max(1e-150, float(info.tiny) / float(info.eps)))
            self._refuse(rows, short[rows.nonzero(short)], "small", "up")
        return terms

    def _refuse(self, rows: DenseRows | CsrRows, wrong: Positions, extreme: str, remedy: str) -> None:
        if wrong.size:
            raise ValueError(
                f"X holds numbers too {extreme} for {rows.values.dtype} arithmetic, first in row {wrong[0]}; "
                f"scale X {remedy}."
            )

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        sums = self._left.sums(self._measure.statistic, i, self._right, j)
        values = self._measure.finish(sums, self._left_terms[i], self._right_terms[j], self._left.width)
        return self._similarity.convert(values)

    def with_itself(self) -> Floats:
        return self._similarity.convert(self._measure.with_itself(self._left_terms))

    def mean(self, multiplicity: NDArray[np.int64]) -> float | None:
        """For cosine and dot the pairs' sum is |sum of rows|^2 less the rows' own squares: O(n d)."""
        if self._measure.name not in ("cosine", "dot"):
            return None
        n, weights, own = int(multiplicity.sum()), multiplicity.astype(np.float64), self._left_terms
        if self._measure.name == "cosine":
            weights *= np.divide(1.0, np.sqrt(own), out=np.zeros_like(own), where=own > 0)
            own = (own > 0).astype(np.float64)
        total = self._left.weighted_sum(weights)
        return float((total @ total - multiplicity @ own) / (n * (n - 1)))

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        assert self._measure.estimate is not None
        products = self._left.products(rows, self._right, columns)
        return self._measure.estimate(products, self._left_terms[rows], self._right_terms[columns])

    def slack(self, rows: slice) -> Floats:
        assert self._measure.slack is not None
        rounding = max(self._left.rounding, self._right.rounding, key=lambda rounding: rounding.relative)
        return self._measure.slack(rounding, self._left_terms[rows], self._right_terms)

    def bounds(self, n_jobs: int | None) -> Bounds | None:
        if not (self.screened and isinstance(self._left, DenseRows) and self._left.width <= WIDEST):
            return None
        small = np.flatnonzero(self._left_terms < SHORTEST**2)
        if self._left.nonzero(small).any():
            return None
        return Bounds(self._similarity, self._left, self._left_terms, n_jobs)


class RenumberedSpace(Space):
    """The objects of a square space under other numbers: t for its order[t]. That space counts."""

    def __init__(self, space: Space, order: Indices) -> None:
        super().__init__(space.n_left, space.n_right, space.symmetric)
        self.threaded, self.cheap = space.threaded, space.cheap
        self._space, self._order = space, order

    def count(self, evaluations: int) -> None:
        self._space.count(evaluations)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self._space._evaluate(self._order[i], self._order[j])


class MatrixSpace(Space):
    """A precomputed similarity, dense or CSR; what a CSR matrix does not store is 0."""

    threaded = True
    screened = True
    cheap = True
    exact_up_to = sys.maxsize  # reading is all there is to it

    def __init__(self, similarity: Similarity, matrix: Objects, square: bool) -> None:
        super().__init__(matrix.shape[0], matrix.shape[1], symmetric=square and _is_symmetric(matrix))
        self._similarity, self._matrix = similarity, matrix

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        if not i.size:
            return np.empty(0)  # SciPy would answer with an empty matrix
        return self._similarity.convert(np.asarray(self._matrix[i, j], dtype=np.float64))

    def with_itself(self) -> Floats:
        return self._similarity.convert(np.asarray(self._matrix.diagonal(), dtype=np.float64))

    def mean(self, multiplicity: NDArray[np.int64]) -> float | None:
        n, total, step = int(multiplicity.sum()), 0.0, CHUNK // self.n_right + 1
        for at in range(0, self.n_left, step):
            block: Floats = self.estimates(slice(at, at + step), slice(None)) * multiplicity
            every = np.arange(len(block))
            block[every, at + every] *= 1 - 1 / multiplicity[at + every]  # an object makes no pair with itself
            total += float((block.sum(axis=1) * multiplicity[at : at + step]).sum())
        return total / (n * (n - 1))

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        block = self._matrix[rows, columns]
        return self._similarity.convert(np.array(block.toarray() if sp.issparse(block) else block, dtype=np.float64))

    def slack(self, rows: slice) -> Floats:
        return np.zeros(len(range(*rows.indices(self.n_left))))


class FunctionSpace(Space):
    """Objects scored by a user's function; where each object came from is kept to name it in errors."""

    def __init__(
        self,
        similarity: Similarity,
        left: Objects,
        right: Objects,
        left_rows: Positions,
        right_rows: Positions,
        square: bool,
        n_jobs: int | None,
    ) -> None:
        super().__init__(count(left), count(right), symmetric=square and similarity.symmetric)
        self._under_way = 0
        self._pool = None if self.threaded else Pool(n_jobs)
        self._similarity, self._left, self._right = similarity, left, right
        self._left_rows, self._right_rows = left_rows, right_rows
        self._left_noun = "object" if square else "query"

    def with_itself(self) -> Floats:
        if self._similarity.conversion is None:
            return np.ones(self.n_left)
        return self._similarity.convert(np.zeros(self.n_left))

    def n_done(self) -> int:
        return self.n_evaluations + self._under_way

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        self._under_way = 0
        values = self._call(i, j) if self._pool is None else self._pool.call(self, i, j)
        self._under_way = 0
        bad = ~np.isfinite(values)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise ValueError(self._complaint(i[at], j[at], f"returned {values[at]}"))
        if self._similarity.conversion is not None and values.size and values.min() < 0:
            at = int(np.argmin(values))
            raise ValueError(
                f"The distance of {self._name(i[at], j[at])} is {values[at]}, but a distance must not be negative; "
                "pass a similarity without covey.from_distance."
            )
        return self._similarity.convert(values)

    @abstractmethod
    def _call(self, i: Indices, j: Indices) -> Floats:
        """The function's own values."""

    def __getstate__(self) -> dict[str, Any]:
        """What a worker process needs: neither lock nor pool."""
        return {key: value for key, value in vars(self).items() if key not in ("_lock", "_pool")}

    def _name(self, i: int, j: int) -> str:
        return f"{self._left_noun} {self._left_rows[i]} and object {self._right_rows[j]}"

    def _complaint(self, i: int, j: int, what: str) -> str:
        return (
            f"The similarity of {self._name(i, j)} {what}, but it must be one finite real number; "
            "mend the similarity function or leave these objects out."
        )

    def _failure(self, i: int, j: int, error: Exception) -> RuntimeError:
        return RuntimeError(f"The similarity of {self._name(i, j)} raised {_brief(error)}.")


class ObjectSpace(FunctionSpace):
    """Any objects under a plain Python function, called once a pair."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._values = array("d")  # of the chunk under way
        self._left_objects = _object_array(self._left)
        self._right_objects = self._left_objects if self._right is self._left else _object_array(self._right)

    def n_done(self) -> int:
        return super().n_done() + len(self._values)

    def _call(self, i: Indices, j: Indices) -> Floats:
        chunks = [self._call_chunk(i[at : at + CHUNK], j[at : at + CHUNK]) for at in range(0, i.size, CHUNK)]
        return np.concatenate(chunks) if chunks else np.empty(0)

    def _call_chunk(self, i: Indices, j: Indices) -> Floats:
        values = self._values = array("d")  # keeps the results before a failing pair, so their number tells its place
        try:
            values.extend(map(self._similarity.function, self._left_objects.take(i), self._right_objects.take(j)))
        except Exception as error:
            raise self._trouble(i[len(values)], j[len(values)], error) from error
        if len(values) < i.size:  # `extend` takes this one for the end of its input
            raise self._failure(i[len(values)], j[len(values)], StopIteration())
        self._values = array("d")
        self._under_way += i.size
        return np.frombuffer(values)

    def _trouble(self, i: int, j: int, error: Exception) -> Exception:
        """Whether the function failed or its result is no number is told by calling it again."""
        try:
            result = self._similarity.function(self._left_objects[i], self._right_objects[j])
        except Exception:
            return self._failure(i, j, error)
        if isinstance(result, Real):  # it has failed once, and not again
            return self._failure(i, j, error)
        shown = "None" if result is None else f"{type(result).__name__} {result!r}"
        return TypeError(self._complaint(i, j, f"returned {shown}"))


class BatchSpace(FunctionSpace):
    """Any objects under a function that scores many pairs at once."""

    def _call(self, i: Indices, j: Indices) -> Floats:
        size = self._similarity.batch_size
        values = np.empty(i.size)
        for at in range(0, i.size, size):
            batch = slice(at, at + size)
            values[batch] = self._call_batch(i[batch], j[batch])
            self._under_way += i[batch].size
        return values

    def _call_batch(self, i: Indices, j: Indices) -> Floats:
        span = f"in the batch of {i.size} pairs from {self._name(i[0], j[0])} on"
        try:
            result = self._similarity.function(_pick(self._left, i), _pick(self._right, j))
        except Exception as error:
            raise RuntimeError(f"The batched similarity raised {_brief(error)}, {span}.") from error
        values = np.asarray(result)
        if values.shape != (i.size,) or values.dtype.kind not in "fiub":
            raise TypeError(
                f"A batched similarity must return one real number a pair, {i.size} in all, {span}; "
                f"got an array of shape {values.shape} and dtype {values.dtype}; a function of a single pair needs no "
                "covey.batched."
            )
        return values.astype(np.float64, copy=False)


class CompiledSpace(FunctionSpace):
    """Rows under a function compiled by numba: the loop over pairs is compiled around it."""

    threaded = True

    def _call(self, i: Indices, j: Indices) -> Floats:
        values = np.full(i.size, np.nan)
        try:
            if isinstance(self._left, np.ndarray):
                _dense_loop(self._similarity.function)(self._left, self._right, i, j, values)
            else:
                a, b = self._left, self._right
                loop = _csr_loop(self._similarity.function)
                loop(a.indptr, a.indices, a.data, b.indptr, b.indices, b.data, i, j, values)
        except Exception as error:
            if type(error).__module__.startswith("numba"):
                raise TypeError(
                    "similarity does not compile on these rows; a numba function takes two rows f(x, y), or, if X is "
                    f"CSR, f(columns_x, values_x, columns_y, values_y), and returns a number: {_brief(error)}."
                ) from error
            failed = int(np.flatnonzero(~np.isnan(values)).max(initial=-1)) + 1  # pairs are filled in order
            raise self._failure(i[failed], j[failed], error) from error
        return values


@lru_cache(maxsize=64)
def _dense_loop(function: Any) -> Any:
    from numba import njit

    @njit(nogil=True)
    def loop(left, right, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            out[t] = function(left[i[t]], right[j[t]])

    return loop


@lru_cache(maxsize=64)
def _csr_loop(function: Any) -> Any:
    from numba import njit

    @njit(nogil=True)
    def loop(a_starts, a_columns, a_values, b_starts, b_columns, b_values, i, j, out):  # type: ignore[no-untyped-def]
        for t in range(i.size):
            a = slice(a_starts[i[t]], a_starts[i[t] + 1])
            b = slice(b_starts[j[t]], b_starts[j[t] + 1])
            out[t] = function(a_columns[a], a_values[a], b_columns[b], b_values[b])

    return loop


def space_of(
    objects: Objects,
    similarity: Similarity,
    rows: Positions | None = None,
    against: Objects | None = None,
    against_rows: Positions | None = None,
    n_jobs: int | None = None,
) -> Space:
    """Objects among themselves, or `objects` (queries) `against` others; `rows` tell where they came from.

    `n_jobs` processes call a plain Python function; compiled ones leave threads to their callers.
    """
    square = against is None
    right = objects if square else against
    if similarity.kind == "matrix":
        return MatrixSpace(similarity, objects, square)
    if similarity.kind == "rows":
        return RowSpace(similarity, *rows_of(objects, right, similarity.measure), square)
    rows = np.arange(count(objects)) if rows is None else rows
    against_rows = rows if square or against_rows is None else against_rows
    space: type[FunctionSpace] = BatchSpace
    if similarity.kind == "objects":
        compiled = _is_compiled(similarity.function) and not isinstance(objects, list)
        space = CompiledSpace if compiled else ObjectSpace
    return space(similarity, objects, right, rows, against_rows, square, n_jobs)


def _brief(error: Exception) -> str:
    """An error in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return ": ".join([type(error).__name__, *lines[:1]])


def _is_compiled(function: Any) -> bool:
    """Told without importing numba, which a plain callable does not need."""
    return type(function).__module__.startswith("numba.") and hasattr(function, "py_func")


def _is_symmetric(matrix: Objects) -> bool:
    if sp.issparse(matrix):
        return (matrix != matrix.T).nnz == 0
    step = 1024
    return all(
        np.array_equal(matrix[at : at + step, at:], matrix[at:, at : at + step].T) for at in range(0, len(matrix), step)
    )


def _object_array(objects: Objects) -> NDArray[np.object_]:
    """Each object (row) as one entry: the fastest way to pick many of them."""
    array = np.empty(count(objects), dtype=object)
    for row in range(array.size):
        array[row] = objects[[row]] if sp.issparse(objects) else objects[row]
    return array


def _pick(objects: Objects, positions: Indices) -> Any:
    return [objects[p] for p in positions] if isinstance(objects, list) else objects[positions]
