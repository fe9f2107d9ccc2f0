"""Loading: a file becomes a fitted estimator again. No code from the file is run.

Nothing in a file is believed. These steps are taken, and each of them can refuse the file:

1. The JSON part is read, and its outermost level is checked. It may be no larger than the size of the file justifies.
2. What an older version of covey wrote is brought into the present format (`old.py`).
3. Parameters, state and notes become values (`values.py`); arrays are read when they are referred to.
4. The estimator is made from its parameters, which pass the same validation as in `fit`. Its state must follow the
   declarations of its class (`covey/selectors/saved_state.py`), so that it works as an estimator that was fitted.

Any fault of a file raises `FileFormatError`.
"""

import json
import os
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from reprlib import repr as shown
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from covey.exceptions import FileFormatError
from covey.persistence.estimators import NEVER_SAVED, SimilarityReader, find_class, lacks_code, restored
from covey.persistence.format import FORMAT, JSON, KEYS, UnknownNameError, check_depth, most_json
from covey.persistence.old import UPGRADES
from covey.persistence.records import RECORDS
from covey.persistence.values import Reader, tagged, typed
from covey.runtime.file_errors import format_errors_of, system_errors_of
from covey.selectors.base import Selector
from covey.similarity.similarity import Similarity
from covey.storage.archive import read_bytes

if TYPE_CHECKING:
    from covey.classifier import NearestPrototypeClassifier

Fitted: TypeAlias = "Selector | NearestPrototypeClassifier"
"""What files hold; `isinstance` tells a type checker which of the two it is."""

ARCHIVE = b"PK"
"""How a zip archive begins."""


def load(path: str | os.PathLike[str] | BinaryIO, similarity: Any = None) -> Fitted:
    """Read a fitted selector or classifier that `covey.save` wrote. No code from the file is run.

    Parameters
    ----------
    path : path or binary file
        Where it is read from. A file that is open for reading bytes may also be a pipe.
    similarity : callable or Similarity, optional
        The same function again, if the estimator was fitted with one: it is not stored, only how it was wrapped.

    Returns
    -------
    selector or classifier
        It is fitted. A custom class must be defined before, by importing its module.

    Raises
    ------
    FileFormatError
        If the file was not written by `save`, is damaged, or holds an estimator of a class that is not defined.
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file needs a similarity and none is passed, or if one is passed that it does not need.

    See Also
    --------
    covey.save : Writes the file.

    Notes
    -----
    Nothing in a file is believed: its values pass the same checks as those of a fit, and it may claim no more memory
    than its size justifies. A custom similarity is not in it, because that would be code.
    Files of earlier versions are read as well.

    Examples
    --------
    The file of a model with a custom similarity needs that function again:

    >>> import covey, tempfile
    >>> def nearness(a, b):
    ...     return -abs(a - b)
    >>> model = covey.NearestPrototypeClassifier(covey.CRS(1, similarity=nearness))
    >>> model = model.fit([1, 2, 8, 9], ["low", "low", "high", "high"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     covey.save(model, f"{folder}/numbers.covey")
    ...     again = covey.load(f"{folder}/numbers.covey", similarity=nearness)
    >>> again.predict([3, 7])
    array(['low', 'high'], dtype='<U4')
    """
    return ModelFile(path).load(similarity)


class ModelFile:
    """A model file, read from disk once, for those who need more of it than `load` returns.

    Attributes
    ----------
    missing_callable : str or None
        The name of the similarity that must be passed to `load`, if it was a custom function.
    """

    def __init__(self, path: str | os.PathLike[str] | BinaryIO) -> None:
        if isinstance(path, str | os.PathLike):
            self._path = os.fspath(path)
            if not self._path:
                raise FileNotFoundError(f"path must be the name of a file, got {path!r}.")
            with system_errors_of(self._path):
                content = Path(path).read_bytes()
        else:
            self._path, content = str(getattr(path, "name", "the given file")), path.read()
        if not content.startswith(ARCHIVE):
            what = "not a model, but another kind of file" if content else "empty"
            raise FileFormatError(
                f"{self._path!r} is {what}; pass what covey.save or covey select --model has written."
            )
        with self._blamed():
            self._archive = zipfile.ZipFile(BytesIO(content))
            self._json = _checked(json.loads(read_bytes(self._archive, JSON, most_json(len(content)))))
        self.missing_callable: str | None = self._json["callable"]

    def notes(self) -> Any:
        """Return the notes that were saved beside the estimator, or None. Arrays are read only if notes hold them."""
        with self._blamed():
            return Reader(self._archive, RECORDS).decode(self._json["notes"])

    def load(self, similarity: Any = None) -> Fitted:
        """Return the fitted estimator; see `covey.load`."""
        parts = self._json
        with self._blamed():
            while parts["format"] != FORMAT:
                parts, similarity = UPGRADES[parts["format"]](parts, Reader(self._archive, RECORDS).array, similarity)
            _check_announced(parts)
        _check_given(parts["callable"], similarity)
        with self._blamed():
            return EstimatorReader(self._archive, similarity).fitted(parts["content"])

    @contextmanager
    def _blamed(self) -> Iterator[None]:
        """Blame the file for any error within."""
        with format_errors_of(repr(self._path), "was not written by covey.save, or is damaged", is_text=False):
            try:
                yield
            except UnknownNameError as error:
                raise FileFormatError(f"{self._path!r} holds {error}.") from error


