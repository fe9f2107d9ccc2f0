"""Equal objects are one object with a multiplicity.

If they were kept apart, the nearest neighbors of an object would be its own copies: the neighbor graph would fall
apart into groups of copies, and a cluster full of them would need a representative for every few rows. So the copies
are merged before the graph is made, and count with their number in everything that follows.

What is equal depends on what the similarity sees:

- Rows of numbers, sets and dicts under a named similarity are equal if their numbers are; under cosine also if one row
  is a positive multiple of the other, up to the rounding of float64 (of float32 rows only if the multiple is exact), or
  both are zero.
- Rows and columns of a precomputed matrix are equal if all their numbers are, and the objects are similar to
  themselves: rows without any similarity say nothing.
- Any other objects are equal if they are of one type, can be hashed, and are equal in Python's sense; containers and
  arrays if their parts are. What cannot be hashed is equal only to itself.

Rows are compared by a hash of their numbers first, and then number by number, so that no hash can merge what differs.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Integers, Positions

Hashes = NDArray[np.uint64]

CHUNK_ROWS = 4096
"""Rows are compared so many at a time, so that their copies take little memory."""
SAME_DIRECTION = 1e10
"""Rows scaled to a largest number of 1 are compared in units of 1 / this: rows that agree in them have cosine 1."""


@dataclass(frozen=True)
class Distinct:
    """Which objects are equal.

    `first` holds the position of the first object of each kind, ascending; `kind` the kind of each object, as a place
    in `first`.
    """

    first: Positions
    kind: Positions

    @property
    def multiplicity(self) -> Integers:
        """How many objects there are of each kind."""
        return np.bincount(self.kind, minlength=self.first.size)


def distinct_rows(rows: Any, up_to_length: bool = False) -> Distinct:
    """Which rows of an array or a CSR array are equal, or at least point in the same direction (`up_to_length`)."""
    return _distinct_rows(_Rows(rows, scaled=up_to_length))


def distinct_objects(objects: Sequence[Any]) -> Distinct:
    """Which objects are of one type and equal in Python's sense."""
    held = list(objects)  # as long as keys are made, since some objects are told apart by their id
    return _distinct_keys(list(map(_key, held)))


class _Rows:
    """Rows in a form in which equal rows have equal numbers: a chunk at a time, dense or as CSR."""

    def __init__(self, rows: Any, scaled: bool) -> None:
        if sp.issparse(rows):
            rows = sp.csr_array(rows, copy=not rows.has_canonical_format)
            rows.sum_duplicates()
        self.n, self._rows, self._scaled = rows.shape[0], rows, scaled

    def chunk(self, positions: Any) -> Any:
        rows = self._rows[positions]
        # Whole numbers and dates stay exact; every number takes eight bytes.
        rows = rows.astype(np.int64 if rows.dtype.kind in "biumM" and not self._scaled else np.float64)
        if not sp.issparse(rows):
            return self._normal(rows, np.abs(rows).max(axis=1)[:, None] if self._scaled else None)
        rows.eliminate_zeros()
        largest = abs(rows).max(axis=1).toarray().ravel() if self._scaled else np.empty(rows.shape[0])
        rows.data = self._normal(rows.data, np.repeat(largest, np.diff(rows.indptr)))
        return rows

    def _normal(self, values: NDArray[Any], largest: Any) -> NDArray[Any]:
        if self._scaled:
            values /= np.where(largest > 0, largest, 1.0)
            values *= SAME_DIRECTION
            np.rint(values, out=values)
        values += values.dtype.type(0)  # -0 is 0
        return values

    def hashes(self) -> Hashes:
        return _in_chunks(self.n, lambda chunk: _hash(self.chunk(chunk)))

    def equal(self, a: Positions, b: Positions) -> Flags:
        return _in_chunks(a.size, lambda chunk: _all_equal(self.chunk(a[chunk]), self.chunk(b[chunk])))


def _distinct_rows(rows: _Rows) -> Distinct:
    return _verified(_distinct_hashes(rows.hashes()), rows.equal)


