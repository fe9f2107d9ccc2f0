"""`covey.dask.NearestPrototypeClassifier`: fitted on a Dask cluster, and lazy for objects that live there."""

import re
from collections.abc import Callable
from copy import copy
from functools import partial
from operator import getitem
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from covey import classifier as local
from covey.arrays import Floats
from covey.classifier import Explanation, check_how_many
from covey.dask.crs import CRS, set_columns
from covey.dask.engine import Engine, ambient_client
from covey.dask.inputs import delayed_parts, is_dask, read
from covey.dask.worker import answer_part, arrays_of, bars_of_parts, first_of_equal, nearest_in_part
from covey.dask.wrapper import Wrapper
from covey.graph.exact import has_few_nonzero, sample
from covey.rejection import DEFAULT
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.libraries import require
from covey.selectors.base import whole_or_nothing
from covey.selectors.labels import exact_array
from covey.similarity.measures import resolve

Method = TypeVar("Method", bound=Callable[..., Any])


def _as_in_one_process(method: Method) -> Method:
    """Give a method the docstring of the local class, but with its own types of X and of arrays, and no examples.

    An array that is returned is a dask array if X is a dask collection.
    """
    text = str(getattr(local.NearestPrototypeClassifier, method.__name__).__doc__)
    text = re.split(r"\n +Examples\n", text)[0].rstrip()
    text = re.sub(r"(?<= X : ).*", "dask collection, list of delayed objects, or anything that `covey.CRS` takes", text)
    before, title, returned = text.partition(" Returns\n")
    returned = re.sub(r"(?m)^( {8}(?:\w+ : )?)(\w* ?array )", r"\1dask array or \2", returned)
    method.__doc__ = f"{before}{title}{returned}\n        "
    return method


