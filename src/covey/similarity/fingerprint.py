"""Hashes of objects and fingerprints of data and code, which depend on nothing but content.

A run that goes on with what an earlier run has stored compares them, so that it never mixes the results of different
data or of different similarities. Objects are written as bytes first. Equal objects have equal bytes in every process
and on every machine. Python's own `hash` cannot be used for this: that of a string changes from process to process, and
so does the order in which a set lists its elements.

- Numbers are written as fractions, so that 1, 1.0 and True have the same bytes if types do not matter.
- Lists, tuples, sets and dicts are written part by part. Sets and dicts are sorted by the bytes of their parts.
- Arrays are written as their type, their shape and their bytes.
- Functions, classes and modules are written by name. `CodeContent` writes functions by what they do.
- Any other object is written as pickle would take it apart. Two equal objects may then have different bytes, if they
  differ in something that their own ``__eq__`` does not look at.
- An object that cannot be taken apart, or that contains itself, is written by its type alone.
"""

import copyreg
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial
from hashlib import blake2b
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from covey.arrays import Hashes, Positions
from covey.similarity.hash_table import scrambled

NUMBERS = (int, float, complex, Decimal, Fraction, np.number, np.bool_)
"""The types of numbers that are compared with each other by value. A duration of NumPy is not a number, although its
type is derived from one of them: it has a unit."""

DEEPEST = 40
"""How many containers may lie in each other before only the type of the innermost is written. Python allows about 1000
calls within each other, and a level takes up to four of them. Real objects are far less deep."""


def object_hashes(objects: Iterable[Any], *, whole: bool = False) -> Hashes:
    """Return a hash of each object. Objects that `distinct_objects` merges have equal hashes.

    If they must be taken as a `whole`, refuse an object of which only the type could be written, or a part of it.
    """
    content = Content()
    return _digests(_content_of(content, row, value, whole=whole) for row, value in enumerate(objects))


def _content_of(content: "Content", row: int, value: Any, *, whole: bool) -> bytes:
    content.is_whole = True
    written = content.of(value, typed=True)
    if whole and not content.is_whole:
        raise ValueError(
            f"checkpoint needs objects that pickle can take apart and that are nested less than {DEEPEST} levels deep, "
            f"but object {row} is not; give its class a method __reduce__ that returns what identifies it."
        )
    return written


def key_hashes(keys: Iterable[Any]) -> Hashes:
    """Return a hash of each key of a dict. Keys that are equal in Python's sense have equal hashes, also if they
    have different types.
    """
    content = Content()
    return _digests(content.of(key, typed=False) for key in keys)


def string_hashes(strings: Iterable[str]) -> Hashes:
    """Return a hash of each string."""
    return _digests(_text(string) for string in strings)


def code_fingerprint(*values: Any) -> str:
    """Return a short string that changes when these values change. Functions count by what they do."""
    content = CodeContent()
    return blake2b(content.of(values, typed=True), digest_size=8).hexdigest()


def data_fingerprint(rows: Positions, hashes: Hashes) -> int:
    """Return a number below 2^64 that changes when the objects of X, or their order, change.

    `rows` are the rows of X that the objects came from, and `hashes` are their content hashes. The number is a sum
    modulo 2^64 with one term for each object. So the fingerprint of X is the sum, modulo 2^64, of those of its parts,
    however X was divided.
    """
    terms = scrambled(scrambled(rows.astype(hashes.dtype)) + hashes)
    return int(terms.sum(dtype=hashes.dtype))


class Content:
    """Writes objects as bytes, and functions by name."""

    def __init__(self) -> None:
        self._path: list[int] = []  # the ids of the objects that contain the one which is being written
        self.is_whole = True  # whether all of what was written is there, and not the type of a part of it alone

    def of(self, value: Any, *, typed: bool) -> bytes:
        """Return the content of an object. If it is `typed`, equal objects of different types have different bytes."""
        content = self._atom(value)
        if content is None:
            content = self._by_parts(value, typed=typed)
        return _joined([_name(type(value)), content]) if typed else content

    def _atom(self, value: Any) -> bytes | None:
        """Write a value that has no parts; return None for any other."""
        if isinstance(value, str):
            return b"text" + _text(value)
        if isinstance(value, bytes | bytearray):
            return b"bytes" + value
        if isinstance(value, NUMBERS) and not isinstance(value, np.timedelta64):
            return b"number" + _number(value)
        if value is None:
            return b"none"
        if isinstance(value, type | FunctionType | BuiltinFunctionType | ModuleType):
            return b"name" + _name(value)
        return None

    def _by_parts(self, value: Any, *, typed: bool) -> bytes:
        if id(value) in self._path or len(self._path) == DEEPEST:
            return self._type_alone(value)
        self._path.append(id(value))
        try:
            if isinstance(value, np.ndarray | np.void):
                form = f"{value.dtype.str} {value.dtype.names} {value.shape}"
                parts = self.of(value.tolist(), typed=typed) if value.dtype.hasobject else value.tobytes()
                return b"array" + _joined([form.encode(), parts])
            if isinstance(value, list | tuple):
                return b"sequence" + _joined(list(map(partial(self.of, typed=typed), value)))
            if isinstance(value, AbstractSet):
                return b"set" + _joined(sorted(map(partial(self.of, typed=typed), value)))
            if isinstance(value, dict):
                items = [_joined(list(map(partial(self.of, typed=typed), item))) for item in value.items()]
                return b"dict" + _joined(sorted(items))
            return self._pickled_parts(value)
        finally:
            self._path.pop()

    def _pickled_parts(self, value: Any) -> bytes:
        """Write an object by the parts that pickle would store."""
        reduce = copyreg.dispatch_table.get(type(value))
        try:
            parts = value.__reduce_ex__(4) if reduce is None else reduce(value)
            if isinstance(parts, str):
                return b"name" + _joined([_name(type(value)), parts.encode()])
            function, arguments, state, items, pairs = (*parts, None, None, None)[:5]
            taken = [function, arguments, state, list(items or ()), list(pairs or ())]
        except Exception:  # the object's own code may raise anything
            return self._type_alone(value)
        return b"object" + _joined(list(map(partial(self.of, typed=False), taken)))

    def _type_alone(self, value: Any) -> bytes:
        self.is_whole = False
        return b"type" + _name(type(value))


