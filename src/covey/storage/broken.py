"""What a file that cannot be read raises: one error, which names the file."""

from collections.abc import Iterator
from contextlib import contextmanager

from covey.storage.errors import FileFormatError


@contextmanager
def naming(name: str, verdict: str = "cannot be read") -> Iterator[None]:
    """Raise whatever goes wrong with a file as a FileFormatError that names it; libraries raise many kinds of errors.

    A missing file and a missing library are no faults of the content, and their errors stay as they are.
    """
    try:
        yield
    except (FileFormatError, FileNotFoundError, ImportError):
        raise
    except Exception as error:
        remedy = "; save it as UTF-8" if isinstance(error, UnicodeError) else ""
        raise FileFormatError(f"{name} {verdict}: {first_line(error)}{remedy}.") from error


def first_line(error: Exception) -> str:
    """What an error says, in one line and without a full stop."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
