"""Compiled sums over the coordinates of two rows: all that the named similarities need of the data.

Each kernel takes the rows of both sides, aligned index arrays i and j, and fills `out[t]` with one sum for the pair
(left[i[t]], right[j[t]]). What the sum means (a cosine, a distance) is decided in `similarity.py`, on whole arrays.

A sum is vectorised only if the function that contains its loop may reassociate additions; the order of the additions
is then the compiler's, but it is the same for every call. One compiled function therefore *defines* each sum: the
same two rows give the same bits in any batch, on any thread, and with the two sides exchanged.
"""

import numpy as np
from numba import njit

dense_kernel = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})

DOT, MINIMUM, ABSOLUTE, MATCHES = range(4)


@dense_kernel
def dense_dot(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = x.dtype.type(0)
        for c in range(x.size):
            total += x[c] * y[c]
        out[t] = total


@dense_kernel
def dense_squared(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = x.dtype.type(0)
        for c in range(x.size):
            total += (x[c] - y[c]) * (x[c] - y[c])
        out[t] = total


@dense_kernel
def dense_absolute(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = x.dtype.type(0)
        for c in range(x.size):
            total += abs(x[c] - y[c])
        out[t] = total


@dense_kernel
def dense_minimum(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = x.dtype.type(0)
        for c in range(x.size):
            total += min(x[c], y[c])
        out[t] = total


@dense_kernel
def dense_matches(left, right, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0
        for c in range(x.size):
            total += x[c] == y[c]
        out[t] = total


@njit(cache=True, nogil=True)
def csr_shared(  # type: ignore[no-untyped-def]
    term, left_starts, left_columns, left_values, right_starts, right_columns, right_values, i, j, out
):
    """Sum one term over the columns that both rows store, by merging their sorted columns."""
    for t in range(i.size):
        a, a_end = left_starts[i[t]], left_starts[i[t] + 1]
        b, b_end = right_starts[j[t]], right_starts[j[t] + 1]
        total = 0.0
        while a < a_end and b < b_end:
            if left_columns[a] < right_columns[b]:
                a += 1
            elif left_columns[a] > right_columns[b]:
                b += 1
            else:
                x, y = np.float64(left_values[a]), np.float64(right_values[b])
                if term == DOT:
                    total += x * y
                elif term == MINIMUM:
                    total += min(x, y)
                elif term == ABSOLUTE:  # what |x - y| saves on |x| + |y|
                    total += abs(x) + abs(y) - abs(x - y)
                else:  # MATCHES: a shared column was subtracted twice, and agrees if the values do
                    total += 1.0 + (x == y)
                a += 1
                b += 1
        out[t] = total
