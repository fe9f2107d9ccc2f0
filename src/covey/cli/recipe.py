"""How the rows of a file become objects under a similarity.

A recipe is chosen once (`choosing.py`), kept with a model, and used again on new rows. There is a class for each kind
of object; nobody else has to ask which kind it is.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.cli.files.block import Block
from covey.cli.files.formats import name_of
from covey.cli.misuse import MisuseError
from covey.cli.similarities import OF_ROWS, function_of
from covey.cli.values import check_filled, numbers_of, profile_of, require_columns
from covey.cli.warnings import warn_of_columns
from covey.evaluation import Card
from covey.runtime.progress import progress
from covey.similarity.inputs import take_rows
from covey.similarity.named import from_distance

MOST_NAMED = 6
"""How many columns a description or a card names."""
LONGEST_LINE = 90
"""How many characters a line of a card has at most."""
LONG_ROWS = 2000
"""The most rows of a block whose rows are long, such as texts and profiles."""
NO_SCALE = "--scale is for columns of numbers."
"""What is said if other objects are to be scaled."""


@dataclass(frozen=True)
class Settings:
    """What a model file keeps of a recipe. The names and types of these fields are part of the file format.

    Attributes
    ----------
    kind : str
        Which class of recipe it is; see `KINDS`.
    columns : list of str
        The columns that the object is made of; empty if they have no names.
    similarity : str
        The similarity, as the user has named it.
    numbers : list of str
        Which of the columns hold numbers.
    label, id : str or None
        The columns that hold the label and a name for the row.
    vocabulary, weights : list of str or None, float array or None
        The words of texts as TF-IDF vectors, and the inverse document frequency of each.
    base : int or None
        The number of the first column in an svmlight file, 0 or 1.
    lowest, spread : float arrays or None
        The smallest value of each column, and the distance from there to the largest, if columns are scaled to 0 .. 1.
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

    def checked(self) -> Self:
        """Return these settings, or refuse values of other types, which covey has not written."""
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