class NearestPrototypeClassifier(Wrapper, CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Classify objects by their most similar representative, on a Dask cluster.

    Representatives are few, so that the fitted model lies in the memory of this process: a
    `covey.NearestPrototypeClassifier`, which gives all answers. Local objects get them at once. Objects that are dask
    collections get lazy ones: each method returns dask arrays, which are computed part by part when they are needed.
    The model then travels to the workers once.

    Parameters
    ----------
    selector : covey.dask.CRS or None, default=None
        Selects the representatives of each class. None stands for ``covey.dask.CRS()``.
    reject, rejection_rate, unknown_label : optional
        As in `covey.NearestPrototypeClassifier`, with the same defaults.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    selector_ : covey.dask.CRS
        The fitted selector, whose prototypes have lazy members.
    representatives_ : array, CSR array or list
        The selected objects, in the order of their rows in X. They are in the memory of this process.
    sparse_output_ : bool
        Whether `transform` returns CSR arrays. This and the attributes for rejection and for the names of columns are
        those of `covey.NearestPrototypeClassifier`.

    See Also
    --------
    covey.NearestPrototypeClassifier : The same in one process.

    Examples
    --------
    >>> import covey.dask
    >>> import dask.array as da
    >>> from dask.distributed import Client
    >>> X = da.from_array([[1, 0], [1, 0.1], [0.1, 1], [0, 1]], chunks=(2, 2))
    >>> y = da.from_array(["wide", "wide", "tall", "tall"], chunks=2)
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(1)).fit(X, y)
    ...     answers = model.predict(da.from_array([[3, 1], [1, 3]])).compute()
    ...     local = model.to_local()
    >>> answers
    array(['wide', 'tall'], dtype='<U4')

    The local model needs no cluster, and can be saved:

    >>> local.predict([[3, 1]])
    array(['wide'], dtype='<U4')
    """

    _local: ClassVar[type] = local.NearestPrototypeClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = local.NearestPrototypeClassifier._parameter_constraints

    def __init__(
        self,
        selector: CRS | None = None,
        *,
        reject: float | str | None = None,
        rejection_rate: float = 0.05,
        unknown_label: Any = DEFAULT,
    ) -> None:
        self.selector = selector
        self.reject = reject
        self.rejection_rate = rejection_rate
        self.unknown_label = unknown_label

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Return a fitted attribute, which the model has."""
            fitted = vars(vars(self)["_model"]) if "_model" in vars(self) else {}
            return fitted[name] if name.endswith("_") and name in fitted else super().__getattr__(name)

    def __sklearn_is_fitted__(self) -> bool:
        return "_model" in vars(self)

    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any, **fit_params: Any) -> Self:
        """Select representatives of each class.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, as `covey.dask.CRS.fit` takes them.
        y : dask collection, list of delayed objects or sequence of labels
            The class of each object.
        **fit_params
            None, as for `covey.dask.CRS.fit`.

        Returns
        -------
        NearestPrototypeClassifier
            The classifier itself.
        """
        model = local.NearestPrototypeClassifier(**self.get_params(deep=False))
        model._validate_params()
        if y is None:
            raise ValueError("NearestPrototypeClassifier requires y to be passed, but the target y is None.")
        if not (self.selector is None or isinstance(self.selector, CRS)):
            raise TypeError(
                f"selector must be a covey.dask.CRS or None, got {self.selector!r}; for other selectors, use "
                "covey.NearestPrototypeClassifier in one process."
            )
        selector = model.selector_ = CRS() if self.selector is None else clone(self.selector)
        with tasks(self, 1, X, y) as callbacks, callbacks.part("selector", selector):
            selector.fit(X, y, **fit_params)
        representatives, columns = selector._representatives, selector._columns
        model._prepare(
            _classes(selector),
            representatives,
            nothing_in_common=columns.nothing_in_common,
            sparse_output=has_few_nonzero(representatives.take(sample(np.arange(len(representatives)))).space()),
        )
        set_columns(model, columns)
        model._calibrate(partial(_bars_on_cluster, model, X))
        self._model = model
        return self

    @_as_in_one_process
    def predict(self, X: Any) -> Any:
        return self._answer("predict", X)

    @_as_in_one_process
    def explain(self, X: Any) -> Explanation:
        explanation: Explanation = self._answer("explain", X)
        return explanation

    @_as_in_one_process
    def nearest_prototypes(self, X: Any, n: int = 3) -> tuple[Any, Any]:
        check_is_fitted(self)
        check_how_many(n)
        indices, similarities = self._answer("nearest_prototypes", X, n)
        return indices, similarities

    @_as_in_one_process
    def class_evidence(self, X: Any) -> tuple[Any, Any]:
        indices, similarities = self._answer("class_evidence", X)
        return indices, similarities

    @_as_in_one_process
    def class_similarities(self, X: Any) -> Any:
        return self._answer("class_similarities", X)

    @_as_in_one_process
    def decision_function(self, X: Any) -> Any:
        return self._answer("decision_function", X)

    def transform(self, X: Any) -> Any:
        """Return the similarities of each object to all representatives, as features for another model.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        dask array, array or CSR array of shape (n_objects, n_representatives)
            The blocks of a dask array are CSR arrays if `sparse_output_` is true.
        """
        return self._answer("transform", X)

    def to_local(self) -> local.NearestPrototypeClassifier:
        """Return a `covey.NearestPrototypeClassifier` with the same state, which needs no cluster.

        It can be saved, loaded and sent elsewhere. As for `covey.dask.CRS.to_local`, the cluster must still be there.

        Returns
        -------
        covey.NearestPrototypeClassifier
            A fitted classifier.
        """
        model = self._present_model()
        model.selector = None if self.selector is None else self.selector._unfitted()
        model.selector_ = self.selector_.to_local()
        return model

    def _present_model(self) -> local.NearestPrototypeClassifier:
        """Return the fitted model with the present parameters, which may have changed since `fit`."""
        check_is_fitted(self)
        return copy(self._model).set_params(**self.get_params(deep=False))

    def _model_to_send(self) -> local.NearestPrototypeClassifier:
        """Return a model that holds nothing but what answers need."""
        model = self._present_model().set_params(selector=None)
        model.selector_ = self.selector_._without_members().set_params(verbose=0)
        return model

    def _answer(self, method: str, X: Any, *args: Any) -> Any:
        """Return what a method of the model answers, as dask arrays if X is a dask collection."""
        model = self._present_model()
        if not is_dask(X):
            return getattr(model, method)(X, *args)
        empty = _empty_answer(model, method, *args)
        dask = require("dask", "dask")
        parts = delayed_parts(X)
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        sent = dask.delayed(self._model_to_send(), pure=False, traverse=False)
        answers = [dask.delayed(answer_part)(sent, part, method, empty, args) for part in parts]
        arrays = [_lazy_array(answers, sizes, at, array) for at, array in enumerate(arrays_of(empty))]
        if isinstance(empty, Explanation):
            return Explanation(*arrays, *[None] * (len(vars(empty)) - len(arrays)))
        return tuple(arrays) if isinstance(empty, tuple) else arrays[0]


