"""Plain values as JSON and arrays, and back. Each value comes back equal and of the same type, or it is refused.

JSON itself has None, booleans, floats and lists, and nearly all integers and strings. Any other value becomes an object
with one key, called its tag, that says which form the value has. Each form is declared once, in `FORMS`: how a value is
written and how it is read. Dataclasses have the name of their class as their tag; `records.py` lists them.

A value is written only if its type is exactly one of those known here, because an instance of a subclass could hold
more than the file would keep.
"""

import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, field
from reprlib import repr as shown
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.selectors.saved_state import Constraint, Facts, check_facts, check_fields
from covey.similarity.inputs import check_csr
from covey.similarity.packed_bits import PackedBits
from covey.storage.archive import read_array
from covey.storage.limits import justified

DEEPEST = 100
"""How many levels deep values may be nested. Each level takes up to six calls, and Python allows 1000 by default; real
data is nested a few levels deep."""
LARGEST = 2**63
"""Integers from here on are written in base 16, because Python refuses to read more than 4300 decimal digits."""
ARRAYS, SCALARS, NUMBERS = "biufcmMSU", "biufcmM", "biufc"
"""Which kinds of NumPy types arrays, scalars and sparse matrices may have, by NumPy's letters for them."""
MOST_EQUAL_HASHES = 1000
"""How many different values may share a hash. Anyone can make large integers, tuples, frozensets and complex numbers
that all have the same one, and each lookup in a dict of these takes as long as all of them. Strings have secret hashes,
and among small integers only -1 and -2 share one; so of the values in real data only tuples of many -1 and -2 do."""
SMALL = 2**61 - 1
"""Integers of smaller magnitude are their own hashes, but for -1."""
SPARSE = {
    f"{form}_{kind}": getattr(sp, f"{form}_{kind}")
    for form in ("csr", "csc", "coo", "bsr", "dia", "dok", "lil")
    for kind in ("array", "matrix")
}


@dataclass(frozen=True)
class Record:
    """What files may hold of a dataclass: the constraint of each field, and facts about the fields together."""

    fields: Mapping[str, Constraint]
    facts: Facts = field(default_factory=dict)


Records = Mapping[Any, Record]


class Writer:
    """Turns values into JSON. Arrays are collected in `arrays`, and the JSON refers to them by number."""

    def __init__(self, records: Records) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.what, self._depth, self._records = "", 0, records

    def encode(self, value: Any, what: str) -> Any:
        """Return a value as JSON; `what` is what errors call it."""
        self.what = what
        return self.item(value)

    def item(self, value: Any) -> Any:
        """Return one element of a list or dict as JSON."""
        if _is_json(value):
            return value
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"Cannot save {self.what} nested more than {DEEPEST} levels deep; flatten them.")
        encoded = self.items(value) if type(value) is list else self._tagged(value)
        self._depth -= 1
        return encoded

    def items(self, values: Any) -> list[Any]:
        return [self.item(value) for value in values]

    def _tagged(self, value: Any) -> dict[str, Any]:
        if type(value) in self._records:
            return {type(value).__name__: self._fields(value)}
        tag = _tag_of(value)
        if tag is None:
            kind = type(value).__name__
            kind += f" and dtype {value.dtype}" if isinstance(value, np.ndarray) else ""
            raise TypeError(
                f"Cannot save {self.what} of type {kind}: files hold numbers, strings, bytes, arrays, and lists, "
                "tuples, sets and dicts of these."
            )
        return {tag: FORMS[tag].write(self, value)}

    def _fields(self, value: Any) -> dict[str, Any]:
        """Return the fields of a dataclass, which must be such as loading accepts."""
        values = {name: getattr(value, name) for name in self._records[type(value)].fields}
        encoded = {name: self.item(content) for name, content in values.items()}
        record = self._records[type(value)]
        with refusing(self.what):
            check_fields(values, record.fields)
            check_facts(value, record.facts)
        return encoded


