"""Compiled sums over the coordinates of two rows. The named similarities need nothing else from the data.

Each kernel takes the rows of both sides and two index arrays i and j of one length. It fills `out[t]` with one sum for
the pair (left[i[t]], right[j[t]]). The tables in `measures.py` decide what a sum means, such as a cosine or a distance.

The compiler vectorises a sum only if it may change the order of the additions. Which order it chooses is up to the
compiler, but the order is the same in every call. Each sum is therefore computed by one compiled function and nowhere
else: the same two rows then give the same bits in any batch, on any thread, and with the two sides exchanged. Sums are
made in float64 for rows of all types, so that sums of integers are exact.

A loop over rows that lie anywhere in a large array spends much of its time waiting for memory. So kernels prefetch
(`look_ahead`): the processor fetches the rows of later steps while it works on the present one. numba has no function
for that, so the instruction is written in LLVM's language here. With it, NN-Descent on one thread takes 2.5 s of
processor time instead of 2.9 s for 30 000 rows of Fashion-MNIST, and 6.5 s instead of 6.8 s for 60 000 rows.
"""

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

dense_kernel = njit(cache=True, nogil=True, fastmath={"reassoc", "contract"})

DOT, MINIMUM, SQUARED, ABSOLUTE, MISMATCHES = range(5)
"""Which term the loops over CSR rows add up."""


@dense_kernel
def dense_dot(left, right, i, j, out):  # type: ignore[no-untyped-def]
    """Sum x y."""
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += np.float64(x[c]) * np.float64(y[c])
        out[t] = total


@dense_kernel
def dense_squared(left, right, i, j, out):  # type: ignore[no-untyped-def]
    """Sum (x - y)^2."""
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            difference = np.float64(x[c]) - np.float64(y[c])
            total += difference * difference
        out[t] = total


@dense_kernel
def dense_absolute(left, right, i, j, out):  # type: ignore[no-untyped-def]
    """Sum abs(x - y)."""
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += abs(np.float64(x[c]) - np.float64(y[c]))
        out[t] = total


@dense_kernel
def dense_minimum(left, right, i, j, out):  # type: ignore[no-untyped-def]
    """Sum min(x, y)."""
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0.0
        for c in range(x.size):
            total += np.float64(min(x[c], y[c]))
        out[t] = total


@dense_kernel
def dense_mismatches(left, right, i, j, out):  # type: ignore[no-untyped-def]
    """Count the coordinates in which x and y differ."""
    for t in range(i.size):
        x, y = left[i[t]], right[j[t]]
        total = 0
        for c in range(x.size):
            total += x[c] != y[c]
        out[t] = total


@njit(cache=True, nogil=True)
def dense_weighted_sum(rows, weights, total):  # type: ignore[no-untyped-def]
    """Add each row times its weight to `total`.

    The rows are added one after the other, so that the number of threads does not change the result.
    """
    for i in range(rows.shape[0]):
        row, weight = rows[i], weights[i]
        for c in range(row.size):
            total[c] += weight * np.float64(row[c])


@njit(cache=True, nogil=True)
def csr_shared_sum(  # type: ignore[no-untyped-def]
    term, width, left_starts, left_columns, left_values, right_starts, right_columns, right_values, i, j, out
):
    """Compute what `csr_sum` does, for terms that are 0 wherever one of the rows stores nothing.

    Row i is first written into an array with a place for every column. Each value of row j then finds its partner
    without a search. This pays off if many pairs in a row have the same i. The additions and their order are those of
    `csr_sum`, apart from additions of 0.
    """
    spread = np.zeros(width, dtype=left_values.dtype)
    for t in range(i.size):
        if t == 0 or i[t] != i[t - 1]:
            if t > 0:
                spread[left_columns[left_starts[i[t - 1]] : left_starts[i[t - 1] + 1]]] = 0
            for entry in range(left_starts[i[t]], left_starts[i[t] + 1]):
                spread[left_columns[entry]] = left_values[entry]
        total = 0.0
        for entry in range(right_starts[j[t]], right_starts[j[t] + 1]):
            total += shared_term(term, np.float64(spread[right_columns[entry]]), np.float64(right_values[entry]))
        out[t] = total


