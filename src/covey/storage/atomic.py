"""Files that are written whole or not at all.

1. The content is written to a temporary file beside the target.
2. The temporary file gets the mode of the file that it replaces. A new file has the mode that the umask gives it.
3. The content is forced to the disk. Otherwise a crash after step 4 could leave an empty file under the target's name.
4. The temporary file is renamed to the target, which is one step for every other process.
5. The folder is forced to the disk, so that the new name survives a crash, too.

If anything is raised on the way, the temporary file is removed and the target is as it was. An interrupt that a library
has swallowed is raised again before step 4.
"""

import os
import stat
import tempfile
import time
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from covey.runtime.file_errors import system_errors_of
from covey.runtime.interruptible import stop_if_abandoned

_finished: deque[tuple[float, Path, int]] = deque(maxlen=1000)
"""The files that were about to be renamed: when, to what, and their numbers in the file system. A file keeps its number
when it is renamed, so that this tells at every moment which files are in their places. A command writes fewer files;
the limit is for processes that never end."""


def check_target(path: str | os.PathLike[str], parameter: str = "path") -> Path:
    """Return where a file would be written, behind links; refuse a place that cannot hold or take a file.

    The errors name the parameter that the path was given as.
    """
    if not os.fspath(path):
        raise FileNotFoundError(f"{parameter} must be the name of a file, got {path!r}.")
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(
            f"{parameter} must lie in an existing folder, got {str(target.parent)!r}; create it first."
        )
    if target.exists() and not target.is_file():
        raise FileExistsError(f"{parameter} must be a regular file, got {str(target)!r}; choose another name.")
    check_folder(target.parent, parameter)
    return target


def check_folder(folder: Path, parameter: str = "path") -> None:
    """Refuse a folder in which no file can be made, or which cannot be created if it is not there yet."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):  # permissions alone do not tell: a disk may be read-only, or full
            pass
    except OSError as error:
        raise PermissionError(
            f"{parameter} must lie in a folder that can be written to, got {str(there)!r} ({error.strerror}); choose "
            "another."
        ) from error


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a temporary path to write to; it takes the place of `path` when the block ends without an error."""
    target = check_target(path)
    # The name keeps its suffixes, because they tell writers the format.
    temporary = target.with_name(f".{uuid.uuid4().hex}.{target.name}")
    replaced = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    try:
        with system_errors_of(target, temporary):
            # What replaces a file may be as private as that file: only its owner may read it while it is being written.
            temporary.touch(mode=0o666 if replaced is None else 0o600, exist_ok=False)
            yield temporary
            _finish(temporary, replaced)
            stop_if_abandoned()
            _finished.append((time.monotonic(), target, temporary.stat().st_ino))
            os.replace(temporary, target)
        with suppress(OSError):  # not every system can open a folder, and not every file system can sync one
            sync_folder(target.parent)
    finally:
        try:
            temporary.unlink(missing_ok=True)
        finally:
            temporary.unlink(missing_ok=True)  # an interrupt may have come before the first one was under way


def files_in_place(since: float) -> list[str]:
    """Return the names of the files that have come into their places since this moment of the monotonic clock."""
    return [
        target.name
        for moment, target, number in _finished
        if moment >= since and target.exists() and target.stat().st_ino == number
    ]


def _finish(path: Path, mode: int | None) -> None:
    """Give the file its mode, unless it is None, and wait until the system has written the file to the disk."""
    with path.open("r+b") as file:  # opened before its new mode may forbid writing
        if mode is not None:
            path.chmod(mode)
        os.fsync(file.fileno())


def sync_folder(folder: Path) -> None:
    """Wait until the system has written the names of a folder's files to the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
