"""A cluster as a selector sees it, numbered distinct objects with their multiplicity, and what is selected in it."""

from collections.abc import Hashable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np

from covey.arrays import Floats, Integers, Positions
from covey.graph.recall import Recall
from covey.prototype import Prototype
from covey.similarity.collection import Collection
from covey.similarity.duplicates import Distinct
from covey.similarity.space import Space


class Cluster:
    """The objects that share a label, as a custom selector sees them.

    Equal members are merged into one object, unless `merged` is False.
    `Selector.fit` makes the clusters and passes them to `select`. A selector asks `space` for similarities of distinct
    objects, which are numbered from 0, and returns what `prototype` makes of its choice.

    Parameters
    ----------
    label : hashable
        The label that the members share.
    members : int array
        The rows of X that share the label, in ascending order.
    collection : Collection
        All of X.
    n_jobs : int or None
        How many threads or processes may compute similarities.
    merged : bool, default=True
        Whether equal members are merged into one object.
    distinct : Distinct, optional
        Which members are equal, if this is known already.
    weights : float array, optional
        How much each member counts in the coverage. By default each counts 1.
    included : int array, optional
        The rows of X among the members that must be representatives.

    Attributes
    ----------
    label, members
        As passed.
    whole : Collection
        All of X, as passed. In a process that the cluster was sent to, it holds the members only.
    collection : Collection
        The members.
    space : Space
        Computes similarities of distinct objects, which are given by their numbers.
    rows : int array
        For each distinct object, the first row of X that holds it, or the first one that must be a representative.
    kinds : int array
        For each member, the number of its distinct object.
    multiplicity : int array
        For each distinct object, how many members it stands for.
    weights : float array or None
        For each distinct object, how much all of its members count in the coverage. None if no weights were passed.
    included : int array
        The numbers of the distinct objects that must be representatives.

    See Also
    --------
    covey.Selector : Its method `select` gets a cluster.

    Examples
    --------
    >>> import covey
    >>> import numpy as np
    >>> class Show(covey.Selector):
    ...     def select(self, cluster, rng):
    ...         print(cluster.label, cluster.rows, cluster.multiplicity)
    ...         zeros = np.zeros(cluster.rows.size, dtype=int)
    ...         return cluster.prototype(indices=np.array([0]), gains=np.array([1]), covered_by=zeros)
    >>> selector = Show().fit([[1, 0], [0, 1], [1, 0]])
    0 [0 1] [2 1]
    """

    def __init__(
        self,
        label: Hashable,
        members: Positions,
        collection: Collection,
        n_jobs: int | None = None,
        *,
        merged: bool = True,
        distinct: Distinct | None = None,
        weights: Floats | None = None,
        included: Positions | None = None,
    ) -> None:
        self.label, self.members = label, members
        self.whole, self._n_jobs, self._merged = collection, n_jobs, merged
        self._weights, self._included = weights, included
        if distinct is not None:
            self._distinct = distinct

    @classmethod
    def of_members(
        cls, label: Hashable, members: Positions, collection: Collection, n_jobs: int | None = None, **options: Any
    ) -> "Cluster":
        """Make a cluster whose members are all objects of a collection, while their numbers are rows of a larger X.

        Parameters
        ----------
        label : hashable
            The label that the members share.
        members : int array
            The rows of the larger X, in ascending order.
        collection : Collection
            The members.
        n_jobs : int or None
            How many threads or processes may compute similarities.
        **options
            The further arguments of the class.

        Returns
        -------
        Cluster
            The cluster, whose `whole` is the members alone.
        """
        cluster = cls(label, members, collection, n_jobs, **options)
        cluster.collection = collection
        return cluster

    def __reduce__(self) -> Any:
        """Pickle the members alone. What is sent to another process then does not grow with X."""
        options: dict[str, Any] = {
            "merged": self._merged,
            "distinct": vars(self).get("_distinct"),
            "weights": self._weights,
            "included": self._included,
        }
        made = self.label, self.members, self.collection.alone(), self._n_jobs
        return partial(Cluster.of_members, **options), made

    @cached_property
    def collection(self) -> Collection:
        """The members as a collection."""
        return self.whole.take(self.members)

    @cached_property
    def space(self) -> Space:
        """The space of the distinct objects."""
        return self.collection.take(self._distinct.first).space(self._n_jobs)

    @property
    def space_so_far(self) -> Space | None:
        """The space, or None if it was not needed yet. A selector may need no similarities at all."""
        return vars(self).get("space")

    @cached_property
    def rows(self) -> Positions:
        """For each distinct object, the first row of X that holds it; rows that must be representatives come first."""
        rows = self.members[self._distinct.first]
        if self._included is not None:
            positions = np.searchsorted(self.members, self._included)
            kinds, first = np.unique(self.kinds[positions], return_index=True)
            rows[kinds] = self._included[first]
        return rows

    @cached_property
    def included(self) -> Positions:
        """The numbers of the distinct objects that must be representatives, in the order of their rows in `included`.

        Of several equal rows one is enough.
        """
        if self._included is None:
            return np.empty(0, dtype=np.intp)
        kinds = self.kinds[np.searchsorted(self.members, self._included)]
        return kinds[np.sort(np.unique(kinds, return_index=True)[1])]

    @cached_property
    def weights(self) -> Floats | None:
        """For each distinct object, how much all of its members count in the coverage; None without weights."""
        if self._weights is None:
            return None
        weights: Floats = np.bincount(self.kinds, self._weights, self._distinct.first.size).astype(np.float64)
        return weights

    @property
    def kinds(self) -> Positions:
        """For each member, the number of its distinct object."""
        return self._distinct.kind

    @property
    def multiplicity(self) -> Integers:
        """For each distinct object, how many members it stands for."""
        return self._distinct.multiplicity

    @property
    def n_pairs(self) -> int:
        """How many evaluations all pairs of members would take. It is 0 if the selector needs no similarities."""
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
        """Turn what was found out about distinct objects into a prototype of all members.

        A copy is covered by the representative that covers its distinct object.

        Parameters
        ----------
        indices : int array
            The representatives, as numbers of distinct objects, in the order in which they were picked.
        gains : float array
            For each of them, the weight of what it newly covered when it was picked.
        covered_by : int array
            For each distinct object, the number of the representative that covers it, or -1.
        homogeneity, threshold : float, optional
            The mean similarity of the cluster's pairs, and the similarity from which an object is covered. They are NaN
            if the selector does not use them.
        n_orphans : int, default=0
            How many members can be covered by themselves alone.

        Returns
        -------
        Prototype
            Its numbers are rows of X.
        """
        by_member = covered_by[self.kinds]
        n_evaluations = 0 if self.space_so_far is None else self.space.n_evaluations
        return Prototype(
            label=self.label,
            members=self.members,
            indices=self.rows[indices],
            gains=np.asarray(gains, dtype=np.float64),  # counts are integers
            coverage=float(np.average(by_member >= 0, weights=self._weights)),
            covered_by=np.where(by_member >= 0, self.rows[by_member], -1),
            homogeneity=homogeneity,
            threshold=threshold,
            n_evaluations=n_evaluations,
            scan_rate=n_evaluations / max(self.n_pairs, 1),
            n_orphans=n_orphans,
        )


class ClusterResult(NamedTuple):
    """What a selector has found in one cluster.

    The details are what it knows beside the prototype, such as the number of its iterations. `n_pairs` is how many
    evaluations all pairs of members would take. The recall is that of an approximate graph.
    """

    prototype: Prototype
    n_pairs: int
    details: Any = None
    recall: Recall | None = None
