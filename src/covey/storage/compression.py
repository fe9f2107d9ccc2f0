"""Compressed files: the suffix of a file says how it is packed: .gz, .xz, .bz2 or .zst."""

import bz2
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import DEFAULT_BUFFER_SIZE, BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import IO, Any

from covey.runtime.libraries import require
from covey.runtime.progress import Bar
from covey.runtime.wording import one_line
from covey.storage.limits import OPTION, allowed, limit_in_words

Share = Callable[[], float]
"""A function that says which share of a file has been read, from 0 to 1."""
PREFIX = 2**20
"""How many bytes at the beginning of a text decide about its encoding. Checking that a mebibyte is UTF-8 takes a
millisecond."""
STEP = 1024
"""How many bytes of a .zst file are unpacked at once.

A block of 4 bytes may stand for 128 KiB of equal bytes, so one step yields at most 32 MiB.
"""


class _ZstdReader(RawIOBase):
    """The unpacked bytes of a .zst file.

    The reader of the library zstandard takes a frame that is cut off for a whole one; this one raises EOFError.
    """

    def __init__(self, file: Any) -> None:
        self._file, self._new_frame = file, require("zstandard", "cli").ZstdDecompressor().decompressobj
        self._frame: Any = None
        self._packed, self._unpacked = b"", memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._unpacked:
            packed = self._packed or self._file.read(STEP)
            if not packed and self._frame is not None:
                raise EOFError("it ends within a frame")
            if not packed:
                return 0
            self._frame = self._frame or self._new_frame()
            self._unpacked, self._packed = memoryview(self._frame.decompress(packed)), b""
            if self._frame.eof:
                self._packed, self._frame = self._frame.unused_data, None
        # Views copy nothing: a step may yield 32 MiB, of which the caller may take a few kilobytes at a time.
        part, self._unpacked = self._unpacked[: len(buffer)], self._unpacked[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)

    def close(self) -> None:
        self._file.close()
        super().close()


def _zstd(file: Any, mode: str, **options: Any) -> Any:
    """Open a .zst file, as `gzip.open` does a .gz file."""
    if mode == "rb":
        return BufferedReader(_ZstdReader(file.open("rb") if isinstance(file, Path) else file))
    return require("zstandard", "cli").open(file, mode, **options)


def _gzip(file: Any, mode: str, **options: Any) -> Any:
    """Open a .gz file, as `gzip.open` does.

    What is written says neither when it was written nor what the file was called at that time, which is a temporary
    name. Equal contents then make equal files.
    """
    if mode == "rb":
        return gzip.open(file, mode)
    raw = file.open("wb")
    packed = gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0)
    packed.myfileobj = raw  # closes the file beneath with it, as for files that GzipFile opens itself
    return TextIOWrapper(packed, **options) if "t" in mode else packed


PACKED: dict[str, Any] = {".bz2": bz2.open, ".gz": _gzip, ".xz": lzma.open, ".zst": _zstd}
"""The function that opens a packed file, by the file's last suffix."""


def open_packed(path: Path, mode: str = "rb", **options: Any) -> Any:
    """Open a file; unpack or pack its content on the way if its name says so."""
    return PACKED.get(path.suffix.lower(), open)(path, mode, **options)


@contextmanager
def open_text(
    path: Path,
    bar: Bar | None = None,
    errors: str = "strict",
    encoding: Callable[[bytes], str] | None = None,
) -> Iterator[tuple[IO[str], Share]]:
    """Yield the text in a file, unpacked if its name says so, and a function that says which share has been read.

    The function `encoding` returns the encoding of a text that begins with the bytes which it gets; by default it is
    UTF-8. The progress bar watches the same share. A packed file that unpacks to more than is allowed raises
    ValueError.
    """
    size = max(path.stat().st_size, 1)
    opener = PACKED.get(path.suffix.lower())
    buffered = DEFAULT_BUFFER_SIZE if encoding is None else PREFIX
    with path.open("rb", buffered) as raw, raw if opener is None else opener(raw, "rb") as content:
        stream: Any = content if opener is None else BufferedReader(_Capped(content, size), buffered)
        if bar is not None:
            bar.watch(lambda: (raw.tell() / 1e6, size / 1e6))
        try:
            found = "utf-8-sig" if encoding is None else encoding(stream.peek(PREFIX)[:PREFIX])
            yield TextIOWrapper(stream, encoding=found, errors=errors, newline=""), lambda: raw.tell() / size
        finally:
            if bar is not None:  # the bar is drawn once more after the file is closed
                bar.watch(lambda: (size / 1e6, size / 1e6))


class _Capped(RawIOBase):
    """The unpacked bytes of a file of `size` bytes, up to what is allowed."""

    def __init__(self, content: Any, size: int) -> None:
        self._content, self._size, self._left = content, size, allowed(size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            part = self._content.read(len(buffer))
        except Exception as error:  # each library has errors of its own for what is damaged
            done = allowed(self._size) - self._left
            raise ValueError(
                f"what follows after the first {done} unpacked bytes is damaged ({one_line(error, first=True)})"
            ) from error
        self._left -= len(part)
        if self._left < 0:
            raise ValueError(
                f"it unpacks to more than {limit_in_words(self._size)}, which may be an attack on memory; if you trust "
                f"it, pass a larger {OPTION}, or unpack it first"
            )
        buffer[: len(part)] = part
        return len(part)
