"""The error of options that make no sense, and how errors about objects name the file that the objects come from."""

from collections.abc import Iterator
from contextlib import contextmanager

from covey.cli.files.block import name_of


class MisuseError(ValueError):
    """Options contradict each other or cannot have the values given. The exit code is 2."""


@contextmanager
def object_errors_of(path: str) -> Iterator[None]:
    """Let an error of the library, which knows objects but no files, name the file that the objects come from.

    An error that is about another file says so by an attribute `names_file`.
    """
    try:
        yield
    except ValueError as error:
        if isinstance(error, MisuseError) or hasattr(error, "names_file") or name_of(path) in str(error):
            raise
        raise ValueError(f"{name_of(path)}: {error}") from error
