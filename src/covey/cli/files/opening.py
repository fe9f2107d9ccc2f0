"""The text of a file or of standard input."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from covey.cli.files.standard import STANDARD
from covey.runtime.progress import Bar
from covey.storage.packed import open_text


@contextmanager
def open_input(path: str, bar: Bar | None) -> Iterator[tuple[Any, Callable[[], float | None]]]:
    """Yield the text of a file, and a function that says which share of it has been read, or None if nobody knows."""
    if path == STANDARD:
        yield sys.stdin, lambda: None
        return
    check_exists(path)
    with open_text(Path(path), bar) as found:
        yield found


def check_exists(path: str) -> None:
    """Refuse standard input, for formats that cannot be read from a pipe, and a file that is not there."""
    if path == STANDARD:
        raise ValueError("this format cannot be read from standard input; pass a file.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")
