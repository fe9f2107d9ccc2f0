"""Which clusters are taken for which: a matrix whose colors mean the same on every page, and examples to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from covey.displays.files import write_csv

STEPS = 10
"""How many colors a share from 0 to 1 can have, beside that of 0."""
MOST_CLUSTERS = 30
"""How many rows and columns a matrix on a page has at most: more cannot be taken in at a glance."""


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """How many objects of each cluster (row) got which label (column).

    Attributes
    ----------
    name, caption : str
        The name of its file, and whose answers it counts.
    labels : sequence of str
    counts : int array of shape (n_labels, n_labels)

    Examples
    --------
    >>> import numpy as np
    >>> from covey.displays.confusion import ConfusionMatrix
    >>> matrix = ConfusionMatrix("pets", "A guess.", ["cat", "dog"], np.array([[3, 1], [0, 2]]))
    >>> matrix.rows()[0]
    ('cat', [(8, '.75', 'cat taken for cat: 3 of 4'), (3, '.25', 'cat taken for dog: 1 of 4')])
    """

    name: str
    caption: str
    labels: Sequence[str]
    counts: NDArray[np.int64]

    template: ClassVar[str] = "confusion.html"

    @property
    def shown(self) -> NDArray[np.intp]:
        """The clusters that are shown, in their order: all, or those with most mistakes if there are too many."""
        wrong = self.counts - np.diag(np.diag(self.counts))
        mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
        order = np.argsort(-mistakes, kind="stable")[:MOST_CLUSTERS]
        return np.sort(order)

    @property
    def remark(self) -> str:
        """What is said if not all clusters are shown."""
        if len(self.labels) <= MOST_CLUSTERS:
            return ""
        return f"Of {len(self.labels)} clusters, the {MOST_CLUSTERS} with most mistakes are shown."

    def titles(self) -> list[str]:
        """The labels of the columns that are shown."""
        return [self.labels[at] for at in self.shown]

    def rows(self) -> list[tuple[str, list[tuple[int, str, str]]]]:
        """Each row that is shown: its label, and of each cell the step of its color, its text, and what it means."""
        return [(self.labels[at], [self._cell(at, other) for other in self.shown]) for at in self.shown]

    def _cell(self, row: int, column: int) -> tuple[int, str, str]:
        count, size = int(self.counts[row, column]), int(self.counts[row].sum())
        share = count / max(size, 1)
        words = f"{self.labels[row]} taken for {self.labels[column]}: {count} of {size}"
        return int(np.ceil(STEPS * share)), _short(share), words

    def write(self, folder: Path) -> None:
        """Write the counts as a CSV file, a row for each cluster."""
        rows: list[list[Any]] = [
            [label, *counts] for label, counts in zip(self.labels, self.counts.tolist(), strict=True)
        ]
        write_csv(folder / f"{self.name}.csv", ["cluster", *self.labels], rows)


def _short(share: float) -> str:
    """A share in as few signs as tell it from others; nothing for 0.

    Examples
    --------
    >>> [_short(share) for share in (0.0, 0.001, 0.25, 0.999, 1.0)]
    ['', '<.01', '.25', '>.99', '1']
    """
    if share in (0.0, 1.0):
        return "1" if share else ""
    written = f"{share:.2f}"
    return {"0.00": "<.01", "1.00": ">.99"}.get(written, written[1:])


@dataclass(frozen=True)
class Example:
    """An object that got a wrong label, and the representative that decided so: a card of each."""

    asked: Any
    decided: Any


@dataclass(frozen=True)
class Confusion:
    """One cluster that is taken for another: how often, in a sentence, and some of its objects."""

    sentence: str
    label: str
    given: str
    examples: Sequence[Example] = ()


@dataclass(frozen=True)
class Confusions:
    """The largest confusions, in words and with examples."""

    found: Sequence[Confusion]

    template: ClassVar[str] = "confusions.html"

    def write(self, folder: Path) -> None:
        """Write nothing: the matrix has all numbers."""
