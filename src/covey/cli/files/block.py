"""Rows of a file, and how a file is cut into blocks of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.standard import name_of
from covey.runtime.progress import Bar

CELLS = 2_000_000
"""About how many values a block holds: 2 million texts of a few characters take some 100 MB."""


@dataclass(frozen=True)
class How:
    """How a file is read.

    Attributes
    ----------
    columns : sequence of str
        Names for the columns of a CSV or TSV without a header.
    labels : str or None
        The name of the array of labels in an .npz file.
    base : int or None
        The number of the first column in an svmlight file, 0 or 1; None if the file is to tell.
    most_rows : int
        The most rows of a block.
    bar : Bar or None
        The progress bar that watches the reading.
    """

    columns: Sequence[str]
    labels: str | None
    base: int | None
    most_rows: int
    bar: Bar | None

    def n_rows(self, n_columns: int) -> int:
        """Return how many rows of so many columns make a block."""
        return int(np.clip(CELLS // max(n_columns, 1), 1, self.most_rows))


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a file, one after another.

    Attributes
    ----------
    path : str
    first : int
        The number of the first row in the file, from 0.
    frame : DataFrame or None
        The rows under the names of their columns, if these have names.
    matrix : array, CSR array or None
        The rows, if their columns have no names.
    labels : array or None
        The labels that come with a matrix.
    lines : int array or None
        The line on which each row ends, if the file has lines.
    share : float or None
        Which share of the file has been read up to the end of this block, if that is known.
    base : int or None
        The number of the first column in an svmlight file, 0 or 1.
    runs : sequence of (str, int, int)
        Where the rows come from, if there are several files: the path of each file, the number of the first row that
        was taken from there, and how many were.
    """

    path: str
    first: int = 0
    frame: Any = None
    matrix: Any = None
    labels: NDArray[Any] | None = None
    lines: NDArray[np.int64] | None = None
    share: float | None = None
    base: int | None = None
    runs: Sequence[tuple[str, int, int]] = ()

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])

    def take(self, rows: NDArray[Any]) -> "Block":
        """Return some of the rows as a block of their own."""
        if self.frame is not None:
            return Block(self.path, frame=self.frame.iloc[rows])
        labels = None if self.labels is None else self.labels[rows]
        return Block(self.path, matrix=self.matrix[rows], labels=labels, base=self.base)

    def place(self, at: int) -> str:
        """Return where one of the rows stands, for a message."""
        if self.lines is not None:
            return f"{name_of(self.path)}, line {self.lines[at]}"
        left = at
        for path, first, n_rows in self.runs:
            if left < n_rows:
                return f"{path}, row {first + left}"
            left -= n_rows
        return f"{name_of(self.path)}, row {self.first + at}"
