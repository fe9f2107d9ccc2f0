"""Numbers, strings, arrays, and lists, dicts, dataclasses and named tuples of these as bytes, and back.

Checkpoints write finished parts of a run in this form: a cluster, a neighbor graph, the result of a task. Reading runs
no code and takes no more memory than the bytes.

The bytes are: the length of a JSON text, 4 bytes; the text, which has the value, with numbers in the places of its
arrays, and the type and shape of each array; and the arrays one after the other.
"""

import json
import math
import struct
from dataclasses import fields, is_dataclass
from reprlib import repr as shown
from typing import Any, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from covey.exceptions import FileFormatError

LENGTH = struct.Struct("<I")
"""How the length of the text is written."""
TYPES = {"<i4", "<i8", "<f8"}
"""The types that arrays may have, in NumPy's words."""
MOST_TEXT = 1 << 20
"""The most bytes of a text in a file that may be damaged: JSON can take thirty times its bytes in memory."""


def serialize(value: Any) -> bytes:
    """Write a value."""
    arrays: list[NDArray[Any]] = []
    plain = _without_arrays(value, arrays)
    listed = [[array.dtype.str, array.shape] for array in arrays]
    text = json.dumps({"value": plain, "arrays": listed}, default=lambda scalar: scalar.item()).encode()
    return b"".join([LENGTH.pack(len(text)), text, *(array.tobytes() for array in arrays)])


def deserialize(content: bytes, most_text: int = MOST_TEXT) -> Any:
    """Read a value; dataclasses have become dicts, and tuples lists. Raise FileFormatError if the bytes are damaged."""
    try:
        start = LENGTH.size + LENGTH.unpack_from(content)[0]
        if start > most_text:
            raise ValueError(f"its text has {start} bytes")
        text = json.loads(content[LENGTH.size : start])
        arrays = []
        for dtype, shape in text["arrays"]:
            if dtype not in TYPES or not all(type(size) is int and size >= 0 for size in shape):
                raise ValueError(f"an array cannot have the type {shown(dtype)} and the shape {shown(shape)}")
            count = math.prod(shape)
            arrays.append(np.frombuffer(content, dtype, count, start).reshape(shape).copy())
            start += count * np.dtype(dtype).itemsize
        if start != len(content):
            raise ValueError("it is longer than its arrays")
        return _with_arrays(text["value"], arrays)
    except (ValueError, KeyError, TypeError, IndexError, struct.error, RecursionError, OverflowError) as error:
        raise FileFormatError(f"a serialized value is damaged: {error!s:.200}") from error


def build(kind: Any, value: Any) -> Any:
    """Make a value of a type from what `deserialize` returns. Raise ValueError or TypeError if it is of another."""
    inner = get_args(kind)
    if type(None) in inner:
        return None if value is None else build(inner[0], value)
    if get_origin(kind) is list:
        return [build(inner[0], part) for part in _typed(value, list)]
    if is_dataclass(kind) and isinstance(kind, type):
        hints, parts = get_type_hints(kind), _typed(value, dict)
        return kind(**{name: build(hints[name], part) for name, part in parts.items()})
    if hasattr(kind, "_fields"):
        hints = get_type_hints(kind)
        names_and_parts = zip(kind._fields, _typed(value, list), strict=True)
        return kind(*(build(hints[name], part) for name, part in names_and_parts))
    if get_origin(kind) is np.ndarray:
        return _typed(value, np.ndarray)
    return _typed(value, kind) if kind in (int, float, str) else value


def _typed(value: Any, kind: type) -> Any:
    if type(value) is not kind:
        raise TypeError(f"a value of type {kind.__name__} was expected, got {shown(value)}")
    return value


def _without_arrays(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value as JSON has it, with numbers in the places of its arrays, which are added to the others."""
    if isinstance(value, np.ndarray):
        arrays.append(np.ascontiguousarray(value, value.dtype.newbyteorder("<")))
        return {"array": len(arrays) - 1}
    if is_dataclass(value):
        return {field.name: _without_arrays(getattr(value, field.name), arrays) for field in fields(value)}
    if isinstance(value, dict):
        return {name: _without_arrays(part, arrays) for name, part in value.items()}
    return [_without_arrays(part, arrays) for part in value] if isinstance(value, list | tuple) else value


def _with_arrays(value: Any, arrays: list[NDArray[Any]]) -> Any:
    """Return a value with the arrays in their places."""
    if isinstance(value, list):
        return [_with_arrays(part, arrays) for part in value]
    if not isinstance(value, dict):
        return value
    if value.keys() == {"array"}:
        return arrays[value["array"]]
    return {name: _with_arrays(part, arrays) for name, part in value.items()}
