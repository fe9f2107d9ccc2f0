"""Equal objects are merged into one object with a multiplicity.

If they were kept apart, the nearest neighbors of an object would be its own copies. The neighbor graph would then fall
apart into groups of copies, and a cluster full of copies would need a representative for every few rows. So copies are
merged before the graph is made. They count with their number in everything that follows.

Which objects are equal depends on what the similarity sees:

- Rows of numbers, sets and dicts under a named similarity are equal if their numbers are. Under cosine two rows are
  also equal if both are zero, or if one is a positive multiple of the other. The multiple may be rounded to float64;
  that of float32 rows must be exact.
- Objects of a precomputed matrix are equal if their rows and columns are, and if they are similar to themselves. Rows
  without any similarity say nothing about their objects.
- Any other objects are equal if they have one type, can be hashed, and are equal in Python's sense. Containers and
  arrays are equal if their parts are. An object that cannot be hashed is equal only to itself.

Rows are first compared by a hash of their numbers and then number by number, so that equal hashes never merge rows that
differ.
"""

from collections.abc import Callable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numba import njit
from numpy.typing import NDArray

from covey.arrays import Flags, Hashes, Integers, Positions
from covey.similarity.hash_table import scrambled

CHUNK_ROWS = 4096
"""How many rows are compared at a time. The copies that a comparison makes then take little memory."""
EXACT = 2**53
"""Whole numbers up to this magnitude are exact in double precision, which has 53 binary digits."""
SAME_DIRECTION = 1e10
"""Rows are scaled to a largest number of 1 and compared after rounding to multiples of 1 / this. Rows that agree in all
of these differ by so little that their cosine is 1."""


@dataclass(frozen=True)
class Distinct:
    """Which of several objects are equal. Equal objects are of one kind.

    `first` holds the position of the first object of each kind, in ascending order. `kind` holds the kind of each
    object, as a position in `first`.
    """

    first: Positions
    kind: Positions

    @property
    def multiplicity(self) -> Integers:
        """How many objects there are of each kind."""
        return np.bincount(self.kind, minlength=self.first.size)

    def among(self, positions: Positions) -> "Distinct":
        """Return which of the objects at these positions are equal."""
        _, first, kind = np.unique(self.kind[positions], return_index=True, return_inverse=True)
        order = np.argsort(first)
        return Distinct(first[order], np.argsort(order)[kind])


def distinct_rows(rows: Any, *, up_to_length: bool = False) -> Distinct:
    """Find out which rows of an array or a CSR array are equal.

    With `up_to_length`, rows that point in the same direction are equal.
    """
    return _distinct_rows(_ComparableRows(rows, scaled=up_to_length))


def row_hashes(rows: Any, *, up_to_length: bool = False, column_hashes: Hashes | None = None) -> Hashes:
    """Return a hash of each row of an array or a CSR array. Rows that `distinct_rows` merges have equal hashes.

    The hashes are the same for all types of numbers, if whole numbers are not larger than 2^53 and
    dates have one unit. A dense row and a CSR row may have different hashes. If hashes of the columns of CSR rows are
    given, these count instead of the numbers of the columns, and their order does not matter.
    """
    normal = _ComparableRows(rows, scaled=up_to_length)
    hash_chunk = _hash if column_hashes is None else partial(_hash_in_any_order, column_hashes=column_hashes)
    return _in_chunks(normal.n, lambda chunk: scrambled(hash_chunk(_as_bits(normal.chunk(chunk)))))


def distinct_objects(objects: Sequence[Any]) -> Distinct:
    """Find out which objects have one type and are equal in Python's sense."""
    held = list(objects)  # keeps the objects alive while keys are made: some keys are ids, which Python may use again
    return _distinct_keys(list(map(_key, held)))


class _ComparableRows:
    """Rows in a form in which equal rows have equal bits. They are made a chunk at a time, dense or as CSR."""

    def __init__(self, rows: Any, *, scaled: bool) -> None:
        if sp.issparse(rows):
            rows = sp.csr_array(rows, copy=not rows.has_canonical_format)
            rows.sum_duplicates()
        self.n, self._rows, self._scaled = rows.shape[0], rows, scaled

    def chunk(self, positions: Any) -> Any:
        """Return some rows in this form."""
        rows = self._rows[positions]
        # Integers and dates stay exact. Every number takes eight bytes, which the hash relies on.
        rows = rows.astype(np.int64 if rows.dtype.kind in "biumM" and not self._scaled else np.float64)
        if not sp.issparse(rows):
            return self._normal(rows, np.abs(rows).max(axis=1)[:, None] if self._scaled else None)
        rows.eliminate_zeros()
        largest = abs(rows).max(axis=1).toarray().ravel() if self._scaled else np.empty(rows.shape[0])
        rows.data = self._normal(rows.data, np.repeat(largest, np.diff(rows.indptr)))
        return rows

    def _normal(self, values: NDArray[Any], largest: Any) -> NDArray[Any]:
        """Bring numbers into this form, in place.

        Each is scaled by the `largest` number of its row if rows are compared by direction.
        """
        if self._scaled:
            values /= np.where(largest > 0, largest, 1.0)
            values *= SAME_DIRECTION
            np.rint(values, out=values)
        values += values.dtype.type(0)  # turns -0 into 0, which has other bits
        return values

    def hashes(self) -> Hashes:
        """Return a hash of each row."""
        return _in_chunks(self.n, lambda chunk: _hash(self.chunk(chunk)))

    def equal(self, a: Positions, b: Positions) -> Flags:
        """Return for each pair of rows (a[t], b[t]) whether they are equal."""
        return _in_chunks(a.size, lambda chunk: _all_equal(self.chunk(a[chunk]), self.chunk(b[chunk])))


