"""Arrays of numbers and a record of plain values as bytes. Reading them runs no code and takes no more memory than they
have bytes.

The bytes are: the length of a JSON text, 4 bytes; the text, which has the record and the name, type and shape of each
array; and the arrays one after the other.
"""

import json
import math
import struct
from collections.abc import Mapping
from reprlib import repr as shown
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.storage.errors import FileFormatError

LENGTH = struct.Struct("<I")
"""How the length of the text is written."""
TYPES = {"<i4", "<i8", "<f8"}
"""The types that arrays may have, in NumPy's words."""
MOST_TEXT = 1 << 20
"""The most bytes of a text. What covey writes has a few hundred. JSON can take thirty times its bytes in memory."""


def pack_arrays(record: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Write a record that JSON can hold, and arrays."""
    plain = {name: np.ascontiguousarray(array, array.dtype.newbyteorder("<")) for name, array in arrays.items()}
    listed = [[name, array.dtype.str, array.shape] for name, array in plain.items()]
    text = json.dumps({"record": record, "arrays": listed}, default=lambda value: value.item()).encode()
    return b"".join([LENGTH.pack(len(text)), text, *(array.tobytes() for array in plain.values())])


def unpack_arrays(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Read the record and the arrays. Raise FileFormatError if the bytes are anything else."""
    try:
        start = LENGTH.size + LENGTH.unpack_from(content)[0]
        if start > MOST_TEXT:
            raise ValueError(f"its text has {start} bytes")
        text = json.loads(content[LENGTH.size : start])
        record, arrays = text["record"], {}
        for name, dtype, shape in text["arrays"]:
            if dtype not in TYPES or not all(type(size) is int and size >= 0 for size in shape):
                raise ValueError(f"an array cannot have the type {shown(dtype)} and the shape {shown(shape)}")
            count = math.prod(shape)
            arrays[name] = np.frombuffer(content, dtype, count, start).reshape(shape).copy()
            start += count * np.dtype(dtype).itemsize
    except (ValueError, KeyError, TypeError, struct.error, RecursionError, OverflowError) as error:
        raise FileFormatError(f"a record of arrays is damaged: {error!s:.200}") from error
    if start != len(content) or type(record) is not dict:
        raise FileFormatError("a record of arrays is damaged: it is longer than its arrays, or has no record")
    return record, arrays