@njit(cache=True, nogil=True)
def csr_sum(  # type: ignore[no-untyped-def]
    term, left_starts, left_columns, left_values, right_starts, right_columns, right_values, i, j, out
):
    """Sum the terms of both rows by merging their sorted columns.

    A column that a row does not store is 0 in that row.
    """
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
    """Return the term of one column that both rows store."""
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
    """Return the term of x and 0. A stored x is not 0, and under MINIMUM it is positive."""
    if term in (DOT, MINIMUM):
        return 0.0
    if term == SQUARED:
        return x * x
    if term == ABSOLUTE:
        return abs(x)
    return 1.0


@njit(cache=True, nogil=True)
def csr_products(left_starts, left_columns, left_values, starts, rows, values, out):  # type: ignore[no-untyped-def]
    """Add the products of all pairs of a left and a right row to `out`.

    The right side is stored by columns: column c holds values[starts[c] : starts[c + 1]], in these `rows`.
    """
    for i in range(out.shape[0]):
        products = out[i]
        for entry in range(left_starts[i], left_starts[i + 1]):
            value, column = left_values[entry], left_columns[entry]
            for other in range(starts[column], starts[column + 1]):
                products[rows[other]] += value * values[other]


@njit(cache=True, nogil=True)
def shares_of_unions(products, a, b, out):  # type: ignore[no-untyped-def]
    """Divide the number of elements that two sets share by the number that either has, for all pairs of a block.

    The arrays a and b hold the sizes of the sets. Two empty sets share everything.
    """
    for i in range(products.shape[0]):
        common, shares, size = products[i], out[i], a[i]
        for j in range(common.size):
            shared = np.float64(common[j])
            union = size + b[j] - shared
            shares[j] = shared / union if union > 0 else 1.0


class Statistic(NamedTuple):
    """The compiled loops of one sum over coordinates.

    `dense` is the loop over dense rows. `term` tells the loops over CSR rows which term to add. `shared` says whether
    only the columns that both rows store contribute.
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
"""The sums that a `Measure` may ask for. To add one, write a dense loop, add its terms to `shared_term` and
`lone_term`, and add a row here."""


LINE = 64
"""How many bytes a processor fetches at a time: 64 on x86-64 and on most ARM processors. Elsewhere, prefetching only
gains less."""


@intrinsic
def prefetch(typing_context, array, row, offset):  # type: ignore[no-untyped-def]
    """Ask for the memory that lies `offset` bytes into a row of a C-ordered array, without waiting for it."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        made = context.make_array(signature.args[0])(context, builder, arguments[0])
        row, offset = (
            context.cast(builder, value, kind, types.intp)
            for value, kind in zip(arguments[1:], signature.args[1:], strict=True)
        )
        start = builder.bitcast(made.data, ir.IntType(8).as_pointer())
        line = builder.gep(start, [builder.add(builder.mul(builder.extract_value(made.strides, 0), row), offset)])
        number = ir.IntType(32)
        shape = ir.FunctionType(ir.VoidType(), [line.type, number, number, number])
        function = builder.module.declare_intrinsic("llvm.prefetch", [line.type], shape)
        # The numbers mean: for reading, to be kept in all caches, data rather than code.
        builder.call(function, [line, number(0), number(3), number(1)])
        return context.get_dummy_value()

    return types.void(array, row, offset), generate


@njit(cache=True, nogil=True)
def look_ahead(array, rows, t):  # type: ignore[no-untyped-def]
    """Ask for the row array[rows[t]], if `rows` has an entry t."""
    if t < rows.size:
        for offset in range(0, array.shape[1] * array.itemsize, LINE):
            prefetch(array, rows[t], offset)
