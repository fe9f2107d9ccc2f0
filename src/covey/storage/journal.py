"""A journal: a file that only grows, block by block, and that survives a writer that is stopped.

1. A journal begins with a signature. Blocks follow, each with a header that says what kind of block it is, how long it
   is, and which checksums its header and its content have.
2. A block is written at once, so that nothing of it stays in this process. What was written survives the death of
   the process. It survives the loss of power, too, once the system was asked to write it to the disk, which happens at
   most once in `SYNC_SECONDS`, because asking takes milliseconds.
3. If the writer was stopped in the middle of a block, the file ends with a torn block. Opening the journal cuts it off.
   A broken block that intact blocks follow was not torn but damaged, and is refused.
4. Only one process can hold a journal open. Another one is refused, because their blocks would get mixed.
"""

import mmap
import os
import struct
import time
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

from covey.exceptions import FileFormatError
from covey.runtime.file_errors import system_errors_of
from covey.storage.atomic import check_target, sync_folder

SIGNATURE = b"covey journal 1\n"
"""The first bytes of a journal. The number is the version of the headers."""
MARK = b"blk\n"
"""The first bytes of a header."""
HEADER = struct.Struct("<4sIQI")
"""A header without its own checksum: the mark, the kind of the block, the length and the CRC-32 of its content."""
CHECKSUM = struct.Struct("<I")
"""The CRC-32 of the header, which follows it."""
SYNC_SECONDS = 1.0
"""How many seconds of work the loss of power may cost. `benchmarks/checkpoint.py` measures what more would cost."""


class Journal:
    """A journal that is open for reading and writing, and locked.

    Parameters
    ----------
    path : path
        The file. It is made if it is not there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = check_target(path, "checkpoint")
        self._file = _opened(self.path)
        self._end, self._is_read, self._synced_at = 0, False, time.monotonic()
        try:
            _lock(self._file, self.path)
            with system_errors_of(self.path):
                self._begin()
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def blocks(self) -> Iterator[tuple[int, bytes]]:
        """Read the kind and the content of all blocks, and cut off a torn one at the end.

        This must be done before the first block is appended.
        """
        size = os.fstat(self._file.fileno()).st_size
        self._end = len(SIGNATURE)
        while self._end < size:
            with system_errors_of(self.path):
                block = _read_block(self._file, self._end, size)
                if block is None:
                    self._cut_off(size)
                    break
            kind, content = block
            self._end += HEADER.size + CHECKSUM.size + len(content)
            yield kind, content
        self._is_read = True

    def append(self, kind: int, content: bytes) -> None:
        """Write a block. It is on the disk at the latest when `SYNC_SECONDS` have passed and another one follows."""
        if not self._is_read:
            raise RuntimeError("All blocks of a journal must be read before one is appended.")
        header = HEADER.pack(MARK, kind, len(content), zlib.crc32(content))
        block = b"".join([header, CHECKSUM.pack(zlib.crc32(header)), content])
        with system_errors_of(self.path):
            self._file.seek(self._end)
            rest = memoryview(block)
            while rest:  # one call writes at most 2 GiB
                n_written = self._file.write(rest)
                if not n_written:
                    raise OSError(f"{self.path} could not be written as a whole; is the disk full?")
                rest = rest[n_written:]
        self._end += len(block)
        if time.monotonic() - self._synced_at > SYNC_SECONDS:
            self.sync()

    def sync(self) -> None:
        """Wait until the system has written everything to the disk."""
        with system_errors_of(self.path):
            os.fsync(self._file.fileno())
        self._synced_at = time.monotonic()

    def close(self) -> None:
        """Write everything to the disk, and let others open the journal."""
        if not self._file.closed:
            try:
                self.sync()
            finally:
                self._file.close()

    def _begin(self) -> None:
        """Write the signature into a new file, and refuse a file that is not a journal."""
        found = self._file.read(len(SIGNATURE))
        if found == SIGNATURE:
            return
        if not SIGNATURE.startswith(found):
            raise FileFormatError(f"{self.path} is not a checkpoint of covey; choose another name.")
        self._file.seek(0)  # the file is new, or its writer was stopped in the middle of the signature
        self._file.write(SIGNATURE)
        self._file.truncate(len(SIGNATURE))
        self.sync()
        sync_folder(self.path.parent)

    def _cut_off(self, size: int) -> None:
        """Remove what follows the last intact block, unless another intact block is among it.

        Headers without intact contents are passed over. If their contents would add up to more than the file has, the
        headers lie in each other's contents. No stopped writer leaves such a file, and to read on would take for ever.
        """
        n_read = 0
        with mmap.mmap(self._file.fileno(), size, access=mmap.ACCESS_READ) as content:
            place = content.find(MARK, self._end + 1)
            while place >= 0:
                length = _content_length(content[place : place + HEADER.size + CHECKSUM.size])
                if length is not None and length <= size - place:
                    n_read += length
                    if n_read > size or _read_block(self._file, place, size) is not None:
                        raise FileFormatError(
                            f"{self.path} is damaged at byte {self._end}, and more follows; remove the file, or cut it "
                            "off at that byte to keep what comes before."
                        )
                place = content.find(MARK, place + 1)
        self._file.truncate(self._end)


def _opened(path: Path) -> BinaryIO:
    """Open a file for reading and writing without a buffer.

    New files have mode 0600, because they contain user data.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    return open(descriptor, "r+b", buffering=0)


def _lock(file: BinaryIO, path: Path) -> None:
    """Lock a file until it is closed, or refuse it if somebody else has locked it."""
    try:
        try:
            import fcntl

            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except ImportError:  # Windows has no fcntl
            import msvcrt

            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
    except OSError as error:
        raise BlockingIOError(
            f"{path} is in use by another fit; wait until that has ended, or choose another name."
        ) from error


def _content_length(header: bytes) -> int | None:
    """Return how many bytes a header says that its content has, or None if there is no intact header."""
    if len(header) < HEADER.size + CHECKSUM.size:
        return None
    mark, _, length, _ = HEADER.unpack_from(header)
    (own,) = CHECKSUM.unpack_from(header, HEADER.size)
    return int(length) if mark == MARK and own == zlib.crc32(header[: HEADER.size]) else None


def _read_block(file: BinaryIO, start: int, size: int) -> tuple[int, bytes] | None:
    """Return the kind and the content of the block that starts at a byte, or None if there is no intact one."""
    file.seek(start)
    header = file.read(HEADER.size + CHECKSUM.size)
    length = _content_length(header)
    if length is None or length > size - file.tell():
        return None
    content = _read(file, length)
    _, kind, _, checksum = HEADER.unpack_from(header)
    return (kind, content) if len(content) == length and zlib.crc32(content) == checksum else None


def _read(file: BinaryIO, length: int) -> bytes:
    """Read this many bytes, or fewer if the file ends before. One call reads at most 2 GiB."""
    content = file.read(length)
    while len(content) < length and (more := file.read(length - len(content))):
        content += more
    return content