def _classes(selector: CRS) -> NDArray[Any]:
    """Return the labels of the prototypes, which are in ascending order."""
    labels = np.empty(len(selector.prototypes_), dtype=object)
    labels[:] = list(selector.prototypes_)
    classes = exact_array(labels)
    if classes.dtype.kind != "O":
        check_classification_targets(classes)
    return classes


def _empty_answer(model: local.NearestPrototypeClassifier, method: str, n: int = 0) -> Any:
    """Return what a method answers for no objects: empty arrays of the types and the widths of all its answers."""
    if method == "transform":
        features = np.empty((0, model._rows.size))
        return sp.csr_array(features) if model.sparse_output_ else features
    if method in ("predict", "explain"):
        model._bars()  # parameters that do not fit the model are refused before anything is computed
        labels = model._answers(np.arange(1), np.array([False]))[:0]
        if method == "predict":
            return labels
        second, margins = (model.classes_[:0], np.empty(0)) if model.classes_.size > 1 else (None, None)
        return Explanation(labels, np.empty(0, np.bool_), np.empty(0, np.intp), np.empty(0), second, margins)
    if method == "decision_function" and model.classes_.size == 2:
        return np.empty(0)
    width = min(n, model._rows.size) if method == "nearest_prototypes" else model.classes_.size
    similarities = np.empty((0, width))
    if method in ("nearest_prototypes", "class_evidence"):
        return np.empty((0, width), dtype=np.intp), similarities
    return similarities


def _lazy_array(answers: list[Any], sizes: Any, at: int, empty: Any) -> Any:
    """Return an array of the answers of all parts as a dask array, given the empty one."""
    delayed, array = require("dask", "dask").delayed, require("dask.array", "dask")
    blocks = [
        array.from_delayed(delayed(getitem)(answer, at), (n, *empty.shape[1:]), meta=empty)
        for answer, n in zip(answers, sizes, strict=True)
    ]
    return array.concatenate(blocks)


def _bars_on_cluster(model: local.NearestPrototypeClassifier, X: Any) -> Floats:
    """Return the bars of calibrated rejection, given the X of `fit`, which is read once more."""
    title, selector = "calibrating rejection", model.selector_
    parameters = model.classes_.size, model.rejection_rate_, model.nothing_in_common_
    with Engine(ambient_client(selector.client), title, shown=selector.verbose > 0) as engine:
        parts = read(engine, X, None, resolve(selector.similarity)).collections
        known = engine.submit("representatives", first_of_equal, selector._representatives, model._classes_of)
        nearest = [engine.submit("nearest", nearest_in_part, part, known, selector.n_jobs) for part in parts]
        bars: Floats = engine.gather(title, [engine.submit("bars", bars_of_parts, nearest, known, *parameters)])[0]
    return bars
