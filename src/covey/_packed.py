"""Files that may be packed: their name says how."""

import bz2
import gzip
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any

from covey._extras import require
from covey._progress import Bar

Share = Callable[[], float]


def _zstd(file: Any, mode: str, **options: Any) -> Any:
    return require("zstandard", "cli").open(file, mode, **options)


PACKED: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open, ".zst": _zstd}


def open_packed(path: Path, mode: str = "rb", **options: Any) -> Any:
    """Open a file, unpacking or packing on the way if its name says so."""
    return PACKED.get(path.suffix.lower(), open)(path, mode, **options)


@contextmanager
def open_text(path: Path, bar: Bar | None = None, errors: str = "strict") -> Iterator[tuple[IO[str], Share]]:
    """The text in a file, unpacked if its name says so, and a function that tells how much of the file has been read.

    The bar watches it, too.
    """
    size = max(path.stat().st_size, 1)
    opener = PACKED.get(path.suffix.lower())
    with path.open("rb") as raw, raw if opener is None else opener(raw, "rb") as content:
        if bar is not None:
            bar.watch(lambda: (raw.tell() / 1e6, size / 1e6))
        try:
            yield TextIOWrapper(content, encoding="utf-8-sig", errors=errors, newline=""), lambda: raw.tell() / size
        finally:
            if bar is not None:  # it is drawn once more after the file is closed
                bar.watch(lambda: (size / 1e6, size / 1e6))


def is_damage(error: Exception) -> bool:
    """Whether it means that a file does not hold what its name promises."""
    known = (EOFError, OSError, UnicodeError, lzma.LZMAError, zlib.error)
    return isinstance(error, known) or type(error).__module__.startswith("zstandard")
