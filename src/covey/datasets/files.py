"""Where data files are, what is in them, and whether it is what it should be."""

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from covey.storage.packed import open_packed

SYSTEM = (Path("/usr/share/datasets"), Path("/usr/local/share/datasets"))


class MissingDataError(FileNotFoundError):
    """No file, and no way to fetch one."""


def read(folder: str, name: str, sha256: str, data_home: Any) -> bytes:
    """The unpacked content of a file of a data set, checked: packers differ, content must not."""
    path = find(folder, name, data_home)
    with open_packed(path) as file:
        content: bytes = file.read()
    found = hashlib.sha256(content).hexdigest()
    if found != sha256:
        raise ValueError(
            f"{path} does not hold what it should: its content has the SHA-256 checksum {found}, expected {sha256}; "
            "get the file again."
        )
    return content


def find(folder: str, name: str, data_home: Any) -> Path:
    """The first of the places where the file is."""
    for place in places(folder, data_home):
        if (place / name).is_file():
            return place / name
    raise MissingDataError(name)


def places(folder: str, data_home: Any) -> Iterator[Path]:
    """The data set's folder, or the files themselves, in each of the places to look in."""
    for home in (data_home, os.environ.get("COVEY_DATA")):
        if home is not None:
            yield Path(home) / folder
            yield Path(home)
    yield from (system / folder for system in SYSTEM)


def missing(title: str, folder: str, names: tuple[str, ...], remedy: str, data_home: Any) -> MissingDataError:
    """One clear message: what is missing, where it was looked for, how to get it."""
    looked = ", ".join(dict.fromkeys(str(place) for place in places(folder, data_home)))
    return MissingDataError(f"{title} is not on this machine: {', '.join(names)} not found in {looked}; {remedy}.")


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warnings of a fetcher that tries again and again: the error at the end says it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
