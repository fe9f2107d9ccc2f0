"""A block: rows of a file with their places in it. Also the names of standard input and output."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

if TYPE_CHECKING:  # options are checked before anything imports NumPy
    import numpy as np
    from numpy.typing import NDArray

STANDARD = "-"
"""The name of standard input and standard output."""

STANDARD_OUTPUT = "standard output"
"""What messages call standard output."""


def name_of(path: str) -> str:
    """Return what messages call a file."""
    return "standard input" if path == STANDARD else path


def bytes_in(path: str) -> str | BinaryIO:
    """Return a path as it is, and for standard input the bytes that arrive there."""
    return sys.stdin.buffer if path == STANDARD else path


def bytes_out(path: str) -> str | BinaryIO:
    """Return a path as it is, and for standard output the place where bytes are written to."""
    return sys.stdout.buffer if path == STANDARD else path


@dataclass(frozen=True, eq=False)
class Block:
    """Rows of a file, one after another, unless some have been left out.

    Attributes
    ----------
    path : str
    first : int
        The number of the first row, from 0. It counts through all files of a table.
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
    shape : tuple of int or None
        The shape that a row of the matrix had before it was flattened, such as (28, 28) or (32, 32, 3) for an image;
        None if it had one axis.
    decimal : str
        What stands between the whole and the fraction of a number that is written as a string.
    numbers : int array or None
        The number of each row, if some rows have been left out.
    runs : sequence of (str, int, int)
        Where the rows from `first` on come from, if there are several files: the path of each file, the number that the
        first row has in that file, and how many rows were taken from there.
    """

    path: str
    first: int = 0
    frame: Any = None
    matrix: Any = None
    labels: "NDArray[Any] | None" = None
    lines: "NDArray[np.int64] | None" = None
    share: float | None = None
    base: int | None = None
    shape: tuple[int, ...] | None = None
    decimal: str = "."
    numbers: "NDArray[np.int64] | None" = None
    runs: Sequence[tuple[str, int, int]] = ()

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])

    @property
    def row_numbers(self) -> "NDArray[np.int64]":
        """The number of each row, from 0: in its file, or in the table that several files make."""
        import numpy as np

        return self.first + np.arange(len(self)) if self.numbers is None else self.numbers

    def take(self, rows: "NDArray[Any]") -> "Block":
        """Return some of the rows as a block of their own. They keep their numbers and places."""
        return replace(
            self,
            frame=None if self.frame is None else self.frame.iloc[rows],
            matrix=None if self.matrix is None else self.matrix[rows],
            labels=None if self.labels is None else self.labels[rows],
            lines=None if self.lines is None else self.lines[rows],
            numbers=self.row_numbers[rows],
        )

    def place(self, at: int) -> str:
        """Return where one of the rows stands, for a message."""
        path, row = self.path, int(self.row_numbers[at])
        left = row - self.first
        for name, first, n_rows in self.runs:
            if left < n_rows:
                path, row = name, first + left
                break
            left -= n_rows
        return f"{name_of(path)}, {f'row {row}' if self.lines is None else f'line {self.lines[at]}'}"
