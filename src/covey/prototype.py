"""A `Prototype` holds what a selector has found out about one cluster."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Prototype:
    """The representatives of one cluster and how they were found.

    The numbers in `members`, `indices` and `covered_by` are rows of the X that was passed to `fit`. A selector makes a
    prototype by `covey.Cluster.prototype`. It is R in the paper.

    Attributes
    ----------
    label : hashable
        The cluster's label. It is 0 if `fit` was called without labels.
    members : int array
        The objects of the cluster, in ascending order.
    indices : int array
        The representatives, in the order in which they were picked.
    gains : float array
        For each representative, the weight of the members that it newly covered when it was picked.
    coverage : float
        The share of the members that some representative covers. If the neighbor graph is approximate, this counts only
        the edges that the graph has found.
    covered_by : int array
        For each member, the representative that covers it, or -1 if none does. If several representatives of
        `covey.CRS` do, it is the one that was picked first, unless the member is a representative itself.
    homogeneity : float
        The mean similarity of all pairs of members. It is NaN if there are no pairs, or if the selector did not need
        it.
    threshold : float
        Only edges of at least this similarity were used. It is -inf if all edges were, and NaN if a selector has no
        threshold or if the threshold is the homogeneity of a single member.
    n_evaluations : int
        How many similarities were computed. It is S in the paper.
    scan_rate : float
        `n_evaluations` as a share of the evaluations that all pairs of members would take.
    n_orphans : int
        How many members can be covered by themselves alone.

    See Also
    --------
    covey.Selector : Its attribute `prototypes_` has one for each label.
    covey.displays.CoverageDisplay : Draws how coverage grows with each representative.

    Examples
    --------
    >>> import covey
    >>> prototype = covey.CRS(n_neighbors=2).fit([[1, 0], [1, 0.1], [0.1, 1], [0, 1]]).prototypes_[0]
    >>> prototype
    Prototype(0: 2 of 4 objects cover 100.0%, homogeneity 0.398)
    >>> prototype.indices, prototype.covered_by
    (array([0, 2]), array([0, 0, 2, 2]))
    """

    label: Hashable
    members: NDArray[np.intp]
    indices: NDArray[np.intp]
    gains: NDArray[np.float64]
    coverage: float
    covered_by: NDArray[np.intp]
    homogeneity: float
    threshold: float
    n_evaluations: int
    scan_rate: float
    n_orphans: int

    @property
    def stands_for(self) -> NDArray[np.intp]:
        """For each representative, how many members it covers, in the order of `indices`.

        Examples
        --------
        >>> import covey
        >>> covey.CRS(2).fit([[9, 1], [8, 1], [1, 7], [1, 8], [1, 9]]).prototypes_[0].stands_for
        array([3, 2])
        """
        order = np.argsort(self.indices)
        covering = self.covered_by[self.covered_by >= 0]
        counts = np.empty(self.indices.size, dtype=np.intp)
        counts[order] = np.bincount(np.searchsorted(self.indices, covering, sorter=order), minlength=self.indices.size)
        return counts

    def __repr__(self) -> str:
        return (
            f"Prototype({self.label!r}: {self.indices.size} of {self.members.size} objects cover "
            f"{self.coverage:.1%}, homogeneity {self.homogeneity:.3g})"
        )
