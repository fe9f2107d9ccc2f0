"""Save and load fitted selectors and classifiers. No pickle inside: loading runs no code from the file.

A file is a zip archive of `covey.json` (class names, parameters, labels, objects made of plain values) and of arrays
in NumPy's own format, read with pickling switched off. A value that JSON has no form for is a dict of one key that
says what it is. Callables are not stored: a similarity of your own is passed again on loading.
"""

import json
import os
import zipfile
from dataclasses import fields
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey._recall import Recall
from covey._whole import whole
from covey.classifier import NearestPrototypeClassifier
from covey.graph import NeighborGraph
from covey.prototype import Prototype
from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3
from covey.selectors.simple import KeepAll, RandomSelector
from covey.similarity import Similarity, from_distance, resolve

FORMAT = 1
ESTIMATORS: dict[str, Any] = {
    cls.__name__: cls for cls in (CRS, DS3, DeltaMedoids, KeepAll, NearestPrototypeClassifier, RandomSelector)
}
VALUES: dict[str, Any] = {cls.__name__: cls for cls in (NeighborGraph, Prototype, Recall)}
COLLECTIONS: dict[str, Any] = {cls.__name__: cls for cls in (tuple, set, frozenset)}
FITTED = (
    "n_features_in_",
    "feature_names_in_",
    "prototypes_",
    "sample_indices_",
    "n_evaluations_",
    "scan_rate_",
    "n_iter_",
    "stopped_by_",
    "duality_gap_",
    "row_weights_",
    "outliers_",
    "classes_",
    "selector_",
    "representatives_",
    "_rows",
)


