"""The types of what a user passes as X and as y.

They say what covey accepts before anything is checked; a `Collection` is made of it (`kinds/`). This module imports
nothing of covey, so that every signature can use it. Users find these names in `covey.typing`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or sparse array, of any format.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from covey.typing import SparseMatrix
    >>> def density(matrix: SparseMatrix) -> float:
    ...     return matrix.nnz / (matrix.shape[0] * matrix.shape[1])
    >>> density(sp.eye_array(4))
    0.25
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """How many rows and columns it has."""

    @property
    def nnz(self) -> int:
        """How many entries it stores."""

    def tocsr(self) -> Any:
        """Return it in CSR format.

        Returns
        -------
        sparse matrix or array
            The same numbers, row by row.
        """


class Frame(Protocol):
    """A data frame of pandas or polars.

    Examples
    --------
    >>> import pandas
    >>> from covey.typing import Frame
    >>> def n_cells(table: Frame) -> int:
    ...     return table.shape[0] * table.shape[1]
    >>> n_cells(pandas.DataFrame({"length": [1, 2], "width": [3, 4]}))
    4
    """

    @property
    def columns(self) -> Any:
        """The names of its columns."""

    @property
    def dtypes(self) -> Any:
        """The types of its columns."""

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows and columns it has."""


class Column(Protocol):
    """One column of a data frame, or anything else that NumPy can turn into an array and that has a length.

    Examples
    --------
    >>> import numpy as np
    >>> from covey.typing import Column
    >>> def n_labels(y: Column) -> int:
    ...     return len(np.unique(y))
    >>> n_labels(np.array(["cat", "dog", "cat"]))
    2
    """

    def __array__(self) -> NDArray[Any]: ...

    def __len__(self) -> int: ...


Objects = NDArray[Any] | SparseMatrix | Frame | Sequence[Any]
"""X: rows of an array, of a sparse matrix or of a frame, or a sequence of any objects. Each row is an object."""

Labels = NDArray[Any] | Column | Sequence[Any]
"""y: one label for each object. Labels can be sorted and are hashable."""
