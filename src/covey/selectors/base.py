"""What all selectors share: they take clusters, return prototypes, and have one fitted state.

A selector of your own is a subclass of `Selector` that defines `select`.

What `fit` methods have in common: each succeeds as a whole or changes nothing, and some take a collection as X.

Which representative stands for each object: the choice of a selector, seen from the other side.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from functools import partial, wraps
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.notebook import InNotebooks
from covey.prototype import Prototype, check_local
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.executor import reaches_other_machines
from covey.runtime.libraries import require
from covey.runtime.parameters import generator
from covey.runtime.progress import log_to_standard_error_if_nowhere, progress
from covey.selectors.checkpointing import Finished
from covey.selectors.cluster import Cluster
from covey.selectors.constraints import Wishes, check_wishes
from covey.selectors.labels import clusters
from covey.selectors.parallel import find_side_by_side
from covey.selectors.saved_state import (
    COUNT,
    FEATURES,
    NOT_SAVED,
    PROTOTYPES,
    RATE,
    ROWS,
    Facts,
    FittedState,
    has_each_row_once,
    has_indices_of_prototypes,
    names_fit_features,
)
from covey.similarity import run
from covey.similarity.checkpoint import Checkpoint
from covey.similarity.collection import Collection
from covey.similarity.inputs import take_rows
from covey.similarity.kinds.dispatch import collect
from covey.similarity.measures import is_precomputed, resolve
from covey.similarity.run import careful, seed_of
from covey.similarity.types import Labels, Objects

Method = TypeVar("Method", bound=Callable[..., Any])


def whole_or_nothing(fit: Method) -> Method:
    """Decorate a `fit` so that the estimator keeps its former state if the fit fails or is interrupted."""

    @wraps(fit)
    def fit_whole(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, fit_whole)


def takes_collection(fit: Method) -> Method:
    """Decorate a `fit` that takes a prepared `Collection` as X, so that what is prepared is not prepared again."""
    fit.takes_collection = True  # type: ignore[attr-defined]
    return fit


def fits_collection(selector: Any) -> bool:
    """Say whether the `fit` of a selector takes a collection. Another one expects X as the user has passed it."""
    return getattr(getattr(type(selector), "fit", None), "takes_collection", False) is True


def members_of(selector: Any, collection: Collection) -> Any:
    """Return a frame with a line for each object of a collection; see `covey.Selector.members`."""
    pandas = require("pandas", "cli")
    n = sum(prototype.members.size for prototype in selector.prototypes_.values())
    if len(collection) != n:
        raise ValueError(f"X must be what was passed to fit, which had {n} objects, got {len(collection)}.")
    collection = collection.prepared()  # parts of it are compared with each other
    labels = np.empty(n, dtype=object)
    representatives, ranks, covered = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.intp), np.empty(n, dtype=bool)
    similarities: Floats = np.empty(n)
    n_jobs = getattr(selector, "n_jobs", None)
    for prototype in selector.prototypes_.values():
        rows = prototype.members
        labels[rows] = [prototype.label] * rows.size
        covered[rows] = prototype.covered_by >= 0
        representatives[rows], similarities[rows] = _standing_for(collection, prototype, n_jobs)
        order = np.argsort(prototype.indices)
        ranks[rows] = 1 + order[np.searchsorted(prototype.indices, representatives[rows], sorter=order)]
    columns = {
        "row": np.arange(n),
        "label": pandas.Series(labels).infer_objects(),
        "representative": representatives,
        "similarity": similarities,
        "rank": ranks,
        "covered": covered,
    }
    return pandas.DataFrame(columns)


def _standing_for(collection: Collection, prototype: Prototype, n_jobs: int | None) -> tuple[Positions, Floats]:
    """Return for each member the representative that stands for it, and how similar the two are."""
    chosen = np.sort(prototype.indices)
    space = collection.take(prototype.members).against(collection.take(chosen), n_jobs)
    others = prototype.covered_by < 0
    standing = np.where(others, 0, np.searchsorted(chosen, prototype.covered_by))
    if others.any():
        queries = collection.take(prototype.members[others]).against(collection.take(chosen), n_jobs)
        standing[others] = nearest(queries, 1).indices[:, 0]
    every = np.arange(prototype.members.size, dtype=np.int32)
    return chosen[standing], space.score(every, standing.astype(np.int32))


logger = logging.getLogger("covey")

Groups = list[tuple[Hashable, Positions]]
"""The label and the members of each cluster."""


@dataclass(frozen=True)
class Selection:
    """What a fit has found: a prototype for each cluster, the number of evaluations, and how many all pairs take.

    The details of each cluster are what a selector knows about it beside the prototype.
    """

    prototypes: list[Prototype]
    n_evaluations: int
    n_pairs: int
    details: dict[Hashable, Any] = field(default_factory=dict)


class Selector(CallbackSupportMixin, InNotebooks, BaseEstimator, ABC):
    """Base class of all selectors. A subclass says which members represent a cluster.

    A subclass has to define `select`, and may have parameters of its own, as any estimator of scikit-learn. Everything
    else has a default: the parameters `random_state`, `n_jobs` and `verbose` are used if a subclass has them,
    `similarity` is "cosine" unless a subclass takes it as a parameter, and parameters without constraints are not
    checked.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster and stand in the order in which they were picked.
    prototypes_ : dict
        The `Prototype` of each label. Without labels, all objects are cluster 0.
    n_evaluations_ : int
        How many similarities were computed. It is S in the paper.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take.

    Raises
    ------
    TypeError
        If a subclass does not define `select`.

    See Also
    --------
    covey.Cluster : What `select` gets.
    covey.Prototype : What `select` returns.

    Examples
    --------
    This selector represents each cluster by its first member, which covers all others:

    >>> import covey
    >>> import numpy as np
    >>> class First(covey.Selector):
    ...     def select(self, cluster, rng):
    ...         n = cluster.rows.size
    ...         return cluster.prototype(
    ...             indices=np.array([0]), gains=np.array([n]), covered_by=np.zeros(n, dtype=int)
    ...         )
    >>> First().fit([[1, 0], [2, 1], [0, 1]], ["a", "b", "b"]).sample_indices_
    array([0, 1])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {}
    _fitted_state: ClassVar[FittedState] = {
        "prototypes_": PROTOTYPES,
        "sample_indices_": ROWS,
        "n_evaluations_": COUNT,
        "scan_rate_": RATE,
        "checkpoint_": NOT_SAVED,
        "n_failed_": NOT_SAVED,
        **FEATURES,
    }
    _fitted_facts: ClassVar[Facts] = {
        "the members of all prototypes together must be every row once": has_each_row_once,
        "sample_indices_ must be the indices of all prototypes": has_indices_of_prototypes,
        "feature_names_in_ must have n_features_in_ names": names_fit_features,
    }
    similarity: Any = "cosine"

    @takes_collection
    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Objects | Collection, y: Labels | None = None) -> Self:
        """Select representatives of each cluster.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects. With ``similarity="precomputed"`` it is a square matrix of similarities.
        y : sequence of labels, optional
            Objects with the same label are a cluster. By default all objects are one cluster. Labels are of any type
            whose values can be sorted and be keys of a dict: numbers, strings, dates, or tuples of these.

        Returns
        -------
        Selector
            The selector itself.

        Examples
        --------
        >>> import covey
        >>> covey.DeltaMedoids(delta=0.9).fit([[9, 1], [8, 1], [1, 8], [1, 9]]).sample_indices_
        array([0, 2])
        """
        return self._fit(X, y)

    def _fit(self, X: Objects | Collection, y: Labels | None, **asked: Any) -> Self:
        """Select representatives of each cluster. What is asked of this fit alone is what `_wishes` takes."""
        self._validate_params()
        collection = collect(X, resolve(self.similarity), self)
        wishes = self._wishes(len(collection), **asked)
        with careful(collection, **self._precautions()) as collection:
            rng = check_random_state(seed_of(getattr(self, "random_state", None), collection.checkpoint))
            selection = self._choose(collection, clusters(y, len(collection)), y, rng, wishes)
            self._report(collection)
        self._set_details(selection.details, len(collection))
        found = selection.prototypes
        self.prototypes_: dict[Hashable, Prototype] = {prototype.label: prototype for prototype in found}
        self.sample_indices_ = np.concatenate([prototype.indices for prototype in found])
        self.n_evaluations_ = selection.n_evaluations
        self.scan_rate_ = self.n_evaluations_ / max(selection.n_pairs, 1)
        return self

    def members(self, X: Objects) -> Any:
        """List which representative stands for each row of X, and how similar the two are.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects that were passed to `fit`. They are needed again because a selector does not keep them.

        Returns
        -------
        DataFrame
            One line for each row of X, in the order of X. `row` is its number, `label` its cluster, `representative`
            the row of X that stands for it, `similarity` how similar it is to that row, and `rank` the rank of the
            representative in its cluster (1 for the one that was picked first). `covered` is False if no representative
            covers the row; then `representative` is the most similar one of its cluster. This needs the library
            pandas.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the selector is not fitted.
        ValueError
            If X has not as many objects as that of the fit.
        TypeError
            If the members are on a Dask cluster; use what the selector's method `to_local` returns.

        Notes
        -----
        It takes one evaluation for each row, and for an uncovered row one more for each representative of its cluster.

        If several representatives of `covey.CRS` cover a row, the one that was picked first stands for it, as in
        `covey.Prototype.covered_by`. A classifier goes by the most similar representative of all clusters, which may be
        another one; its method `nearest_prototypes` says which.

        Examples
        --------
        >>> import covey
        >>> X = [[1, 0], [1, 0.1], [0.1, 1], [0, 1]]
        >>> covey.CRS(2).fit(X).members(X)  # doctest: +NORMALIZE_WHITESPACE
           row  label  representative  similarity  rank  covered
        0    0      0               0    1.000000     1     True
        1    1      0               0    0.995037     1     True
        2    2      0               2    1.000000     2     True
        3    3      0               2    0.995037     2     True
        """
        check_is_fitted(self)
        for prototype in self.prototypes_.values():
            check_local(prototype)
        return members_of(self, collect(X, resolve(self.similarity)))

    def fit_resample(self, X: Objects, y: Labels | None = None, **fit_params: Any) -> tuple[Any, Any]:
        """Fit, and return the selected objects and their labels.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, as in `fit`.
        y : sequence of labels, optional
            The labels, as in `fit`.
        **fit_params
            What `fit` takes beside X and y, such as `sample_weight` and `include` of `covey.CRS`.

        Returns
        -------
        X_selected : of the type of X
            The selected objects, in the order of `sample_indices_`.
        y_selected : of the type of y
            Their labels, or None if `y` is None.

        Examples
        --------
        >>> import covey
        >>> words, labels = ["cat", "cart", "care", "dog", "dodge", "lodge"], ["c", "c", "c", "d", "d", "d"]
        >>> def shared_letters(a, b):
        ...     return len(set(a) & set(b)) / len(set(a) | set(b))
        >>> covey.CRS(2, similarity=shared_letters).fit_resample(words, labels)
        (['cart', 'dodge'], ['c', 'd'])
        """
        self.fit(X, y, **fit_params)
        rows = self.sample_indices_
        return take_rows(X, rows), None if y is None else take_rows(y, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(self.similarity)
        return tags

    def _get_metadata_request(self) -> Any:
        """Let `fit_resample` request what `fit` requests. imbalanced-learn makes this method known to scikit-learn."""
        requests = super()._get_metadata_request()
        if hasattr(requests, "fit_resample"):
            for name, alias in requests.fit.requests.items():
                requests.fit_resample.add_request(param=name, alias=alias)
        return requests

    def _restore(self) -> None:
        """Make what `fit` sets and files do not hold.

        It is called when a file is loaded, after the saved attributes are set.
        """

    @abstractmethod
    def select(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        """Select the representatives of one cluster.

        It needs no fit, and finds what `fit` finds in a single cluster with the same random numbers.

        Parameters
        ----------
        cluster : Cluster
            The distinct objects of the cluster, which are numbered from 0. Its `space` scores pairs of these numbers,
            and its `multiplicity` says how many members each stands for.
        rng : numpy.random.Generator
            All random draws must come from it, so that the same seed gives the same answer.

        Returns
        -------
        Prototype
            What ``cluster.prototype(...)`` makes from the numbers of distinct objects.
        """

    def _select_alone(self, cluster: Cluster, rng: np.random.Generator) -> Prototype:
        """Do what `select` promises, in a selector that defines `_select_with_details`."""
        self._validate_params()
        return self._select_with_details(cluster, rng, self._wishes_about(cluster))[0]

    def _choose(
        self, collection: Collection, groups: Groups, y: Labels | None, rng: np.random.RandomState, wishes: Wishes
    ) -> Selection:
        """Select the representatives of all clusters, by default of each cluster for itself.

        The groups are the label and the members of each cluster. If joblib's active backend reaches other machines,
        the clusters are fitted side by side there. Each is then a task of one thread, and callbacks and progress
        follow the answers, which come in the order of the clusters.
        """
        found: list[Prototype] = []
        details: dict[Hashable, Any] = {}
        finished = Finished(self, self._finished_parts(collection, groups, wishes), wishes)
        n_pairs, verbose, n_jobs = 0, getattr(self, "verbose", 0), getattr(self, "n_jobs", None)
        alone = collection.remembers or collection.checkpoint is not None or collection.similarity.failures is not None
        elsewhere = len(groups) > 1 and not alone and reaches_other_machines(n_jobs)
        make = partial(Cluster, collection=collection, n_jobs=None if elsewhere else n_jobs, merged=wishes.merged)
        made = (make(*group, **wishes.about(*group)) for group in groups)
        answers = find_side_by_side(self, made, rng, wishes) if elsewhere else None
        bar = progress(type(self).__name__, None, "evaluations", shown=verbose > 0)
        reports = tasks(self, len(groups), collection.given, y)
        with bar, reports as callbacks, closing(answers) if answers else nullcontext():
            for number, (label, members) in enumerate(groups, start=1):
                cluster = make(label, members, **wishes.about(label, members))
                bar.note(f"cluster {label!r}, {number} of {len(groups)}")
                bar.watch(partial(_done_and_total, list(found), cluster, len(collection)))
                with callbacks.part(f"cluster {label}"):
                    answer = next(answers) if answers else finished.get(cluster, number, generator(rng))
                found.append(answer.prototype)
                details[label] = answer.details
                if verbose > 1 or (verbose == 1 and not bar.shown):
                    _log(self, answer.prototype)
                n_pairs += answer.n_pairs
        return Selection(found, sum(prototype.n_evaluations for prototype in found), n_pairs, details)

    def _precautions(self) -> dict[str, Any]:
        """Return the parameters of precautions that the selector has."""
        return {name: getattr(self, name) for name in run.CONSTRAINTS if hasattr(self, name)}

    def _finished_parts(self, collection: Collection, groups: Groups, wishes: Wishes) -> Checkpoint | None:
        """Return the checkpoint if it keeps finished clusters. Refuse one that has those of another run."""
        asked = [{name: wish for name, wish in wishes.about(*group).items() if wish is not None} for group in groups]
        parameters = {"selector": type(self).__name__, **self.get_params()}
        return run.finished_parts(collection, parameters, y=groups, wishes=[*filter(None, asked)])

    def _report(self, collection: Collection) -> None:
        """Set what is known about failures and about the checkpoint."""
        for name in {"checkpoint_", "n_failed_"} & vars(self).keys():
            delattr(self, name)
        if collection.checkpoint is not None:
            self.checkpoint_ = collection.checkpoint.report()
        if collection.similarity.failures is not None:
            self.n_failed_ = collection.similarity.failures.n

    def _select_with_details(self, cluster: Cluster, rng: np.random.Generator, wishes: Wishes) -> tuple[Prototype, Any]:
        """Do what `select` does as a part of a fit, and also return what `_set_details` needs to know about it."""
        return self.select(cluster, rng), None

    def _restored_details(self, details: Any, prototype: Prototype, wishes: Wishes) -> Any:
        """Return the details of a cluster as a checkpoint has kept them. Raise ValueError if they cannot be true."""
        if details is not None:
            raise ValueError(f"details must be None, got {details!r}")

    def _set_details(self, details: dict[Hashable, Any], n: int) -> None:
        """Set further fitted attributes from the details of each cluster. The number of all objects is n."""

    def _wishes(self, n: int, **asked: Any) -> Wishes:
        """Return what one fit of n objects has to do, or refuse parameters that do not go with each other or with n.

        `asked` are the arguments of `fit` beside X and y. All that a fit has to know beside the parameters is in this
        value; nothing is kept on the selector until the fit is done.
        """
        return check_wishes(n, **asked)

    def _wishes_about(self, cluster: Cluster) -> Wishes:
        """Return what `select` has to do if it is called outside of a fit."""
        return self._wishes(cluster.members.size)


def _log(selector: Selector, prototype: Prototype) -> None:
    """Log the prototype of a cluster. If nobody has set up logging, write it to the standard error stream."""
    log_to_standard_error_if_nowhere()
    logger.info("%s %r, scan rate %.3g", type(selector).__name__, prototype, prototype.scan_rate)


def _done_and_total(found: list[Prototype], cluster: Cluster, n: int) -> tuple[int, float | None]:
    """Return how many evaluations were made, and how many there will probably be for all n objects, or None if this
    cannot be guessed.

    If a selector scores all pairs, their number is known in advance and grows with the square of a cluster's size. The
    number that NN-Descent evaluates grows with the size itself, and its rate is that of the clusters `found` before.
    Later clusters are taken to be as large as the current one.
    """
    before = sum(prototype.n_evaluations for prototype in found)
    space = cluster.space_so_far
    if space is None:  # nobody has asked for similarities yet, or another process works on the cluster
        n_found = sum(prototype.members.size for prototype in found)
        return before, before / n_found * n if before else None
    power = 1 if space.n_expected is None else 2
    size = cluster.members.size
    powers_before = sum(prototype.members.size**power for prototype in found)
    if space.n_expected:
        rate = space.n_expected / size**power
    elif powers_before:
        rate = before / powers_before
    else:
        return before + space.n_done(), None
    n_later = n - size - sum(prototype.members.size for prototype in found)
    total = before + rate * size**power + rate * n_later * size ** (power - 1)
    return before + space.n_done(), total
