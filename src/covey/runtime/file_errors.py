"""Errors about files: each names its file, whether it comes from the system or from a library that reads the content.

What the command says of the objects that were read from a file gets its name in `cli/errors.py`.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from covey.exceptions import FileFormatError
from covey.runtime.wording import one_line


@contextmanager
def system_errors_of(path: str | os.PathLike[str], temporary: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Let an error of the system name this file if it names none, as that of a full disk does not.

    An error that names the `temporary` file, which is to become this one, names this one instead.

    Examples
    --------
    >>> import errno
    >>> try:
    ...     with system_errors_of("model.covey"):
    ...         raise OSError(errno.ENOSPC, "No space left on device")
    ... except OSError as error:
    ...     print(error)
    [Errno 28] No space left on device: 'model.covey'
    """
    name = os.fspath(path)
    try:
        yield
    except OSError as error:
        hidden = temporary is not None and error.filename == os.fspath(temporary)
        if error.errno is None:
            if name not in str(error):
                error.args = (f"{name}: {error}",)
        elif hidden or error.filename is None or isinstance(error.filename, int):  # a number is that of an open file
            error.filename = name
            del error.filename2  # of a renaming, whose other name is this one
        raise


@contextmanager
def format_errors_of(name: str, verdict: str = "cannot be read", *, is_text: bool = True) -> Iterator[None]:
    """Turn any error that is raised while a file is read into a FileFormatError that names the file.

    The libraries that read files raise many kinds of errors. A missing file and a missing library are not faults of the
    content, so their errors stay as they are.

    Examples
    --------
    >>> with format_errors_of("numbers.json"):
    ...     int("7 %")
    Traceback (most recent call last):
    covey.exceptions.FileFormatError: numbers.json cannot be read: invalid literal for int() with base 10: '7 %'.
    """
    try:
        yield
    except (FileFormatError, FileNotFoundError, ImportError):
        raise
    except Exception as error:
        remedy = "; save it as UTF-8" if is_text and isinstance(error, UnicodeError) else ""
        raise FileFormatError(f"{name} {verdict}: {one_line(error, first=True)}{remedy}.") from error
