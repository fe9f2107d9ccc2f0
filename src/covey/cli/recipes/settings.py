"""What a model file keeps of a recipe."""

from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Self

import numpy as np

from covey.displays.thumbnails import is_image

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
        texts = [self.kind, self.similarity, *(text for text in (self.label, self.id) if text is not None)]
        lists = [self.columns, self.numbers, *([] if self.vocabulary is None else [self.vocabulary])]
        arrays = [part for part in (self.weights, self.lowest, self.spread, self.means) if part is not None]
        right = (
            self.base in (None, 0, 1)
            and (self.image is None or (isinstance(self.image, list) and is_image(self.image)))
            and all(isinstance(names, list) for names in lists)
            and all(isinstance(text, str) for text in chain(texts, *lists))
            and all(isinstance(part, np.ndarray) and part.ndim == 1 and part.dtype.kind in "biuf" for part in arrays)
        )
        if not right:
            raise ValueError("its recipe has values of other types")
        return self
