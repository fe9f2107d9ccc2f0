"""Errors about files: what other libraries raise becomes a FileFormatError that names the file."""

from collections.abc import Iterator
from contextlib import contextmanager

from covey.exceptions import FileFormatError

LONGEST = 500
"""How many characters of another library's message are repeated, because it may quote a whole file."""


@contextmanager
def naming(name: str, verdict: str = "cannot be read") -> Iterator[None]:
    """Turn any error that is raised while a file is read into a FileFormatError that names the file.

    The libraries that read files raise many kinds of errors. A missing file and a missing library are no faults of the
    content, so their errors stay as they are.
    """
    try:
        yield
    except (FileFormatError, FileNotFoundError, ImportError):
        raise
    except Exception as error:
        remedy = "; save it as UTF-8" if isinstance(error, UnicodeError) else ""
        raise FileFormatError(f"{name} {verdict}: {first_line(error)}{remedy}.") from error


def first_line(error: Exception) -> str:
    """Return what an error says, in one line that is not too long, and without a full stop."""
    line = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} …"
