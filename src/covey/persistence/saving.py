"""Saving: a fitted estimator becomes one file.

1. The estimator is checked as loading will check it, so that what load would refuse is refused now.
2. Its class, parameters and state become JSON, and arrays that the JSON refers to by number.
3. The archive is written under another name and then renamed, so that there is never half a file.
"""

import json
import os
import zipfile
from io import BytesIO
from typing import Any, BinaryIO

import numpy as np

from covey.persistence.estimators import (
    SimilarityWriter,
    check_class,
    is_estimator,
    restored,
    saved_parameters,
    saved_state,
)
from covey.persistence.format import FORMAT, JSON, check_depth, most_json
from covey.persistence.records import RECORDS
from covey.persistence.values import Writer, refusing
from covey.storage.archive import write_member
from covey.storage.atomic import whole
from covey.storage.limits import justified


def save(estimator: Any, path: str | os.PathLike[str] | BinaryIO, notes: Any = None) -> None:
    """Write a fitted selector or classifier to one file, whole or not at all; an existing file is replaced.

    A classifier is saved with its representatives, not with all of X. They may be rows of an array or a sparse matrix,
    or objects made of numbers, strings, bytes, arrays, and lists, tuples, sets and dicts of these, nested up to 100
    levels. Every value comes back equal and of the same type; one that cannot is refused.

    A custom selector, a subclass of `Selector`, is saved as covey's are. It declares in `_fitted_state` what its
    `fit` sets beyond the attributes of every selector.

    Parameters
    ----------
    estimator : selector or classifier
        It must be fitted.
    path : path or binary file
        Where it is written to. A file that is open for writing bytes may also be a pipe, and stays open.
    notes : optional
        Anything made of such values that is to be kept beside the estimator.

    Raises
    ------
    ValueError
        If the estimator is not fitted, or could not be loaded again as it is.
    TypeError
        If a representative or a note is an object that files cannot hold. The message names it.

    See Also
    --------
    covey.load : Reads the file again.

    Examples
    --------
    >>> import covey, tempfile
    >>> selector = covey.CRS(n_neighbors=2).fit([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     covey.save(selector, f"{folder}/selector.covey")
    ...     again = covey.load(f"{folder}/selector.covey")
    >>> again.sample_indices_.tolist() == selector.sample_indices_.tolist()
    True
    """
    cls = check_class(estimator)
    if not saved_state(estimator):
        raise ValueError(
            f"estimator must be fitted before it is saved, got an unfitted {cls.__name__}; call fit first."
        )
    writer = EstimatorWriter()
    encoded = {"content": writer.estimator(estimator), "notes": writer.encode(notes, "notes")}
    content = json.dumps({"format": FORMAT, **encoded, "callable": writer.similarities.callable}).encode()
    _write_to(path, content, writer)


def _write_to(path: str | os.PathLike[str] | BinaryIO, content: bytes, writer: Writer) -> None:
    """Write the JSON part and the arrays to a path, whole or not at all, or to an open file."""
    if isinstance(path, str | os.PathLike):
        with whole(path) as temporary, temporary.open("r+b") as file:
            _write_packed(file, content, writer)
    else:
        made = BytesIO()  # an archive is not written from its beginning to its end, which pipes would need
        _write_packed(made, content, writer)
        path.write(made.getbuffer())


def _write_packed(file: BinaryIO, content: bytes, writer: Writer) -> None:
    """Write the archive, unpacked if `load` would take the packed one for an attack on memory."""
    unpacked = len(content) + sum(array.nbytes for array in writer.arrays)
    _write(file, content, writer, zipfile.ZIP_DEFLATED)
    size = file.tell()
    if unpacked > justified(size) or len(content) > most_json(size):
        file.seek(0)
        file.truncate()
        _write(file, content, writer, zipfile.ZIP_STORED)


def _write(file: BinaryIO, content: bytes, writer: Writer, method: int) -> None:
    with zipfile.ZipFile(file, "w", method) as archive:
        write_member(archive, JSON, content)
        for number, array in enumerate(writer.arrays):
            buffer = BytesIO()
            np.lib.format.write_array(buffer, array, allow_pickle=False)
            write_member(archive, f"{number}.npy", buffer.getvalue())


class EstimatorWriter(Writer):
    """Writes estimators as well as plain values."""

    def __init__(self) -> None:
        super().__init__(RECORDS)
        self.similarities = SimilarityWriter()
        self._level = 0

    def estimator(self, estimator: Any) -> Any:
        """Return an estimator, fitted or not, as JSON."""
        cls = check_class(estimator)
        parameters, state = saved_parameters(estimator), saved_state(estimator)
        self._level += 1
        with refusing(f"this {cls.__name__}"):
            check_depth(self._level)
        encoded = {
            "parameters": {name: self._field(name, value, "parameter ") for name, value in parameters.items()},
            "state": {name: self._field(name, value) for name, value in state.items()},
        }
        with refusing(f"this {cls.__name__}"):
            restored(cls, parameters, state)
        self._level -= 1
        return {cls.__name__: encoded}

    def _field(self, name: str, value: Any, noun: str = "") -> Any:
        if name == "similarity":
            return self.similarities.encode(value)
        return self.estimator(value) if is_estimator(value) else self.encode(value, noun + name.strip("_"))