def distinct_in_matrix(matrix: Any, of_distances: bool) -> Distinct:
    """Which objects have equal rows and equal columns, and are similar to themselves, or at no distance."""
    across, down = _Rows(matrix, scaled=False), _Rows(matrix.T, scaled=False)
    itself = matrix.diagonal()
    least = matrix.min(axis=1)
    least = least.toarray().ravel() if sp.issparse(least) else least
    alike = itself == 0 if of_distances else (itself > 0) | (itself > least)

    def equal(a: Positions, b: Positions) -> Flags:
        return alike[a] & across.equal(a, b) & down.equal(a, b)

    return _verified(_distinct_hashes(across.hashes() * np.uint64(3) + down.hashes()), equal)


def _distinct_hashes(hashes: Hashes) -> Distinct:
    _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
    return _in_order(first, kind)


def _verified(found: Distinct, equal: Callable[[Positions, Positions], Flags]) -> Distinct:
    """Objects that only seem to be equal to the first of their kind become kinds of their own."""
    if found.first.size == found.kind.size:
        return found
    later = np.setdiff1d(np.arange(found.kind.size), found.first, assume_unique=True)
    wrong = later[~equal(later, found.first[found.kind[later]])]
    kind = found.kind.copy()
    kind[wrong] = found.first.size + np.arange(wrong.size)
    return _in_order(np.concatenate([found.first, wrong]), kind)


def _distinct_keys(keys: list[Any]) -> Distinct:
    places: dict[Any, int] = {}
    kind = np.array([places.setdefault(key, len(places)) for key in keys])
    return _in_order(np.unique(kind, return_index=True)[1], kind)


def _in_order(first: Positions, kind: Positions) -> Distinct:
    """Number the kinds by their first objects."""
    order = np.argsort(first)
    number = np.empty(order.size, dtype=np.intp)
    number[order] = np.arange(order.size)
    return Distinct(first[order], number[kind])


def _key(value: Any) -> Any:
    """What equal objects have in common and others do not: something that can be looked up in a dict."""
    try:
        if isinstance(value, np.ndarray | np.void):
            parts = _key(value.tolist()) if value.dtype.hasobject else value.tobytes()
            return (type(value), value.dtype, value.shape, parts)
        if isinstance(value, list | tuple):
            return (type(value), tuple(map(_key, value)))
        if isinstance(value, AbstractSet):
            return (type(value), frozenset(map(_key, value)))
        if isinstance(value, dict):
            return (type(value), frozenset((_key(key), _key(item)) for key, item in value.items()))
        hash(value)
    except (TypeError, RecursionError):
        return (id(value),)
    return (type(value), value)


def _in_chunks(n: int, function: Callable[[slice], NDArray[Any]]) -> NDArray[Any]:
    parts = [function(slice(at, at + CHUNK_ROWS)) for at in range(0, n, CHUNK_ROWS)]
    return np.concatenate(parts)


def _hash(rows: Any) -> Hashes:
    if not sp.issparse(rows):
        starts = np.arange(0, rows.size + 1, rows.shape[1])
        return hash_runs(np.ascontiguousarray(rows).ravel().view(np.uint64), starts)
    columns = rows.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    return hash_runs(rows.data.view(np.uint64) ^ columns, rows.indptr)


def _all_equal(a: Any, b: Any) -> Flags:
    if not sp.issparse(a):
        # Bits are compared, not numbers: what is no number is the same only to itself.
        return np.asarray((a.view(np.uint64) == b.view(np.uint64)).all(axis=1))
    different = (a != b).sum(axis=1)
    return np.asarray(np.asarray(different).ravel() == 0)


@njit(cache=True, nogil=True)
def hash_runs(numbers, starts):  # type: ignore[no-untyped-def]
    """A hash of the numbers from starts[t] up to starts[t + 1], in their order."""
    hashes = np.empty(starts.size - 1, dtype=np.uint64)
    for t in range(hashes.size):
        value = np.uint64(0xCBF29CE484222325)
        for at in range(starts[t], starts[t + 1]):
            value = (value ^ numbers[at]) * np.uint64(0xBF58476D1CE4E5B9)
            value ^= value >> np.uint64(29)
        hashes[t] = value
    return hashes
