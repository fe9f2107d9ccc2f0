"""What all selectors share: clusters in, prototypes out, one fitted state."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from covey.prototype import Prototype
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.progress import progress
from covey.runtime.random import generator
from covey.selectors.fitting import whole_or_nothing
from covey.similarity.collect import Space, space_of
from covey.similarity.equal import Distinct, distinct
from covey.similarity.objects import Objects, check_objects, clusters, count, pick, take
from covey.similarity.similarity import Similarity, is_precomputed, resolve
from covey.state import (
    COUNT,
    FEATURES,
    PROTOTYPES,
    RATE,
    ROWS,
    Facts,
    FittedState,
    has_each_row_once,
    has_indices_of_prototypes,
    names_fit_features,
)

logger = logging.getLogger("covey")


@dataclass(frozen=True)
class Cluster:
    """The objects that share a label: equal ones merged, and their space once a selector asks for it.

    A selector sees distinct objects, by their numbers in the space, and how many times each is there.
    """

    label: Hashable
    members: NDArray[np.intp]
    objects: Objects = field(repr=False)
    similarity: Similarity
    n_jobs: int | None
    merged: bool = True

    @cached_property
    def _distinct(self) -> Distinct:
        if not self.merged:
            every = np.arange(self.members.size)
            return Distinct(every, every)
        return distinct(self._take(self.members), self.similarity)

    @cached_property
    def space(self) -> Space:
        """The space of the distinct objects."""
        return self._space_of(self.rows)

    @cached_property
    def space_of_members(self) -> Space:
        """The space of all members, equal ones kept apart."""
        return self._space_of(self.members)

    @property
    def rows(self) -> NDArray[np.intp]:
        """For each distinct object the first row of X that holds it."""
        return self.members[self._distinct.first]

    @property
    def kinds(self) -> NDArray[np.intp]:
        """For each member the number of its distinct object."""
        return self._distinct.kind

    @property
    def multiplicity(self) -> NDArray[np.int64]:
        """How many members each distinct object stands for."""
        return self._distinct.multiplicity

    @property
    def n_pairs(self) -> int:
        """How many evaluations all pairs of members would take."""
        ordered = self.members.size * (self.members.size - 1)
        return ordered // 2 if self.space.symmetric else ordered

    def prototype(
        self,
        *,
        indices: NDArray[np.intp],
        gains: NDArray[np.float64],
        covered_by: NDArray[np.intp],
        homogeneity: float,
        threshold: float,
        n_orphans: int,
    ) -> Prototype:
        """What was found out about the distinct objects, told of all members: copies are covered as their first is."""
        by_member = covered_by[self.kinds]
        return Prototype(
            label=self.label,
            members=self.members,
            indices=self.rows[indices],
            gains=gains,
            coverage=float(np.mean(by_member >= 0)),
            covered_by=np.where(by_member >= 0, self.rows[by_member], -1),
            homogeneity=homogeneity,
            threshold=threshold,
            n_evaluations=self.space.n_evaluations,
            scan_rate=self.space.n_evaluations / max(self.n_pairs, 1),
            n_orphans=n_orphans,
        )

    def _space_of(self, rows: NDArray[np.intp]) -> Space:
        return space_of(self._take(rows), self.similarity, rows, n_jobs=self.n_jobs)

    def _take(self, rows: NDArray[np.intp]) -> Objects:
        objects = take(self.objects, rows)
        return objects[:, rows] if self.similarity.kind == "matrix" and objects is not self.objects else objects


class Selector(CallbackSupportMixin, BaseEstimator, ABC):
    """Base of the selectors: subclasses say which members of one cluster represent it.

    Attributes
    ----------
    sample_indices_ : int array
        Rows of X selected: by cluster, in the order picked.
    prototypes_ : dict
        The `Prototype` of each label; without labels, that of cluster 0.
    n_evaluations_ : int
        How many similarities were computed.
    scan_rate_ : float
        That number as a share of all pairs within clusters.
    """

    _parameter_constraints: ClassVar[dict[str, Any]]
    _fitted_state: ClassVar[FittedState] = {
        "prototypes_": PROTOTYPES,
        "sample_indices_": ROWS,
        "n_evaluations_": COUNT,
        "scan_rate_": RATE,
        **FEATURES,
    }
    _fitted_facts: ClassVar[Facts] = {
        "the members of all prototypes together must be every row once": has_each_row_once,
        "sample_indices_ must be the indices of all prototypes": has_indices_of_prototypes,
        "feature_names_in_ must have n_features_in_ names": names_fit_features,
    }

    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any = None) -> Self:
        """Select representatives of each cluster.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            With ``similarity="precomputed"`` a square matrix of similarities.
        y : sequence of labels, optional
            Objects with the same label are a cluster; by default all objects are one.
        """
        self._validate_params()
        similarity = resolve(self.similarity)
        objects = check_objects(X, similarity, self)
        self._check_fit(count(objects))
        rng = check_random_state(self.random_state)
        groups = clusters(y, count(objects))
        n_jobs = getattr(self, "n_jobs", None)
        self.prototypes_: dict[Hashable, Prototype] = {}
        n_pairs = 0
        bar = progress(type(self).__name__, None, "evaluations", shown=self.verbose > 0)
        with bar, tasks(self, len(groups), X, y) as told:
            for at, (label, members) in enumerate(groups, start=1):
                cluster = Cluster(label, members, objects, similarity, n_jobs, self._merges())
                bar.note(f"cluster {label!r}, {at} of {len(groups)}")
                bar.watch(partial(_outlook, list(self.prototypes_.values()), cluster, count(objects)))
                with told.part(f"cluster {label}"):
                    prototype = self.prototypes_[label] = self._select(cluster, generator(rng))
                if self.verbose > bar.shown:
                    _log(self, prototype)
                if "space" in vars(cluster):  # else the selector needs no similarities
                    n_pairs += cluster.n_pairs
        found = list(self.prototypes_.values())
        self.sample_indices_ = np.concatenate([prototype.indices for prototype in found])
        self.n_evaluations_ = sum(prototype.n_evaluations for prototype in found)
        self.scan_rate_ = self.n_evaluations_ / max(n_pairs, 1)
        return self

    def fit_resample(self, X: Any, y: Any = None) -> tuple[Any, Any]:
        """Fit, and return the selected objects and their labels; X and y keep their types."""
        self.fit(X, y)
        rows = self.sample_indices_
        return pick(X, rows), None if y is None else pick(y, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.similarity)
        return tags

    def _restore(self) -> None:
        """Make again what `fit` sets and files do not hold; called on loading, after the saved attributes are set."""

    @abstractmethod
    def _select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype: ...

    def _merges(self) -> bool:
        """Whether equal objects are merged; called after `_check_fit`."""
        return True

    def _check_fit(self, n: int) -> None:
        """Check parameters that depend on the number of objects."""


def _log(selector: Selector, prototype: Prototype) -> None:
    if not logger.hasHandlers():  # asked to speak, and nobody has set up logging
        logger.addHandler(logging.StreamHandler())
        logger.setLevel(logging.INFO)
    logger.info("%s %r, scan rate %.3g", type(selector).__name__, prototype, prototype.scan_rate)


def _outlook(found: list[Prototype], cluster: Cluster, n: int) -> tuple[int, float | None]:
    """How many evaluations were made, and how many there will likely be if the clusters to come are like those before.

    All pairs of a cluster grow with the square of its size, NN-Descent's with its size.
    """
    before = sum(prototype.n_evaluations for prototype in found)
    space = vars(cluster).get("space")  # nobody may have asked for it yet
    if space is None:
        return before, None
    power = 1 if space.n_expected is None else 2
    size = cluster.members.size
    seen = sum(prototype.members.size**power for prototype in found)
    rate = space.n_expected / size**power if space.n_expected else (before / seen if seen else None)
    left = n - size - sum(prototype.members.size for prototype in found)
    total = None if rate is None else before + rate * size**power + rate * left * size ** (power - 1)
    return before + space.n_done(), total
