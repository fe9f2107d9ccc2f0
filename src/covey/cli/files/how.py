"""How a file is read and cut into blocks."""

from dataclasses import dataclass, field

import numpy as np

from covey.cli.files.style import Style
from covey.runtime.progress import Bar

CELLS = 2_000_000
"""About how many values a block holds: 2 million texts of a few characters take some 100 MB."""


@dataclass(frozen=True)
class How:
    """How a file is read.

    Attributes
    ----------
    labels : str or None
        The name of the array of labels in an .npz file, or the file of labels beside an .npy file.
    base : int or None
        The number of the first column in an svmlight file, 0 or 1; None if the file is to tell.
    most_rows : int
        The most rows of a block.
    style : Style
        How values are written.
    bar : Bar or None
        The progress bar that watches the reading.
    whole : bool
        Whether all rows are going to be held at once, so that a format which can hand them over without a copy need
        not cut them into blocks.
    """

    labels: str | None
    base: int | None
    most_rows: int
    style: Style = field(default_factory=Style)
    bar: Bar | None = None
    whole: bool = False

    def n_rows(self, n_columns: int) -> int:
        """Return how many rows of this many columns make a block."""
        return int(np.clip(CELLS // max(n_columns, 1), 1, self.most_rows))
