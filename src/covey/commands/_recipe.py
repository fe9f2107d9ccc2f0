"""How the rows of a file become objects under a similarity. Chosen once, kept with a model, used again on new rows."""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey._extras import require
from covey.files import Block, place
from covey.similarity import names

NAMED = tuple(name for name in names() if name != "precomputed")
STRINGS = {
    "levenshtein": "Levenshtein",
    "indel": "Indel",
    "jaro-winkler": "JaroWinkler",
    "osa": "OSA",
}
"""Similarities of strings, 0 to 1: rapidfuzz' names for them."""


@dataclass(frozen=True)
class Recipe:
    """What of a row is the object, and what it is compared by.

    Attributes
    ----------
    kind : {"columns", "text", "profile", "matrix"}
        The object is some columns, a text, a dict, or a row of similarities to all objects.
    columns : list of str
        Those that the object is made of; empty if they have no names.
    similarity : str
        As the user has named it.
    label, id : str or None
        Columns that hold the label and a name for the row.
    vocabulary, weights : list of str or None, float array or None
        Of texts as TF-IDF vectors.
    """

    kind: str
    columns: list[str]
    similarity: str
    label: str | None = None
    id: str | None = None
    vocabulary: list[str] | None = None
    weights: Any = None

    def objects(self, block: Block, path: str, form: str | None) -> Any:
        """The objects of the block's rows; a row without one is named."""
        if block.frame is None:
            if self.kind not in ("columns", "matrix"):
                raise ValueError(f"{path} has no named columns, so no column {self.columns[0]!r}.")
            return block.matrix
        frame = block.frame
        require_columns(frame, self.columns, path)
        where = _Where(path, form, block.first)
        if self.kind in ("columns", "matrix"):
            return _numbers(frame[self.columns], where) if self._rows() else _filled(frame[self.columns], where)
        values = _filled(frame[self.columns], where)[self.columns[0]].tolist()
        if self.kind == "profile":
            return [_profile(value, where, at) for at, value in enumerate(values)]
        texts = [str(value) for value in values]
        return texts if self.vocabulary is None else self._vectorizer().transform(texts)

    def _rows(self) -> bool:
        """Whether the similarity is one of rows of numbers."""
        return self.similarity in NAMED or self.kind == "matrix"

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.vocabulary, dtype=np.float32)
        vectorizer.idf_ = self.weights
        return vectorizer

    def with_vocabulary(self, texts: Sequence[str]) -> "Recipe":
        """The recipe with the words of these texts, and how much each tells."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(dtype=np.float32).fit(texts)
        words, weights = vectorizer.get_feature_names_out().tolist(), vectorizer.idf_
        return Recipe(**(asdict(self) | {"vocabulary": words, "weights": weights}))

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def choose(
    frame: Any,
    path: str,
    *,
    similarity: str,
    label: str | None = None,
    features: Sequence[str] = (),
    text: str | None = None,
    profile: str | None = None,
    matrix: bool = False,
    id: str | None = None,  # noqa: A002
) -> Recipe:
    """The recipe that the user's options ask for; numeric columns are the object unless they say otherwise."""
    if sum(map(bool, (features, text, profile))) > 1:
        raise ValueError("--features, --text and --profile exclude each other; pass one of them.")
    _check_similarity(similarity, text)
    kept: Any = {"similarity": similarity, "label": label, "id": id}
    if frame is None:
        if features or text or profile:
            raise ValueError(f"{path} has no named columns; leave out --features, --text and --profile.")
        return Recipe("matrix" if matrix else "columns", [], **(kept | {"id": None}))
    require_columns(frame, [name for name in (label, id) if name], path)
    if text or profile:
        return Recipe("text" if text else "profile", [str(text or profile)], **kept)
    columns = list(features) or _numeric(frame, path, without=(label, id))
    require_columns(frame, columns, path)
    return Recipe("matrix" if matrix else "columns", columns, **kept)


def _check_similarity(similarity: str, text: str | None) -> None:
    if similarity in STRINGS and not text:
        raise ValueError(f"--similarity {similarity} compares texts; say which column by --text.")
    if similarity not in NAMED and similarity not in STRINGS and ":" not in similarity:
        known = ", ".join([*NAMED, *STRINGS])
        raise ValueError(
            f"--similarity must be one of {known}, or module:function for one of your own, got {similarity!r}."
        )


