"""Strings under a named similarity of strings."""

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Hashes, Positions
from covey.similarity.collection import Collection, some
from covey.similarity.content import string_hashes
from covey.similarity.equal import Distinct, distinct_objects
from covey.similarity.frames import is_frame
from covey.similarity.inputs import check_input
from covey.similarity.missing import is_missing
from covey.similarity.similarity import Similarity
from covey.similarity.spaces.strings import StringSpace


class StringCollection(Collection):
    """A list of strings."""

    @classmethod
    def of(cls, X: Any, similarity: Similarity) -> "StringCollection":
        """Check X and make a collection of it."""
        return cls(similarity, _check_strings(X, similarity), given=X)

    @property
    def nothing_in_common(self) -> float:
        return 0.0

    def against(self, others: Self, n_jobs: int | None = None) -> StringSpace:
        return StringSpace(self.similarity, self._array, others._array, square=others is self, n_jobs=n_jobs)

    def space_of_queries(self, X: Any, estimator: Any = None, n_jobs: int | None = None) -> StringSpace:
        queries = StringCollection.of(check_input(X), self.similarity)
        return StringSpace(self.similarity, queries._array, self._array, square=False, n_jobs=n_jobs)

    def distinct(self) -> Distinct:
        return distinct_objects(self.objects)

    def content_hashes(self) -> Hashes:
        return string_hashes(self.objects)

    @cached_property
    def _array(self) -> NDArray[np.object_]:
        return np.fromiter(self.objects, dtype=object, count=len(self))

    def _take(self, positions: Positions) -> Self:
        return type(self)(self.similarity, some(self.objects, positions), self.rows[positions])


def _check_strings(X: Any, similarity: Similarity) -> list[str]:
    """Return X as a list of strings. Refuse tables, and objects that are no strings."""
    if is_frame(X) or sp.issparse(X) or (isinstance(X, np.ndarray) and X.ndim != 1):
        raise TypeError(
            f"X must be a sequence of strings for similarity={similarity.function!r}, got {type(X).__name__} of shape "
            f"{X.shape}; pass one column of it, or use a similarity of rows."
        )
    strings = X.tolist() if isinstance(X, np.ndarray) else list(X)
    for position, value in enumerate(strings):
        if not isinstance(value, str):
            shown = value if is_missing(value) else type(value).__name__
            raise TypeError(
                f"X must hold only strings for similarity={similarity.function!r}, got {shown} at position {position}; "
                "drop such objects or turn them into strings."
            )
    return strings
