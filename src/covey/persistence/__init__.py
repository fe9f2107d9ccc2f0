"""Save and load fitted selectors and classifiers. No pickle inside: loading runs no code from the file.

A file is a zip archive of `covey.json` and of arrays in NumPy's own format. The JSON part holds the class of the
estimator, its parameters, its fitted state and notes; `_values.py` says which values that can be, `_state.py` what the
state of each class is. Callables are not stored: a similarity of your own is passed again on loading.

Nothing in a file is believed. Loading inflates no more than the size of the file justifies, takes only known keys with
values of their declared types, and checks that these agree with each other, so that a loaded estimator works as one
that was fitted. Whatever is wrong with a file raises `FileFormatError`.

Format 2 adds forms for values that format 1 stored as others, such as NumPy's numbers and dates. Both can be read.
"""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from reprlib import repr as shown
from typing import Any

import numpy as np

from covey.persistence.estimators import ModelReader, ModelWriter, check_class, is_fitted
from covey.similarity.similarity import STRINGS, Similarity
from covey.storage.archive import read_bytes
from covey.storage.errors import FileFormatError
from covey.storage.limits import justified
from covey.storage.whole import whole

FORMAT = 2
READABLE = (1, 2)
KEYS = {"format", "content", "notes", "callable"}
JSON = "covey.json"
JSON_FREE, JSON_RATIO = 4 * 2**20, 20
"""The JSON part may have so many bytes in any case, and so many times the bytes of the file. Dicts and sets drawn at
random are packed 9:1; a part full of empty lists takes 23 times its bytes in memory."""


def save(estimator: Any, path: str | os.PathLike[str], notes: Any = None) -> None:
    """Write a fitted selector or classifier to one file, whole or not at all; an existing file is replaced.

    A classifier is saved with its representatives, not with all of X. They may be rows of an array or a sparse matrix,
    or objects made of numbers, strings, bytes, arrays, and lists, tuples, sets and dicts of these, nested up to 100
    levels. Every value comes back equal and of the same type; one that cannot is refused.

    Parameters
    ----------
    estimator : selector or classifier
    path : path
    notes : optional
        Anything made of such values to keep with it, for `read_notes`.
    """
    name = check_class(estimator).__name__
    if not is_fitted(vars(estimator)):
        raise ValueError(f"estimator must be fitted before it is saved, got an unfitted {name}; call fit first.")
    writer = ModelWriter()
    encoded = {"content": writer.estimator(estimator), "notes": writer.encode(notes, "notes")}
    content = json.dumps({"format": FORMAT, **encoded, "callable": writer.callable}).encode()
    unpacked = len(content) + sum(array.nbytes for array in writer.arrays)
    with whole(path) as temporary:
        _write(temporary, content, writer, zipfile.ZIP_DEFLATED)
        size = temporary.stat().st_size
        if unpacked > justified(size) or len(content) > _most_json(size):  # `load` would refuse it
            _write(temporary, content, writer, zipfile.ZIP_STORED)


def _write(path: Path, content: bytes, writer: ModelWriter, method: int) -> None:
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(JSON, content)
        for number, array in enumerate(writer.arrays):
            buffer = BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            archive.writestr(f"{number}.npy", buffer.getvalue())


def load(path: str | os.PathLike[str], similarity: Any = None) -> Any:
    """Read what `save` wrote.

    Parameters
    ----------
    path : path
    similarity : callable or Similarity, optional
        The same function again, if the estimator was fitted with one: it is not stored, only how it was wrapped.

    Raises
    ------
    FileFormatError
        If the file was not written by `save`, or is damaged.
    """
    file, archive = _open(path)
    _check_given(file["callable"], similarity)
    with _blaming(path):
        return ModelReader(archive, file["format"], similarity).model(file["content"], file["callable"] is not None)


def missing_callable(path: str | os.PathLike[str]) -> str | None:
    """The name of the similarity that `load` must be given again, if it was a callable."""
    name: str | None = _open(path)[0]["callable"]
    return name


def read_notes(path: str | os.PathLike[str]) -> Any:
    """The notes that were saved with an estimator; None if there are none."""
    file, archive = _open(path)
    with _blaming(path):
        return ModelReader(archive, file["format"], None).decode(file["notes"])


def _check_given(missing: str | None, similarity: Any) -> None:
    """Refuse a similarity that the file does not need, or none where it needs one."""
    if missing is None:
        if similarity is not None:
            raise ValueError("similarity must not be passed to load: the file names its own; leave it out.")
        return
    if similarity is None:
        raise ValueError(
            f"similarity must be passed to load: the file was saved with the callable {missing!r}, and files hold no "
            "code; pass similarity= the same function."
        )
    function = similarity.function if isinstance(similarity, Similarity) else similarity
    if not callable(function) and function not in STRINGS:  # version 0.1.0 took these for callables
        raise TypeError(
            f"similarity must be a callable, since the file was saved with the callable {missing!r}, got "
            f"{similarity!r}; pass similarity= the same function."
        )


def _open(path: str | os.PathLike[str]) -> tuple[dict[str, Any], zipfile.ZipFile]:
    """The JSON part, of which only the outermost level is checked, and the archive that holds the arrays."""
    content = Path(path).read_bytes()
    with _blaming(path):
        archive = zipfile.ZipFile(BytesIO(content))
        file = json.loads(read_bytes(archive, JSON, _most_json(len(content))))
        if type(file) is not dict or file.keys() != KEYS:
            raise ValueError(f"{JSON} must be an object of {', '.join(sorted(KEYS))}")
        if type(file["format"]) is not int or file["format"] not in READABLE:
            raise ValueError(f"format {file['format']!r} is unknown to this version of covey")
        if not (file["callable"] is None or type(file["callable"]) is str):
            raise ValueError(f"callable must be the name of a function or null, got {shown(file['callable'])}")
        return file, archive


def _most_json(size: int) -> int:
    return max(JSON_FREE, JSON_RATIO * size)


@contextmanager
def _blaming(path: str | os.PathLike[str]) -> Iterator[None]:
    """Whatever is raised within is the fault of the file."""
    try:
        yield
    except Exception as error:  # a damaged archive fails in many ways
        cause = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise FileFormatError(f"{os.fspath(path)!r} was not written by covey.save, or is damaged: {cause}.") from error


class ModelFile:
    """A model file that is opened once. Its parts are decoded only when they are asked for.

    Attributes
    ----------
    missing_callable : str or None
        The name of the similarity that `load` must be given again, if it was a callable.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = path
        self._file, self._archive = _open(path)
        self.missing_callable: str | None = self._file["callable"]

    def notes(self) -> Any:
        """Read the notes that were saved with the estimator; None if there are none."""
        with _blaming(self._path):
            return ModelReader(self._archive, self._file["format"], None).decode(self._file["notes"])

    def load(self, similarity: Any = None) -> Any:
        """Read the estimator; `similarity` is the same function again, if it was fitted with one."""
        _check_given(self.missing_callable, similarity)
        with _blaming(self._path):
            reader = ModelReader(self._archive, self._file["format"], similarity)
            return reader.model(self._file["content"], self.missing_callable is not None)
