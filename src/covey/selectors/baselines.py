"""Two simple selectors to compare others with: a random choice, and all objects."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from covey.arrays import Positions
from covey.prototype import Prototype
from covey.runtime.parameters import Interval, is_whole
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster
from covey.similarity.similarity import SimilarityLike


class RandomSelector(Selector):
    """Draw representatives of each cluster at random, without replacement. Any other method should do better.

    It costs nothing, and says how much of a result is due to the mere number of representatives.

    Parameters
    ----------
    fraction : float, default=0.05
        The share of each cluster to draw, in (0, 1]. At least one object is drawn.
    n : int or dict, optional
        How many objects to draw from each cluster instead, or a dict with this number for each label. A cluster that
        has fewer objects is kept whole.
    similarity : str, callable or Similarity, default="cosine"
        The similarity that a classifier uses. The choice itself does not need it.
    random_state : int, RandomState instance or None, default=None
        Decides what is drawn.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs the result of each cluster to the logger "covey". 2 does
        both.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster and stand in the order in which they were drawn.
    prototypes_ : dict
        The `Prototype` of each label. Each representative covers only itself.
    n_evaluations_ : int
        0, because no similarity is computed.
    scan_rate_ : float
        0, for the same reason.

    Raises
    ------
    ValueError
        At `fit`, if a parameter has a value that is not allowed, or if the dict `n` lacks a label.

    See Also
    --------
    covey.KeepAll : Keeps everything, the other end of a comparison.

    Examples
    --------
    >>> import covey
    >>> selector = covey.RandomSelector(n=2, random_state=0).fit([[1], [2], [3], [4]], [0, 0, 1, 1])
    >>> sorted(selector.sample_indices_.tolist())
    [0, 1, 2, 3]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "fraction": [Interval(Real, 0, 1, closed="right")],
        "n": [Interval(Integral, 1, None, closed="left"), Mapping, None],
        "similarity": "no_validation",
        "random_state": ["random_state"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        fraction: float = 0.05,
        *,
        n: int | Mapping[Any, int] | None = None,
        similarity: SimilarityLike = "cosine",
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.fraction = fraction
        self.n = n
        self.similarity = similarity
        self.random_state = random_state
        self.verbose = verbose

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        size = cluster.members.size
        n: Any = self.n
        if isinstance(n, Mapping):
            if cluster.label not in n:
                raise ValueError(f"n must give a number for each label, got none for {cluster.label!r}.")
            n = n[cluster.label]
            if not is_whole(n, 1):
                raise ValueError(f"n must give an int of at least 1 for each label, got {n!r} for {cluster.label!r}.")
        wanted = round(self.fraction * size) if n is None else int(n)
        drawn = rng.choice(size, min(max(wanted, 1), size), replace=False)
        return standing_for_themselves(cluster, cluster.members[drawn])


class KeepAll(Selector):
    """Keep every object, so that nearest prototype classification becomes nearest neighbor classification.

    A fit evaluates no similarity. Use it to see what a selection loses, or gains, against all objects.

    Parameters
    ----------
    similarity : str, callable or Similarity, default="cosine"
        The similarity that a classifier uses.
    verbose : int, default=0
        1 shows a progress bar on a terminal; elsewhere it logs the result of each cluster to the logger "covey". 2 does
        both.

    Attributes
    ----------
    sample_indices_ : int array
        All rows of X, grouped by cluster.
    prototypes_ : dict
        The `Prototype` of each label. Each object covers itself.
    n_evaluations_ : int
        0, because no similarity is computed.
    scan_rate_ : float
        0, for the same reason.

    See Also
    --------
    covey.RandomSelector : Keeps a random part.

    Examples
    --------
    >>> import covey
    >>> covey.KeepAll().fit([[1], [2], [3]], ["b", "a", "b"]).sample_indices_
    array([1, 0, 2])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"similarity": "no_validation", "verbose": ["verbose"]}

    def __init__(self, *, similarity: SimilarityLike = "cosine", verbose: int = 0) -> None:
        self.similarity = similarity
        self.verbose = verbose

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        return standing_for_themselves(cluster, cluster.members)


def standing_for_themselves(cluster: Cluster, indices: Positions) -> Prototype:
    """Return the prototype of objects that were chosen without any similarity. Each of them covers only itself."""
    members = cluster.members
    return Prototype(
        label=cluster.label,
        members=members,
        indices=indices,
        gains=np.ones(indices.size),
        coverage=indices.size / members.size,
        covered_by=np.where(np.isin(members, indices), members, -1),
        homogeneity=np.nan,
        threshold=np.nan,
        n_evaluations=0,
        scan_rate=0.0,
        n_orphans=0,
    )
