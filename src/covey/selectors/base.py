"""What all selectors share: one fit, one fitted state, and one way to select a part of X.

A fit takes these steps (`Selector._fit`):

1. Check the parameters, X, and what the fit is asked for.
2. Split X into clusters, one for each label.
3. Select the representatives of each cluster: here, in the workers of a joblib backend (`parallel.py`), or by reading a
   checkpoint (`checkpointing.py`).
4. Assemble the prototypes to the fitted state.

A custom selector is a subclass of `Selector` that defines `select`. A selector of covey may define two hooks instead:
`_select` does what `select` does as a part of a fit, and `_finish` makes the prototypes of all clusters final. One that
looks at all clusters together defines `_select_all`, which calls these two otherwise.

Each fit succeeds as a whole or changes nothing. An estimator with a selector inside fits it by `_fit_collection`, so
that what is prepared is not prepared again.
"""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping
from contextlib import closing, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial, wraps
from typing import Any, ClassVar, NamedTuple, Self, TypeVar, cast

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.notebook import summary_of
from covey.prototype import Prototype
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.executor import reaches_other_machines
from covey.runtime.libraries import require
from covey.runtime.parameters import generator
from covey.runtime.progress import log_to_standard_error_if_nowhere, progress
from covey.selectors.checkpointing import Select, checkpoint_of_clusters, checkpointed
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.labels import LabelledClusters, clusters
from covey.selectors.parallel import select_in_workers
from covey.selectors.request import Request
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
    n_objects,
    names_fit_features,
)
from covey.similarity import run
from covey.similarity.collection import Collection
from covey.similarity.inputs import Labels, Objects, take_rows
from covey.similarity.kinds import collect
from covey.similarity.measures import is_precomputed, resolve

logger = logging.getLogger("covey")

FitFunction = TypeVar("FitFunction", bound=Callable[..., Any])


def whole_or_nothing(fit: FitFunction) -> FitFunction:
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

    return cast(FitFunction, fit_whole)


def run_options(selector: Any) -> dict[str, Any]:
    """Return those parameters of a selector that its run takes (`Collection.open_run`)."""
    return {name: getattr(selector, name) for name in run.CONSTRAINTS if hasattr(selector, name)}


class Prepared(NamedTuple):
    """What an outer estimator has prepared for the fit of a selector inside it: its X under this similarity."""

    selector: "Selector"
    similarity: Any
    collection: Collection


_prepared: ContextVar[Prepared | None] = ContextVar("covey prepared", default=None)


@dataclass(frozen=True)
class FitResult:
    """The prototypes of all clusters, how many evaluations they took, and how many all pairs take."""

    prototypes: list[Prototype]
    n_evaluations: int
    n_pairs: int


class Selector(CallbackSupportMixin, BaseEstimator, ABC):
    """Base class of all selectors. A subclass says which members represent a cluster.

    A subclass has to define `select`, and may have further parameters, as any estimator of scikit-learn. Everything
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
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take. Pairs that matrix
        products have ruled out count as evaluations, as in an exact graph.

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
    _scanned: ClassVar[str] = "pairs within clusters"
    """Which pairs `scan_rate_` is a share of."""
    _details: Any = None
    """The class of what `_select` returns as details, if it does. A checkpoint calls its method `checked`."""
    similarity: Any = "cosine"

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
        return self._fit(X, y, run_options(self))

    def _fit_collection(self, collection: Collection, y: Labels | None, fit_params: Mapping[str, Any]) -> Self:
        """Fit to a collection that an outer estimator has prepared.

        A subclass may override `fit`, so this calls it with X as the user has passed it. If that X arrives at `_fit`,
        the collection takes its place, with its run and its cache of pairs. Another X, or the X under another
        similarity, is prepared there.
        """
        token = _prepared.set(Prepared(self, self.similarity, collection))
        try:
            return self.fit(collection.given, y, **fit_params)
        finally:
            _prepared.reset(token)

    def _fit(self, X: Objects | Collection, y: Labels | None, options: Mapping[str, Any], **asked: Any) -> Self:
        """Fit in a run with these options (`run_options`), asked for what `Request.of` takes."""
        self._validate_params()
        collection = collect(self._prepared_for(X), resolve(self.similarity), self)
        request = Request.of(len(collection), **asked)
        for name in {"checkpoint_", "n_failed_"} & vars(self).keys():  # of an earlier fit
            delattr(self, name)
        with collection.open_run(**options) as collection:
            rng = check_random_state(collection.run.seed(getattr(self, "random_state", None)))
            groups = clusters(y, len(collection))
            request.check_weights(groups)
            selection = self._select_all(collection, groups, y, rng, request)
            if collection.run.checkpoint is not None:
                self.checkpoint_ = collection.run.checkpoint.report()
            if collection.run.failures is not None:
                self.n_failed_ = collection.run.failures.n
        prototypes = selection.prototypes
        self.prototypes_: dict[Hashable, Prototype] = {prototype.label: prototype for prototype in prototypes}
        self.sample_indices_ = np.concatenate([prototype.indices for prototype in prototypes])
        self.n_evaluations_ = selection.n_evaluations
        self.scan_rate_ = self.n_evaluations_ / max(selection.n_pairs, 1)
        return self

    def _prepared_for(self, X: Objects | Collection) -> Objects | Collection:
        """Return the collection of this X, if an outer estimator has prepared it for the present fit, or X itself."""
        prepared = _prepared.get()
        if prepared is None or prepared.selector is not self or prepared.similarity is not self.similarity:
            return X
        return prepared.collection if prepared.collection.given is X else X

    def _select_all(
        self,
        collection: Collection,
        groups: LabelledClusters,
        y: Labels | None,
        rng: np.random.RandomState,
        request: Request,
    ) -> FitResult:
        """Select the representatives of all clusters, of each for itself."""
        request = request.sized_for(request.cluster(*group, collection) for group in groups)
        selected = select_each(self, collection, groups, y, rng, request)
        return FitResult(
            self._finish(selected, request),
            sum(one.prototype.n_evaluations for one in selected),
            sum(one.n_pairs for one in selected),
        )

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

    def _request_in(self, cluster: Cluster, **asked: Any) -> Request:
        """Check the parameters, and return what `select` is asked for outside of a fit.

        The cluster brings its weights and the rows to include.
        """
        self._validate_params()
        return Request.of(cluster.members.size, **asked).sized_for([cluster])

    def _select(self, cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
        """Do what `select` does, as a part of a fit that is asked for this."""
        return ClusterResult(self.select(cluster, rng), cluster.n_pairs)

    def _finish(self, selected: list[ClusterResult], request: Request) -> list[Prototype]:
        """Return the final prototypes of all clusters, and set the fitted attributes that the class adds."""
        return [one.prototype for one in selected]

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
        return members_table(self, collect(X, resolve(self.similarity)))

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

    def _html_repr(self) -> str:
        """Return what a notebook shows: a summary of what was fitted, above scikit-learn's diagram."""
        return summary_of(self) + str(super()._html_repr())

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