@dataclass(frozen=True)
class Recipe(ABC):
    """What of a row is the object, and what it is compared by. A subclass is a kind of object."""

    settings: Settings
    has_long_rows: ClassVar[bool] = False
    """Whether a row may hold so much that blocks must be short."""

    @property
    def columns(self) -> list[str]:
        return self.settings.columns

    @property
    def most_rows(self) -> int | None:
        """The most rows of a block of new objects; None if the reader may decide."""
        return LONG_ROWS if self.has_long_rows else None

    def objects(self, block: Block) -> Any:
        """Return the objects of the block's rows; a row without one is refused by name."""
        if block.frame is None:
            if self.columns:
                raise ValueError(f"{name_of(block.path)} has no named columns, so no column {self.columns[0]!r}.")
            return self.from_matrix(block.matrix)
        if not self.columns:
            raise ValueError(f"{name_of(block.path)} has named columns, but the model was made of rows without.")
        require_columns(block.frame, self.columns, block.path)
        return self.from_table(block)

    @abstractmethod
    def from_table(self, block: Block) -> Any:
        """Return the objects of rows whose columns have names."""

    def from_matrix(self, matrix: Any) -> Any:
        """Return the objects of rows whose columns have no names."""
        return matrix

    def learn(self, objects: Any, verbose: bool) -> tuple["Recipe", Any]:
        """Return a recipe that knows what has to be learned from all objects, and the objects that it makes."""
        return self, objects

    def scaled(self, objects: Any) -> "Recipe":
        """Return the recipe that brings each column of these objects to 0 .. 1."""
        raise MisuseError(NO_SCALE)

    def must_learn(self, scale: bool) -> bool:
        """Return whether something has to be learned from all objects, to scale them or to weigh their words."""
        if scale:
            raise MisuseError(NO_SCALE)
        return False

    def facts(self, objects: Any) -> Any:
        """Return what `learn_from` has to know about a part of the objects."""
        return None

    def learn_from(self, facts: Sequence[Any]) -> "Recipe":
        """Return what `learn` does, from the facts of all parts of the objects: nobody has to hold all of them."""
        return self

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:  # noqa: B027 - most kinds need no warning
        """Log what most likely is not meant about these objects, which are not scaled yet."""

    def function(self) -> Any:
        """Return what the library takes as `similarity`."""
        return function_of(self.settings.similarity)

    @property
    def similarity_name(self) -> str:
        """What `covey inspect` calls the similarity."""
        return self.settings.similarity

    @abstractmethod
    def described(self) -> str:
        """Return in words what is compared."""

    def summary(self) -> str:
        """Return in words what is compared, and by which similarity."""
        return f"{self.described()}, by {self.settings.similarity}"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        """Return what a person can look at of a row: by default, its first columns."""
        if block.frame is None:
            return Card(title)
        others = (self.settings.label, self.settings.id)
        shown = [column for column in block.frame.columns if column not in others][:MOST_NAMED]
        return Card(title, tuple(f"{column}: {block.frame[column].iat[row]}"[:LONGEST_LINE] for column in shown))

    def split(self, objects: Any, kept: NDArray[np.intp], asked: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return the objects to represent and the objects to classify by them."""
        return take_rows(objects, kept), take_rows(objects, asked)

    def remark(self) -> str | None:
        """Return what a reader of a comparison has to know about the objects, if there is anything."""
        return None


class Rows(Recipe):
    """Objects that are made of several columns."""

    def described(self) -> str:
        if not self.columns:
            return "rows of numbers"
        more = f" and {len(self.columns) - MOST_NAMED} more" if len(self.columns) > MOST_NAMED else ""
        return f"the columns {', '.join(self.columns[:MOST_NAMED])}{more}"


class NumberRows(Rows):
    """Rows of numbers, scaled or as they are.

    Scaling is done here rather than by scikit-learn's MinMaxScaler, which multiplies by 1 / spread instead of dividing
    by spread. The results differ in the last digit, so models that were saved before would give other answers.
    """

    def from_table(self, block: Block) -> Any:
        return self.from_matrix(numbers_of(block, self.columns))

    def from_matrix(self, matrix: Any) -> Any:
        return (matrix - self.settings.lowest) / self.settings.spread if self.is_scaled else matrix

    def scaled(self, objects: Any) -> Recipe:
        """Return the recipe that brings each column of these objects to 0 .. 1; a column of equal values becomes 0."""
        if sp.issparse(objects):
            return super().scaled(objects)
        lowest, highest = np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)
        spread = np.where(highest > lowest, highest - lowest, 1.0)
        return NumberRows(replace(self.settings, lowest=lowest, spread=spread))

    def must_learn(self, scale: bool) -> bool:
        return scale

    def facts(self, objects: Any) -> Any:
        """Return the smallest and the largest value of each column."""
        return np.stack([np.asarray(objects).min(axis=0), np.asarray(objects).max(axis=0)])

    def learn_from(self, facts: Sequence[Any]) -> Recipe:
        return self.scaled(np.concatenate(facts))

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:
        similarity = self.settings.similarity
        if similarity == "hamming" or sp.issparse(objects):  # under hamming, numbers may well be codes
            return
        values = np.asarray(objects, dtype=np.float64)
        warn_of_columns(values, self.columns, similarity, asked_for=asked_for, scaled=scaled)

    def described(self) -> str:
        return super().described() + (", each scaled to 0 .. 1" if self.columns and self.is_scaled else "")

    @property
    def is_scaled(self) -> bool:
        return self.settings.spread is not None


class MixedRows(Rows):
    """Dicts of numbers and other values, for a similarity of the user's own."""

    def from_table(self, block: Block) -> Any:
        numbers = numbers_of(block, self.settings.numbers) if self.settings.numbers else {}
        for name in self.columns:
            check_filled(block, name, empty=True)
        values = [(numbers if name in numbers else block.frame)[name].tolist() for name in self.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*values, strict=True)]


