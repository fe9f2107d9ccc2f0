"""A collection is X under a similarity, checked and prepared once.

A collection can `take` some of its members, make the `Space` among its own members, and make the space of queries
against its members. `collections/` has one class for each kind of objects. No later stage asks which class it has.
"""

from abc import ABC, abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils.validation import validate_data

from covey.arrays import Floats, Indices, Positions
from covey.similarity.equal import Distinct
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space


class Representatives(Protocol):
    """What queries are compared with. `objects` is all that has to be stored to make the representatives again."""

    objects: Any

    def prepared(self) -> Self:
        """Do the work that the first query would otherwise have to wait for."""
        ...

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        """Make the space with the objects of X on the left side and these on the right."""
        ...


class Collection(ABC):
    """Objects under a similarity.

    Attributes
    ----------
    similarity : Similarity
        The similarity that compares the objects.
    objects : array, CSR array or list
        The objects in one of three plain forms. In an array, dense or CSR, each row is an object.
    rows : int array
        For each object, the row of X that it came from.
    given : object
        The X that the user has passed. It is None if the collection holds only a part of X.
    """

    def __init__(self, similarity: Similarity, objects: Any, rows: Positions | None = None, given: Any = None) -> None:
        self.similarity, self.objects, self.given = similarity, objects, given
        self.rows = np.arange(len(self)) if rows is None else rows

    def __reduce__(self) -> Any:
        """Pickle the objects alone; what was prepared is made again when it is needed."""
        return type(self), (self.similarity, self.objects, self.rows)

    def __len__(self) -> int:
        return int(self.objects.shape[0]) if hasattr(self.objects, "shape") else len(self.objects)

    def take(self, positions: Positions) -> Self:
        """Return the members at these positions as a collection.

        If these are all members in order, return the collection itself.
        """
        if positions.size == len(self) and np.array_equal(positions, np.arange(positions.size)):
            return self
        return self._take(positions)

    def representatives(self, positions: Positions) -> Representatives:
        """Return the members at these positions in the form that queries are compared with."""
        return self._take(positions)  # a copy even of all members, because the user may change X after the fit

    def record_columns(self, estimator: Any) -> None:
        """Set the number and the names of the columns on an estimator.

        Remove those of an earlier fit if X has no columns.
        """
        for name in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(name, None)
        if self.n_columns is not None:
            validate_data(estimator, self.given, reset=True, skip_check_array=True)

    @property
    def n_columns(self) -> int | None:
        """How many columns the objects have. Queries must have as many. It is None if the objects are no rows."""
        return None

    def prepared(self) -> Self:
        """Do the work that the first query would otherwise have to wait for, and return the collection."""
        return self

    def known_pairs(self) -> tuple[Indices, Indices, Floats]:
        """Return pairs of members whose similarities s(i[t], j[t]) are remembered; by default there are none."""
        none = np.empty(0, dtype=np.int32)
        return none, none, np.empty(0)

    def space(self, n_jobs: int | None = None) -> Space:
        """Make the space of the members among themselves.

        `n_jobs` threads or processes work on it, as joblib counts them.
        """
        return self.against(self, n_jobs)

    @abstractmethod
    def against(self, others: Self, n_jobs: int | None = None) -> Space:
        """Make the space with these members on the left side and the members of `others` on the right.

        Both must be taken from the same prepared collection. If `others` is this collection itself, the space is the
        one of its members among themselves.
        """

    @abstractmethod
    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        """Make the space with the objects of X on the left side and the members of this collection on the right.

        If X has columns, they must be those that were recorded on the estimator.
        """

    @abstractmethod
    def distinct(self) -> Distinct:
        """Find out which members are equal under the similarity."""

    @abstractmethod
    def _take(self, positions: Positions) -> Self:
        """Return a copy of the members at these positions."""


def some(objects: Any, positions: Positions) -> Any:
    """Return the objects at these positions in the same plain form."""
    return [objects[position] for position in positions] if isinstance(objects, list) else objects[positions]
