"""Zip archives, written without a date, and read with no more memory than their size justifies.

An archive may declare more than it holds, or hold a gigabyte of zeros in a megabyte. Reading an array from one
therefore takes these steps, and each of them can refuse:

1. All members together may declare as much as `allowed` says for a file of the archive's size.
2. The member's NPY header, of at most `MOST_HEADER` bytes, says its type and shape. Python objects are refused, because
   reading them could run code. Header and content must be exactly as long as the archive declares the member to be.
3. The content must fit the memory of this machine; then it is allocated once and inflated into place, part by part.

The messages have no full stop, because callers put them behind the name of the file.
"""

import math
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from covey.runtime.memory import check_fits
from covey.storage.limits import OPTION, allowed, limit_in_words

MOST_HEADER = 2**16
"""The most bytes that an NPY header may take. Headers of plain arrays take 128; only many named fields take more."""
PART = 2**20
"""How many bytes are inflated at once: far fewer than `FREE`, so that inflating costs no memory worth mentioning."""
EARLIEST = (1980, 1, 1, 0, 0, 0)
"""The date of every member that is written: the first one that the zip format has."""
UNIX = 3
"""The zip format's number of the system whose permissions a member has. Python would write the one that it runs on."""
LAST_CHARACTER = 0x10FFFF
"""The largest number of a character in Unicode."""
_CHECKED: WeakSet[zipfile.ZipFile] = WeakSet()
"""The open archives that have been found to declare no more than their size justifies."""


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read the array in a member that is in NumPy's NPY format.

    Raises ValueError if the member is missing or damaged, holds Python objects, or declares more than it can hold.
    """
    with _opened(archive, name) as (stream, size):
        head = BytesIO(stream.read(MOST_HEADER))
        shape, fortran, dtype = read_header(head)
        n_bytes = math.prod(shape) * dtype.itemsize
        if head.tell() + n_bytes != size:
            raise ValueError(
                f"its header declares {n_bytes} bytes of content (shape {shape}, type {dtype}), but it holds "
                f"{size - head.tell()}"
            )
        array = _filled(n_bytes, head.read(), stream).view(dtype)
        _check_characters(array)
        return array.reshape(shape[::-1]).T if fortran else array.reshape(shape)


def write_member(archive: zipfile.ZipFile, name: str, content: bytes) -> None:
    """Add a member to an archive that is being written.

    The member gets the earliest date that an archive can hold, and belongs to no operating system. Equal contents
    then make equal files whenever and wherever they are written.
    """
    info = zipfile.ZipInfo(name, date_time=EARLIEST)
    info.compress_type, info.external_attr, info.create_system = archive.compression, 0o600 << 16, UNIX
    archive.writestr(info, content)


def read_bytes(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Read the bytes of a member that is not an array.

    Raises ValueError if the member is missing or damaged, or declares more than `most` bytes.
    """
    with _opened(archive, name) as (stream, size):
        if size > most:
            raise ValueError(f"it declares {size} bytes, where at most {most} are allowed")
        return _filled(size, b"", stream).tobytes()


@contextmanager
def _opened(archive: zipfile.ZipFile, name: str) -> Iterator[tuple[Any, int]]:
    """Yield the stream of a member and its declared size; any error becomes a ValueError that names it."""
    if name not in archive.NameToInfo:
        raise ValueError(f"the archive holds no member {name!r}")
    if archive not in _CHECKED:  # once, because an archive of n members would else be looked through n times
        check_ratio(archive)
        _CHECKED.add(archive)
    info = archive.getinfo(name)
    try:
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others inflate without a cap
            raise ValueError(f"it is packed by method {info.compress_type}, where only deflate (8) is allowed")
        with archive.open(info) as stream:
            yield stream, info.file_size
    except Exception as error:  # a damaged member fails in many ways
        raise ValueError(f"member {name!r} cannot be read: {str(error) or type(error).__name__}") from error


def check_ratio(archive: zipfile.ZipFile) -> None:
    """Refuse an archive whose members declare more bytes than are allowed for its size."""
    file = archive.fp
    if file is None:
        raise ValueError("the archive is closed")
    declared, there = sum(info.file_size for info in archive.infolist()), file.seek(0, os.SEEK_END)
    if declared > allowed(there):
        raise ValueError(
            f"its members unpack to {declared / 2**20:.1f} MiB, which is more than {limit_in_words(there)} and may be "
            f"an attack on memory; if you trust it, pass a larger {OPTION} to the command covey, or save it unpacked "
            "(numpy.savez), or as a sparse matrix (scipy.sparse.save_npz)"
        )


def read_header(head: BytesIO) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the shape, whether columns come first, and the type of an array; its content begins where reading ends."""
    version = np.lib.format.read_magic(head)
    if version not in ((1, 0), (2, 0)):
        raise ValueError(f"it has version {version} of the NPY format, where 1.0 and 2.0 are known")
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    try:
        shape, fortran, dtype = read(head)
    except Exception as error:  # NumPy hands the header to Python's parser, which has many errors for odd strings
        raise ValueError(f"its header of {head.tell()} bytes describes no array") from error
    if dtype.hasobject:
        raise ValueError("it holds Python objects, and reading these could run code; save numbers or strings")
    if dtype.itemsize == 0 or dtype.subdtype is not None or any(length < 0 for length in shape):
        raise ValueError(f"it declares an array that cannot be: shape {shape}, type {dtype}")
    return shape, fortran, dtype


def _filled(n_bytes: int, start: bytes, stream: Any) -> NDArray[np.uint8]:
    """Return `n_bytes` bytes: first those of `start`, then those of the stream."""
    check_fits(n_bytes, "its content", "use a machine with more memory")
    content = np.empty(n_bytes, dtype=np.uint8)
    content[: len(start)] = np.frombuffer(start, dtype=np.uint8)
    done = len(start)
    while done < n_bytes:
        part = stream.read(min(PART, n_bytes - done))
        if not part:
            raise ValueError(f"it ends after {done} of {n_bytes} bytes")
        content[done : done + len(part)] = np.frombuffer(part, dtype=np.uint8)
        done += len(part)
    return content


def _check_characters(array: NDArray[Any]) -> None:
    """Refuse a text that holds numbers above those of all characters; Python cannot make a string of it."""
    if array.dtype.kind == "U" and array.size:
        codes = array.view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if int(codes.max()) > LAST_CHARACTER:
            raise ValueError(f"it holds a text with the character {int(codes.max())}, which does not exist")
