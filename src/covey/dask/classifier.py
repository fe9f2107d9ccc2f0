"""`covey.dask.NearestPrototypeClassifier`: fitted on a Dask cluster, and lazy for objects that live there."""

from dataclasses import replace
from operator import getitem
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from covey import classifier as local
from covey.arrays import Floats, Positions
from covey.classifier import Explanation, check_how_many
from covey.dask.crs import CRS, set_columns
from covey.dask.engine import Engine, ambient_client
from covey.dask.inputs import PartFacts, delayed_parts, held, is_dask, is_empty, read
from covey.graph.exact import has_few_nonzero, sample
from covey.rejection import Seen, calibrated_bars, seen
from covey.runtime.callbacks import tasks, with_callbacks
from covey.runtime.libraries import require
from covey.selectors.base import whole_or_nothing
from covey.selectors.labels import exact_array
from covey.selectors.routing import routed
from covey.similarity.collection import Collection
from covey.similarity.measures import resolve


class NearestPrototypeClassifier(local.NearestPrototypeClassifier):
    """Classify objects by their most similar representative, on a Dask cluster.

    Representatives are few, so that the fitted model lies in the memory of this process. Objects that are dask
    collections get lazy answers: each method returns dask arrays, which are computed part by part when they are needed.
    The model then travels to the workers once. Local objects get answers at once.

    Parameters
    ----------
    selector : covey.dask.CRS or None, default=None
        Selects the representatives of each class. None stands for ``covey.dask.CRS()``.
    reject : None, "calibrated", "threshold" or float, default=None
        When to answer `unknown_label`, as in `covey.NearestPrototypeClassifier`.
    rejection_rate : float, default=0.05
        The share of known objects that ``reject="calibrated"`` may reject, between 0 and 1.
    unknown_label : int or str, default=-1
        The answer for rejected objects. It must have the type of the labels and must not be one of them. If the labels
        are texts, the default stands for "unknown".

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
            None, because `covey.dask.CRS.fit` takes nothing beside X and y.

        Returns
        -------
        NearestPrototypeClassifier
            The classifier itself.
        """
        self._check_parameters()
        if y is None:
            raise ValueError("NearestPrototypeClassifier requires y to be passed, but the target y is None.")
        if not (self.selector is None or isinstance(self.selector, CRS)):
            raise TypeError(
                f"selector must be a covey.dask.CRS or None, got {self.selector!r}; for other selectors, use "
                "covey.NearestPrototypeClassifier in one process."
            )
        selector = clone(self._given_selector())
        with tasks(self, 1, X, y) as callbacks, callbacks.part("selector", selector):
            self.selector_ = selector.fit(X, y, **routed(self, fit_params))
        labels = np.empty(len(selector.prototypes_), dtype=object)
        labels[:] = list(selector.prototypes_)
        self.classes_ = exact_array(labels)
        if self.classes_.dtype.kind != "O":
            check_classification_targets(self.classes_)
        found = selector._representatives
        set_columns(self, selector._facts)
        self._remember(found.rows, found)
        self.nothing_in_common_ = selector._facts.nothing_in_common
        self.sparse_output_ = has_few_nonzero(found.take(sample(np.arange(len(found)))).space())
        self._calibrate(X)
        self._least_similarities()
        return self

    def predict(self, X: Any) -> Any:
        """Return the label of the most similar representative of each object; `unknown_label` for rejected ones.

        The answer for a dask collection is a lazy dask array.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        dask array or array of shape (n_objects,)
            The labels.
        """
        if not is_dask(X):
            return super().predict(X)
        self._least_similarities()
        return self._lazy(X, "predict", [self._no_answers()])[0]

    def explain(self, X: Any) -> Explanation:
        """Return what `predict` answers and why.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        Explanation
            For a dask collection, all its attributes are lazy dask arrays.
        """
        if not is_dask(X):
            return super().explain(X)
        self._least_similarities()
        none = [self._no_answers(), *(np.empty(0, dtype=dtype) for dtype in (np.bool_, np.intp, np.float64))]
        if self.classes_.size > 1:
            none += [self.classes_[:0], np.empty(0)]
        answers = [*self._lazy(X, "explain", none), None, None]
        return Explanation(*answers[:6])

    def class_evidence(self, X: Any) -> tuple[Any, Any]:
        """Return, for each object, the most similar representative of each class.

        For a dask collection, both results are lazy dask arrays.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        indices : dask array or array of shape (n_objects, n_classes)
            Rows of the X passed to `fit`. The columns are in the order of `classes_`.
        similarities : dask array or array of shape (n_objects, n_classes)
            The similarities to these representatives.
        """
        if not is_dask(X):
            return super().class_evidence(X)
        check_is_fitted(self)
        shape = (0, self.classes_.size)
        none = [np.empty(shape, dtype=np.intp), np.empty(shape)]
        indices, similarities = self._lazy(X, "class_evidence", none)
        return indices, similarities

    def nearest_prototypes(self, X: Any, n: int = 3) -> tuple[Any, Any]:
        """Return the n most similar representatives of each object, the best first.

        For a dask collection, both results are lazy dask arrays.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.
        n : int, default=3
            How many representatives to return. If there are fewer, all are returned.

        Returns
        -------
        indices : dask array or array of shape (n_objects, n)
            The representatives, as rows of the X passed to `fit`.
        similarities : dask array or array of shape (n_objects, n)
            The similarities of each object to them.
        """
        if not is_dask(X):
            return super().nearest_prototypes(X, n)
        check_is_fitted(self)
        check_how_many(n)
        shape = (0, min(n, self._rows.size))
        none = [np.empty(shape, dtype=np.intp), np.empty(shape)]
        indices, similarities = self._lazy(X, "nearest_prototypes", none, n)
        return indices, similarities

    def transform(self, X: Any) -> Any:
        """Return the similarities of each object to all representatives, as features for another model.

        Parameters
        ----------
        X : dask collection, list of delayed objects, or anything that `covey.CRS` takes
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        dask array, array or CSR array of shape (n_objects, n_representatives)
            For a dask collection it is a lazy dask array, whose blocks are CSR arrays if `sparse_output_` is true.
        """
        if not is_dask(X):
            return super().transform(X)
        check_is_fitted(self)
        none = np.empty((0, self._rows.size))
        return self._lazy(X, "transform", [sp.csr_array(none) if self.sparse_output_ else none])[0]

    def to_local(self) -> local.NearestPrototypeClassifier:
        """Return a `covey.NearestPrototypeClassifier` with the same state, which needs no cluster.

        It can be saved, loaded and sent elsewhere. As for `covey.dask.CRS.to_local`, the cluster must still be there.

        Returns
        -------
        covey.NearestPrototypeClassifier
            A fitted classifier.
        """
        check_is_fitted(self)
        return self._model(self.selector_.to_local())

    def _given_selector(self) -> CRS:
        return CRS() if self.selector is None else self.selector

    def _model(self, selector: Any) -> local.NearestPrototypeClassifier:
        """Return a plain classifier with the state of this one and the given fitted selector."""
        parameters = self.get_params(deep=False)
        if self.selector is not None:
            parameters["selector"] = self.selector._plain()
        model = local.NearestPrototypeClassifier(**parameters)
        for name, value in vars(self).items():
            if name not in parameters:
                setattr(model, name, value)
        model.selector_ = selector
        return model

    def _sent(self) -> local.NearestPrototypeClassifier:
        """Return a plain classifier that holds nothing but what predictions need, to be sent to workers."""
        selector = self.selector_._plain()
        selector.prototypes_ = {
            label: replace(prototype, members=np.sort(prototype.indices), covered_by=np.sort(prototype.indices))
            for label, prototype in self.selector_.prototypes_.items()
        }
        selector.sample_indices_ = self.selector_.sample_indices_
        selector.verbose = 0
        return self._model(selector)

    def _no_answers(self) -> NDArray[Any]:
        """Return what `predict` answers for no objects: an empty array of the type of all answers."""
        return self._answers(np.arange(1), np.array([False]))[:0]

    def _lazy(self, X: Any, method: str, none: list[Any], *args: Any) -> list[Any]:
        """Return what a method answers for each part of X, as one dask array for each of its results.

        `none` holds the results of the method for no objects, which have the types and the widths of all results.
        """
        check_is_fitted(self)
        dask, array = require("dask", "dask"), require("dask.array", "dask")
        model = dask.delayed(self._sent(), pure=False, traverse=False)
        parts = delayed_parts(X)
        sizes = X.chunks[0] if hasattr(X, "chunks") else [np.nan] * len(parts)
        answers = [dask.delayed(_answer)(model, part, method, none, args) for part in parts]
        return [
            array.concatenate(
                [
                    array.from_delayed(dask.delayed(getitem)(answer, number), (n, *empty.shape[1:]), meta=empty)
                    for answer, n in zip(answers, sizes, strict=True)
                ]
            )
            for number, empty in enumerate(none)
        ]

    def _bars_from(self, objects: Any) -> Floats:
        """Return the bars of calibrated rejection, given the X of `fit`, which is read once more."""
        title, asked = "calibrating rejection", (self.classes_.size, self.rejection_rate_, self.nothing_in_common_)
        with Engine(ambient_client(self.selector_.client), title, self._verbose) as engine:
            parts = read(engine, objects, None, resolve(self.selector_.similarity)).collections
            known = engine.submit("representatives", _first_of_equal, self.selector_._representatives, self._classes_of)
            found = [engine.submit("nearest", _nearest_in_part, part, known, self._n_jobs) for part in parts]
            answer = engine.submit("bars", _bars, found, known, *asked)
            bars_of_classes: Floats = engine.gather(title, [answer])[0]
        return bars_of_classes


