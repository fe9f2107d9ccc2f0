"""A cluster as a selector sees it: distinct objects, by their numbers, and how many members each stands for."""

from collections.abc import Hashable
from functools import cached_property

import numpy as np

from covey.arrays import Floats, Integers, Positions
from covey.prototype import Prototype
from covey.similarity.collection import Collection
from covey.similarity.equal import Distinct
from covey.similarity.space import Space


class Cluster:
    """The objects that share a label. Equal ones are merged, unless they are to be kept apart.

    Parameters
    ----------
    label : hashable
    members : int array
        The rows of X that share the label, ascending.
    collection : Collection
        All of X.
    n_jobs : int or None
        How many threads or processes may compute similarities.
    merged : bool, default=True
        Whether equal members are one object.
    """

    def __init__(
        self,
        label: Hashable,
        members: Positions,
        collection: Collection,
        n_jobs: int | None = None,
        merged: bool = True,
    ) -> None:
        self.label, self.members = label, members
        self._all, self._n_jobs, self._merged = collection, n_jobs, merged

    @cached_property
    def collection(self) -> Collection:
        """The members."""
        return self._all.take(self.members)

    @cached_property
    def space(self) -> Space:
        """The space of the distinct objects."""
        return self.collection.take(self._distinct.first).space(self._n_jobs)

    @property
    def space_so_far(self) -> Space | None:
        """The space, if it was asked for; a selector may need no similarities at all."""
        return vars(self).get("space")

    @property
    def rows(self) -> Positions:
        """For each distinct object the first row of X that holds it."""
        return self.members[self._distinct.first]

    @property
    def kinds(self) -> Positions:
        """For each member the number of its distinct object."""
        return self._distinct.kind

    @property
    def multiplicity(self) -> Integers:
        """How many members each distinct object stands for."""
        return self._distinct.multiplicity

    @property
    def n_pairs(self) -> int:
        """How many evaluations all pairs of members would take; none if the selector needs no similarities."""
        if self.space_so_far is None:
            return 0
        ordered = self.members.size * (self.members.size - 1)
        return ordered // 2 if self.space.symmetric else ordered

    @cached_property
    def _distinct(self) -> Distinct:
        if self._merged:
            return self.collection.distinct()
        every = np.arange(self.members.size)
        return Distinct(every, every)

    def prototype(
        self,
        *,
        indices: Positions,
        gains: Floats,
        covered_by: Positions,
        homogeneity: float = np.nan,
        threshold: float = np.nan,
        n_orphans: int = 0,
    ) -> Prototype:
        """What was found out about the distinct objects, told of all members: copies are covered as their first is.

        Parameters
        ----------
        indices : int array
            The representatives: numbers of distinct objects, in the order picked.
        gains : float array
            What each of them added when it was picked.
        covered_by : int array
            For each distinct object the number of the representative that covers it, or -1.
        homogeneity, threshold : float, optional
            The mean similarity of the cluster's pairs, and the similarity from which an object is covered, if known.
        n_orphans : int, default=0
            How many members no other can cover.
        """
        by_member = covered_by[self.kinds]
        n_evaluations = 0 if self.space_so_far is None else self.space.n_evaluations
        return Prototype(
            label=self.label,
            members=self.members,
            indices=self.rows[indices],
            gains=gains,
            coverage=float(np.mean(by_member >= 0)),
            covered_by=np.where(by_member >= 0, self.rows[by_member], -1),
            homogeneity=homogeneity,
            threshold=threshold,
            n_evaluations=n_evaluations,
            scan_rate=n_evaluations / max(self.n_pairs, 1),
            n_orphans=n_orphans,
        )
