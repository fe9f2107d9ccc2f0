"""The Prototype: what a selector found out about one cluster."""

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Prototype:
    """The representatives of one cluster and how they were found.

    `members`, `indices` and `covered_by` are rows of the X passed to `fit`.

    Attributes
    ----------
    label : hashable
        The cluster's label; 0 if `fit` was called without labels.
    members : int array
        The cluster's objects, ascending.
    indices : int array
        The representatives, in the order picked.
    gains : float array
        What each representative newly covered when it was picked.
    coverage : float
        The share of members that some representative covers. In an approximate graph, as far as that graph knows.
    covered_by : int array
        For each member the representative that covers it, or -1.
    homogeneity : float
        The mean similarity of the members' pairs; NaN if there are none, or if it was not needed.
    threshold : float
        Edges less similar than this were dropped; -inf if none were, NaN for a single member under "homogeneity".
    n_evaluations : int
        How many similarities were computed.
    scan_rate : float
        That number as a share of all pairs.
    n_orphans : int
        How many members only they themselves can cover.
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
        """How many members each representative covers, in the order of `indices`."""
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