# What follows runs on workers.


def _answer(model: Any, part: Any, method: str, none: list[Any], args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Call a method of a model for a part of X, and return its results, which are `none` for an empty part."""
    part = held(part)
    if is_empty(part):
        return tuple(none)
    answer = getattr(model, method)(part, *args)
    if isinstance(answer, Explanation):
        return tuple(vars(answer).values())
    return answer if isinstance(answer, tuple) else (answer,)


def _first_of_equal(representatives: Collection, classes: Positions) -> tuple[Collection, Positions, Any]:
    """Return the first of equal representatives, their classes and their content hashes."""
    hashes = representatives.content_hashes()
    first = np.sort(np.unique(hashes, return_index=True)[1])
    return representatives.take(first), classes[first], hashes[first]


def _nearest_in_part(
    part: tuple[Collection | None, PartFacts], known: tuple[Collection, Positions, Any], n_jobs: int | None
) -> Seen | None:
    """Compare the objects of a part with the representatives. It is None if the part is empty."""
    collection, _ = part
    if collection is None:
        return None
    representatives, _, hashes = known
    space = representatives.space_of_queries(collection.objects, n_jobs=n_jobs)
    return seen(space, collection.content_hashes(), hashes)


def _bars(
    found: list[Seen | None],
    known: tuple[Collection, Positions, Any],
    n_classes: int,
    rate: float,
    nothing_in_common: float | None,
) -> Floats:
    parts = [part for part in found if part is not None]
    together = Seen(*(np.concatenate(side) for side in zip(*parts, strict=True)))
    return calibrated_bars(together, known[1], n_classes, rate, nothing_in_common)
