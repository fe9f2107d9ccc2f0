"""How the rows of a file become objects under a similarity. Chosen once, kept with a model, used again on new rows."""

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files import Block, name_of
from covey.cli.misuse import MisuseError
from covey.cli.values import check_filled, is_numeric, numbers_of, profile_of
from covey.similarity.named import STRINGS, from_distance, similarity_names

NAMED = tuple(name for name in similarity_names() if name not in ("precomputed", *STRINGS))
"""Similarities of rows and of profiles."""
KINDS = ("numbers", "mixed", "text", "profile", "matrix", "distances")
OURS = "covey_"
"""What columns that covey has added are called: answers, never features."""


@dataclass(frozen=True)
class Recipe:
    """What of a row is the object, and what it is compared by.

    Attributes
    ----------
    kind : {"numbers", "mixed", "text", "profile", "matrix", "distances"}
        The object is a row of numbers, a dict of some columns, a text, a profile, or a row of similarities or of
        distances to all objects.
    columns : list of str
        Those that the object is made of; empty if they have no names.
    numbers : list of str
        Those of them that hold numbers.
    similarity : str
        As the user has named it.
    label, id : str or None
        Columns that hold the label and a name for the row.
    vocabulary, weights : list of str or None, float array or None
        Of texts as TF-IDF vectors.
    base : int or None
        From what svmlight files count columns.
    lowest, spread : float arrays or None
        Of each column, if it is scaled so that these become 0 and 1.
    """

    kind: str
    columns: list[str]
    similarity: str
    numbers: list[str] = field(default_factory=list)
    label: str | None = None
    id: str | None = None
    vocabulary: list[str] | None = None
    weights: Any = None
    base: int | None = None
    lowest: Any = None
    spread: Any = None

    def objects(self, block: Block) -> Any:
        """The objects of the block's rows; a row without one is named."""
        if block.frame is None:
            if self.columns:
                raise ValueError(f"{name_of(block.path)} has no named columns, so no column {self.columns[0]!r}.")
            return block.matrix if self.spread is None else (block.matrix - self.lowest) / self.spread
        if not self.columns:
            raise ValueError(f"{name_of(block.path)} has named columns, but the model was made of rows without.")
        require_columns(block.frame, self.columns, block.path)
        if self.kind in ("numbers", "matrix", "distances"):
            found = numbers_of(block, self.columns)
            return found if self.spread is None else (found - self.lowest) / self.spread
        if self.kind == "mixed":
            return [dict(zip(self.columns, row, strict=True)) for row in zip(*self._values(block), strict=True)]
        (values,) = self._values(block)
        if self.kind == "profile":
            return [profile_of(value, block, at) for at, value in enumerate(values)]
        texts = [str(value) for value in values]
        return texts if self.vocabulary is None else self._vectorizer().transform(texts)

    def _values(self, block: Block) -> list[list[Any]]:
        numbers = numbers_of(block, self.numbers) if self.numbers else {}
        for name in self.columns:
            check_filled(block, name, empty=self.kind in ("text", "mixed"))
        return [(numbers if name in self.numbers else block.frame)[name].tolist() for name in self.columns]

    def _vectorizer(self) -> Any:
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(vocabulary=self.vocabulary, dtype=np.float32)
        vectorizer.idf_ = self.weights
        return vectorizer

    def with_vocabulary(self, texts: Sequence[str]) -> tuple["Recipe", Any]:
        """The recipe with the words of these texts and how much each tells; and the texts as vectors."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        vectorizer = TfidfVectorizer(dtype=np.float32)
        vectors = vectorizer.fit_transform(texts)
        words = vectorizer.get_feature_names_out().tolist()
        return replace(self, vocabulary=words, weights=vectorizer.idf_), vectors

    def scaled(self, objects: Any) -> "Recipe":
        """The recipe that brings each column of these objects to 0 .. 1; a column of equal values becomes 0."""
        if self.kind != "numbers" or sp.issparse(objects):
            raise MisuseError("--scale is for columns of numbers.")
        lowest, highest = np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)
        return replace(self, lowest=lowest, spread=np.where(highest > lowest, highest - lowest, 1.0))

    def plain(self) -> dict[str, Any]:
        return asdict(self)

    def checked(self) -> "Recipe":
        """Itself; a recipe with values that `choose` cannot have given it is refused."""
        texts = [self.kind, self.similarity, *(text for text in (self.label, self.id) if text is not None)]
        lists = [self.columns, self.numbers, *([] if self.vocabulary is None else [self.vocabulary])]
        arrays = [part for part in (self.weights, self.lowest, self.spread) if part is not None]
        right = (
            self.kind in KINDS
            and self.base in (None, 0, 1)
            and all(isinstance(names, list) for names in lists)
            and all(isinstance(text, str) for text in chain(texts, *lists))
            and all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "biuf" for part in arrays)
        )
        if not right:
            raise ValueError("its recipe has values of other types")
        return self


def choose(
    block: Block,
    *,
    similarity: str,
    label: str | None = None,
    features: Sequence[str] = (),
    text: str | None = None,
    profile: str | None = None,
    matrix: bool = False,
    distances: bool = False,
    id: str | None = None,  # noqa: A002
) -> Recipe:
    """The recipe that the user's options ask for; columns of numbers are the object unless they say otherwise."""
    if sum(map(bool, (features, text, profile))) > 1:
        raise MisuseError("--features, --text and --profile exclude each other; pass one of them.")
    _check_similarity(similarity, text)
    frame, square = block.frame, "distances" if distances else "matrix"
    if frame is None:
        if features or text or profile or id:
            raise MisuseError(f"{block.path} has no named columns; leave out --features, --text, --profile and --id.")
        return Recipe(square if matrix or distances else "numbers", [], similarity, base=block.base)
    require_columns(frame, [name for name in (label, id) if name], block.path)
    kept: Any = {"label": label, "id": id}
    if text or profile:
        require_columns(frame, [str(text or profile)], block.path)
        return Recipe("text" if text else "profile", [str(text or profile)], similarity, **kept)
    columns = list(dict.fromkeys(features)) or _numeric(frame, block.path, without=(label, id))
    require_columns(frame, columns, block.path)
    if matrix or distances:
        return Recipe(square, columns, similarity, columns, **kept)
    if similarity in NAMED:
        return Recipe("numbers", columns, similarity, columns, **kept)
    return Recipe("mixed", columns, similarity, [name for name in columns if is_numeric(frame[name])], **kept)


