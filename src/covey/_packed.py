"""Files that may be packed: their name says how."""

import bz2
import gzip
import lzma
from pathlib import Path
from typing import IO, Any

from covey._extras import require


def _zstd(file: Any, mode: str, **options: Any) -> Any:
    return require("zstandard", "cli").open(file, mode, **options)


PACKED: dict[str, Any] = {".bz2": bz2.open, ".gz": gzip.open, ".xz": lzma.open, ".zst": _zstd}


def open_packed(path: Path, mode: str = "rb", **options: Any) -> Any:
    """Open a file, unpacking or packing on the way if its name says so."""
    return PACKED.get(path.suffix, open)(path, mode, **options)


def unpacked(file: IO[bytes], name: str) -> Any:
    """The bytes in an open file, unpacked if its name says so."""
    opener = PACKED.get(Path(name).suffix)
    return file if opener is None else opener(file, "rb")