class CodeContent(Content):
    """Writes functions by what they do: their byte code, their constants and defaults, and what they have closed over.

    The source is not used, because a worker of a cluster may not have the file, and because the source of a lambda is
    the whole line that it stands on. Of what a function reads from its module, other functions of the same module
    count, and numbers, strings and tuples. Tables and other modules do not. Docstrings do not count either.
    """

    def _atom(self, value: Any) -> bytes | None:
        return None if isinstance(value, FunctionType) else super()._atom(value)

    def _by_parts(self, value: Any, *, typed: bool) -> bytes:
        value = getattr(value, "py_func", value)  # the Python function of one that numba has compiled
        if isinstance(value, FunctionType):
            cells = [_closure_value(cell) for cell in value.__closure__ or ()]
            code = _without_docstring(value)
            return self._parts(value, [code, value.__defaults__, value.__kwdefaults__, cells, _read(value)])
        if isinstance(value, CodeType):
            counts = [value.co_argcount, value.co_posonlyargcount, value.co_kwonlyargcount, value.co_flags]
            return b"code" + self.of([value.co_code, value.co_consts, value.co_names, counts], typed=True)
        if isinstance(value, MethodType):
            return b"method" + self.of([value.__func__, value.__self__], typed=True)
        return super()._by_parts(value, typed=typed)

    def _pickled_parts(self, value: Any) -> bytes:
        """Write an object by the parts that pickle would store, and by the methods of its class."""
        methods = [member for _, member in sorted(vars(type(value)).items()) if isinstance(member, FunctionType)]
        return _joined([super()._pickled_parts(value), self.of(methods, typed=True)])

    def _parts(self, function: Any, parts: list[Any]) -> bytes:
        """Write a function by its name and its parts, once: it may be among its own parts."""
        if id(function) in self._path:
            return b"name" + _name(function)
        self._path.append(id(function))
        try:
            return b"function" + _joined([_name(function), self.of(parts, typed=True)])
        finally:
            self._path.pop()


def _digests(contents: Iterable[bytes]) -> Hashes:
    digests = b"".join([blake2b(content, digest_size=8).digest() for content in contents])
    return np.frombuffer(digests, dtype="<u8").astype(np.uint64)


def _joined(parts: Iterable[bytes]) -> bytes:
    """Write parts one after the other, each after its length, so that the bytes say where each part ends."""
    written = bytearray()
    for part in parts:
        written += len(part).to_bytes(8, "little") + part
    return bytes(written)


def _text(value: str) -> bytes:
    return value.encode("utf-8", "surrogatepass")


def _number(value: Any) -> bytes:
    """Write a number so that equal numbers of all types have the same bytes."""
    if isinstance(value, complex | np.complexfloating):
        return _number(value.real) + (b"" if value.imag == 0 else b"j" + _number(value.imag))
    if isinstance(value, int | np.integer | np.bool_):
        return b"%x" % int(value)
    try:
        numerator, denominator = value.as_integer_ratio()
    except (ValueError, OverflowError):  # the number is not finite; Decimal calls it Infinity or NaN
        return str(value).lower().replace("infinity", "inf").encode()
    return b"%x" % numerator if denominator == 1 else b"%x/%x" % (numerator, denominator)


@cache
def _name_of(module: str, name: str) -> bytes:
    return f"{module}.{name}".encode()


def _name(value: Any) -> bytes:
    """Write the name of a class, a function or a module."""
    module = getattr(value, "__module__", None) or ""
    if module == "__mp_main__":  # what multiprocessing calls the script of the main process in the other processes
        module = "__main__"
    return _name_of(str(module), str(getattr(value, "__qualname__", None) or value.__name__))


def _without_docstring(function: FunctionType) -> CodeType:
    """Return the code of a function as if it had no docstring, which Python keeps as its first constant."""
    code = function.__code__
    if function.__doc__ is None or code.co_consts[:1] != (function.__doc__,):
        return code
    return code.replace(co_consts=(None, *code.co_consts[1:]))


def _read(function: FunctionType) -> dict[str, Any]:
    """Return what counts of what a function reads from its own module, by name."""
    read = {}
    for name in _names_in(function.__code__):
        value = function.__globals__.get(name)
        plain = getattr(value, "py_func", value)
        own = isinstance(plain, FunctionType) and plain.__module__ == function.__module__
        if own or isinstance(value, bool | int | float | str | bytes | tuple):
            read[name] = value
    return read


def _names_in(code: CodeType) -> set[str]:
    """Return the names that code, and the functions within it, read from their module."""
    within = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return set(code.co_names).union(*map(_names_in, within))


def _closure_value(cell: Any) -> Any:
    """Return what a function has closed over, or None if nothing has been assigned to it yet."""
    try:
        return cell.cell_contents
    except ValueError:
        return None