class SquareMatrix(Recipe):
    """Rows of similarities to all objects."""

    noun: ClassVar[str] = "similarities"

    def from_table(self, block: Block) -> Any:
        return numbers_of(block, self.columns)

    def function(self) -> Any:
        return "precomputed"

    @property
    def similarity_name(self) -> str:
        return "precomputed"

    def described(self) -> str:
        return f"rows of {self.noun} to all objects"

    def summary(self) -> str:
        return self.described()

    def split(self, objects: Any, kept: NDArray[np.intp], asked: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return rows to represent and rows to classify, both with the columns of what is represented."""
        X, queries = (np.asarray(part)[:, kept] for part in super().split(objects, kept, asked))
        return X, queries


class DistanceMatrix(SquareMatrix):
    """Rows of distances to all objects."""

    noun = "distances"

    def function(self) -> Any:
        return from_distance("precomputed")


class Profiles(Recipe):
    """A profile {key: number} in one column."""

    has_long_rows = True

    def from_table(self, block: Block) -> Any:
        (name,) = self.columns
        check_filled(block, name)
        return [profile_of(value, block, at) for at, value in enumerate(block.frame[name].tolist())]

    def described(self) -> str:
        return f"the profile in {self.columns[0]}"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card.of_profile(title, objects[row])


class Texts(Recipe):
    """Texts in one column: as TF-IDF vectors once their words are learned, or as they are."""

    has_long_rows = True

    def from_table(self, block: Block) -> Any:
        (name,) = self.columns
        check_filled(block, name, empty=True)
        texts = [str(value) for value in block.frame[name].tolist()]
        return texts if self._vectorizer is None else self._vectorizer.transform(texts)

    @cached_property
    def _vectorizer(self) -> Any:
        """The fitted vectorizer; None if texts are compared as they are."""
        if self.settings.vocabulary is None:
            return None
        vectorizer = _new_vectorizer(self.settings.vocabulary)
        vectorizer.idf_ = self.settings.weights
        return vectorizer

    def learn(self, objects: Any, verbose: bool) -> tuple[Recipe, Any]:
        """Learn the words of these texts, and how much each weighs, unless the similarity compares strings."""
        if self.settings.similarity not in OF_ROWS:
            return self, objects
        vectorizer = _new_vectorizer()
        with progress("weighing words", None, "texts", shown=verbose):
            vectors = vectorizer.fit_transform(objects)
        words = vectorizer.get_feature_names_out().tolist()
        return Texts(replace(self.settings, vocabulary=words, weights=vectorizer.idf_)), vectors

    def must_learn(self, scale: bool) -> bool:
        return super().must_learn(scale) or self.settings.similarity in OF_ROWS

    def facts(self, objects: Any) -> Any:
        """Return how many texts there are, and in how many of them each word occurs."""
        words = _new_vectorizer().build_analyzer()
        return len(objects), Counter(word for text in objects for word in set(words(text)))

    def learn_from(self, facts: Sequence[Any]) -> Recipe:
        """Learn the words of all texts and how much each weighs, to the last bit as `TfidfVectorizer` does."""
        n_texts, counts = 0, Counter[str]()
        for n, found in facts:
            n_texts += n
            counts.update(found)
        words = sorted(counts)
        if not words:
            raise ValueError(f"no text in column {self.columns[0]!r} has a word of two letters or more.")
        frequencies = np.array([counts[word] for word in words], dtype=np.float32)
        weights = np.log(np.float32(n_texts + 1) / (frequencies + np.float32(1))) + np.float32(1)
        return Texts(replace(self.settings, vocabulary=words, weights=weights))

    def described(self) -> str:
        form = "as TF-IDF" if self.settings.vocabulary is not None else "as it is"
        return f"the text in {self.columns[0]}, {form}"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        return Card.of_text(title, str(block.frame[self.columns[0]].iat[row]).strip().splitlines())

    def remark(self) -> str | None:
        if self.settings.vocabulary is None:
            return None
        return "The weights of words were learned from all texts, those to classify included, but from no labels."


def _new_vectorizer(vocabulary: list[str] | None = None) -> Any:
    from sklearn.feature_extraction.text import TfidfVectorizer

    return TfidfVectorizer(vocabulary=vocabulary, dtype=np.float32)


KINDS: dict[str, type[Recipe]] = {
    "numbers": NumberRows,
    "mixed": MixedRows,
    "text": Texts,
    "profile": Profiles,
    "matrix": SquareMatrix,
    "distances": DistanceMatrix,
}
"""The class of each kind of recipe that a model file can name."""


def recipe_of(settings: Settings) -> Recipe:
    """Return the recipe with these settings."""
    return KINDS[settings.kind](settings)


def read_recipe(noted: Any) -> Recipe:
    """Return the recipe that a model file holds; one that covey has not written is refused."""
    return recipe_of(Settings(**noted).checked())


def write_recipe(recipe: Recipe) -> dict[str, Any]:
    """Return what a model file keeps of a recipe."""
    return asdict(recipe.settings)
