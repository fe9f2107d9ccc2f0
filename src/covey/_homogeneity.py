"""Homogeneity: the mean similarity of a cluster's pairs, exact or sampled, with its error.

1. Where the mean follows from the objects in O(n d) (cosine, dot, a matrix), take it: no evaluation.
2. Up to `FEW_PAIRS` pairs, score them all: exact.
3. Else score different pairs drawn uniformly. Their mean is unbiased, and its standard error is the pairs' standard
   deviation over the root of their number. (A block of 5 % of the objects costs far more and tells less: its pairs
   share objects.)
"""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from covey._pairs import ScoredPairs, draw_pairs, score_pairs
from covey._random import generator
from covey.objects import check_objects
from covey.similarity import resolve
from covey.space import Space, space_of

FEW_PAIRS = 20_000
SAMPLED_PAIRS = 2_000


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


def homogeneity(
    X: Any, similarity: Any = "cosine", *, n_pairs: int = SAMPLED_PAIRS, random_state: Any = None
) -> Homogeneity:
    """The mean similarity of the objects' pairs, CRS's default threshold.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
    similarity : str, callable or Similarity, default="cosine"
    n_pairs : int, default=2000
        How many pairs are sampled where the exact mean would take more than 20 000 evaluations.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled.

    Examples
    --------
    >>> import covey
    >>> covey.homogeneity([[1, 0], [1, 0], [0, 1]]).value
    0.3333333333333333
    """
    if not (isinstance(n_pairs, Integral) and n_pairs >= 2):
        raise ValueError(f"n_pairs must be an int of at least 2, got {n_pairs!r}.")
    resolved = resolve(similarity)
    space = space_of(check_objects(X, resolved), resolved)
    return mean_similarity(space, generator(random_state), n_sampled=n_pairs)[0]


def mean_similarity(
    space: Space, rng: np.random.Generator, n_sampled: int = SAMPLED_PAIRS, counted: bool = True
) -> tuple[Homogeneity, ScoredPairs | None]:
    """The homogeneity of a space and the pairs scored for it, which a graph need not score again."""
    if space.n_left < 2:
        return Homogeneity(np.nan, 0.0, 0), None
    exact = space.mean()
    if exact is not None:
        return Homogeneity(exact, 0.0, 0), None
    before = space.n_evaluations
    n_pairs = space.n_left * (space.n_left - 1) // 2
    size = n_pairs if n_pairs <= max(FEW_PAIRS, n_sampled) else n_sampled
    pairs = score_pairs(space, *draw_pairs(space.n_left, size, rng), counted=counted)
    similarities = (pairs.forward + pairs.backward) / 2
    # Drawn without replacement: the error shrinks to nothing as the sample becomes all pairs.
    error = float(similarities.std(ddof=1) * np.sqrt((1 - size / n_pairs) / size)) if size > 1 else 0.0
    return Homogeneity(float(similarities.mean()), error, space.n_evaluations - before), pairs
