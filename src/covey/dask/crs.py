"""`covey.dask.CRS`: the selector of `covey.CRS` on a Dask cluster."""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Positions
from covey.dask.driver import fit_clusters
from covey.dask.engine import Engine, ambient_client
from covey.dask.worker import PartFacts
from covey.dask.wrapper import Wrapper
from covey.graph.build import GraphLike, Method
from covey.graph.recall import RECALL
from covey.prototype import Prototype
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.libraries import require
from covey.runtime.parameters import Interval
from covey.selectors import crs as local
from covey.selectors.base import whole_or_nothing
from covey.selectors.labels import exact_array
from covey.selectors.saved_state import FEATURES
from covey.similarity.run import CheckpointPath
from covey.similarity.similarity import SimilarityLike

SHARD_SIZE = 250_000
"""The default of `shard_size`. Fewer and larger shards need fewer evaluations, and smaller ones less memory: a shard of
this size with 32 columns takes 64 MB, and a task holds two of them with their neighbor lists."""


IN_ONE_PROCESS = {"size", "on_error", "timeout"}
"""The parameters of `covey.CRS` that the one of this module lacks."""


class CRS(Wrapper, CallbackSupportMixin, BaseEstimator):
    """Cluster representatives selection on a Dask cluster, for data that one machine cannot hold.

    It lets the workers run a `covey.CRS` with the same parameters, and is not one itself. For what needs all data in
    one process, call `to_local`, which returns one. The answer is that of `covey.CRS` for every cluster of at most
    `shard_size` objects, to the last bit. A larger cluster is cut into shards. Its neighbor graph is made of the graphs
    of all shards and of merges of every two of them. Like that of a single machine it is approximate, and it is not the
    same graph. The coverage of a graph is exact: the picks are those that a single machine would make from it.

    The answer depends on `shard_size` and `random_state`, but neither on the number of workers nor on how X is cut into
    parts.

    Parameters
    ----------
    n_neighbors, coverage, threshold, similarity, graph, recall, gain, on_orphan, refine : optional
        As in `covey.CRS`, with the same defaults. Not possible are ``n_neighbors=None``, the similarities "precomputed"
        and "gower", a finished graph, and `refine` if a cluster has more than `shard_size` objects. The homogeneity of
        such a cluster is the mean similarity of pairs within its shards.
    random_state : int, RandomState instance or None, default=None
        Decides which pairs are sampled and the draws of NN-Descent.
    n_jobs : int or None, default=None
        How many threads or processes each task uses. Leave it at None if a worker has as many threads as cores.
    verbose : int, default=0
        1 shows progress: a bar on a terminal, and Dask's own progress bars in a notebook.
    client : distributed.Client or None, default=None
        The cluster to work on. None takes the client that the program has started.
    shard_size : int, default=250000
        The most objects of a cluster that one task works on, give or take a few percent. As few and as large shards as
        the memory of the workers allows need the fewest evaluations, and more than 100 of a cluster are refused. For a
        slow similarity of few objects, choose it so that there are at least as many shards as workers.
    checkpoint : str or None, default=None
        A folder in which finished tasks are kept, so that a fit that was stopped goes on where it was: a path that all
        workers see, or the address of any store that fsspec knows. A folder of other data or parameters is refused.

    Attributes
    ----------
    sample_indices_ : int array
        The selected rows of X. They are grouped by cluster and stand in the order in which they were picked.
    prototypes_ : dict
        For each label what `covey.Prototype` tells of a cluster. The `members` and `covered_by`, which are as long as
        the cluster, are dask arrays; `to_local` fetches them. In a copy that was pickled it is a `covey.Prototype`.
    n_evaluations_ : int
        How many similarities were computed, by all tasks whose results count.
    n_repeated_evaluations_ : int
        How many similarities were computed again by tasks that were repeated because a worker was lost.
    n_restored_evaluations_ : int
        How many of `n_evaluations_` were computed by an earlier run and taken from its checkpoint.
    scan_rate_ : float
        `n_evaluations_` as a share of the evaluations that all pairs within clusters would take.

    Raises
    ------
    TypeError
        At `fit`, if something is asked for that only one process can do: a finished graph, weights, rows to include or
        ``n_neighbors=None``. Also if `client` is not a client of Dask, or if X cannot be cut into parts.
    ValueError
        At `fit`, if there is no Dask cluster, if a parameter has a value that is not allowed, if the similarity needs
        the data in one process ("precomputed", "gower"), if parts of X have different columns, if y is cut at other
        rows than X, if a cluster would have more than 100 shards, if a cluster that is cut has to be refined, or if
        the folder of the checkpoint belongs to another run or is not seen by all workers.
    FileFormatError
        At `fit`, if a file of the checkpoint is damaged.
    RuntimeError
        At `fit`, if several workers die while they run the same task, which is mostly for want of memory, or if a
        custom function raises an error for a pair.
    ModuleNotFoundError
        At `fit`, if the libraries of the extra ``dask`` are not installed.

    See Also
    --------
    covey.CRS : The same in one process.

    Notes
    -----
    The parameters `size`, `on_error` and `timeout` of `covey.CRS` are not there, as only one process can do what they
    ask for. This needs the extra ``dask``. A worker that is lost costs the time of its tasks, and changes nothing in
    the answer.

    Examples
    --------
    A client without an address starts a small cluster; this one lives in the same process:

    >>> import covey.dask
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> X = da.from_array([[1, 0], [1, 0.1], [0.1, 1], [0, 1]], chunks=(2, 2))
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     selector = covey.dask.CRS(2).fit(X)
    ...     local = selector.to_local()
    >>> selector.sample_indices_, type(local)
    (array([0, 2]), <class 'covey.selectors.crs.CRS'>)
    """

    _local: ClassVar[type] = local.CRS
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in local.CRS._parameter_constraints.items() if name not in IN_ONE_PROCESS},
        "client": "no_validation",
        "shard_size": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_neighbors: int | str = 10,
        *,
        coverage: float = 0.95,
        threshold: float | str | None = "homogeneity",
        similarity: SimilarityLike = "cosine",
        graph: GraphLike = "auto",
        recall: float = RECALL,
        gain: str = "similarity",
        on_orphan: str = "self",
        refine: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
        client: Any = None,
        shard_size: int = SHARD_SIZE,
        checkpoint: CheckpointPath = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.coverage = coverage
        self.threshold = threshold
        self.similarity = similarity
        self.graph = graph
        self.recall = recall
        self.gain = gain
        self.on_orphan = on_orphan
        self.refine = refine
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.client = client
        self.shard_size = shard_size
        self.checkpoint = checkpoint

    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any = None, **fit_params: Any) -> Self:
        """Select representatives of each cluster.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, as an array, a dataframe, a series or a bag. Each delayed object is a part of X of any kind
            that `covey.CRS` takes. What is in the memory of this process is cut into parts and sent to the workers.
        y : dask collection, list of delayed objects or sequence of labels, optional
            The labels. If it lives on the cluster, it must be cut into parts at the same rows as X.
        **fit_params
            None: weights and rows to include can be passed to `covey.CRS` only.

        Returns
        -------
        CRS
            The selector itself.
        """
        self._validate_params()
        self._check_possible(fit_params)
        with (
            tasks(self, 1, X, y) as callbacks,
            callbacks.part("clusters"),
            Engine(ambient_client(self.client), "CRS", shown=self.verbose > 0) as engine,
        ):
            selection = fit_clusters(engine, X, y, self._unfitted(), int(self.shard_size), self.checkpoint)
        self.prototypes_ = {prototype.label: prototype for prototype in selection.prototypes}
        self.sample_indices_: Positions = np.concatenate([prototype.indices for prototype in selection.prototypes])
        self.n_evaluations_ = sum(prototype.n_evaluations for prototype in selection.prototypes)
        self.n_repeated_evaluations_, self.n_restored_evaluations_ = selection.n_repeated, selection.n_restored
        self.scan_rate_ = self.n_evaluations_ / max(selection.n_pairs, 1)
        self._representatives, self._columns = selection.representatives, selection.columns
        set_columns(self, selection.columns)
        return self

    def _check_possible(self, fit_params: Mapping[str, Any]) -> None:
        """Refuse what only a single process can do."""
        if not isinstance(self.graph, Method) or self.graph == "groups":
            raise TypeError(
                "graph must be 'auto', 'exact', 'nn-descent' or a covey.NNDescent on a cluster; to cover a finished "
                "graph, use covey.CRS."
            )
        for name, value in fit_params.items():
            if value is not None:
                raise TypeError(f"{name} is not possible on a cluster; leave it out, or use covey.CRS in one process.")
        if self.n_neighbors is None:
            raise TypeError(
                "n_neighbors must be a number or 'auto' on a cluster, got None; pass a number, or use covey.CRS in one "
                "process."
            )

    def fit_resample(self, X: Any, y: Any = None, **fit_params: Any) -> tuple[Any, Any]:
        """Fit, and return the selected objects and their labels, which are few, as local ones.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, as in `fit`.
        y : dask collection, list of delayed objects or sequence of labels, optional
            The labels, as in `fit`.
        **fit_params
            None, as in `fit`.

        Returns
        -------
        X_selected : array, CSR array or list
            The selected objects, in the order of `sample_indices_`.
        y_selected : array or None
            Their labels, or None if `y` is None.
        """
        self.fit(X, y, **fit_params)
        positions = np.searchsorted(self._representatives.rows, self.sample_indices_)
        objects = self._representatives.take(positions).objects
        if y is None:
            return objects, None
        labels = [prototype.label for prototype in self.prototypes_.values() for _ in prototype.indices]
        return objects, exact_array(np.fromiter(labels, dtype=object, count=len(labels)))

    def to_local(self) -> local.CRS:
        """Return a `covey.CRS` with the same parameters and state, which needs no cluster.

        It can be saved, loaded and sent elsewhere. The rows of all members and of their representatives come to this
        process, 16 bytes for each object. The cluster must still be there, because it holds them.

        Returns
        -------
        covey.CRS
            A fitted selector.
        """
        check_is_fitted(self)
        lazy = [(prototype.members, prototype.covered_by) for prototype in self.prototypes_.values()]
        arrays = require("dask", "dask").compute(*lazy, scheduler=self.client)
        return self._fitted(arrays)

    def _without_members(self) -> local.CRS:
        """Return a fitted `covey.CRS` that knows of no other members than the representatives."""
        own = [np.sort(prototype.indices) for prototype in self.prototypes_.values()]
        return self._fitted(zip(own, own, strict=True))

    def _unfitted(self) -> local.CRS:
        """Return a `covey.CRS` with the same parameters."""
        names = local.CRS().get_params(deep=False).keys() - IN_ONE_PROCESS
        names -= {"checkpoint"}  # a folder here, and a file there
        return local.CRS(**{name: getattr(self, name) for name in names})

    def _fitted(self, arrays: Iterable[tuple[Positions, Positions]]) -> local.CRS:
        """Return a `covey.CRS` with the same state, given the members of each cluster and what covers them."""
        selector = self._unfitted()
        selector.prototypes_ = {
            label: Prototype(**{**vars(prototype), "members": members, "covered_by": covered_by})
            for (label, prototype), (members, covered_by) in zip(self.prototypes_.items(), arrays, strict=True)
        }
        for name in ("sample_indices_", "n_evaluations_", "scan_rate_", *FEATURES):
            if hasattr(self, name):
                setattr(selector, name, getattr(self, name))
        return selector

    def __sklearn_clone__(self) -> Self:
        """Return a selector with the same parameters, not fitted. It shares the client, which cannot be copied."""
        parameters = self.get_params(deep=False)
        client = parameters.pop("client")
        return type(self)(**{name: clone(value, safe=False) for name, value in parameters.items()}, client=client)

    def __copy__(self) -> Self:
        """Return a copy that shares everything, the client included, which pickling would leave out."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        """Return a copy that shares the client, and the lists that live on the cluster."""
        copied = self.__copy__()
        for name in vars(self).keys() - {"client", "prototypes_"}:
            setattr(copied, name, deepcopy(getattr(self, name), memo))
        return copied

    def __getstate__(self) -> dict[str, Any]:
        """Pickle everything but the client. What is lazy is computed first, because it is of no use elsewhere."""
        state = {**super().__getstate__(), "client": None}
        if "prototypes_" in state:
            state["prototypes_"] = self.to_local().prototypes_
        return state


def set_columns(estimator: Any, columns: PartFacts) -> None:
    """Set the number and the names of the columns on an estimator, or remove them if X has none."""
    for name in FEATURES:
        vars(estimator).pop(name, None)
    if columns.n_columns is not None:
        estimator.n_features_in_ = columns.n_columns
    if columns.names is not None:
        estimator.feature_names_in_ = np.array(columns.names, dtype=object)
