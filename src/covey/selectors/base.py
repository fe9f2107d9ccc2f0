"""What all selectors share: clusters in, prototypes out, one fitted state.

A selector of your own is a subclass of `Selector` that defines `select`. See CONTRIBUTING.md for an example.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Hashable
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from covey.prototype import Prototype
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.progress import progress
from covey.runtime.random import generator
from covey.selectors.cluster import Cluster
from covey.selectors.fitting import whole_or_nothing
from covey.selectors.labels import clusters
from covey.selectors.state import (
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
from covey.similarity.collect import collect
from covey.similarity.inputs import pick
from covey.similarity.named import is_precomputed, resolve

logger = logging.getLogger("covey")


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
    similarity: Any

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
        collection = collect(X, resolve(self.similarity), self)
        self._check_fit(len(collection))
        rng = check_random_state(getattr(self, "random_state", None))
        groups = clusters(y, len(collection))
        found: list[Prototype] = []
        details: dict[Hashable, Any] = {}
        n_pairs, verbose = 0, getattr(self, "verbose", 0)
        bar = progress(type(self).__name__, None, "evaluations", shown=verbose > 0)
        with bar, tasks(self, len(groups), collection.given, y) as told:
            for number, (label, members) in enumerate(groups, start=1):
                cluster = Cluster(label, members, collection, getattr(self, "n_jobs", None), self._merges())
                bar.note(f"cluster {label!r}, {number} of {len(groups)}")
                bar.watch(partial(_outlook, list(found), cluster, len(collection)))
                with told.part(f"cluster {label}"):
                    prototype, details[label] = self._select_with_details(cluster, generator(rng))
                found.append(prototype)
                if verbose > 1 or (verbose == 1 and not bar.shown):
                    _log(self, prototype)
                n_pairs += cluster.n_pairs
        self.prototypes_: dict[Hashable, Prototype] = {prototype.label: prototype for prototype in found}
        self.sample_indices_ = np.concatenate([prototype.indices for prototype in found])
        self.n_evaluations_ = sum(prototype.n_evaluations for prototype in found)
        self.scan_rate_ = self.n_evaluations_ / max(n_pairs, 1)
        self._set_details(details, len(collection))
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
    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        """Select the representatives of one cluster.

        Parameters
        ----------
        cluster : Cluster
            Its `space` scores pairs of distinct objects by their numbers, and its `multiplicity` says how many members
            each of them stands for.
        rng : numpy.random.Generator
            All random draws must come from it, so that the same seed gives the same answer.

        Returns
        -------
        Prototype
            As ``cluster.prototype(...)`` makes it from numbers of distinct objects.
        """

    def _select_with_details(self, cluster: Cluster, rng: np.random.Generator) -> tuple[Prototype, Any]:
        """As `select`, and what `_set_details` will need to know about the cluster."""
        return self.select(cluster, rng), None

    def _set_details(self, details: dict[Hashable, Any], n: int) -> None:
        """Set further fitted attributes from the details of each cluster; n is the number of objects."""

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
    """How many evaluations were made, and how many of n objects' there will likely be.

    The clusters to come are taken to be like those before. All pairs of a cluster grow with the square of its size,
    those that NN-Descent evaluates with its size.
    """
    before = sum(prototype.n_evaluations for prototype in found)
    space = cluster.space_so_far
    if space is None:
        return before, None
    power = 1 if space.n_expected is None else 2
    size = cluster.members.size
    seen = sum(prototype.members.size**power for prototype in found)
    rate = space.n_expected / size**power if space.n_expected else (before / seen if seen else None)
    left = n - size - sum(prototype.members.size for prototype in found)
    total = None if rate is None else before + rate * size**power + rate * left * size ** (power - 1)
    return before + space.n_done(), total
