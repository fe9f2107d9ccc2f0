"""The space of strings under a named similarity, which rapidfuzz computes for many pairs in one call.

rapidfuzz releases the interpreter lock while it computes, so that threads share the work and no other processes are
needed. It has one function for a list of pairs and another for whole blocks. Both give the same bits.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.arrays import Floats, Indices
from covey.runtime.extras import require
from covey.runtime.steps import in_steps
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
        square: bool,
        n_jobs: int | None,
    ) -> None:
        super().__init__(left.size, right.size, symmetric=square, n_jobs=n_jobs)
        self._process = require("rapidfuzz.process", "text")
        self._distance = getattr(require("rapidfuzz.distance", "text"), MODULES[similarity.function])
        self._left, self._right = left, right
        self._step = 1  # how many rows of a block are computed at a time, as far as experience has shown
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
