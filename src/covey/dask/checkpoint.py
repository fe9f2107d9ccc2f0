"""Finished tasks in a folder, so that a run that was stopped can go on where it was.

The worker that has finished a task writes its result into a file of its own, and a later run reads the file instead of
running the task. A manifest says which data and parameters the files belong to. The folder may lie anywhere that fsspec
can reach, as long as all workers reach it under the same name.

A file holds the serialized result and its checksum (`storage/serialization.py`). It is written under another name first
and renamed when it is complete, so that a file that exists is whole.
"""

import json
import os
import zlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from covey.dask.engine import Engine
from covey.exceptions import FileFormatError
from covey.runtime.file_errors import system_errors_of
from covey.runtime.libraries import require
from covey.storage.serialization import build, deserialize, serialize

MANIFEST = "covey-checkpoint.json"
"""The file that says which data and parameters a folder belongs to."""

CHECKSUM = "checksum"
"""The entry of the manifest that is computed from all others."""

FORMAT = 2
"""The version of the files. It is part of the manifest, so that files of another version are refused."""


class TaskCache:
    """Keeps no results: every task is run. `FolderCheckpoint` keeps those of finished tasks."""

    def submit(self, engine: Engine, name: str, kind: type, function: Callable[..., Any], *args: Any) -> Any:
        """Submit a counted task whose result is a dataclass of type `kind`, or the reading of this result."""
        return engine.submit_counted(name, function, *args)

    def is_restored(self, name: str) -> bool:
        """Return whether the result of a task is read instead of computed."""
        return False


class FolderCheckpoint(TaskCache):
    """Keeps the results of finished tasks in a folder.

    Parameters
    ----------
    url : str
        The folder: a path, or anything that fsspec understands. It is made if it is not there.
    manifest : dict
        What the results depend on, as strings and numbers. A folder with another manifest is refused.
    """

    def __init__(self, url: str, manifest: Mapping[str, Any]) -> None:
        self._url = url
        files, folder = _open_folder(url)
        if "memory" in files.protocol:
            raise ValueError(f"checkpoint must be where all workers see it, got {url!r}, the memory of one process.")
        with system_errors_of(url):
            files.makedirs(folder, exist_ok=True)
            files.invalidate_cache()  # workers, or other runs, have written files since this process last looked
            try:
                self._names = {name.rsplit("/", 1)[-1] for name in files.ls(folder, detail=False)}
            except FileNotFoundError:  # in a store of objects such as S3, there is no folder without files
                self._names = set()
        made = {"format": FORMAT, **manifest}
        if MANIFEST in self._names:
            _check_manifest(url, read_manifest(url) or {}, made)
        else:
            _write(url, MANIFEST, json.dumps({**made, CHECKSUM: _checksum(made)}, indent=1).encode())

    def probe(self, engine: Engine) -> None:
        """Refuse a folder that a worker does not see, before anything is computed."""
        if not engine.gather("checkpoint", [engine.submit("probe", _sees, self._url)])[0]:
            raise ValueError(
                f"checkpoint must be where all workers see it under the same name, but a worker does not find "
                f"{self._url!r}; choose a shared folder, or a store that fsspec knows."
            )

    def submit(self, engine: Engine, name: str, kind: type, function: Callable[..., Any], *args: Any) -> Any:
        if self.is_restored(name):
            return engine.submit(f"read {name}", _read_result, self._url, _file(name), kind)
        return engine.submit_counted(name, partial(_run_and_keep, self._url, _file(name), function), *args)

    def is_restored(self, name: str) -> bool:
        return _file(name) in self._names


def absolute(url: str | os.PathLike[str]) -> str:
    """Return the folder under a name that does not depend on the current directory of a process."""
    text = os.fspath(url)
    if not text:
        raise FileNotFoundError(f"checkpoint must be the name of a folder, got {url!r}.")
    return text if "://" in text or "::" in text else os.path.abspath(os.path.expanduser(text))


def read_manifest(url: str) -> dict[str, Any] | None:
    """Return what a folder says that it belongs to, or None if it says nothing."""
    files, folder = _open_folder(url)
    try:
        with system_errors_of(f"{url}/{MANIFEST}"):
            manifest = json.loads(files.cat_file(f"{folder}/{MANIFEST}"))
        whole = isinstance(manifest, dict) and manifest.pop(CHECKSUM, None) == _checksum(manifest)
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:  # Python reads deeper lists than it writes
        raise _damaged_manifest(url) from error
    if not whole:
        raise _damaged_manifest(url)
    return dict(manifest)


def _checksum(manifest: Mapping[str, Any]) -> int:
    """Return a number that tells a damaged manifest from that of another run."""
    return zlib.crc32(json.dumps(manifest, sort_keys=True).encode())


def _damaged_manifest(url: str) -> FileFormatError:
    return FileFormatError(
        f"{url}/{MANIFEST} is damaged, or was written by an earlier version of covey; remove the folder and begin anew."
    )


def _check_manifest(url: str, actual: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
    """Refuse a folder that belongs to another run, and say in what the two differ."""
    different = [name for name in expected if actual.get(name) != expected[name]]
    if different:
        name = different[0]
        raise ValueError(
            f"checkpoint must be of the same run, but {url!r} was made with another {name}: it has "
            f"{actual.get(name)!r} and this run {expected[name]!r}; choose another folder, or remove that one."
        )


def _open_folder(url: str) -> tuple[Any, str]:
    """Return the file system and the path of a folder."""
    files, folder = require("fsspec.core", "dask").url_to_fs(url)
    return files, folder.rstrip("/")


def _file(name: str) -> str:
    return f"{name}.result"


def _sees(url: str) -> bool:
    """Return whether this worker finds the manifest of a folder."""
    return read_manifest(url) is not None


def _run_and_keep(url: str, name: str, function: Callable[..., Any], *args: Any) -> Any:
    """Run a task, and write its result."""
    result = function(*args)
    content = serialize(result)
    _write(url, name, zlib.crc32(content).to_bytes(4, "little") + content)
    return result


def _write(url: str, name: str, content: bytes) -> None:
    """Write a file under another name, and rename it when it is complete."""
    files, folder = _open_folder(url)
    temporary = f"{folder}/.{uuid4().hex}.{name}"
    with system_errors_of(f"{url}/{name}", temporary):
        files.pipe_file(temporary, content)
        files.mv(temporary, f"{folder}/{name}")


def _read_result(url: str, name: str, kind: type) -> Any:
    """Read the result of a task."""
    files, folder = _open_folder(url)
    with system_errors_of(f"{url}/{name}"):
        content = files.cat_file(f"{folder}/{name}")
    try:
        if zlib.crc32(content[4:]) != int.from_bytes(content[:4], "little"):
            raise ValueError("its checksum is wrong")
        return build(kind, deserialize(content[4:], most_text=len(content)))
    except (FileFormatError, KeyError, TypeError, ValueError) as error:
        raise FileFormatError(f"{url}/{name} is damaged; remove it, and its task is run again.") from error
