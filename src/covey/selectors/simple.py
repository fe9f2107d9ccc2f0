"""The yardsticks: a random choice, and everything."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from covey.arrays import Positions
from covey.prototype import Prototype
from covey.selectors.base import Selector
from covey.selectors.cluster import Cluster
from covey.similarity.similarity import SimilarityLike


class RandomSelector(Selector):
    """A random choice of each cluster, without replacement: what any method has to beat.

    Parameters
    ----------
    fraction : float, default=0.05
        The share of each cluster to draw, in (0, 1]; at least one object.
    n : int or dict, optional
        How many to draw from each cluster instead, or how many from each label; a smaller cluster is taken whole.
    similarity : str, callable or Similarity, default="cosine"
        What a classifier compares with; the choice itself does not need it.
    random_state : int, RandomState instance or None, default=None
    verbose : int, default=0
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
            if not (isinstance(n, Integral) and int(n) >= 1):
                raise ValueError(f"n must give an int of at least 1 for each label, got {n!r} for {cluster.label!r}.")
        wanted = round(self.fraction * size) if n is None else int(n)
        drawn = rng.choice(size, min(max(wanted, 1), size), replace=False)
        return standing_for_themselves(cluster, cluster.members[drawn])


class KeepAll(Selector):
    """Every object represents itself: nearest prototype classification becomes nearest neighbor.

    Parameters
    ----------
    similarity : str, callable or Similarity, default="cosine"
        What a classifier compares with.
    verbose : int, default=0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"similarity": "no_validation", "verbose": ["verbose"]}

    def __init__(self, *, similarity: SimilarityLike = "cosine", verbose: int = 0) -> None:
        self.similarity = similarity
        self.verbose = verbose

    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        return standing_for_themselves(cluster, cluster.members)


def standing_for_themselves(cluster: Cluster, indices: Positions) -> Prototype:
    """The prototype of objects chosen without any similarity: each is known to cover only itself."""
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
