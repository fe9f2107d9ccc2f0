"""Zip archives that are odd or hostile as archives: other members, many of them, and members that inflate to much.

Each function takes a random generator, the bytes of the members of a file by name, and those of another file. It
returns the bytes of an archive whose checksums are right.
"""

import io
import struct
import warnings
import zipfile
import zlib

import numpy as np

JSON = "covey.json"
BOMB = 60 * 2**20
"""Bytes of zeros, which deflate packs to a thousandth: as many as a small file may hold, but for a little."""


def _written(members, method=zipfile.ZIP_DEFLATED, edit=None, force_zip64=False):
    """An archive of pairs of names and bytes, in this order; `edit` may change the entry of each."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        for name, part in members:
            info = zipfile.ZipInfo(name)
            info.compress_type = method
            if edit is not None:
                edit(info)
            with archive.open(info, "w", force_zip64=force_zip64) as file:
                file.write(part)
    return buffer.getvalue()


def _some(rng, parts):
    return list(parts)[rng.integers(len(parts))]


def dropped(rng, parts, other):
    name = _some(rng, parts)
    return _written((key, part) for key, part in parts.items() if key != name)


def twice(rng, parts, other):
    """A name twice, with different contents."""
    name, source = _some(rng, parts), _some(rng, other)
    members = [*parts.items(), (name, other[source])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of a name that is there twice
        return _written(members if rng.random() < 0.5 else members[::-1])


def renamed(rng, parts, other):
    name = _some(rng, parts)
    odd = ["covey.JSON", "../0.npy", "/covey.json", "0.npy/", "", "\ufffd.npy", "0.npy\0.txt", "00.npy", "a" * 60000]
    return _written((odd[rng.integers(len(odd))] if key == name else key, part) for key, part in parts.items())


def swapped(rng, parts, other):
    first, second = _some(rng, parts), _some(rng, parts)
    return _written((parts | {first: parts[second], second: parts[first]}).items())


def from_another(rng, parts, other):
    """One member of another model, or all but one."""
    name = _some(rng, other)
    return _written((parts | {name: other[name]} if rng.random() < 0.7 else other | {JSON: parts[JSON]}).items())


def with_many_members(rng, parts, other):
    return _written([*parts.items(), *((f"{number}.npy", b"") for number in range(1000, 3000))], zipfile.ZIP_STORED)


def by_another_method(rng, parts, other):
    method = [zipfile.ZIP_STORED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA][rng.integers(3)]
    return _written(parts.items(), method)


def as_links(rng, parts, other):
    """Members that say that they are symbolic links, folders or devices, or of another system."""

    def edit(info):
        info.create_system = int(rng.integers(20))
        info.external_attr = int([0o120777, 0o040777, 0o020666][rng.integers(3)] << 16)

    return _written(parts.items(), edit=edit)


def with_large_sizes(rng, parts, other):
    """The fields of zip64, which small archives do not need."""
    return _written(parts.items(), force_zip64=True)


def with_other_fields(rng, parts, other):
    """A field of a member's entry in the directory set to another value."""
    content = bytearray(_written(parts.items()))
    entries = [at for at in range(len(content) - 4) if content[at : at + 4] == b"PK\x01\x02"]
    entry = entries[rng.integers(len(entries))]
    field, form = [(8, "<H"), (10, "<H"), (16, "<I"), (20, "<I"), (24, "<I"), (28, "<H"), (42, "<I")][rng.integers(7)]
    most = 2 ** (8 * struct.calcsize(form)) - 1
    struct.pack_into(form, content, entry + field, int([0, 1, 9, most, most // 2, most - 1][rng.integers(6)]))
    return bytes(content)


def between_other_bytes(rng, parts, other):
    """Bytes before the archive and behind it, which zip allows."""
    before, behind = rng.bytes(int(rng.integers(100))), rng.bytes(int(rng.integers(100)))
    return before + _written(parts.items()) + behind


def overlapping(rng, parts, other):
    """Many names in the directory that share the bytes of one member."""
    content = _written([*parts.items(), ("9999.npy", _npy(np.zeros(2**14)))])
    start, end = content.index(b"PK\x01\x02"), content.rindex(b"PK\x05\x06")
    last = content.rindex(b"PK\x01\x02")
    copies = b"".join(content[last:end].replace(b"9999.npy", b"%d.npy" % number) for number in range(1000, 2000))
    n = len(parts) + 1001
    size = end - start + len(copies)
    return content[:end] + copies + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, n, n, size, start, 0)


def with_a_bomb(rng, parts, other):
    """An array, or the JSON part, that inflates to as much as is allowed, or to more."""
    size = int(BOMB * [0.1, 1, 2][rng.integers(3)])
    name = _some(rng, parts)
    if name == JSON:
        unit = [b"[],", b"[", b" ", b"0,", b'{"set":[]},', b'"\\u0000",'][rng.integers(6)]
        size = int(2**22 * [0.5, 0.99, 2][rng.integers(3)])
        return _packed_repeats(parts, name, b'{"format": 2, "content": [', unit, size, b"0]}")
    kind = ["|i1", "<i8", "<f8", "<f2", "|S1", "<U1", "|b1"][rng.integers(7)]
    shapes = ["(%d,)", "(1, %d)", "(%d, 1)"]
    header = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }"
    n = size // np.dtype(kind).itemsize
    text = header % (kind, shapes[rng.integers(3)] % n)
    padded = text.encode() + b" " * (-(len(text) + 11) % 64) + b"\n"
    start = b"\x93NUMPY\x01\x00" + len(padded).to_bytes(2, "little") + padded
    return _packed_repeats(parts, name, start, b"\0", n * np.dtype(kind).itemsize, b"")


def _packed_repeats(parts, name, start, unit, size, end):
    """An archive in which a member repeats a unit; the units are never all in memory."""
    buffer = io.BytesIO()
    block = unit * (2**16 // len(unit))
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for key, part in parts.items():
            with archive.open(key, "w") as file:
                if key != name:
                    file.write(part)
                    continue
                file.write(start)
                for at in range(0, size, len(block)):
                    file.write(block[: size - at])
                file.write(end)
    return buffer.getvalue()


def _npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array)
    return buffer.getvalue()


def with_a_wrong_length(rng, parts, other):
    """The directory declares another length than a member inflates to, and the checksum is that of what is declared."""
    name = _some(rng, parts)
    length = max(len(parts[name]) + int([-1, -8, 1, 64][rng.integers(4)]), 0)
    declared = (parts[name] + bytes(64))[:length]
    content = bytearray(_written((name, part) for name, part in parts.items()))
    for mark, crc, size in ((b"PK\x01\x02", 16, 24), (b"PK\x03\x04", 14, 22)):
        at = [at for at in range(len(content) - 4) if content[at : at + 4] == mark][list(parts).index(name)]
        struct.pack_into("<I", content, at + crc, zlib.crc32(declared))
        struct.pack_into("<I", content, at + size, length)
    return bytes(content)


ARCHIVES = [dropped, twice, renamed, swapped, from_another, from_another, by_another_method, as_links, with_large_sizes]
ARCHIVES += [with_other_fields, with_other_fields, between_other_bytes, overlapping, with_a_bomb, with_a_wrong_length]
ARCHIVES += [with_many_members]
ARCHIVES = 4 * [change for change in ARCHIVES if change is not with_a_bomb] + [with_a_bomb]  # it takes a second
