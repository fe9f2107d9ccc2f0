"""The mean similarity of a space's pairs, exact or sampled, with its error.

1. Where the mean follows from the objects in O(n d) (cosine, dot, a matrix), take it: no evaluation.
2. Up to `FEW_PAIRS` pairs, score them all: exact.
3. Else score different pairs drawn uniformly. Their mean is unbiased, and its standard error is the pairs' standard
   deviation over the root of their number. (A block of 5 % of the objects costs far more and tells less: its pairs
   share objects.)

An object that is there several times makes pairs with its own copies, too: these have the similarity of the object to
itself, which is scored once.
"""

from dataclasses import dataclass

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.similarity.pairs import draw_pairs
from covey.similarity.space import ScoredPairs, Space

FEW_PAIRS = 20_000
SAMPLED_PAIRS = 2_000
ROUNDING = 1e-9
"""A mean is rounded, so what equals it on paper may lie below it: by far less than this share of it."""


@dataclass(frozen=True)
class Homogeneity:
    """The mean similarity of a cluster's pairs.

    Attributes
    ----------
    value : float
        The mean; NaN for a single object, which has no pairs.
    standard_error : float
        0 if the mean is exact.
    n_evaluations : int
        How many similarities were computed for it.
    """

    value: float
    standard_error: float
    n_evaluations: int


def mean_similarity(
    space: Space,
    multiplicity: Integers,
    rng: np.random.Generator,
    n_sampled: int = SAMPLED_PAIRS,
    counted: bool = True,
) -> tuple[Homogeneity, ScoredPairs | None]:
    """The homogeneity of a space whose objects are there so many times, and the pairs of different objects scored.

    A graph need not score these pairs again; they are not `counted` if it has counted all pairs already.
    """
    n = int(multiplicity.sum())
    if n < 2:
        return Homogeneity(np.nan, 0.0, 0), None
    exact = space.mean(multiplicity)
    if exact is not None:
        return Homogeneity(exact, 0.0, 0), None
    before = space.n_evaluations
    n_pairs, n_different = n * (n - 1) // 2, space.n_left * (space.n_left - 1) // 2
    if n_different <= max(FEW_PAIRS, n_sampled):
        pairs = space.score_pairs(*draw_pairs(space.n_left, n_different, rng), counted=counted)
        mean = mean_of_all(space, multiplicity, float(_weighted(pairs, multiplicity).sum()))
        return Homogeneity(mean, 0.0, space.n_evaluations - before), pairs
    pairs, similarities = _sample(space, multiplicity, draw_pairs(n, n_sampled, rng), counted)
    # Drawn without replacement: the error shrinks to nothing as the sample becomes all pairs.
    error = float(similarities.std(ddof=1) * np.sqrt((1 - n_sampled / n_pairs) / n_sampled))
    return Homogeneity(float(similarities.mean()), error, space.n_evaluations - before), pairs


def as_threshold(mean: float) -> float:
    """The least similarity that is no less than a mean, on paper."""
    return mean - ROUNDING * abs(mean)


def mean_of_all(space: Space, multiplicity: Integers, total: float) -> float:
    """The mean over all pairs, from the sum over those of different objects: the pairs of copies are added."""
    several = np.flatnonzero(multiplicity > 1).astype(np.int32)
    if several.size:
        m = multiplicity[several]
        total += float((m * (m - 1) / 2 * space.of_copies(several)).sum())
    n = int(multiplicity.sum())
    return total / (n * (n - 1) / 2)


def _weighted(pairs: ScoredPairs, multiplicity: Integers) -> Floats:
    return multiplicity[pairs.i] * multiplicity[pairs.j] * (pairs.forward / 2 + pairs.backward / 2)


def _sample(
    space: Space, multiplicity: Integers, drawn: tuple[Indices, Indices], counted: bool
) -> tuple[ScoredPairs, Floats]:
    """Score pairs drawn among all copies, each pair of different objects once: these, and all similarities drawn."""
    objects = np.repeat(np.arange(space.n_left, dtype=np.int32), multiplicity)
    a, b = (objects[side] for side in drawn)
    low, high = np.minimum(a, b), np.maximum(a, b)
    codes = low.astype(np.int64) * space.n_left + high
    _, first, which = np.unique(codes, return_index=True, return_inverse=True)
    copies = low[first] == high[first]
    similarities = np.empty(first.size)
    pairs = space.score_pairs(low[first][~copies], high[first][~copies], counted=counted)
    similarities[~copies] = pairs.forward / 2 + pairs.backward / 2
    similarities[copies] = space.of_copies(low[first][copies])
    return pairs, similarities[which]
