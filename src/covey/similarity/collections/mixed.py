"""Rows of mixed columns, numbers and categories, under Gower's similarity."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from covey.arrays import Hashes, Positions
from covey.similarity.collection import Collection
from covey.similarity.content import key_hashes
from covey.similarity.encoding import encode, encode_like
from covey.similarity.equal import Distinct, distinct_rows, row_hashes
from covey.similarity.inputs import check_input
from covey.similarity.similarity import Similarity
from covey.similarity.spaces.mixed import MixedSpace


class MixedCollection(Collection):
    """Rows of a table, encoded. The ranges and categories are those of all of X, also in a part of it."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity) -> "MixedCollection":
        """Check X and make a collection of it."""
        return cls(similarity, encode(X), given=X)

    @property
    def n_columns(self) -> int | None:
        """How many columns the table has. It is None if the rows were dicts."""
        return int(self.objects.is_number.size) if self.objects.keys is None else None

    @property
    def nothing_in_common(self) -> float:
        return 0.0

    def representatives(self, positions: Positions) -> "MixedCollection":
        """Return the members at these positions. They keep their own categories alone."""
        part = self.objects.take(positions).with_own_categories()
        return MixedCollection(self.similarity, part, self.rows[positions])

    def against(self, others: Self, n_jobs: int | None = None) -> MixedSpace:
        return MixedSpace(self.objects, others.objects, n_jobs)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> MixedSpace:
        X = check_input(X)
        if estimator is not None and self.n_columns is not None:
            validate_data(estimator, X, reset=False, skip_check_array=True)
        return MixedSpace(encode_like(X, self.objects), self.objects, n_jobs)

    def distinct(self) -> Distinct:
        return distinct_rows(self._table(self.objects.codes))

    def content_hashes(self) -> Hashes:
        hashes = [
            np.append(key_hashes(categories), np.uint64(0))[codes]  # the last one is that of a missing value, -1
            for categories, codes in zip(self.objects.categories, self.objects.codes.T, strict=True)
        ]
        return row_hashes(self._table(np.column_stack(hashes).view(np.int64) if hashes else self.objects.codes))

    def _table(self, categories: NDArray[Any]) -> NDArray[np.int64]:
        """Return the bits of all numbers, and of these numbers for categories; equal rows have equal bits."""
        numbers = self.objects.numbers + 0.0  # turns -0 into 0, which has other bits
        return np.hstack([numbers.view(np.int64), categories.astype(np.int64)])

    def _joined(self, parts: Sequence[Collection]) -> Collection:
        raise TypeError(
            "Tables under similarity='gower' cannot be joined, because each has ranges and categories of its own; pass "
            "one table of all objects."
        )

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, self.objects.take(positions), self.rows[positions])
