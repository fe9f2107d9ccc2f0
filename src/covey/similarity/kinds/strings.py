"""Strings under a named similarity, which rapidfuzz computes for many pairs in one call.

rapidfuzz releases the interpreter lock while it computes, so that threads share the work and no other processes are
needed. It has one function for a list of pairs and another for whole blocks. Both give the same bits.
"""

from functools import cached_property
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from covey.arrays import Floats, Hashes, Indices, Positions
from covey.runtime.interruptible import in_steps
from covey.runtime.libraries import require
from covey.similarity.calls.callers import objects_at
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct, distinct_objects
from covey.similarity.fingerprint import string_hashes
from covey.similarity.inputs import check_input, is_frame, is_missing
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space

MODULES = {"indel": "Indel", "jaro-winkler": "JaroWinkler", "levenshtein": "Levenshtein", "osa": "OSA"}
"""The module of rapidfuzz that computes each named similarity of strings."""

SHORT, EXACT_UP_TO = 64, 5_000
"""Strings of up to 64 characters take about 25 ns a pair in whole blocks, and ten times as long pair by pair. Among 5
000 such strings, all pairs took as long as the few that NN-Descent scores. Longer strings gain nothing from blocks.
This was measured with rapidfuzz 3.14 on random words."""


class StringSpace(Space):
    """Strings under one of rapidfuzz's similarities, from 0 to 1."""

    threaded = True
    screened = True

    def __init__(
        self,
        similarity: Similarity,
        left: NDArray[np.object_],
        right: NDArray[np.object_],
        *,
        square: bool,
        n_jobs: int | None,
    ) -> None:
        super().__init__(left.size, right.size, symmetric=square, n_jobs=n_jobs)
        self._process = require("rapidfuzz.process", "text")
        self._distance = getattr(require("rapidfuzz.distance", "text"), MODULES[similarity.function])
        self._left, self._right = left, right
        self._step = 1  # how many rows of a block are computed at a time; adapted to how long they take
        self.exact_up_to = EXACT_UP_TO if max(map(len, left), default=0) <= SHORT else 0

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        return self._similarities(self._process.cpdist, self._left[i], self._right[j])

    def estimates(self, rows: slice, columns: slice) -> NDArray[Any]:
        """Return the similarities of a whole block.

        This is many times faster than pair by pair, because rapidfuzz prepares each string only once.
        """
        left, right = self._left[rows], self._right[columns]
        estimates = np.empty((left.size, right.size))

        def estimate(part: slice) -> None:
            estimates[part] = self._similarities(self._process.cdist, left[part], right)

        self._step = in_steps(left.size, estimate, self._step)
        return estimates

    def slack(self, rows: slice) -> Floats:
        return np.zeros(len(range(*rows.indices(self.n_left))))

    def _similarities(self, compute: Any, left: NDArray[Any], right: NDArray[Any]) -> Floats:
        """Return one less the normalized distance, which is how rapidfuzz defines the normalized similarity of one
        pair.

        rapidfuzz's own batches of Jaro-Winkler similarities differ from that in the last bit. Its batches of distances
        do not.
        """
        distances = compute(left, right, scorer=self._distance.normalized_distance, dtype=np.float64)
        return np.subtract(1.0, distances, out=distances)


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
        return type(self)(self.similarity, objects_at(self.objects, positions), self.rows[positions])


def _check_strings(X: Any, similarity: Similarity) -> list[str]:
    """Return X as a list of strings. Refuse tables, and objects that are not strings."""
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
