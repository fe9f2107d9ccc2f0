"""Errors of the file system, which do not always say which file they are about."""

import os
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def of_file(path: str | os.PathLike[str], temporary: str | os.PathLike[str] | None = None) -> Iterator[None]:
    """Let an error of the system name this file if it names none, as that of a full disk does not.

    An error that names the `temporary` file, which is to become this one, names this one instead.

    Examples
    --------
    >>> import errno
    >>> try:
    ...     with of_file("model.covey"):
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
