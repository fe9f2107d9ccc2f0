"""Upper bounds of similarities from rows kept in a byte a number: most pairs are settled without reading the rows.

A row x is rounded to whole multiples of a step of its own, x = q + e with q within -127 .. 127 steps, and the lengths
of both parts are kept. For two rows x = q + e and y = r + f, by Cauchy and Schwarz,

    x.y      <=  q.r + |q| |f| + |e| |y|
    |x - y|  >=  |q - r| - |e| - |f|

where q.r is a sum of small whole numbers: exact, and read from a quarter of the memory. What such a bound rules out
would not have entered a neighbor list, so leaving it out changes nothing but the time.
"""

import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic
from numpy.typing import NDArray

from covey._parallel import in_batches, run
from covey.rows import DenseRows
from covey.similarity import Similarity

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]

MARGIN = 1e-9
"""Relative to the squared lengths of the rows, for the rounding of float64 sums here and in the score itself."""
WIDEST = 1 << 15
"""In wider rows a sum of products might leave 32 bits, and its rounding the margin."""
CHUNK_ROWS = 4096
AHEAD = 4
"""How many pairs a row is fetched before it is needed."""


class Bounds:
    """What similarities of dense rows cannot exceed; `terms` are the rows' squared lengths."""

    def __init__(self, similarity: Similarity, rows: DenseRows, terms: Floats, n_jobs: int | None) -> None:
        self._convert, self._measure = similarity.convert, similarity.measure
        self._terms, self._width = terms, rows.width
        signed = rows.n > 0 and rows.values.min() < 0
        self._codes = np.empty(rows.values.shape, dtype=np.int8 if signed else np.uint8)
        self._parts = np.empty((rows.n, 4))  # of each row: its step, |q|, |e|, |x|
        chunks = [slice(at, at + CHUNK_ROWS) for at in range(0, rows.n, CHUNK_ROWS)]
        run(lambda chunk: round_rows(rows.values[chunk], self._codes[chunk], self._parts[chunk]), chunks, n_jobs, True)
        self.exact = self._measure.statistic == "dot" and not self._parts[:, 2].any()

    def of(self, i: Indices, j: Indices, n_jobs: int | None) -> Floats:
        """Numbers that s(i[t], j[t]) does not exceed."""
        return in_batches(self._of, i, j, n_jobs, threaded=True)

    def _of(self, i: Indices, j: Indices) -> Floats:
        sums = np.empty(i.size)
        bound = largest_dot if self._measure.statistic == "dot" else smallest_squared
        bound(self._codes, self._parts, i, j, sums)
        return self._convert(self._measure.finish(sums, self._terms[i], self._terms[j], self._width))


@intrinsic
def prefetch(typing_context, array, row, offset):  # type: ignore[no-untyped-def]
    """Ask for the cache line `offset` bytes into a row of a C-ordered array, without waiting for it."""

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
        builder.call(function, [line, number(0), number(3), number(1)])  # to read, to keep, data
        return context.get_dummy_value()

    return types.void(array, row, offset), generate


@njit(cache=True, nogil=True)
def round_rows(rows, codes, parts):  # type: ignore[no-untyped-def]
    most = np.iinfo(codes.dtype).max
    for row in range(rows.shape[0]):
        x, largest, whole_numbers = rows[row], 0.0, True
        for c in range(x.size):
            largest = max(largest, abs(np.float64(x[c])))
            whole_numbers &= x[c] == np.rint(x[c])
        step = 1.0 if whole_numbers and largest <= most else largest / most
        kept, lost, whole = 0.0, 0.0, 0.0
        for c in range(x.size):
            value = np.float64(x[c])
            codes[row, c] = np.rint(value / step)
            rounded = step * codes[row, c]
            kept += rounded * rounded
            lost += (value - rounded) * (value - rounded)
            whole += value * value
        error = np.sqrt(lost) + MARGIN * np.sqrt(whole) if lost > 0 or step != 1 else 0.0
        parts[row, 0], parts[row, 1], parts[row, 2], parts[row, 3] = step, np.sqrt(kept), error, np.sqrt(whole)


@njit(cache=True, nogil=True)
def byte_dot(x, y):  # type: ignore[no-untyped-def]
    """In 32 bits throughout, or the compiler would widen every product to 64."""
    total = np.int32(0)
    for c in range(x.size):
        total = np.int32(total + np.int32(np.int32(x[c]) * np.int32(y[c])))
    return total


@njit(cache=True, nogil=True)
def look_ahead(codes, j, t):  # type: ignore[no-untyped-def]
    """Rows come from anywhere in memory: fetch the one that is needed soon."""
    if t + AHEAD < j.size:
        for offset in range(0, codes.shape[1], 64):
            prefetch(codes, j[t + AHEAD], offset)


@njit(cache=True, nogil=True)
def largest_dot(codes, parts, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        look_ahead(codes, j, t)
        step_x, q, e, _ = parts[i[t]]
        step_y, _, f, y = parts[j[t]]
        out[t] = step_x * step_y * byte_dot(codes[i[t]], codes[j[t]]) + q * f + e * y


@njit(cache=True, nogil=True)
def smallest_squared(codes, parts, i, j, out):  # type: ignore[no-untyped-def]
    for t in range(i.size):
        look_ahead(codes, j, t)
        step_x, q, e, _ = parts[i[t]]
        step_y, r, f, _ = parts[j[t]]
        squares = q * q + r * r
        product = step_x * step_y * byte_dot(codes[i[t]], codes[j[t]])
        apart = np.sqrt(max(squares - 2 * product - MARGIN * squares, 0.0)) - (1 + MARGIN) * (e + f)
        out[t] = (1 - MARGIN) * max(apart, 0.0) ** 2
