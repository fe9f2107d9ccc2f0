"""Files that are written whole or not at all: under a temporary name first, then renamed."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def check_target(path: str | os.PathLike[str]) -> Path:
    """Where a file would be written, behind links; refused if that is no place for a file."""
    target = Path(os.path.realpath(path))
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must lie in an existing folder, got {str(target.parent)!r}; create it first.")
    if target.exists() and not target.is_file():
        raise FileExistsError(f"path must be a regular file, got {str(target)!r}; choose another name.")
    return target


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