def save(estimator: Any, path: str | os.PathLike[str], notes: Any = None) -> None:
    """Write a fitted selector or classifier to one file, whole or not at all; an existing file is replaced.

    A classifier is saved with its representatives, not with all of X. They may be rows of an array or a CSR matrix,
    or objects made of numbers, strings, bytes, arrays, and lists, tuples, sets and dicts of these.

    Parameters
    ----------
    estimator : selector or classifier
    path : path
    notes : optional
        Anything made of such values to keep with it, for `read_notes`.
    """
    name = type(estimator).__name__
    if name not in ESTIMATORS:
        raise TypeError(f"estimator must be one of {sorted(ESTIMATORS)}, got {name}.")
    if not hasattr(estimator, "prototypes_") and not hasattr(estimator, "selector_"):
        raise ValueError(f"estimator must be fitted before it is saved, got an unfitted {name}; call fit first.")
    writer = _Writer()
    encoded = {"content": writer.encode(estimator), "notes": writer.encode(notes, "notes")}
    content = json.dumps({"format": FORMAT, **encoded, "callable": writer.callable})
    with whole(path) as temporary, zipfile.ZipFile(temporary, "x", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("covey.json", content)
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
    """
    estimator, missing = _read(path, "content", similarity)
    if missing is not None and similarity is None:
        raise ValueError(
            f"similarity must be passed to load: the file was saved with the callable {missing!r}, and files hold no "
            "code; pass similarity= the same function."
        )
    if missing is None and similarity is not None:
        raise ValueError("similarity must not be passed to load: the file names its own; leave it out.")
    return estimator


def missing_callable(path: str | os.PathLike[str]) -> str | None:
    """The name of the similarity that `load` must be given again, if it was a callable."""
    return _read(path, "notes", None)[1]


def read_notes(path: str | os.PathLike[str]) -> Any:
    """The notes that were saved with an estimator; None if there are none."""
    return _read(path, "notes", None)[0]


def _read(path: str | os.PathLike[str], part: str, similarity: Any) -> tuple[Any, str | None]:
    """A part of the file, and the name of the callable that is missing in it."""
    content = Path(path).read_bytes()
    try:
        with zipfile.ZipFile(BytesIO(content)) as archive:
            file = json.loads(archive.read("covey.json"))
            if file["format"] != FORMAT:
                raise ValueError(f"format {file['format']!r} is unknown to this version of covey")
            arrays = [
                np.lib.format.read_array(BytesIO(archive.read(f"{number}.npy")), allow_pickle=False)
                for number in range(len(archive.namelist()) - 1)
            ]
            return _Reader(arrays, similarity).decode(file.get(part)), file["callable"]
    except Exception as error:  # a damaged archive fails in many ways
        raise ValueError(f"{os.fspath(path)!r} was not written by covey.save, or is damaged: {error}.") from error


class _Writer:
    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.callable: str | None = None  # what could not be stored

    def encode(self, value: Any, where: str = "representatives") -> Any:
        """A value as JSON; arrays go to `arrays` and are referred to by number."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | float | str):
            return value
        if type(value) is list:
            return [self.encode(item, where) for item in value]
        name = type(value).__name__
        if name in COLLECTIONS:
            return {name: [self.encode(item, where) for item in value]}
        if type(value) is dict:
            return {"dict": [[self.encode(key, where), self.encode(item, where)] for key, item in value.items()]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if sp.issparse(value):
            csr = sp.csr_array(value)
            parts = (self._array(part, where) for part in (csr.data, csr.indices, csr.indptr))
            return {"csr": [list(csr.shape), *parts]}
        if name in VALUES:
            return {name: {f.name: self.encode(getattr(value, f.name), where) for f in fields(value)}}
        if name in ESTIMATORS:
            return {name: self._estimator(value)}
        if isinstance(value, Similarity) and isinstance(value.function, str):
            plain = value.conversion is None
            return value.function if plain else {"from_distance": [value.function, value.conversion]}
        if callable(value) or isinstance(value, Similarity):
            return {"callable": self._wrapping(resolve(value))}
        raise TypeError(
            f"Cannot save {where} of type {name}: files hold numbers, strings, bytes, arrays, and lists, tuples, sets "
            "and dicts of these."
        )

    def _wrapping(self, similarity: Similarity) -> Any:
        """All of a similarity but its function, which is left out."""
        self.callable = getattr(similarity.function, "__name__", type(similarity.function).__name__)
        return {f.name: getattr(similarity, f.name) for f in fields(similarity) if f.name != "function"}

    def _array(self, array: NDArray[Any], where: str) -> Any:
        if array.dtype.kind == "O":
            return {"objects": [list(array.shape), [self.encode(item, where) for item in array.ravel().tolist()]]}
        self.arrays.append(array)
        return {"array": len(self.arrays) - 1}

    def _estimator(self, estimator: Any) -> Any:
        parameters = estimator.get_params(deep=False)
        state = {key: getattr(estimator, key) for key in FITTED if hasattr(estimator, key)}
        return {
            "parameters": {key: self.encode(value, f"parameter {key}") for key, value in parameters.items()},
            "state": {key: self.encode(value, key.strip("_")) for key, value in state.items()},
        }


class _Reader:
    def __init__(self, arrays: list[NDArray[Any]], similarity: Any) -> None:
        self._arrays, self._similarity = arrays, similarity

    def decode(self, value: Any) -> Any:
        if type(value) is list:
            return [self.decode(item) for item in value]
        if not isinstance(value, dict):
            return value
        [(name, content)] = value.items()
        if name in COLLECTIONS:
            return COLLECTIONS[name](self.decode(item) for item in content)
        if name in VALUES:
            return VALUES[name](**{key: self.decode(item) for key, item in content.items()})
        if name in ESTIMATORS:
            return self._estimator(ESTIMATORS[name], content)
        if name not in ("array", "bytes", "callable", "csr", "dict", "from_distance", "objects"):
            raise ValueError(f"unknown content {name!r}")
        return getattr(self, f"_{name}")(content)

    def _dict(self, content: Any) -> Any:
        return {self.decode(key): self.decode(item) for key, item in content}

    def _bytes(self, content: Any) -> Any:
        return bytes.fromhex(content)

    def _array(self, content: Any) -> Any:
        return self._arrays[content]

    def _objects(self, content: Any) -> Any:
        shape, items = content
        array = np.empty(len(items), dtype=object)
        for at, item in enumerate(items):  # one by one: lists of one length must not become rows
            array[at] = self.decode(item)
        return array.reshape(shape)

    def _csr(self, content: Any) -> Any:
        shape, *parts = content
        return sp.csr_array(tuple(self.decode(part) for part in parts), shape=tuple(shape))

    def _from_distance(self, content: Any) -> Any:
        return from_distance(*content)

    def _callable(self, content: Any) -> Any:
        bare = callable(self._similarity)
        return Similarity(self._similarity, **content) if bare else self._similarity

    def _estimator(self, cls: Any, content: Any) -> Any:
        estimator = cls(**{key: self.decode(value) for key, value in content["parameters"].items()})
        for key, value in content["state"].items():
            setattr(estimator, key, self.decode(value))
        if isinstance(estimator, NearestPrototypeClassifier):
            estimator._remember(estimator._rows, estimator.representatives_)
        return estimator
