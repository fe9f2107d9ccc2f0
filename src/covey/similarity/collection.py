"""A collection: X under a similarity, checked and prepared once.

A collection can `take` some of its members, give the `Space` among its own members, and the space of queries against
its members. There is one class for each kind of objects, in `collections/`; nobody to the right of this stage asks
which one it has.
"""

from abc import ABC, abstractmethod
from typing import Any, Protocol, Self

import numpy as np
from sklearn.utils.validation import validate_data

from covey.arrays import Positions
from covey.similarity.equal import Distinct
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space


class Representatives(Protocol):
    """What queries are compared with; `objects` is all that has to be stored to make them again."""

    objects: Any

    def prepared(self) -> Self: ...

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space: ...


class Collection(ABC):
    """Objects under a similarity.

    Attributes
    ----------
    similarity : Similarity
        By what the objects are compared.
    objects : array, CSR array or list
        The objects in one of three plain forms. Rows of an array, dense or CSR, are objects.
    rows : int array
        The rows of the X that the objects came from.
    given : object
        The X that a user has passed, if the collection holds all of it.
    """

    def __init__(self, similarity: Similarity, objects: Any, rows: Positions | None = None, given: Any = None) -> None:
        self.similarity, self.objects, self.given = similarity, objects, given
        self.rows = np.arange(len(self)) if rows is None else rows

    def __len__(self) -> int:
        return int(self.objects.shape[0]) if hasattr(self.objects, "shape") else len(self.objects)

    def take(self, positions: Positions) -> Self:
        """The members at these positions, as a collection; all of them, in order, are the collection itself."""
        if positions.size == len(self) and np.array_equal(positions, np.arange(positions.size)):
            return self
        return self._take(positions)

    def representatives(self, positions: Positions) -> Representatives:
        """The members at these positions, as what queries are compared with."""
        return self.take(positions)

    def record_columns(self, estimator: Any) -> None:
        """Set the number and the names of the columns on an estimator, or remove those of an earlier fit."""
        for name in ("n_features_in_", "feature_names_in_"):
            vars(estimator).pop(name, None)
        if self.n_columns is not None:
            validate_data(estimator, self.given, reset=True, skip_check_array=True)

    @property
    def n_columns(self) -> int | None:
        """How many columns the objects have, with which those of queries must agree; None if they are no rows."""
        return None

    def prepared(self) -> Self:
        """The collection, after what the first query would have to wait for is done."""
        return self

    @abstractmethod
    def space(self, n_jobs: int | None = None) -> Space:
        """The members among themselves. `n_jobs` threads or processes work on it, as joblib counts them."""

    @abstractmethod
    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        """Other objects on the left side, and the members of this collection on the right.

        If X has columns, they must be those that were recorded on the estimator.
        """

    @abstractmethod
    def distinct(self) -> Distinct:
        """Which members the similarity cannot tell apart."""

    @abstractmethod
    def _take(self, positions: Positions) -> Self: ...


def some(objects: Any, positions: Positions) -> Any:
    """The objects at these positions, in the same plain form."""
    return [objects[p] for p in positions] if isinstance(objects, list) else objects[positions]
