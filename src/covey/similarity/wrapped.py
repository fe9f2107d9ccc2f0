"""A collection around another one, which it asks for whatever does not concern it."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Self

from covey.arrays import Hashes, Positions
from covey.similarity.collection import Collection, Representatives
from covey.similarity.equal import Distinct
from covey.similarity.space import Space
from covey.similarity.spot_check import watch


class WrappedCollection(Collection):
    """The objects of a costly collection, whose similarities are remembered somewhere.

    What is remembered belongs to this process. So a copy in another process, representatives, and what is joined with
    other collections are made of the inner collection alone.
    """

    remembers = True

    def __init__(self, collection: Collection) -> None:
        super().__init__(collection.similarity, collection.objects, collection.rows, collection.given)
        self._collection = collection

    def __reduce__(self) -> Any:
        return self._collection.__reduce__()

    @property
    def n_columns(self) -> int | None:
        return self._collection.n_columns

    def is_costly(self) -> bool:
        return True

    def representatives(self, positions: Positions) -> Representatives:
        return self._collection.representatives(positions)

    def space(self, n_jobs: int | None = None) -> Space:
        return watch(super().space(n_jobs), self.similarity, self.rows)

    @abstractmethod
    def against(self, others: Self, n_jobs: int | None = None) -> Space: ...

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> Space:
        return self._collection.space_of_queries(X, estimator, n_jobs)

    def distinct(self) -> Distinct:
        return self._collection.distinct()

    def content_hashes(self) -> Hashes:
        return self._collection.content_hashes()

    def _joined(self, parts: Sequence[Collection]) -> Collection:
        return self._collection._joined(parts)
