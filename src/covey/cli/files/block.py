"""Rows of a file, and how a file is cut into them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.cli.files.formats import STANDARD
from covey.runtime.progress import Bar

CELLS = 2_000_000
"""In a block, about."""


@dataclass(frozen=True)
class How:
    """How a file is read: names for columns without any, the most rows of a block, and the bar that watches."""

    columns: Sequence[str]
    most_rows: int
    bar: Bar | None

    def n_rows(self, n_columns: int) -> int:
        """How many rows of so many columns make a block."""
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
        Those that come with a matrix.
    lines : int array or None
        The line on which each row ends, if the file has lines.
    share : float or None
        How much of the file has been read after it, if that is known.
    base : int or None
        From what an svmlight file counts columns.
    """

    path: str
    first: int = 0
    frame: Any = None
    matrix: Any = None
    labels: NDArray[Any] | None = None
    lines: NDArray[np.int64] | None = None
    share: float | None = None
    base: int | None = None

    def __len__(self) -> int:
        return len(self.frame) if self.frame is not None else int(self.matrix.shape[0])

    def place(self, at: int) -> str:
        """Where one of the rows stands, for a message."""
        where = f"row {self.first + at}" if self.lines is None else f"line {self.lines[at]}"
        return f"{name_of(self.path)}, {where}"


def name_of(path: str) -> str:
    return "standard input" if path == STANDARD else path


def check_exists(path: str) -> None:
    if path == STANDARD:
        raise ValueError("this format cannot be read from standard input; pass a file.")
    if not Path(path).is_file():
        raise FileNotFoundError(f"{path}: no such file.")
