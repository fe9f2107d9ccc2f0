"""Standard input and output: the name that the user writes for them, and the one that messages use."""

import sys
from typing import BinaryIO

STANDARD = "-"
"""The name of standard input and standard output."""

STANDARD_OUTPUT = "standard output"
"""What messages call standard output."""


def name_of(path: str) -> str:
    """Return what messages call a file."""
    return "standard input" if path == STANDARD else path


def bytes_in(path: str) -> str | BinaryIO:
    """Return a path as it is, and for standard input the bytes that arrive there."""
    return sys.stdin.buffer if path == STANDARD else path


def bytes_out(path: str) -> str | BinaryIO:
    """Return a path as it is, and for standard output the place where bytes are written to."""
    return sys.stdout.buffer if path == STANDARD else path
