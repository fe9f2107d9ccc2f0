"""Which clusters are taken for which: a matrix whose colors mean the same on every page, and examples to look at."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from covey.displays.table import write_csv
from covey.runtime.wording import percent, shortened

STEPS = 10
"""How many colors a share from 0 to 1 can have, beside that of 0."""
MOST_CLUSTERS = 30
"""How many rows and columns a matrix on a page has at most: more cannot be taken in at a glance."""
LARGEST = 5
"""How many confusions are put in words: what a reader takes in at once."""


def largest(counts: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the rows and columns of the largest numbers outside the diagonal; 0 is not a confusion.

    Examples
    --------
    >>> largest(np.array([[9, 1, 0], [2, 8, 0], [0, 0, 7]]))
    [(1, 0), (0, 1)]
    """
    wrong = counts - np.diag(np.diag(counts))
    order = np.argsort(-wrong, axis=None, kind="stable")[:LARGEST]
    pairs = zip(*np.unravel_index(order, wrong.shape), strict=True)
    return [(int(row), int(column)) for row, column in pairs if wrong[row, column] > 0]


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """How many objects of each cluster (row) got which label (column): a part of a report.

    A page shows shares of the row. Of more than 30 clusters it shows those of the largest confusions, then those with
    most mistakes. The file has all counts.

    Attributes
    ----------
    name, caption : str
        The name of its file, without a suffix, and whose answers it counts.
    labels : sequence of str
        The labels of rows and columns.
    counts : int array of shape (n_labels, n_labels)
        How many objects of the row's cluster got the column's label.

    Examples
    --------
    One of four cats was taken for a dog. A cell has a color from 0 to 10, a text, and an explanation:

    >>> import numpy as np
    >>> from covey.displays.confusion import ConfusionMatrix
    >>> matrix = ConfusionMatrix("pets", "A guess.", ["cat", "dog"], np.array([[3, 1], [0, 2]]))
    >>> matrix.rows()[0]
    ('cat', [(8, '.75', '3 of 4 objects of cat taken for cat'), (3, '.25', '1 of 4 objects of cat taken for dog')])
    """

    name: str
    caption: str
    labels: Sequence[str]
    counts: NDArray[np.int64]

    template: ClassVar[str] = "confusion.html"

    @property
    def shown(self) -> NDArray[np.intp]:
        """The clusters that are shown, in their order.

        If there are too many, these are the clusters of the largest confusions, then those with most mistakes.
        """
        wrong = self.counts - np.diag(np.diag(self.counts))
        mistakes = wrong.sum(axis=0) + wrong.sum(axis=1)
        listed = np.isin(np.arange(mistakes.size), largest(self.counts))
        return np.sort(np.lexsort((-mistakes, ~listed))[:MOST_CLUSTERS])

    @property
    def remark(self) -> str:
        """What is said if not all clusters are shown."""
        if len(self.labels) <= MOST_CLUSTERS:
            return ""
        return (
            f"Of {len(self.labels)} clusters, {MOST_CLUSTERS} are shown: those of the largest confusions, then those "
            "with most mistakes."
        )

    def titles(self) -> list[str]:
        """Return the labels of the columns that are shown.

        Returns
        -------
        list of str
            The labels, in their order.
        """
        return [self.labels[at] for at in self.shown]

    def rows(self) -> list[tuple[str, list[tuple[int, str, str]]]]:
        """Return the rows that are shown.

        Returns
        -------
        list of (str, list of (int, str, str))
            For each row its label, and for each cell the step of its color, its text, and what it means.
        """
        return [(self.labels[at], [self._cell(at, other) for other in self.shown]) for at in self.shown]

    def _cell(self, row: int, column: int) -> tuple[int, str, str]:
        count, size = int(self.counts[row, column]), int(self.counts[row].sum())
        share = count / max(size, 1)
        label, given = shortened(self.labels[row]), shortened(self.labels[column])
        return int(np.ceil(STEPS * share)), _short(share), f"{count} of {size} objects of {label} taken for {given}"

    def write(self, folder: Path) -> None:
        """Write the counts as a CSV file, a row for each cluster.

        Parameters
        ----------
        folder : path
            Where the file is written, which must exist.
        """
        rows: list[list[Any]] = [
            [label, *counts] for label, counts in zip(self.labels, self.counts.tolist(), strict=True)
        ]
        write_csv(folder / f"{self.name}.csv", ["cluster", *self.labels], rows)


def _short(share: float) -> str:
    """Return a share in as few characters as tell it from others; nothing for 0.

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
    """One cluster that is taken for another.

    Attributes
    ----------
    label, given : str
        The cluster, and the label that its objects got.
    times, size : int
        How many of its objects got this label, and how many were asked about.
    examples : sequence of Example
        Some of them.

    Examples
    --------
    >>> Confusion("cat", "dog", 1, 4).sentence
    '1 of 4 objects (25.0 %) of cat was taken for dog.'
    """

    label: str
    given: str
    times: int
    size: int
    examples: Sequence[Example] = ()

    @property
    def sentence(self) -> str:
        """How often it happened. Numbers stand before labels, because they would turn around after one in Arabic."""
        verb = "was" if self.times == 1 else "were"
        label, given, share = shortened(self.label), shortened(self.given), percent(self.times / self.size)
        return f"{self.times} of {self.size} objects ({share}) of {label} {verb} taken for {given}."

    @property
    def asked(self) -> str:
        """What the first card of an example is."""
        return f"an object of {shortened(self.label)}"

    @property
    def decided(self) -> str:
        """What the second card of an example is."""
        return f"decided by one of {shortened(self.given)}"


@dataclass(frozen=True)
class Confusions:
    """The largest confusions, in words and with examples."""

    found: Sequence[Confusion]

    template: ClassVar[str] = "confusions.html"

    def write(self, folder: Path) -> None:
        """Write nothing: the matrix has all numbers."""
