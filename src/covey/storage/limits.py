"""How much memory a file may claim: an attack on memory must itself be large.

A small packed file can stand for gigabytes. What a file may unpack to is therefore limited by its own size, unless the
user names another limit, which `unpacking_at_most` sets for all that is read inside ``with``.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

FREE = 64 * 2**20
"""Every file may unpack to this many bytes (64 MiB), however small it is; any machine has that much to spare."""
MOST_RATIO = 100
"""A larger content may have this many bytes for each byte of the file.

Deflate packs equal bytes 1026:1, and the real tables of numbers that we measured 2:1 to 20:1. Only large tables of
almost nothing but zeros exceed 100:1 (one-hot columns of 100 categories in float64: 248:1); the message tells their
owners the remedy. A writer that must be able to read its own archives stores arrays beyond `FREE` bytes unpacked.
"""
OPTION = "--max-unpacked"
"""The option of the command line that sets another limit."""
UNITS = ("bytes", "KiB", "MiB", "GiB")
"""The units in which messages name a limit; each has 1024 of the one before."""

_named: ContextVar[int | None] = ContextVar("most bytes that a file may unpack to", default=None)


def justified(size: int) -> int:
    """Return how many bytes a file of `size` bytes may declare, or unpack to, if the user says nothing about it."""
    return max(FREE, MOST_RATIO * size)


@contextmanager
def unpacking_at_most(n_bytes: int | None) -> Iterator[None]:
    """Let each file that is read inside ``with`` unpack to this many bytes; None keeps what its size justifies."""
    before = _named.set(n_bytes)
    try:
        yield
    finally:
        _named.reset(before)


def allowed(size: int) -> int:
    """Return how many bytes a file of `size` bytes may unpack to: what the user allows, or else what is justified."""
    named = _named.get()
    return justified(size) if named is None else named


def limit_in_words(size: int) -> str:
    """Return the limit for a file of `size` bytes, and where it comes from."""
    if _named.get() is not None:
        return f"{_in_words(allowed(size))} ({OPTION})"
    return f"{_in_words(allowed(size))} (each file may take {_in_words(FREE)} or {MOST_RATIO} times its size)"


def _in_words(n_bytes: float) -> str:
    """Return a number of bytes in the largest unit of which there is at least one."""
    at = 0
    while n_bytes >= 1024 and at < len(UNITS) - 1:
        n_bytes, at = n_bytes / 1024, at + 1
    return f"{n_bytes:.4g} {UNITS[at]}"
