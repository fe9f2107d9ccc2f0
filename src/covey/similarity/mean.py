"""The mean similarity of the pairs of a space, exact or sampled, with its error.

1. If the mean follows from the objects in O(n d), as it does for cosine, dot and a matrix, it is computed that way.
   This takes no evaluation.
2. If there are at most `FEW_PAIRS` pairs, all of them are scored. The mean is exact.
3. Otherwise different pairs are drawn uniformly and scored. Their mean is unbiased, and its standard error is the
   standard deviation of the pairs, divided by the root of their number. (The paper takes all pairs of 5 % of the
   objects instead. This costs far more and is less exact, because such pairs share objects.)

An object of multiplicity m also makes pairs with its own copies. These have the similarity of the object to itself,
which is scored once. The mean of a cluster is called its homogeneity.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from covey.arrays import Floats, Indices, Integers
from covey.runtime.parameters import generator, is_whole
from covey.similarity.inputs import Objects
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.space import ScoredPairs, Space, draw_pairs, unordered_codes
from covey.similarity.sums import Total, added, mean_of, total_of

FEW_PAIRS = 20_000
"""Up to this number of pairs, which is that of 200 objects, all are scored. A sample would save at most 18 000
evaluations, and the mean would no longer be exact."""
SAMPLED_PAIRS = 2_000
"""How many pairs are sampled otherwise. On two classes of 6 000 Fashion-MNIST images, means of 2 000 pairs had standard
deviations of 0.002 and 0.004. All pairs of 5 % of the objects, as in the paper, gave 0.007 and 0.009 for 22 times as
many evaluations."""
ROUNDING = 1e-9
"""The share by which a threshold lies below the mean that it is computed from. The mean is rounded, and a similarity
that equals the true mean must not fall below the threshold. The rounding of a mean is far smaller than this share."""


@dataclass(frozen=True)
class Homogeneity:
    """The mean similarity of a cluster's pairs, as `covey.homogeneity` returns it.

    Attributes
    ----------
    value : float
        The mean. It is NaN for a single object, which has no pairs.
    standard_error : float
        The standard error of the mean. It is 0 if the mean is exact.
    n_evaluations : int
        How many similarities were computed for it.

    See Also
    --------
    covey.homogeneity : Computes it.

    Notes
    -----
    Under "cosine" and "dot", and for a precomputed matrix, the mean follows from sums over the objects, exactly and
    without an evaluation. For other similarities it takes all pairs of up to 200 objects, and a sample of the pairs of
    more, 2 000 by default.

    Examples
    --------
    >>> import covey
    >>> covey.homogeneity([[1, 0], [0, 1]], similarity="hamming")
    Homogeneity(value=0.0, standard_error=0.0, n_evaluations=1)
    """

    value: float
    standard_error: float
    n_evaluations: int


def mean_similarity(
    space: Space,
    multiplicity: Integers,
    rng: np.random.Generator,
    *,
    n_sampled: int = SAMPLED_PAIRS,
    counted: bool = True,
) -> tuple[Homogeneity, ScoredPairs | None]:
    """Return the homogeneity of a space whose objects have these multiplicities, and the pairs that were scored for it.

    The pairs are those of different objects. A graph need not score them again. Pass ``counted=False`` if a graph has
    counted all pairs already.
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
        counts = multiplicity[pairs.i] * multiplicity[pairs.j]
        mean = mean_of_all(space, multiplicity, total_of((pairs.forward + pairs.backward) / 2, counts))
        return Homogeneity(mean, 0.0, space.n_evaluations - before), pairs
    pairs, similarities = _sample(space, multiplicity, draw_pairs(n, n_sampled, rng), counted=counted)
    # Pairs are drawn without replacement, so that the error shrinks to 0 as the sample approaches all pairs.
    error = float(similarities.std(ddof=1) * np.sqrt((1 - n_sampled / n_pairs) / n_sampled))
    return Homogeneity(float(similarities.mean()), error, space.n_evaluations - before), pairs


def as_threshold(mean: float) -> float:
    """Return the mean, lowered a little so that its rounding excludes no similarity that equals the true mean."""
    return mean - ROUNDING * abs(mean)


def mean_of_all(space: Space, multiplicity: Integers, total: Total) -> float:
    """Return the mean over all pairs, given the sum over the pairs of different objects.

    The pairs of copies are added here.
    """
    several = np.flatnonzero(multiplicity > 1).astype(np.int32)
    if several.size:
        m = multiplicity[several]
        total = added([total, total_of(space.of_copies(several), m * (m - 1) / 2)])
    n = int(multiplicity.sum())
    return mean_of(total, n * (n - 1) // 2)


def _sample(
    space: Space, multiplicity: Integers, drawn: tuple[Indices, Indices], *, counted: bool
) -> tuple[ScoredPairs, Floats]:
    """Score pairs that were drawn among all members, copies included.

    Each pair of different objects is scored once, even if it was drawn several times. Return these pairs, and the
    similarities of all pairs that were drawn.
    """
    objects = np.repeat(np.arange(space.n_left, dtype=np.int32), multiplicity)
    a, b = (objects[side] for side in drawn)
    _, first, which = np.unique(unordered_codes(a, b, space.n_left), return_index=True, return_inverse=True)
    a, b = a[first], b[first]
    copies = a == b
    similarities = np.empty(first.size)
    pairs = space.score_pairs(a[~copies], b[~copies], counted=counted)
    similarities[~copies] = (pairs.forward + pairs.backward) / 2
    similarities[copies] = space.of_copies(a[copies])
    return pairs, similarities[which]


def homogeneity(
    X: Objects,
    similarity: SimilarityLike = "cosine",
    *,
    n_pairs: int = SAMPLED_PAIRS,
    random_state: Any = None,
) -> Homogeneity:
    """Return the mean similarity of all pairs of objects, which is the default threshold of CRS.

    It is h in the paper. A cluster whose objects are all much alike has a homogeneity near that of an object with
    itself.

    Parameters
    ----------
    X : array, CSR matrix, frame or sequence of objects
        The objects. There must be at least two, or else the mean is NaN.
    similarity : str, callable or Similarity, default="cosine"
        A name that `covey.similarity_names` lists, a function s(a, b), or what `covey.batched` or `covey.from_distance`
        returns. It is "precomputed" if X is a matrix of similarities.
    n_pairs : int, default=2000
        How many pairs are sampled if the exact mean would take more than 20 000 evaluations.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled.

    Returns
    -------
    Homogeneity
        The mean, its standard error, and the number of evaluations. It also says what the mean costs.

    Raises
    ------
    ValueError, TypeError
        If a parameter has a value that is not allowed, if X does not fit the similarity, or if a custom function
        returns something else than a finite real number for a pair.
    RuntimeError
        If a custom function raises an error for a pair. The message names the two objects.

    Examples
    --------
    >>> import covey
    >>> covey.homogeneity([[1, 0], [1, 0], [0, 1]]).value
    0.3333333333333333

    A sample of pairs, with its standard error:

    >>> import numpy as np
    >>> points = np.random.default_rng(0).random((1000, 3))
    >>> found = covey.homogeneity(points, "euclidean", random_state=0)
    >>> round(found.value, 2), round(found.standard_error, 3), found.n_evaluations
    (0.62, 0.002, 2000)
    """
    if not is_whole(n_pairs, 2):
        raise ValueError(f"n_pairs must be an int of at least 2, got {n_pairs!r}.")
    space = collect(X, resolve(similarity)).space()
    once = np.ones(space.n_left, dtype=np.int64)
    return mean_similarity(space, once, generator(random_state), n_sampled=n_pairs)[0]
