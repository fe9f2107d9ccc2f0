"""Homogeneity: the mean similarity of the pairs of a cluster."""

from typing import Any

import numpy as np

from covey.runtime.parameters import is_whole
from covey.runtime.random import generator
from covey.similarity.collect import collect
from covey.similarity.mean import SAMPLED_PAIRS, Homogeneity, mean_similarity
from covey.similarity.named import resolve
from covey.similarity.similarity import SimilarityLike
from covey.similarity.types import Objects


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
        If a parameter has a value that is not allowed, if X does not fit the similarity, or if a function of your own
        returns something else than a finite real number for a pair.
    RuntimeError
        If a function of your own raises an error for a pair. The message names the two objects.

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
