"""What one fit is asked for beside the parameters of the selector: weights of rows, rows to include, a budget, a graph.

`Request.of` checks what a user has passed to `fit`, once. The request that it makes is handed on unchanged to all
that takes part in the fit; nothing is kept on the selector meanwhile.

An estimator with a selector inside routes `sample_weight`, `include` and the rest to the selector's `fit` (`routed`):
what the selector requests, if scikit-learn's metadata routing is enabled, and everything otherwise.

Searches and cross-validation fit to some rows of X. They cut all that has one entry for each row, such as weights and
masks, and pass everything else as it is. Row numbers would mean other rows there, and nothing in the numbers tells
this. So row numbers are refused if the call comes through code that may have cut X, which only the stack of calls
tells. A refusal that was not needed does little harm, because a mask says the same.
"""

import sys
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn import get_config
from sklearn.utils import column_or_1d
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from covey.arrays import Floats, Positions
from covey.graph.graph import given_edges
from covey.runtime.wording import several
from covey.selectors.cluster import Cluster
from covey.selectors.labels import LabelledClusters
from covey.similarity.collection import Collection
from covey.similarity.similarity import LARGEST


@dataclass(frozen=True, eq=False)
class Request:
    """What one fit of n objects is asked for.

    Attributes
    ----------
    n : int
    weights : float array or None
        How much each row of X counts.
    included : int array
        The rows of X that must be representatives, in the order in which the user has named them.
    size : int or None
        How many representatives there may be in all clusters together.
    is_share : bool
        Whether the user has given the size as a share, which means about so many.
    graph : sparse array or None
        The edges of a finished graph of all objects.
    merged : bool
        Whether equal objects are merged.
    inner_fit_params : mapping
        What is passed to the `fit` of a selector inside.
    """

    n: int
    weights: Floats | None
    included: Positions
    size: int | None
    is_share: bool
    graph: sp.csr_array | None
    merged: bool
    inner_fit_params: Mapping[str, Any]

    @classmethod
    def of(
        cls,
        n: int,
        *,
        sample_weight: Any = None,
        include: Any = None,
        size: float | None = None,
        graph: Any = None,
        merged: bool = True,
        inner_fit_params: Mapping[str, Any] | None = None,
    ) -> "Request":
        """Check what is asked of a fit of n objects. Raise an error that names the parameter at fault."""
        return cls(
            n,
            None if sample_weight is None else _check_weights(sample_weight, n),
            np.empty(0, dtype=np.intp) if include is None else _check_include(include, n),
            None if size is None else size_in_rows(size, n, n_least=1),
            size is not None and not isinstance(size, Integral),
            None if graph is None else _check_graph(graph, n),
            merged,
            inner_fit_params or {},
        )

    def about(self, label: Hashable, members: Positions) -> dict[str, Any]:
        """Return the weights and the rows to include of the members of a cluster, as arguments of `Cluster`."""
        included = self.included[np.isin(self.included, members)]
        return {"weights": self.weights_of(members, label), "included": included if included.size else None}

    def cluster(
        self, label: Hashable, members: Positions, collection: Collection, n_jobs: int | None = None, **options: Any
    ) -> Cluster:
        """Make a cluster of X, with what is asked for it; `options` are further arguments of `Cluster`."""
        return Cluster(label, members, collection, n_jobs, merged=self.merged, **self.about(label, members), **options)

    def weights_of(self, members: Positions, label: Hashable = None) -> Floats | None:
        """Return the weights of the members of a cluster. Raise ValueError if all of them are 0."""
        if self.weights is None:
            return None
        weights = self.weights[members]
        if not weights.any():
            raise ValueError(
                f"sample_weight must not be zero for all objects of a cluster, but all of cluster {label!r} have the "
                "weight zero; leave this cluster out."
            )
        return weights

    def check_weights(self, groups: LabelledClusters) -> None:
        """Raise ValueError if all members of a cluster have the weight 0."""
        for label, members in groups:
            self.weights_of(members, label)

    def sized_for(self, clusters: Iterable[Cluster]) -> "Request":
        """Return this request with a size that allows for a representative of each cluster and for included rows.

        A share is raised to that size. Raise ValueError if a number is too small.
        """
        if self.size is None:
            return self
        included = [cluster.included.size for cluster in clusters]  # equal rows need one representative
        n_least = sum(max(1, n) for n in included)
        if self.size >= n_least:
            return self
        if self.is_share:
            return replace(self, size=n_least)
        needed = [f"one representative of each of the {several(len(included), 'cluster')}"] if len(included) > 1 else []
        needed += [f"the {several(sum(included), 'row')} to include"] if sum(included) else []
        raise ValueError(f"size must allow for {' and '.join(needed)}, got {self.size} of {self.n} objects.")