def _distinct_rows(rows: _ComparableRows) -> Distinct:
    """Group rows by their hashes, and then compare the rows of each group."""
    return _verified(_distinct_hashes(rows.hashes()), rows.equal)


def distinct_in_matrix(matrix: Any, *, of_distances: bool) -> Distinct:
    """Find out which objects of a matrix have equal rows and equal columns.

    They must also be similar to themselves, or have distance 0 to themselves.
    """
    across, down = _ComparableRows(matrix, scaled=False), _ComparableRows(matrix.T, scaled=False)
    itself = matrix.diagonal()
    least = matrix.min(axis=1)
    least = least.toarray().ravel() if sp.issparse(least) else least
    alike = itself == 0 if of_distances else (itself > 0) | (itself > least)

    def equal(a: Positions, b: Positions) -> Flags:
        return alike[a] & across.equal(a, b) & down.equal(a, b)

    return _verified(_distinct_hashes(across.hashes() * np.uint64(3) + down.hashes()), equal)


def _distinct_hashes(hashes: Hashes) -> Distinct:
    """Group objects by their hashes."""
    _, first, kind = np.unique(hashes, return_index=True, return_inverse=True)
    return _in_order(first, kind)


def _verified(grouped: Distinct, equal: Callable[[Positions, Positions], Flags]) -> Distinct:
    """Separate objects that have the hash of the first object of their kind without being equal to it.

    Each of them becomes a kind of its own.
    """
    if grouped.first.size == grouped.kind.size:
        return grouped
    later = np.setdiff1d(np.arange(grouped.kind.size), grouped.first, assume_unique=True)
    wrong = later[~equal(later, grouped.first[grouped.kind[later]])]
    kind = grouped.kind.copy()
    kind[wrong] = grouped.first.size + np.arange(wrong.size)
    return _in_order(np.concatenate([grouped.first, wrong]), kind)


PLAIN = frozenset({str, bytes, int})
"""Types of objects that are keys themselves. Asking what else an object may be takes longer than all the rest."""


def _distinct_keys(keys: list[Any]) -> Distinct:
    """Group objects by keys that can be looked up in a dict."""
    places: dict[Any, int] = {}
    kind = np.array([places.setdefault(key, len(places)) for key in keys])
    return _in_order(np.unique(kind, return_index=True)[1], kind)


def _in_order(first: Positions, kind: Positions) -> Distinct:
    """Number the kinds by the positions of their first objects."""
    order = np.argsort(first)
    number = np.empty(order.size, dtype=np.intp)
    number[order] = np.arange(order.size)
    return Distinct(first[order], number[kind])


def _key(value: Any) -> Any:
    """Return a key for a dict that equal objects have in common and other objects do not have."""
    if type(value) in PLAIN:
        return (type(value), value)
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
    """Call a function for chunks of n rows and join the results."""
    parts = [function(slice(start, start + CHUNK_ROWS)) for start in range(0, max(n, 1), CHUNK_ROWS)]
    return np.concatenate(parts)


def _hash(rows: Any) -> Hashes:
    """Return a hash of each row. In CSR rows the columns count as well as the numbers."""
    if not sp.issparse(rows):
        starts = np.arange(rows.shape[0] + 1) * rows.shape[1]
        return hash_runs(np.ascontiguousarray(rows).ravel().view(np.uint64), starts)
    columns = rows.indices.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)  # 2^64 by the golden ratio
    return hash_runs(rows.data.view(np.uint64) ^ columns, rows.indptr)


def _hash_in_any_order(rows: Any, column_hashes: Hashes) -> Hashes:
    """Return a hash of each CSR row: a sum over its numbers, so that the order of the columns does not matter."""
    terms = scrambled(column_hashes[rows.indices] + scrambled(rows.data))
    sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(terms, dtype=np.uint64)])  # modulo 2^64
    return np.asarray(sums[rows.indptr[1:]] - sums[rows.indptr[:-1]])


def _as_bits(rows: Any) -> Any:
    """Turn the numbers of rows into bits that do not depend on whether the numbers are stored as integers or floats."""
    values = rows.data if sp.issparse(rows) else rows
    if values.dtype.kind == "i":
        bits, exact = values.view(np.uint64), (values >= -EXACT) & (values <= EXACT)
        bits = np.where(exact, values.astype(np.float64).view(np.uint64), scrambled(bits))
    else:
        bits = values.view(np.uint64)
    return sp.csr_array((bits, rows.indices, rows.indptr), shape=rows.shape) if sp.issparse(rows) else bits


def _all_equal(a: Any, b: Any) -> Flags:
    """Return for each row of a whether it equals the same row of b."""
    if not sp.issparse(a):
        # Bits are compared instead of numbers, because NaN is not equal to itself as a number.
        return np.asarray((a.view(np.uint64) == b.view(np.uint64)).all(axis=1))
    different = (a != b).sum(axis=1)
    return np.asarray(np.asarray(different).ravel() == 0)


@njit(cache=True, nogil=True)
def hash_runs(numbers, starts):  # type: ignore[no-untyped-def]
    """Return a hash of the numbers from starts[t] up to starts[t + 1] for each t. Their order matters."""
    hashes = np.empty(starts.size - 1, dtype=np.uint64)
    for t in range(hashes.size):
        value = np.uint64(0xCBF29CE484222325)  # the start of the hash FNV-1a
        for position in range(starts[t], starts[t + 1]):
            value = (value ^ numbers[position]) * np.uint64(0xBF58476D1CE4E5B9)  # a factor of the hash SplitMix64
            value ^= value >> np.uint64(29)
        hashes[t] = value
    return hashes
