"""Files that are written whole or not at all: under a temporary name first, then renamed."""

import os
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_target(path: str | os.PathLike[str]) -> Path:
    """Where a file would be written, behind links; refused if that is no place for a file, or cannot be written to."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must lie in an existing folder, got {str(target.parent)!r}; create it first.")
    if target.exists() and not target.is_file():
        raise FileExistsError(f"path must be a regular file, got {str(target)!r}; choose another name.")
    check_folder(target.parent)
    return target


def check_folder(folder: Path) -> None:
    """Refuse a folder in which no file can be made, or in which it cannot be created if it is not there yet."""
    there = next(place for place in (folder.absolute(), *folder.absolute().parents) if place.exists())
    try:
        with tempfile.TemporaryFile(dir=there):  # permissions alone do not tell: a disk may be read-only, or full
            pass
    except OSError as error:
        raise PermissionError(
            f"path must lie in a folder that can be written to, got {str(there)!r} ({error.strerror}); choose another."
        ) from error


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The temporary path to write to; it takes the place of `path` if nothing is raised, and is gone otherwise."""
    target = check_target(path)
    # the suffixes stay, as they tell writers the format
    temporary = target.with_name(f".{uuid.uuid4().hex}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
