"""Input for the readers of all formats: how a file is to be read, its text or its bytes, and what no reader takes.

A file or standard input is opened as text in its encoding, or as a file that a library reads by itself. Columns of one
name are refused, and so are rows that would fill the memory with gaps.
"""

import logging
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any

import numpy as np

from covey.cli.files.block import STANDARD, name_of
from covey.cli.files.dialect import Dialect
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import system_errors_of
from covey.runtime.progress import Bar
from covey.storage.compression import PREFIX, open_text
from covey.storage.limits import FREE, MOST_RATIO, OPTION, allowed
from covey.storage.text import encoding_of, with_marks

logger = logging.getLogger("covey")

CELLS = 2_000_000
"""About how many values a block holds: 2 million strings of a few characters take some 100 MB."""
BYTES_OF_CELL = 8
"""What a value of a table takes in memory at least: a float64, or a pointer to an object."""


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read.

    Attributes
    ----------
    labels : str or None
        The name of the array of labels in an .npz file, or the file of labels beside an .npy file.
    base : int or None
        The number of the first column in an svmlight file, 0 or 1; None if the file is to tell.
    most_rows : int
        The most rows of a block.
    dialect : Dialect
        How values are written.
    bar : Bar or None
        The progress bar that watches the reading.
    whole : bool
        Whether all rows are going to be held at once, so that a format which can hand them over without a copy need
        not cut them into blocks.
    """

    labels: str | None
    base: int | None
    most_rows: int
    dialect: Dialect = field(default_factory=Dialect)
    bar: Bar | None = None
    whole: bool = False

    def n_rows(self, n_columns: int) -> int:
        """Return how many rows of this many columns make a block."""
        return int(np.clip(CELLS // max(n_columns, 1), 1, self.most_rows))


@contextmanager
def open_input(path: str, options: ReadOptions) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """Yield the text of a file, and a function that returns the share that has been read, or None if unknown."""

    def encoding(prefix: bytes) -> str:
        if options.dialect.encoding is not None:
            return with_marks(options.dialect.encoding, prefix)
        found, is_judgement = encoding_of(prefix)
        if is_judgement:
            logger.warning("%s is not UTF-8 and is read as %s; pass --encoding if that is wrong.", name_of(path), found)
        return found

    if path == STANDARD:
        buffer = sys.stdin.buffer
        prefix = buffer.read(PREFIX)
        rejoined = BufferedReader(_Rejoined(prefix, buffer), PREFIX)
        yield TextIOWrapper(rejoined, encoding=encoding(prefix), newline=""), lambda: None
        return
    check_exists(path)
    with open_text(Path(path), options.bar, encoding=encoding) as found:
        yield found


@contextmanager
def as_file(path: str) -> Iterator[str]:
    """Yield the path of a file that can be read in any order; standard input is copied to a temporary file."""
    if path != STANDARD:
        check_exists(path)
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="covey-") as file:
        with system_errors_of(file.name):
            shutil.copyfileobj(sys.stdin.buffer, file)
            file.flush()
        yield file.name


def check_exists(path: str) -> None:
    """Refuse a file that is not there."""
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")


class _Rejoined(RawIOBase):
    """The bytes of a stream from which a prefix has been taken already."""

    def __init__(self, prefix: bytes, rest: Any) -> None:
        self._prefix, self._rest = prefix, rest

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        part = self._prefix[: len(buffer)] or self._rest.read1(len(buffer))
        self._prefix = self._prefix[len(buffer) :]
        buffer[: len(part)] = part
        return len(part)


def check_names(where: str, names: Sequence[str]) -> None:
    """Refuse two columns of the same name; `where` says which names these are."""
    name, times = Counter(names).most_common(1)[0] if names else ("", 1)
    if times > 1:
        raise FileFormatError(f"{where}: two columns are called {name!r}; give each a name of its own.")


def check_full_enough(path: str, n_rows: int, n_columns: int, n_values: int) -> None:
    """Refuse rows that share so few columns that a table of them would be large and nearly empty."""
    if n_rows * n_columns > max(FREE // BYTES_OF_CELL, MOST_RATIO * n_values):
        raise FileFormatError(
            f"{name_of(path)}: {n_rows} rows have {n_columns} different keys, but only {n_values} values; put what "
            "differs from row to row into one column of profiles {key: number} and pass --profile."
        )


def check_width(path: str, width: int, size: int) -> None:
    """Refuse more columns than a file of this size may have, since covey keeps a number or two for each of them."""
    most = allowed(size) // BYTES_OF_CELL
    if width > most:
        raise FileFormatError(
            f"{name_of(path)} numbers its columns or rows up to {width}, but a file of {size} bytes may have {most} "
            f"at most; number them without large gaps, or pass a larger {OPTION} ({BYTES_OF_CELL} bytes for each)."
        )
