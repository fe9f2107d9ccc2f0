"""Where data files are, and whether they hold what they should."""

import hashlib
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from covey.exceptions import MissingDataError
from covey.storage.compression import open_packed

SYSTEM = (Path("/usr/share/datasets"), Path("/usr/local/share/datasets"))
"""The system's data folders; Debian's packages of data sets install to the first."""


def read(folder: str, name: str, sha256: str, data_home: Any) -> bytes:
    """Return the unpacked content of a file of a data set.

    The checksum is that of the content, because different programs pack the same content to different files.
    """
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
    """Return the path of a file, in the first of the places that holds it."""
    for place in places(folder, data_home):
        if (place / name).is_file():
            return place / name
    raise MissingDataError(name)


def places(folder: str, data_home: Any) -> Iterator[Path]:
    """Yield the folders in which the files of a data set may be, in the order in which they are tried."""
    for home in (data_home, os.environ.get("COVEY_DATA")):
        if home is not None:
            yield Path(home) / folder
            yield Path(home)
    yield from (system / folder for system in SYSTEM)


def missing(title: str, folder: str, names: tuple[str, ...], remedy: str, data_home: Any) -> MissingDataError:
    """Return the error for data that are missing; it says where they were looked for and how to get them."""
    looked = ", ".join(dict.fromkeys(str(place) for place in places(folder, data_home)))
    return MissingDataError(f"{title} is not on this machine: {', '.join(names)} not found in {looked}; {remedy}.")


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress the warnings of a fetcher that tries several times; if it fails, its error says enough."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        yield