def described(recipe: Recipe) -> str:
    """What is compared, in words."""
    columns = recipe.columns
    if recipe.kind == "text":
        form = "as TF-IDF" if recipe.vocabulary is not None else "as it is"
        return f"the text in {columns[0]}, {form}"
    if recipe.kind == "profile":
        return f"the profile in {columns[0]}"
    if recipe.kind in ("matrix", "distances"):
        return f"rows of {'similarities' if recipe.kind == 'matrix' else 'distances'} to all objects"
    if not columns:
        return "rows of numbers"
    more = f" and {len(columns) - 6} more" if len(columns) > 6 else ""
    scaled = "" if recipe.spread is None else ", each scaled to 0 .. 1"
    return f"the columns {', '.join(columns[:6])}{more}{scaled}"


def _check_similarity(similarity: str, text: str | None) -> None:
    if similarity in STRINGS and not text:
        raise MisuseError(f"--similarity {similarity} compares texts; say which column by --text.")
    if similarity not in NAMED and similarity not in STRINGS and ":" not in similarity:
        known = ", ".join([*NAMED, *STRINGS])
        raise MisuseError(
            f"--similarity must be one of {known}, or module:function for one of your own, got {similarity!r}."
        )


def function_of(similarity: str, kind: str) -> Any:
    """What covey takes as `similarity`."""
    if kind in ("matrix", "distances"):
        return "precomputed" if kind == "matrix" else from_distance("precomputed")
    if ":" not in similarity:
        return similarity
    module, _, name = similarity.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.insert(0, str(Path.cwd()))
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # it is the user's code
        what = f"{type(error).__name__}: {error}"
        raise ValueError(
            f"--similarity {similarity}: {what}; the module must lie in this folder or be installed."
        ) from error


def require_columns(frame: Any, wanted: Sequence[str], path: str) -> None:
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        there = ", ".join(map(str, frame.columns))
        raise ValueError(
            f"{name_of(path)} has no column {', '.join(map(repr, missing))}; it has {there}. "
            "(A file without a header line needs --columns.)"
        )


def labels_of(block: Block, recipe: Recipe) -> NDArray[Any]:
    """The labels, as text; without any, all rows are one cluster."""
    if block.frame is None and block.labels is not None:
        return block.labels.astype(str)
    if block.frame is None or recipe.label is None:
        return np.full(len(block), "all")
    check_filled(block, recipe.label)
    return np.array([str(value) for value in block.frame[recipe.label]])


def names_of(block: Block, recipe: Recipe) -> list[str] | None:
    """What the rows are called, if a column says it; a gap is an empty name."""
    if recipe.id is None or block.frame is None or recipe.id not in block.frame.columns:
        return None
    column = block.frame[recipe.id]
    return ["" if gap else str(value) for value, gap in zip(column, column.isna(), strict=True)]


def _numeric(frame: Any, path: str, without: Sequence[str | None]) -> list[str]:
    """The columns of numbers, but for the label, the names, covey's own and those without a title."""
    found = [
        name
        for name in frame.columns
        if name and name not in without and not name.startswith(OURS) and is_numeric(frame[name])
    ]
    if not found:
        there = ", ".join(map(str, frame.columns))
        comma = any(frame[name].astype(str).str.fullmatch(r"-?\d+,\d+").any() for name in frame.columns)
        raise ValueError(
            f"{name_of(path)} has no columns of numbers beside the label; say what to compare by --text, --profile or "
            f"--features; its columns are {there}."
            + (" Numbers must be written with a point, not with a comma." if comma else "")
        )
    return found
