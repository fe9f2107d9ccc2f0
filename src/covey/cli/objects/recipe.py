"""Recipes: how rows become objects, when representatives are selected and again when a model is used.

`Recipe` is the base of all kinds, and `Settings` is what a model file keeps of one.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.block import Block, name_of
from covey.cli.files.columns import Gaps, gaps_of, matrix_of, require_columns, strings_missing
from covey.cli.similarity_option import function_of
from covey.displays.cards import MOST_FIELDS, Card
from covey.displays.images import Images, is_image
from covey.similarity.inputs import take_rows

LATER = {"later": True}
"""Marks fields that files of version 0.1 do not have. They are written only if they are used, so that earlier versions
can read all other files."""


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
    means : float array or None
        What missing numbers are filled with: the mean of each column in `numbers`, or of each column of a matrix.
    lowest, spread : float arrays or None
        The smallest value of each column, and the distance from there to the largest, if columns are scaled to 0 .. 1.
    image : list of int or None
        Height and width of an image, and 3 if it is in color, if the numbers of a row are its pixels.
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
    image: list[int] | None = field(default=None, metadata=LATER)
    means: Any = field(default=None, metadata=LATER)

    def checked(self) -> Self:
        """Return these settings, or refuse values of other types, which covey has not written."""
        words = [self.kind, self.similarity, *(word for word in (self.label, self.id) if word is not None)]
        lists = [self.columns, self.numbers, *([] if self.vocabulary is None else [self.vocabulary])]
        arrays = [part for part in (self.weights, self.lowest, self.spread, self.means) if part is not None]
        right = (
            self.base in (None, 0, 1)
            and (self.image is None or (isinstance(self.image, list) and is_image(self.image)))
            and all(isinstance(names, list) for names in lists)
            and all(isinstance(word, str) for word in chain(words, *lists))
            and all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "biuf" for part in arrays)
        )
        if not right:
            raise ValueError("its recipe has values of other types")
        return self


MOST_NAMED = 6
"""How many columns a description or a card names."""
LONG_ROWS = 2000
"""The most rows of a block whose rows are long, such as texts and profiles."""
NO_SCALE = "--scale is for columns of numbers; leave it out."
"""What is said if the data show that other objects are to be scaled."""


@dataclass(frozen=True)
class Recipe(ABC):
    """What of a row is the object, and what it is compared by. A subclass is a kind of object."""

    settings: Settings
    has_long_rows: ClassVar[bool] = False
    """Whether a row may hold so much that blocks must be short."""
    takes_empty: ClassVar[bool] = False
    """Whether an empty string in a column is a value like any other."""
    takes_gaps: ClassVar[bool] = False
    """Whether values may be missing."""

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
            return self.from_matrix(block.matrix if self.takes_gaps else matrix_of(block, self.settings.means))
        if not self.columns:
            raise ValueError(f"{name_of(block.path)} has named columns, but the model was made of rows without.")
        require_columns(block.frame, self.columns, block.path)
        return self.from_table(block)

    def gaps(self, block: Block) -> Gaps:
        """Return where something is missing that objects are made of."""
        found = gaps_of(block, self.settings.numbers)
        for name in self.columns:
            if name not in self.settings.numbers:
                found = found.with_column(name, strings_missing(block, name, empty=self.takes_empty))
        return found

    def with_means(self, sums: NDArray[np.float64]) -> "Recipe":
        """Return the recipe that fills missing numbers with the means of columns, whose sums and sizes are known."""
        return self

    @abstractmethod
    def from_table(self, block: Block) -> Any:
        """Return the objects of rows whose columns have names."""

    def from_matrix(self, matrix: Any) -> Any:
        """Return the objects of rows whose columns have no names."""
        return matrix

    def learn(self, objects: Any, *, verbose: bool) -> tuple["Recipe", Any]:
        """Return a recipe that knows what has to be learned from all objects, and the objects that it makes."""
        return self, objects

    def must_learn(self, *, scale: bool) -> bool:
        """Return whether something has to be learned from all objects, to `scale` them or to weigh their words."""
        return False

    def facts(self, objects: Any) -> Any:
        """Return what `learn_from` has to know about a part of the objects."""
        return None

    def learn_from(self, facts: Sequence[Any]) -> "Recipe":
        """Return the recipe that knows what has to be learned, from the facts of all parts of the objects."""
        return self

    def warn(self, objects: Any, *, asked_for: Any, scaled: bool) -> None:  # noqa: B027 - most kinds need no warning
        """Log probable mistakes in the columns. The objects are not scaled yet."""

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
        return f"{self.described()}, by {self.settings.similarity} similarity"

    def card(self, block: Block, objects: Any, row: int, title: str) -> Card:
        """Return what a person can look at of a row: by default, its first columns."""
        shown = list(self.fields(block, objects, row).items())[:MOST_NAMED]
        return Card.of_fields(title, dict(shown))

    def fields(self, block: Block, objects: Any, row: int) -> Mapping[Any, Any]:
        """Return the values that a map shows of a row, by their names: by default, its columns."""
        if block.frame is None:
            return {}
        others = (self.settings.label, self.settings.id, *self.unreadable())
        shown = [column for column in block.frame.columns if column not in others][:MOST_FIELDS]
        return {column: block.frame[column].iat[row] for column in shown}

    def unreadable(self) -> Sequence[str]:
        """Return the columns that are not for reading, such as pixels. Cards leave them out."""
        return ()

    def images(self, block: Block, objects: Any) -> Images | None:
        """Return the objects as images, if they are some."""
        return None

    def split(self, objects: Any, kept: NDArray[np.intp], asked: NDArray[np.intp]) -> tuple[Any, Any]:
        """Return the objects to represent and the objects to classify by them."""
        return take_rows(objects, kept), take_rows(objects, asked)

    def has_similarity(self, objects: Any, rows: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the similarity of each row to its other row is known."""
        return np.ones(rows.size, dtype=np.bool_)

    def remark(self) -> str | None:
        """Return what a reader of a comparison has to know about the objects, if there is anything."""
        return None
