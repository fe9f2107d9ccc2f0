"""The text of a file or of standard input, and the files that libraries read by themselves."""

import logging
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BufferedReader, RawIOBase, TextIOWrapper
from pathlib import Path
from typing import Any

from covey.cli.files.how import How
from covey.cli.files.standard import STANDARD, name_of
from covey.runtime.disk import of_file
from covey.storage.encoding import encoding_of, with_marks
from covey.storage.packed import PREFIX, open_text

logger = logging.getLogger("covey")


@contextmanager
def open_input(path: str, how: How) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """Yield the text of a file, and a function that says which share of it has been read, or None if nobody knows."""

    def encoding(prefix: bytes) -> str:
        if how.style.encoding is not None:
            return with_marks(how.style.encoding, prefix)
        found, is_judgement = encoding_of(prefix)
        if is_judgement:
            logger.warning("%s is no UTF-8 and is read as %s; pass --encoding if that is wrong.", name_of(path), found)
        return found

    if path == STANDARD:
        buffer = sys.stdin.buffer
        prefix = buffer.read(PREFIX)
        rejoined = BufferedReader(_Rejoined(prefix, buffer), PREFIX)
        yield TextIOWrapper(rejoined, encoding=encoding(prefix), newline=""), lambda: None
        return
    check_exists(path)
    with open_text(Path(path), how.bar, encoding=encoding) as found:
        yield found


@contextmanager
def as_file(path: str) -> Iterator[str]:
    """Yield the path of a file that can be read in any order; standard input is copied to a temporary file."""
    if path != STANDARD:
        check_exists(path)
        yield path
        return
    with tempfile.NamedTemporaryFile(prefix="covey-") as file:
        with of_file(file.name):
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
