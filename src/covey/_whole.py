"""Files that are written whole or not at all: under a temporary name first, then renamed."""

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: str | os.PathLike[str]) -> Iterator[Path]:
    """The temporary path to write to; it takes the place of `path` if nothing is raised, and is gone otherwise."""
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"path must lie in an existing folder, got {str(target.parent)!r}; create it first.")
    # the suffixes stay, as they tell writers the format
    temporary = target.with_name(f".{uuid.uuid4().hex}.{target.name}")
    try:
        yield temporary
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