def function_of(similarity: str, kind: str) -> Any:
    """What covey takes as `similarity`."""
    if kind == "matrix":
        return "precomputed"
    if similarity in STRINGS:
        return getattr(require("rapidfuzz.distance", "cli"), STRINGS[similarity]).normalized_similarity
    if ":" not in similarity:
        return similarity
    module, _, name = similarity.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise ValueError(
            f"--similarity {similarity}: {error}; the module must lie in this folder or be installed."
        ) from error


def require_columns(frame: Any, names: Sequence[str], path: str) -> None:
    missing = [name for name in names if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise ValueError(f"{path} has no column {', '.join(map(repr, missing))}; it has {there}.")


def labels_of(block: Block, recipe: Recipe, path: str, form: str | None) -> NDArray[Any]:
    """The labels, as text; without any, all rows are one cluster."""
    if block.frame is None and block.labels is not None:
        return block.labels.astype(str)
    if block.frame is None or recipe.label is None:
        return np.full(len(block), "all")
    column = _filled(block.frame[[recipe.label]], _Where(path, form, block.first))[recipe.label]
    return np.array([str(value) for value in column])


def names_of(block: Block, recipe: Recipe) -> list[str] | None:
    if recipe.id is None or block.frame is None:
        return None
    require_columns(block.frame, [recipe.id], "the input")
    return [str(value) for value in block.frame[recipe.id]]


@dataclass(frozen=True)
class _Where:
    """Where rows of a block stand in the file, for messages."""

    path: str
    form: str | None
    first: int

    def row(self, at: int) -> str:
        return place(self.path, self.form, self.first + at)


def _numeric(frame: Any, path: str, without: Sequence[str | None]) -> list[str]:
    """The columns of numbers, and those that would be but for a few bad values: better to stumble than to drop them."""
    pandas = require("pandas", "cli")
    found = []
    for name, column in frame.items():
        if name in without:
            continue
        if pandas.api.types.is_numeric_dtype(column) and not pandas.api.types.is_bool_dtype(column):
            found.append(name)
        elif pandas.api.types.is_string_dtype(column) or column.dtype == object:
            there = column.dropna()
            numbers = pandas.to_numeric(
                there.map(lambda v: v if isinstance(v, str | int | float) else None), errors="coerce"
            )
            if len(there) and numbers.notna().mean() > 0.5:
                found.append(name)
    if not found:
        there = ", ".join(map(str, frame.columns))
        raise ValueError(
            f"{path} has no columns of numbers beside the label; say what to compare by --text, --profile or "
            f"--features; its columns are {there}."
        )
    return found


def _numbers(frame: Any, where: _Where) -> Any:
    """The frame in numbers; the first value that is none is named."""
    pandas = require("pandas", "cli")
    numbers = frame.apply(pandas.to_numeric, errors="coerce").astype(np.float64)
    bad = ~np.isfinite(numbers.to_numpy())
    if bad.any():
        at, column = np.argwhere(bad)[0]
        value = frame.iat[at, column]
        shown = "no value" if pandas.isna(value) else f"{value!r}"
        raise ValueError(
            f"{where.row(int(at))}: {shown} in column {frame.columns[column]!r}, where a finite number must be."
        )
    return numbers


def _filled(frame: Any, where: _Where) -> Any:
    """The frame, once it is sure that nothing is missing."""
    missing = frame.isna().to_numpy()
    if missing.any():
        at, column = np.argwhere(missing)[0]
        raise ValueError(f"{where.row(int(at))}: no value in column {frame.columns[column]!r}.")
    return frame


def _profile(value: Any, where: _Where, at: int) -> dict[Any, Any]:
    """A dict of numbers from a dict, from JSON, or from pairs (as Parquet keeps maps)."""
    try:
        made = json.loads(value) if isinstance(value, str) else dict(value)
        profile = {key: weight for key, weight in made.items() if weight is not None}
        if not isinstance(made, Mapping) or not all(isinstance(weight, int | float) for weight in profile.values()):
            raise TypeError
    except (TypeError, ValueError, AttributeError):
        raise ValueError(f"{where.row(at)}: {value!r:.60} is no profile {{key: number}}.") from None
    return profile