def select_each(
    selector: Selector,
    collection: Collection,
    groups: LabelledClusters,
    y: Labels | None,
    rng: np.random.RandomState,
    request: Request,
) -> list[ClusterResult]:
    """Let a selector select in one cluster after the other.

    If joblib's active backend reaches other machines, the clusters are selected from side by side there. Each is
    then a task of one thread, and callbacks and progress follow the answers, which come in the order of the
    clusters.
    """
    n_jobs, verbose = getattr(selector, "n_jobs", None), getattr(selector, "verbose", 0)
    alone = collection.cached or collection.run.checkpoint is not None or collection.run.failures is not None
    elsewhere = len(groups) > 1 and not alone and reaches_other_machines(n_jobs)
    cluster_of = partial(request.cluster, collection=collection, n_jobs=None if elsewhere else n_jobs)
    select: Select = selector._select
    if collection.run.checkpoint is not None:
        checkpoint = checkpoint_of_clusters(selector, collection, groups, request)
        select = select if checkpoint is None else checkpointed(select, checkpoint, selector._details)
    sent = (cluster_of(*group) for group in groups)
    answers = select_in_workers(selector, sent, rng, request) if elsewhere else None
    bar = progress(type(selector).__name__, None, "evaluations", shown=verbose > 0)
    selected: list[ClusterResult] = []
    reports = tasks(selector, len(groups), collection.given, y)
    with bar, reports as callbacks, closing(answers) if answers else nullcontext():
        for number, (label, members) in enumerate(groups, start=1):
            cluster = cluster_of(label, members)
            bar.note(f"cluster {label!r}, {number} of {len(groups)}")
            before = [one.prototype for one in selected]
            bar.watch(partial(_done_and_total, before, cluster, len(collection)))
            with callbacks.part(f"cluster {label}"):
                selected.append(next(answers) if answers else select(cluster, generator(rng), request))
            if verbose > 1 or (verbose == 1 and not bar.shown):
                _log(selector, selected[-1].prototype)
    return selected


def _log(selector: Selector, prototype: Prototype) -> None:
    """Log the prototype of a cluster. If logging is not set up, write it to the standard error stream."""
    log_to_standard_error_if_nowhere()
    logger.info("%s %r, scan rate %.3g", type(selector).__name__, prototype, prototype.scan_rate)


def _done_and_total(before: list[Prototype], cluster: Cluster, n: int) -> tuple[int, float | None]:
    """Return how many evaluations were made, and how many there will probably be for all n objects, or None if this
    cannot be guessed.

    If a selector scores all pairs, their number is known in advance and grows with the square of a cluster's size. The
    number that NN-Descent evaluates grows with the size itself, and its rate is that of the clusters `before`, which
    have these prototypes. Later clusters are taken to be as large as the current one.
    """
    n_before, done = sum(one.members.size for one in before), sum(one.n_evaluations for one in before)
    space = cluster.space_so_far
    if space is None:  # no similarities are needed so far, or another process works on the cluster
        return done, done / n_before * n if done else None
    power = 1 if space.n_expected is None else 2
    size = cluster.members.size
    if space.n_expected:
        rate = space.n_expected / size**power
    elif before:
        rate = done / sum(one.members.size**power for one in before)
    else:
        return done + space.n_done(), None
    n_later = n - size - n_before
    total = done + rate * size**power + rate * n_later * size ** (power - 1)
    return done + space.n_done(), total


def members_table(selector: Any, collection: Collection) -> Any:
    """Return a frame with a line for each object of a collection, which must be that of the fit."""
    pandas = require("pandas", "cli")
    n = n_objects(selector)
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
        representatives[rows], similarities[rows] = _representatives(collection, prototype, n_jobs)
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


def _representatives(collection: Collection, prototype: Prototype, n_jobs: int | None) -> tuple[Positions, Floats]:
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
