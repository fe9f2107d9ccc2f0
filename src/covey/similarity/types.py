"""The types of what a user passes as X and as y.

They say what covey accepts before anything is checked; a `Collection` is made of it (`collect.py`). This module imports
nothing of covey, so that every signature can use it. Users find these names in `covey.typing`.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from numpy.typing import NDArray


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or sparse array, of any format."""

    @property
    def shape(self) -> tuple[int, ...]: ...

    @property
    def nnz(self) -> int: ...

    def tocsr(self) -> Any: ...


class Frame(Protocol):
    """A data frame of pandas or polars."""

    @property
    def columns(self) -> Any: ...

    @property
    def dtypes(self) -> Any: ...

    @property
    def shape(self) -> tuple[int, int]: ...


class Column(Protocol):
    """One column of a data frame, or anything else that NumPy can turn into an array and that has a length."""

    def __array__(self) -> NDArray[Any]: ...

    def __len__(self) -> int: ...


Objects = NDArray[Any] | SparseMatrix | Frame | Sequence[Any]
"""X: rows of an array, of a sparse matrix or of a frame, or a sequence of any objects. Each row is an object."""

Labels = NDArray[Any] | Column | Sequence[Any]
"""y: one label for each object. Labels can be sorted and are hashable."""