def _checked(parts: Any) -> dict[str, Any]:
    """Return the JSON part of a file; of its values only the format and the name of the callable are checked."""
    if type(parts) is not dict or parts.keys() != KEYS:
        raise ValueError(f"{JSON} must be an object of {', '.join(sorted(KEYS))}")
    if type(parts["format"]) is not int or parts["format"] not in {FORMAT, *UPGRADES}:
        raise ValueError(f"format {parts['format']!r} is unknown to this version of covey")
    if not (parts["callable"] is None or type(parts["callable"]) is str):
        raise ValueError(f"callable must be the name of a function or null, got {shown(parts['callable'])}")
    return parts


def _check_announced(parts: dict[str, Any]) -> None:
    """Refuse a file that asks for a similarity which it does not need, before the user is asked for it."""
    if (parts["callable"] is not None) != any(map(lacks_code, _similarities(parts["content"]))):
        raise ValueError("callable must name the similarity that is left out, or be null if there is none")


def _similarities(encoded: Any, depth: int = 1) -> Iterator[Any]:
    """Yield the similarity of an estimator and of those within it, as JSON; other content is refused later."""
    if not _is_estimator(encoded):
        return
    check_depth(depth)
    [content] = encoded.values()
    for part in content.values():
        for name, value in part.items() if type(part) is dict else ():
            if name == "similarity":
                yield value
            else:
                yield from _similarities(value, depth + 1)


def _check_given(missing: str | None, similarity: Any) -> None:
    """Raise ValueError or TypeError if a similarity is passed that the file does not need, or none where it does."""
    if missing is None:
        if similarity is not None:
            raise ValueError("similarity must not be passed to load: the file names its own; leave it out.")
        return
    if similarity is None:
        raise ValueError(
            f"similarity must be passed to load: the file was saved with the callable {missing!r}, and files hold no "
            "code; pass similarity= the same function."
        )
    if not callable(similarity.function if isinstance(similarity, Similarity) else similarity):
        raise TypeError(
            f"similarity must be a callable, since the file was saved with the callable {missing!r}, got "
            f"{similarity!r}; pass similarity= the same function."
        )


class EstimatorReader(Reader):
    """Reads estimators as well as plain values; `similarity` takes the place of a function that is not in the file."""

    def __init__(self, archive: zipfile.ZipFile, similarity: Any) -> None:
        super().__init__(archive, RECORDS)
        self._similarities = SimilarityReader(similarity)
        self._level = 0

    def fitted(self, encoded: Any) -> Any:
        """Return the fitted estimator of a file."""
        estimator, state = self._estimator(encoded)
        if not state:
            raise ValueError("the estimator must be fitted")
        return estimator

    def _estimator(self, encoded: Any) -> tuple[Any, dict[str, Any]]:
        name, content = tagged(encoded)
        if not _is_estimator(encoded):
            raise ValueError(f"an estimator must have parameters and a state, got {shown(encoded)}")
        cls = find_class(name)
        unknown = typed(content["parameters"], dict).keys() - (set(cls._get_param_names()) - NEVER_SAVED)
        if unknown:
            raise ValueError(f"parameters {shown(sorted(unknown))} are unknown")
        self._level += 1
        check_depth(self._level)
        parameters, state = (
            {name: self._field(name, value) for name, value in typed(content[part], dict).items()}
            for part in ("parameters", "state")
        )
        self._level -= 1
        return restored(cls, parameters, state), state

    def _field(self, name: str, encoded: Any) -> Any:
        if name == "similarity":
            return self._similarities.decode(encoded)
        return self._estimator(encoded)[0] if _is_estimator(encoded) else self.decode(encoded)


def _is_estimator(encoded: Any) -> bool:
    """Return whether this is the JSON of an estimator: its class over its parameters and its state."""
    if type(encoded) is not dict or len(encoded) != 1:
        return False
    [content] = encoded.values()
    return type(content) is dict and content.keys() == {"parameters", "state"}