def size_in_rows(size: float, n: int, n_least: int) -> int:
    """Return how many of n objects a size means, which is their number or their share.

    A share is never less than `n_least` objects.
    """
    return int(size) if isinstance(size, Integral) else max(round(float(size) * n), n_least)


def _check_weights(sample_weight: Any, n: int) -> Floats:
    try:
        weights = column_or_1d(np.asarray(sample_weight, dtype=np.float64))
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"sample_weight must hold one number for each of the {n} objects of X: {error}.") from error
    if weights.size != n:
        raise ValueError(f"sample_weight must hold one number for each of the {n} objects of X, got {weights.size}.")
    wrong = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if wrong.size:
        raise ValueError(
            f"sample_weight must hold finite numbers of at least 0, got {weights[wrong[0]]} for row {wrong[0]}."
        )
    largest = float(weights.max(initial=0))
    if largest >= LARGEST or 0 < largest < 1 / LARGEST:
        raise ValueError(
            f"the largest sample_weight must be at least {1 / LARGEST:g} and below {LARGEST:g}, so that sums of "
            f"weights keep their digits, got {largest}; divide all by the largest one, as only their ratios matter."
        )
    return weights


def _check_include(include: Any, n: int) -> Positions:
    """Return the rows, which are given by their numbers or by a mask of all rows."""
    given = np.asarray(include)
    if given.size == 0 and given.dtype.kind != "b":
        return np.empty(0, dtype=np.intp)
    if given.ndim != 1 or given.dtype.kind not in "iub":
        raise ValueError(
            f"include must hold numbers of rows of X, or True or False for each row, got an array of the type "
            f"{given.dtype} and shape {given.shape}."
        )
    if given.dtype.kind == "b":
        if given.size != n:
            raise ValueError(
                f"include must hold True or False for each of the {n} objects of X, got {given.size} values."
            )
        return np.flatnonzero(given)
    cutting = where_rows_may_be_cut()
    if cutting is not None:
        raise ValueError(
            f"include must hold True or False for each row of X if fit is called by {cutting}, got row numbers, which "
            "would mean other rows wherever only some rows are passed on; pass np.isin(np.arange(n), include) for the "
            "n rows of the whole X."
        )
    for extreme in (int(given.min()), int(given.max())):
        if not 0 <= extreme < n:
            raise ValueError(f"include must hold numbers of rows of X, from 0 to {n - 1}, got {extreme}.")
    _, first = np.unique(given, return_index=True)
    return given[np.sort(first)].astype(np.intp)


def _check_graph(graph: Any, n: int) -> sp.csr_array:
    """Return the edges of a graph that was made elsewhere."""
    edges = given_edges(graph)
    if edges.shape[0] != n:
        raise ValueError(
            f"graph must have one row for each of the {n} objects of X, got {edges.shape[0]}; make it from the same X."
        )
    return edges


CUTTING_PACKAGES = {"sklearn", "imblearn"}
"""The packages whose estimators may pass only some rows on."""

WHOLE_MODULES = {"base", "callback", "compose", "pipeline", "utils"}
"""The modules of scikit-learn that pass all rows on. Pipelines of imbalanced-learn may have samplers, which do not."""


def router(owner: Any, selector: Any) -> MetadataRouter:
    """Return the routing of an estimator that passes on to the `fit` of a selector what this requests."""
    mapping = MethodMapping()
    known = owner._get_metadata_request()  # imbalanced-learn makes fit_resample known to scikit-learn
    for caller in ("fit", "fit_transform", "fit_resample"):
        if hasattr(owner, caller) and hasattr(known, caller):
            mapping.add(caller=caller, callee="fit")
    return MetadataRouter(owner=owner).add_self_request(owner).add(selector=selector, method_mapping=mapping)


def routed(owner: Any, fit_params: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what the `fit` of a selector gets of the parameters that were passed to the `fit` of its owner."""
    if not is_routing():
        return fit_params
    passed: Mapping[str, Any] = process_routing(owner, "fit", **fit_params).selector.fit
    return passed


def is_routing() -> bool:
    """Return whether scikit-learn's metadata routing is enabled."""
    return bool(get_config()["enable_metadata_routing"])


def where_rows_may_be_cut() -> str | None:
    """Return the module by which a `fit` was called, directly or not, that may pass only some rows on; None if none."""
    frame = sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        module = str(frame.f_globals.get("__name__", ""))
        package, *parts = module.split(".")
        whole = package == "sklearn" and (not parts or parts[0] in WHOLE_MODULES)
        if (package in CUTTING_PACKAGES and not whole) or "model_selection" in parts:
            return module
    return None