class Reader:
    """Turns JSON into values. An array is read from the archive when the JSON first refers to it."""

    def __init__(self, archive: zipfile.ZipFile, records: Records) -> None:
        self._archive, self._records = archive, {cls.__name__: (cls, record) for cls, record in records.items()}
        self._arrays: dict[int, NDArray[Any]] = {}
        self._hashed: dict[int, list[Any]] = {}
        self._depth = 0

    def decode(self, encoded: Any) -> Any:
        if type(encoded) not in (list, dict):
            return self._hashable(encoded) if type(encoded) is int and abs(encoded) >= SMALL else encoded
        self._depth += 1
        if self._depth > DEEPEST:
            raise ValueError(f"values are nested more than {DEEPEST} levels deep")
        value = self.items(encoded) if type(encoded) is list else self._untagged(*tagged(encoded))
        self._depth -= 1
        return value

    def items(self, encoded: Any) -> list[Any]:
        return [self.decode(item) for item in _listed(encoded)]

    def array(self, number: Any) -> NDArray[Any]:
        if type(number) is not int:
            raise ValueError(f"an array must be referred to by its number, got {shown(number)}")
        if number not in self._arrays:
            array = read_array(self._archive, f"{number}.npy")
            if array.dtype.kind not in ARRAYS:
                raise ValueError(f"an array must hold numbers, dates or strings, got {shown(array.dtype)}")
            self._arrays[number] = array
        return self._arrays[number]

    def _untagged(self, tag: str, content: Any) -> Any:
        if tag in self._records:
            cls, record = self._records[tag]
            values = {name: self.decode(item) for name, item in typed(content, dict).items()}
            made = cls(**check_fields(values, record.fields))
            check_facts(made, record.facts)
            return made
        if tag not in FORMS:
            raise ValueError(f"unknown content {shown(tag)}")
        value = FORMS[tag].read(self, content)
        return self._hashable(value) if tag in COLLIDING else value

    def _hashable(self, value: Any) -> Any:
        """Return the value; raise ValueError if too many different values of the file share its hash."""
        try:
            equal = self._hashed.setdefault(hash(value), [])
        except TypeError:  # a tuple of lists can be no key
            return value
        if value not in equal:
            equal.append(value)
        if len(equal) > MOST_EQUAL_HASHES:
            raise ValueError(f"more than {MOST_EQUAL_HASHES} values share a hash, which may be an attack on time")
        return value


@dataclass(frozen=True)
class Form:
    """How values that JSON does not have are written under a tag, and read again."""

    write: Callable[[Writer, Any], Any]
    read: Callable[[Reader, Any], Any]


def tagged(encoded: Any) -> tuple[str, Any]:
    """Return the tag of a value and what stands under it."""
    if type(encoded) is not dict or len(encoded) != 1:
        raise ValueError(f"a value must be an object of one key, got {shown(encoded)}")
    [(tag, content)] = encoded.items()
    return tag, content


def typed(value: Any, kind: Any) -> Any:
    """Return the value, which must be of exactly this type."""
    if type(value) is not kind:
        raise ValueError(f"expected a value of type {kind.__name__}, got {shown(value)}")
    return value


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Turn errors of the checks within into one that names what cannot be saved. Loading makes the same checks."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ValueError(f"Cannot save {what}, because load would refuse it: {str(error).rstrip('.')}.") from error


def _is_json(value: Any) -> bool:
    """Return whether JSON has exactly this value."""
    kind = type(value)
    if kind is str:
        return _is_unicode(value)
    return value is None or kind in (bool, float) or (kind is int and abs(value) < LARGEST)


