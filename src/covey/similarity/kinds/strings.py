"""Strings under a named similarity, which rapidfuzz computes for many pairs in one call.

rapidfuzz releases the interpreter lock while it computes, so that threads share the work and no other processes are
needed. It has one function for a list of pairs and another for whole blocks. Both give the same bits.

A list of pairs of short strings is scored by covey's own code (`edits.py`), where the similarity follows from a number
of edits. These numbers are whole, so that the similarities have the same bits. rapidfuzz prepares each pair of a list
anew, which takes longer than finding the distance of two words.
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
from covey.similarity.edits import INDEL, LEVENSHTEIN, LONGEST, OSA, EditBounds, edit_similarities, letters_of
from covey.similarity.fingerprint import string_hashes
from covey.similarity.inputs import check_input, is_frame, is_missing
from covey.similarity.similarity import Similarity
from covey.similarity.space import Space, UpperBounds

MODULES = {"indel": "Indel", "jaro-winkler": "JaroWinkler", "levenshtein": "Levenshtein", "osa": "OSA"}
"""The module of rapidfuzz that computes each named similarity of strings."""

EDITS = {"indel": INDEL, "levenshtein": LEVENSHTEIN, "osa": OSA}
"""The similarities that follow from a number of edits, and which edits count."""

EXACT_UP_TO = 5_000
"""Of short strings, all pairs of this many take about as long as the few that NN-Descent scores, because blocks are
several times as fast as lists of pairs (`benchmarks/strings.py`)."""

LONG = 500
"""Longer strings are not compared in blocks. A block computes a pair on the diagonal twice, and pairs that it keeps are
scored again, which takes two to three times as long for a few dozen strings. A block saves a fifth of the time at most
from about 640 letters on, but two thirds for 80 letters under "indel" (`benchmarks/strings.py`)."""


class StringSpace(Space):
    """Strings under one of rapidfuzz's similarities, from 0 to 1."""

    threaded = True

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
        longest = max(map(len, left), default=0)
        self.screened = longest <= LONG
        self.exact_up_to = EXACT_UP_TO if longest <= LONGEST else 0
        self._edits = EDITS.get(similarity.function) if longest <= LONGEST else None
        if self._edits is not None:
            # Few numbers of edits are possible, so that most lists end among equally similar strings. Of these the
            # ones with the lowest numbers are taken, which are then near to very many others.
            self.cheap = self.hubs = True
            self._letters = letters_of(left) if square else letters_of(left, right)

    def _evaluate(self, i: Indices, j: Indices) -> Floats:
        if self._edits is None:
            return self._similarities(self._process.cpdist, self._left[i], self._right[j])
        return edit_similarities(self._letters[0], self._letters[-1], self._edits, i, j)

    def bounds(self) -> UpperBounds | None:
        return None if self._edits is None else EditBounds(self._letters[0], self._edits, self.executor)

    def orders(self) -> list[Indices]:
        """Return the orders in which strings with a common beginning, and those with a common end, are neighbors."""
        backward = np.fromiter((text[::-1] for text in self._left), dtype=object, count=self.n_left)
        return [np.argsort(texts, kind="stable").astype(np.int32) for texts in (self._left, backward)]

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
