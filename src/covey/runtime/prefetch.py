"""Asking for memory before it is needed: rows that come from anywhere in a large array would stall a loop."""

from llvmlite import ir
from numba import njit, types
from numba.extending import intrinsic

LINE = 64
"""Bytes that the processor fetches at a time."""


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
def look_ahead(array, rows, t):  # type: ignore[no-untyped-def]
    """Fetch the row array[rows[t]], if there is one."""
    if t < rows.size:
        for offset in range(0, array.shape[1] * array.itemsize, LINE):
            prefetch(array, rows[t], offset)