def _is_unicode(text: str) -> bool:
    """Return whether a string holds no half of a surrogate pair; JSON would join two such halves to one character."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _tag_of(value: Any) -> str | None:
    """Return the tag of a value, by its exact type; None if files cannot hold the value."""
    kind = type(value)
    if kind is PackedBits:
        return "packed"
    if kind in (np.ndarray, np.memmap):
        if value.dtype.kind == "O":
            return "objects"
        return "array" if value.dtype.kind in ARRAYS and value.dtype.itemsize else None
    if isinstance(value, np.generic) and kind is value.dtype.type and value.dtype.kind in SCALARS:
        return "scalar"
    if sp.issparse(value):
        known = SPARSE.get(kind.__name__) is kind and value.ndim == 2 and value.dtype.kind in NUMBERS
        return ("csr" if kind is sp.csr_array else "sparse") if known else None
    return kind.__name__ if kind in NAMED_FORMS else None


def _listed(content: Any, length: int | None = None) -> list[Any]:
    if type(content) is not list or length not in (None, len(content)):
        raise ValueError(f"expected a list{'' if length is None else f' of {length} items'}, got {shown(content)}")
    return content


def _shape(content: Any) -> tuple[int, ...]:
    if not all(type(length) is int and length >= 0 for length in _listed(content)):
        raise ValueError(f"a shape must be a list of integers of at least 0, got {shown(content)}")
    return tuple(content)


def _write_set(writer: Writer, values: AbstractSet[Any]) -> list[Any]:
    """Return the elements in the order of their JSON, because their order in a set differs from process to process."""
    return sorted(writer.items(values), key=json.dumps)


def _read_dict(reader: Reader, content: Any) -> Any:
    pairs = [_listed(pair, 2) for pair in _listed(content)]
    return {reader.decode(key): reader.decode(value) for key, value in pairs}


def _write_array(writer: Writer, array: NDArray[Any]) -> int:
    writer.arrays.append(np.asarray(array))
    return len(writer.arrays) - 1


def _read_objects(reader: Reader, content: Any) -> NDArray[Any]:
    shape, items = _listed(content, 2)
    array = np.empty(len(_listed(items)), dtype=object)
    for position, item in enumerate(items):  # one by one, because NumPy would make a table of lists of equal length
        array[position] = reader.decode(item)
    return array.reshape(_shape(shape))


def _write_csr(writer: Writer, matrix: Any) -> list[Any]:
    csr = check_csr(matrix, writer.what)
    return [list(csr.shape), *writer.items((csr.data, csr.indices, csr.indptr))]


def _read_csr(reader: Reader, content: Any) -> sp.csr_array:
    shape, *parts = _listed(content, 4)
    data, indices, starts = (typed(reader.decode(part), np.ndarray) for part in parts)
    if data.dtype.kind not in NUMBERS or data.dtype == np.float16:
        raise ValueError(f"a sparse matrix must hold numbers of a type that SciPy computes with, got {data.dtype}")
    return check_csr(sp.csr_array((data, indices, starts), shape=_shape(_listed(shape, 2))), "a sparse matrix")


def _write_sparse(writer: Writer, matrix: Any) -> list[Any]:
    with refusing(writer.what):
        _check_room(check_csr(matrix, writer.what), matrix.format)
    return [type(matrix).__name__, _write_csr(writer, matrix)]


def _read_sparse(reader: Reader, content: Any) -> Any:
    name, encoded = _listed(content, 2)
    csr = _read_csr(reader, encoded)
    _check_room(csr, name.split("_")[0])
    return SPARSE[name](csr)


def _check_room(csr: sp.csr_array, form: str) -> None:
    """Refuse a sparse matrix that would take far more memory in its format than in the file.

    A CSC matrix takes room for each column, and one of diagonals for a whole diagonal of each entry.
    """
    size = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes
    needed = 0
    if form == "csc":
        needed = 8 * csr.shape[1]
    elif form == "dia":
        rows = np.repeat(np.arange(csr.shape[0]), np.diff(csr.indptr))
        needed = np.unique(csr.indices - rows).size * csr.shape[1] * csr.dtype.itemsize
    if needed > justified(size):
        raise ValueError(f"a sparse matrix of shape {csr.shape} takes {needed} bytes in the format {form}")


def write_scalar(scalar: Any) -> list[str]:
    """Return the type and the bytes of one of NumPy's numbers or dates."""
    return [scalar.dtype.str, scalar.tobytes().hex()]


def _read_scalar(reader: Reader, content: Any) -> Any:
    name, digits = _listed(content, 2)
    dtype, stored = np.dtype(typed(name, str)), bytes.fromhex(digits)
    if dtype.kind not in SCALARS or len(stored) != dtype.itemsize:
        raise ValueError(f"a scalar must have a type of numbers or dates and its size, got {shown(content)}")
    return np.frombuffer(stored, dtype)[0]


FORMS = {
    "tuple": Form(Writer.items, lambda reader, content: tuple(reader.items(content))),
    "set": Form(_write_set, lambda reader, content: set(reader.items(content))),
    "frozenset": Form(_write_set, lambda reader, content: frozenset(reader.items(content))),
    "dict": Form(lambda writer, value: [writer.items(pair) for pair in value.items()], _read_dict),
    "int": Form(lambda writer, value: hex(value), lambda reader, content: int(content, 16)),
    "str": Form(
        lambda writer, value: value.encode("utf-8", "surrogatepass").hex(),
        lambda reader, content: bytes.fromhex(content).decode("utf-8", "surrogatepass"),
    ),
    "bytes": Form(lambda writer, value: value.hex(), lambda reader, content: bytes.fromhex(content)),
    "complex": Form(
        lambda writer, value: [value.real, value.imag],
        lambda reader, content: complex(*(typed(part, float) for part in _listed(content, 2))),
    ),
    "array": Form(_write_array, Reader.array),
    "packed": Form(_write_array, lambda reader, content: PackedBits(reader.array(content))),
    "objects": Form(lambda writer, array: [list(array.shape), writer.items(array.ravel().tolist())], _read_objects),
    "scalar": Form(lambda writer, value: write_scalar(value), _read_scalar),
    "str_": Form(
        lambda writer, value: writer.item("".join(value)),  # str(value) would drop zeros at the end
        lambda reader, content: np.str_(typed(reader.decode(content), str)),
    ),
    "bytes_": Form(lambda writer, value: value.hex(), lambda reader, content: np.bytes_(bytes.fromhex(content))),
    "csr": Form(_write_csr, _read_csr),
    "sparse": Form(_write_sparse, _read_sparse),
}
COLLIDING = {"int", "tuple", "frozenset", "complex", "scalar"}
"""The forms of values of which a file may hold many that share a hash."""
NAMED_FORMS = (tuple, set, frozenset, dict, int, str, bytes, complex, np.str_, np.bytes_)
"""The types whose tag is their own name."""
