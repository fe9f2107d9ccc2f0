"""Compiled sums over the coordinates of two rows: all that the named similarities need of the data.

Each kernel takes the rows of both sides, aligned index arrays i and j, and fills `out[t]` with one sum for the pair
(left[i[t]], right[j[t]]). What the sum means (a cosine, a distance) is decided by the tables in `named.py`, on whole
arrays.

A sum is vectorised only if the function that contains its loop may reassociate additions; the order of the additions
is then the compiler's, but it is the same for every call. One compiled function therefore *defines* each sum: the
same two rows give the same bits in any batch, on any thread, and with the two sides exchanged. Sums are made in
float64, whatever the rows are stored in, so those of whole numbers are exact.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

dense_kernel = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})

DOT, MINIMUM, SQUARED, ABSOLUTE, MISMATCHES = range(5)


@dense_kernel
def dense_dot(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += np.float64(x[c]) * np.float64(y[c])
        out[t] = total


@dense_kernel
def dense_squared(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            difference = np.float64(x[c]) - np.float64(y[c])
            total += difference * difference
        out[t] = total


@dense_kernel
def dense_absolute(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += abs(np.float64(x[c]) - np.float64(y[c]))
        out[t] = total


@dense_kernel
def dense_minimum(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += np.float64(min(x[c], y[c]))
        out[t] = total


@dense_kernel
def dense_mismatches(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0
        for c in range(x.size):
            total += x[c] != y[c]
        out[t] = total


@njit(cache=True, nogil=True)
def dense_weighted_sum(rows, weights, total):  # type: ignore[no-untyped-def]
    """Add each row times its weight to `total`, row by row: an order of additions that no number of threads changes."""
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        for c in range(row.size):
            total[c] += weight * np.float64(row[c])


@njit(cache=True, nogil=True)
def csr_shared_sum(  # type: ignore[no-untyped-def]
    term, width, left_starts, left_columns, left_values, right_starts, right_columns, right_values, i, j, out
):
    """As `csr_sum`, for terms that vanish where one row has nothing; the faster, the longer runs of equal i are.

    Row i is spread out, so that row j finds what it shares without searching. The additions are the same, in the same
    order, but for some of 0.
    """
    spread = np.zeros(width, dtype=left_values.dtype)
    for t in range(i.size):
        if t == 0 or i[t] != i[t - 1]:
            if t > 0:
                spread[left_columns[left_starts[i[t - 1]] : left_starts[i[t - 1] + 1]]] = 0
            for at in range(left_starts[i[t]], left_starts[i[t] + 1]):
                spread[left_columns[at]] = left_values[at]
        total = 0.0
        for at in range(right_starts[j[t]], right_starts[j[t] + 1]):
            total += shared_term(term, np.float64(spread[right_columns[at]]), np.float64(right_values[at]))
        out[t] = total


@njit(cache=True, nogil=True)
def csr_sum(  # type: ignore[no-untyped-def]
    term, left_starts, left_columns, left_values, right_starts, right_columns, right_values, i, j, out
):
    """Merge the sorted columns of both rows; a column that one of them does not store is 0 there."""
    for t in range(i.size):
        a, a_end = left_starts[i[t]], left_starts[i[t] + 1]
        b, b_end = right_starts[j[t]], right_starts[j[t] + 1]
        total = 0.0
        while a < a_end and b < b_end:
            if left_columns[a] < right_columns[b]:
                total += lone_term(term, np.float64(left_values[a]))
                a += 1
            elif left_columns[a] > right_columns[b]:
                total += lone_term(term, np.float64(right_values[b]))
                b += 1
            else:
                total += shared_term(term, np.float64(left_values[a]), np.float64(right_values[b]))
                a += 1
                b += 1
        for rest in range(a, a_end):
            total += lone_term(term, np.float64(left_values[rest]))
        for rest in range(b, b_end):
            total += lone_term(term, np.float64(right_values[rest]))
        out[t] = total


@njit(cache=True, nogil=True)
def shared_term(term, x, y):  # type: ignore[no-untyped-def]
    if term == DOT:
        return x * y
    if term == MINIMUM:
        return min(x, y)
    if term == SQUARED:
        return (x - y) * (x - y)
    if term == ABSOLUTE:
        return abs(x - y)
    return 1.0 if x != y else 0.0


@njit(cache=True, nogil=True)
def lone_term(term, x):  # type: ignore[no-untyped-def]
    """The term of x and 0, for stored (hence nonzero, and under MINIMUM positive) x."""
    if term in (DOT, MINIMUM):
        return 0.0
    if term == SQUARED:
        return x * x
    if term == ABSOLUTE:
        return abs(x)
    return 1.0


class Statistic(NamedTuple):
    """The compiled loops of one sum over coordinates.

    `dense` is the loop over dense rows. `term` tells the loops over CSR rows what to add. `shared` says whether only
    columns that both rows store add anything.
    """

    dense: Any
    term: int
    shared: bool


STATISTICS = {
    "dot": Statistic(dense_dot, DOT, shared=True),
    "minimum": Statistic(dense_minimum, MINIMUM, shared=True),
    "squared": Statistic(dense_squared, SQUARED, shared=False),
    "absolute": Statistic(dense_absolute, ABSOLUTE, shared=False),
    "mismatches": Statistic(dense_mismatches, MISMATCHES, shared=False),
}
"""The sums that `named.py` may ask for. A new one needs a row here, a dense loop, and its terms in `shared_term` and
`lone_term`."""
