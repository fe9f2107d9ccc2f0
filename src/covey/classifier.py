"""Nearest prototype classification: an object gets the label of its most similar representative.

1. `fit` lets a selector choose representatives of each class, and keeps these alone.
2. `predict` finds the most similar representative of each object, whose class wins unless the similarity is below the
   bar of this class (`rejection.py`). `explain` says why.
3. `nearest_prototypes` and the methods of classes return the similarities behind an answer, and `transform` returns
   those to all representatives, as features for another model. Whether these are stored as a CSR array is decided at
   `fit` and not by the objects that are transformed, so that the other model always gets what it has been fitted to.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin, clone
from sklearn.utils._param_validation import HasMethods, StrOptions
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from covey.arrays import Floats, Positions
from covey.exceptions import MissingBarsWarning
from covey.graph.by_group import nearest_of_groups
from covey.graph.exact import all_similarities, has_few_nonzero, nearest, sample
from covey.notebook import summary_of
from covey.rejection import DEFAULT, calibrate, missing_bars, thresholds, unknown_answer
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.parameters import Interval, is_whole
from covey.runtime.progress import progress
from covey.selectors.base import Selector, whole_or_nothing
from covey.selectors.crs import CRS
from covey.selectors.labels import check_labels, clusters, exact_array, sorted_labels
from covey.selectors.request import routed, router
from covey.selectors.saved_state import (
    BARS,
    FEATURES,
    LABELS,
    NOT_SAVED,
    NUMBER,
    SELECTOR,
    SHARE,
    TRUTH,
    Constraint,
    Facts,
    FittedState,
    n_features,
    n_objects,
    names_fit_features,
    optional,
    or_none,
)
from covey.similarity.collection import Representatives
from covey.similarity.inputs import Labels, Objects
from covey.similarity.kinds import collect, collect_representatives
from covey.similarity.kinds.mixed import MixedRows
from covey.similarity.measures import is_precomputed, resolve
from covey.similarity.space import Space


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why objects got their labels.

    `NearestPrototypeClassifier.explain` returns it, and each attribute has an entry for each object. A small margin
    marks an answer that nearly was another one; look at such objects first.

    Attributes
    ----------
    labels : array
        The labels that `predict` answers.
    rejected : bool array
        Whether the label is `unknown_label`, because no representative is similar enough.
    representatives : int array
        The most similar representative, which decided the label, as its row in the X passed to `fit`.
    similarities : float array
        The similarity of the object to this representative.
    runners_up : array or None
        The label of the class that came second. It is None if there is only one class.
    margins : float array or None
        The similarity to the best representative of the first class, less the similarity to that of the second. It is
        None if there is only one class.

    See Also
    --------
    covey.NearestPrototypeClassifier : Its method `explain` makes explanations.

    Examples
    --------
    >>> import covey
    >>> X, y = [[1, 0], [1, 0.1], [0.1, 1], [0, 1]], ["wide", "wide", "tall", "tall"]
    >>> model = covey.NearestPrototypeClassifier(covey.KeepAll(similarity="euclidean")).fit(X, y)
    >>> answer = model.explain([[0.9, 0.1]])
    >>> answer.labels, answer.representatives, answer.runners_up
    (array(['wide'], dtype='<U4'), array([1]), array(['tall'], dtype='<U4'))
    >>> answer.margins.round(2)
    array([0.46])
    """

    labels: NDArray[Any]
    rejected: NDArray[np.bool_]
    representatives: Positions
    similarities: Floats
    runners_up: NDArray[Any] | None
    margins: Floats | None


class NearestPrototypeClassifier(CallbackSupportMixin, ClassifierMixin, TransformerMixin, BaseEstimator):
    """Classify objects by their most similar representative, which also serves as evidence.

    An object gets the label of the representative that it is most similar to. This costs one evaluation for each
    representative, where nearest neighbor classification takes one for each object of X. `transform` returns the
    similarities to all representatives, as features for another model.

    Parameters
    ----------
    selector : selector or None, default=None
        Selects the representatives of each class. Its `similarity` also compares new objects with them. None stands for
        ``CRS()``.
    reject : None, "calibrated", "threshold" or float, default=None
        When to answer `unknown_label`. None never does. A number is a fixed similarity: an object is rejected if its
        best similarity is below it. The other two do the same with a bar of the winning class. "calibrated" sets the
        bars at `fit` so that about the share `rejection_rate` of new objects of known classes is rejected. This takes
        the similarities of all objects of X to the representatives. "threshold" takes the own threshold of the class,
        which is by default the mean similarity within the class. A class of a single object has no threshold. With
        any bar, an object that has nothing in common with any representative is rejected, if the similarity has a
        value that says so: see `nothing_in_common_`.
    rejection_rate : float, default=0.05
        The share of known objects that ``reject="calibrated"`` may reject, between 0 and 1. A higher rate catches more
        unknown objects. A bar takes about 1 / rejection_rate different objects. Classes that win fewer objects of X
        share one bar; if all of these are still too few, it is that of all classes together. If even all classes are
        too few, no bar rejects anything, and `fit` warns by a `covey.exceptions.MissingBarsWarning`.
    unknown_label : int or str, default=-1
        The answer for rejected objects. It must have the type of the labels and must not be one of them. If the labels
        are strings, the default stands for "unknown".

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    selector_ : selector
        The fitted selector.
    representatives_ : array, CSR array, list or MixedRows
        The selected objects, in the order of their rows in X. If similarities are precomputed, these are only the row
        numbers. Under "gower" they are encoded, with the ranges of all columns of X.
    rejection_bars_ : float array
        For each class, the similarity below which an object that it wins is rejected. It is there only after a fit with
        ``reject="calibrated"``.
    rejection_rate_ : float
        The rate that these bars were made for.
    nothing_in_common_ : float or None
        The similarity of objects that have nothing in common. It is 0 for profiles, counts and other rows without
        negative numbers, bits, strings and mixed columns under named similarities. It is None for rows with negative
        numbers, distances, matrices and functions, whose values do not say so.
    sparse_output_ : bool
        Whether `transform` returns a CSR array. It does if more than two thirds of the similarities between
        representatives are 0, since a CSR array then takes less than half of the memory. Similarities that are
        expensive to compute, such as custom functions, are not looked at and give a dense array.
    n_features_in_ : int
        How many columns X had. It is there only if X was a table.
    feature_names_in_ : array of str
        The names of the columns. They are there only if X was a frame with names.

    Raises
    ------
    TypeError
        At `fit`, if `selector` is a class and not an instance, if `reject` is True or False, or if rejected objects
        would get an `unknown_label` of another type than the labels.
    ValueError
        At `fit`, if there are no labels, if X and y differ in length, if `unknown_label` is one of the labels, or if
        ``reject="threshold"`` and the selector has no thresholds. At `predict`, if the objects are of another kind than
        those of the fit, or have other columns.

    See Also
    --------
    covey.CRS : The default selector.
    covey.Sharpened : Representatives that tell the classes apart; fewer of them classify as well.
    covey.KeepAll : With it, this is nearest neighbor classification.
    covey.dask.NearestPrototypeClassifier : The same on a Dask cluster.
    covey.save : Write a fitted classifier to a file.

    Notes
    -----
    Only the representatives are kept, not X. A fit costs what its selector costs; ``reject="calibrated"`` adds one
    evaluation for each object and representative. Classifying m objects by r representatives takes m * r evaluations,
    and memory for blocks of them only.

    There are no probabilities, because similarities are not calibrated. Without `reject`, an object that resembles
    nothing still gets a label.

    Calibrated bars are quantiles of the similarities that the objects of X show to representatives which are not equal
    to them, collected by winning class. Equal objects count once. An object also shows, with a small weight, how
    similar it is to the representative that comes second, because new objects have had no part in the selection.
    Similarities that say nothing in common set no bar, and objects that are rejected for them come on top of the rate.

    References
    ----------
    .. [1] J. Hlaváč, M. Kopp and J. Kohout, "Cluster Representatives Selection in Non-Metric Spaces for Nearest
       Prototype Classification", arXiv:2107.01345, 2021.

    Examples
    --------
    >>> import covey
    >>> import numpy as np
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10)).fit(X[:1000], y[:1000])
    >>> model.predict(X[1000:1003])
    array([1, 4, 0])

    Few of the known digits are rejected here, and many of the nines, which were not there at `fit`:

    >>> careful = covey.NearestPrototypeClassifier(covey.CRS(10), reject="calibrated", rejection_rate=0.05)
    >>> learned = (y < 9) & (np.arange(y.size) % 2 == 0)
    >>> answers = careful.fit(X[learned], y[learned]).predict(X[~learned])
    >>> [round(float((answers[which] == -1).mean()), 2) for which in (y[~learned] < 9, y[~learned] == 9)]
    [0.07, 0.34]
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "selector": [HasMethods(["fit_resample", "get_params"]), None],
        "reject": [StrOptions({"calibrated", "threshold"}), Interval(Real, None, None, closed="neither"), None],
        "rejection_rate": [Interval(Real, 0, 1, closed="neither")],
        "unknown_label": "no_validation",
    }
    _fitted_state: ClassVar[FittedState] = {
        "classes_": LABELS,
        "selector_": SELECTOR,
        "representatives_": Constraint(
            "an array, a CSR array, a list or MixedRows",
            lambda value: isinstance(value, np.ndarray | sp.csr_array | list | MixedRows),
        ),
        "_rows": Constraint(  # files hold it, although it follows from the selector
            "the rows of the representatives",
            lambda value: isinstance(value, np.ndarray),
            derive=lambda model: np.sort(model.selector_.sample_indices_),
        ),
        "rejection_bars_": optional(BARS),
        "rejection_rate_": optional(SHARE),
        "nothing_in_common_": optional(or_none(NUMBER)),  # files of earlier versions lack this and the next one
        "sparse_output_": optional(TRUTH),
        "_classes_of": NOT_SAVED,
        "_representatives": NOT_SAVED,
        **FEATURES,
    }
    _fitted_facts: ClassVar[Facts] = {
        "classes_ must ascend": lambda model: np.array_equal(np.unique(model.classes_), model.classes_),
        "classes_ must be the labels of the prototypes": lambda model: (
            [label for label, _ in clusters(model.classes_, model.classes_.size)] == list(model.selector_.prototypes_)
        ),
        "n_features_in_ must be that of the selector": lambda model: n_features(model) == n_features(model.selector_),
        "feature_names_in_ must have n_features_in_ names": names_fit_features,
        "rejection_bars_ must be one for each class, with the rate that they are for": lambda model: (
            model.rejection_bars_.size == model.classes_.size and hasattr(model, "rejection_rate_")
            if hasattr(model, "rejection_bars_")
            else not hasattr(model, "rejection_rate_")
        ),
    }

    def __init__(
        self,
        selector: Any = None,
        *,
        reject: float | str | None = None,
        rejection_rate: float = 0.05,
        unknown_label: Any = DEFAULT,
    ) -> None:
        self.selector = selector
        self.reject = reject
        self.rejection_rate = rejection_rate
        self.unknown_label = unknown_label

    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Objects, y: Labels, **fit_params: Any) -> Self:
        """Select representatives of each class, and prepare them for classification.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects. If the selector has ``similarity="precomputed"``, X is a square matrix of their similarities.
            Objects to classify are then rows of similarities, with a column for each object of this X.
        y : sequence of labels
            The class of each object.
        **fit_params
            What the `fit` of the selector takes beside X and y, such as `sample_weight` and `include` of `covey.CRS`.
            If scikit-learn's metadata routing is enabled, the selector gets what it requests by `set_fit_request`.
            Inside of a search or cross-validation, `include` must be a mask.

        Returns
        -------
        NearestPrototypeClassifier
            The classifier itself.

        Examples
        --------
        A matrix of similarities can stand in the place of objects. A query is then a row of similarities:

        >>> import covey
        >>> S = [[1, 0.9, 0.2], [0.9, 1, 0.1], [0.2, 0.1, 1]]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(1, similarity="precomputed"))
        >>> model.fit(S, ["cat", "cat", "dog"]).predict([[0.3, 0.4, 0.8]])
        array(['dog'], dtype='<U3')
        """
        self._validate_params()
        if y is None:
            raise ValueError("NearestPrototypeClassifier requires y to be passed, but the target y is None.")
        if isinstance(self.selector, type):
            name = self.selector.__name__
            raise TypeError(f"selector must be an instance, got the class {name}; pass {name}().")
        if hasattr(self.selector, "to_local"):
            raise TypeError(
                "selector must work in this process, got one that works on a Dask cluster; pass it to "
                "covey.dask.NearestPrototypeClassifier, whose method to_local() returns a classifier for this process."
            )
        selector = clone(self._given_selector())
        collection = collect(X, resolve(selector.similarity), self)
        y = check_labels(y, len(collection))
        if y.dtype.kind != "O":  # such arrays may hold integers that scikit-learn refuses, since no type of NumPy can
            check_classification_targets(y)
        with tasks(self, 1, X, y) as callbacks, callbacks.part("selector", selector):
            passed = routed(self, fit_params)
            if isinstance(selector, Selector):
                self.selector_ = selector._fit_collection(collection, y, passed)
            else:  # one of another library
                self.selector_ = selector.fit(X, y, **passed)
        rows = np.sort(selector.sample_indices_)
        self._prepare(
            sorted_labels(y)[0],
            collection.representatives(rows),
            nothing_in_common=collection.nothing_in_common,
            sparse_output=has_few_nonzero(collection.take(sample(rows)).space()),
        )
        self._calibrate(
            lambda: calibrate(
                collection, rows, self._classes_of, self.rejection_rate_, self._n_jobs, shown=self._verbose
            )
        )
        return self

    def predict(self, X: Objects) -> NDArray[Any]:
        """Return the label of the most similar representative of each object.

        The representative r with the largest s(x, r) decides. If several are equally similar, the one with the lowest
        row in X does.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        array of shape (n_objects,)
            The labels; `unknown_label` for rejected objects.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the classifier is not fitted.
        ValueError
            If the objects are not of the kind of the fit, or if `reject` has become "calibrated" only after `fit`.

        See Also
        --------
        explain : The same answers with the reasons for them.

        Examples
        --------
        With `reject`, what resembles no representative gets the unknown label:

        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(1), reject=0.9).fit(X, y)
        >>> model.predict([[7, 1], [2, 9], [5, 5]])
        array(['wide', 'tall', 'unknown'], dtype='<U7')
        """
        bars = self._bars()
        nearest_ones, similarities = self._nearest(X, 1)
        winners = self._classes_of[nearest_ones[:, 0]]
        return self._answers(winners, self._are_rejected(similarities[:, 0], bars[winners]))

    def explain(self, X: Objects) -> Explanation:
        """Return what `predict` answers and why.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        Explanation
            The representative that decided, the class that came second, and by how much it lost.

        See Also
        --------
        nearest_prototypes : More representatives of each object.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(1)).fit(X, y)
        >>> why = model.explain([[7, 2]])
        >>> why.labels, X[why.representatives[0]], why.margins.round(2)
        (array(['wide'], dtype='<U4'), [9, 1], array([0.59]))
        """
        bars = self._bars()
        rows, similarities = self._nearest_of_classes(X, n_best=min(2, self.classes_.size))
        winners = best_classes(rows, similarities)
        every = np.arange(winners.size)
        best = similarities[every, winners]
        rejected = self._are_rejected(best, bars[winners])
        evidence = self._answers(winners, rejected), rejected, rows[every, winners], best
        if self.classes_.size == 1:
            return Explanation(*evidence, None, None)
        second, margins = runners_up(rows, similarities, winners)
        return Explanation(*evidence, self.classes_[second], margins)

    def nearest_prototypes(self, X: Objects, n: int = 3) -> tuple[Positions, Floats]:
        """Return the n most similar representatives of each object, the best first.

        This is the evidence behind an answer: show the first one, and a person can judge whether the answer is right.
        Of equally similar representatives the one with the lowest row comes first.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, of the kind that was passed to `fit`.
        n : int, default=3
            How many representatives to return. If there are fewer, all are returned.

        Returns
        -------
        indices : int array of shape (n_objects, n)
            The representatives, as rows of the X passed to `fit`.
        similarities : float array of shape (n_objects, n)
            The similarities s(x, r) of each object x to them.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the estimator is not fitted.
        ValueError
            If n is not a whole number of at least 1, or if the objects are not of the kind that was passed to `fit`.

        See Also
        --------
        class_evidence : The most similar representative of each class.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=1)).fit(X, y)
        >>> rows, similarities = model.nearest_prototypes([[7, 2]], n=2)
        >>> rows, similarities.round(2)
        (array([[0, 2]]), array([[0.99, 0.39]]))
        """
        check_how_many(n)
        nearest_ones, similarities = self._nearest(X, n)
        return self._rows[nearest_ones], similarities

    def class_evidence(self, X: Objects) -> tuple[Positions, Floats]:
        """Return, for each object, the most similar representative of each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        indices : int array of shape (n_objects, n_classes)
            Rows of the X passed to `fit`. The columns are in the order of `classes_`.
        similarities : float array of shape (n_objects, n_classes)
            The similarities to these representatives.

        See Also
        --------
        nearest_prototypes : The most similar representatives of any class.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=1)).fit(X, y)
        >>> rows, similarities = model.class_evidence([[7, 2]])
        >>> model.classes_, rows, similarities.round(2)
        (array(['tall', 'wide'], dtype='<U4'), array([[2, 0]]), array([[0.39, 0.99]]))
        """
        return self._nearest_of_classes(X)

    def class_similarities(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        float array of shape (n_objects, n_classes)
            The largest similarity s(x, r) of an object x to a representative r of the class. The columns are in the
            order of `classes_`. They are not probabilities, because similarities are not calibrated.

        See Also
        --------
        class_evidence : Which representatives these are.
        """
        return self.class_evidence(X)[1]

    def decision_function(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class, in the form that scikit-learn expects.

        The columns are in the order of `classes_`. As everywhere in scikit-learn, two classes give a single number for
        each object: the similarity to the second class less that to the first. `class_similarities` returns both.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects to classify, of the kind that was passed to `fit`.

        Returns
        -------
        float array of shape (n_objects, n_classes), or (n_objects,) for two classes
            The largest values belong to the labels that `predict` answers where nothing is rejected.

        Examples
        --------
        >>> import covey
        >>> X, y = [[9, 1], [8, 1], [1, 8], [1, 9]], ["wide", "wide", "tall", "tall"]
        >>> model = covey.NearestPrototypeClassifier(covey.CRS(1)).fit(X, y)
        >>> model.decision_function([[7, 2], [2, 7]]).round(2)
        array([ 0.59, -0.61])
        """
        similarities = self.class_similarities(X)
        return similarities[:, 1] - similarities[:, 0] if self.classes_.size == 2 else similarities

    def transform(self, X: Objects) -> Any:
        """Return the similarities of each object to all representatives, as features for another model.

        Such features are known as a dissimilarity representation [1]_. They turn objects of any kind into rows of
        numbers, so that a linear model, for instance, can learn from strings or graphs. It weighs all representatives,
        where `predict` asks only the nearest, and may therefore answer better; on 20 Newsgroups it does by far. The
        cost is one evaluation for each object and representative.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects, of the kind that was passed to `fit`.

        Returns
        -------
        array or CSR array of shape (n_objects, n_representatives)
            The similarities s(x, r) in float64. The columns are in the order of the representatives' rows in X, as in
            `representatives_`. It is a CSR array if `sparse_output_` is true and `set_output` asks for no frame.

        References
        ----------
        .. [1] E. Pekalska and R. P. W. Duin, "The Dissimilarity Representation for Pattern Recognition", World
           Scientific, 2005.

        Examples
        --------
        >>> import covey
        >>> from sklearn.linear_model import LogisticRegression
        >>> from sklearn.pipeline import make_pipeline
        >>> words, languages = ["casa", "cosa", "rosa", "haus", "maus", "laus"], ["it"] * 3 + ["de"] * 3
        >>> def shared(a, b):
        ...     return len(set(a) & set(b)) / len(set(a) | set(b))
        >>> similarities = covey.NearestPrototypeClassifier(covey.CRS(2, similarity=shared))
        >>> similarities.fit(words, languages).transform(["case", "maus"]).round(2)
        array([[0.6 , 0.33],
               [0.33, 0.6 ]])
        >>> model = make_pipeline(similarities, LogisticRegression()).fit(words, languages)
        >>> model.predict(["case", "raus"])
        array(['it', 'de'], dtype='<U2')
        """
        check_is_fitted(self)
        sparse = self.sparse_output_ and _get_output_config("transform", self)["dense"] == "default"
        with self._space_of(X) as space:
            return all_similarities(space, sparse=sparse)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the columns of `transform`, each of which names the row of a representative.

        Parameters
        ----------
        input_features : None, default=None
            It is not used, and is there because scikit-learn passes it.

        Returns
        -------
        array of str
            For each representative ``similarity_to_`` and its row in the X passed to `fit`.

        Examples
        --------
        >>> import covey
        >>> model = covey.NearestPrototypeClassifier(covey.KeepAll()).fit([[9, 1], [1, 9]], ["wide", "tall"])
        >>> model.get_feature_names_out()
        array(['similarity_to_0', 'similarity_to_1'], dtype=object)
        """
        check_is_fitted(self)
        return np.array([f"similarity_to_{row}" for row in self._rows.tolist()], dtype=object)

    def get_metadata_routing(self) -> MetadataRouter:
        """Return who gets what is passed to `fit` beside X and y: the selector, as it requests.

        Returns
        -------
        sklearn.utils.metadata_routing.MetadataRouter
            The routing.
        """
        return router(self, self._given_selector())

    def _html_repr(self) -> str:
        """Return what a notebook shows: a summary of what was fitted, above scikit-learn's diagram."""
        return summary_of(self) + str(super()._html_repr())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(getattr(self.selector, "similarity", None))
        # A classifier has no seed of its own, so that two fits may differ if its selector has none.
        tags.non_deterministic = getattr(self._given_selector(), "random_state", 0) is None
        return tags

    def _given_selector(self) -> Any:
        """Return the selector of the parameters, or the default one."""
        return CRS() if self.selector is None else self.selector

    def _prepare(
        self,
        classes: NDArray[Any],
        representatives: Representatives,
        *,
        nothing_in_common: float | None,
        sparse_output: bool,
    ) -> None:
        """Set what classification needs beside the fitted selector, but for the bars of rejection."""
        self.classes_ = classes
        self._remember(representatives)
        self.nothing_in_common_ = nothing_in_common
        self.sparse_output_ = sparse_output

    def _remember(self, representatives: Representatives) -> None:
        """Keep the representatives in the order of their rows, and the class of each."""
        self._rows, self._representatives = np.sort(self.selector_.sample_indices_), representatives.prepared()
        self.representatives_ = representatives.objects
        self._classes_of = np.empty(self._rows.size, dtype=np.intp)
        for number, prototype in enumerate(self.selector_.prototypes_.values()):
            self._classes_of[np.searchsorted(self._rows, prototype.indices)] = number

    def _restore(self) -> None:
        """Prepare classification after a file has set the saved attributes.

        Raise ValueError if these do not fit each other.
        """
        rows, similarity = np.sort(self.selector_.sample_indices_), resolve(self.selector_.similarity)
        columns, n = n_features(self), n_objects(self.selector_)
        self._remember(collect_representatives(self.representatives_, similarity, rows, columns, n))
        self.sparse_output_ = getattr(self, "sparse_output_", False)
        of_representatives = self._representatives.nothing_in_common
        self.nothing_in_common_ = getattr(self, "nothing_in_common_", of_representatives)
        if self.nothing_in_common_ not in (None, of_representatives):
            raise ValueError(f"nothing_in_common_ must be {of_representatives} or None, got {self.nothing_in_common_}")
        self._bars()
        every = np.arange(self.classes_.size)
        self._answers(every, every >= 0)

    def _calibrate(self, bars: Callable[[], Floats]) -> None:
        """Set the bars of calibrated rejection. Remove those of an earlier fit if another rejection is asked for."""
        if self.reject == "calibrated":
            self.rejection_rate_ = float(self.rejection_rate)
            self.rejection_bars_ = bars()
            without = missing_bars(self)
            if without is not None:
                warnings.warn(without, MissingBarsWarning, stacklevel=2)
        elif hasattr(self, "rejection_rate_"):
            del self.rejection_rate_, self.rejection_bars_
        self._bars()

    def _answers(self, winners: Positions, rejected: NDArray[np.bool_]) -> NDArray[Any]:
        """Return the labels of the winning classes, and `unknown_label` for rejected objects.

        The array has a type that holds each of them exactly.
        """
        if self.reject is None:
            return self.classes_[winners]
        unknown = unknown_answer(self.unknown_label, self.classes_)
        answers = np.array([*self.classes_.tolist(), unknown], dtype=object)
        answers = answers if self.classes_.dtype.kind == "O" else exact_array(answers)
        return answers[np.where(rejected, -1, winners)]

    def _are_rejected(self, similarities: Floats, bars: Floats) -> NDArray[np.bool_]:
        """Return which objects are rejected, given their best similarities and the bars of the winning classes."""
        below = similarities < bars
        if self.reject is None or self.nothing_in_common_ is None:
            return below
        return below | (similarities <= self.nothing_in_common_)

    def _bars(self) -> Floats:
        """Return the similarity below which each class is rejected.

        It is computed for every prediction, because the parameters may have changed since `fit`.
        """
        check_is_fitted(self)
        self._validate_params()
        if self.reject is None:
            return np.full(self.classes_.size, -np.inf)
        unknown_answer(self.unknown_label, self.classes_)
        if self.reject == "threshold":
            return thresholds(self.selector_.prototypes_)
        if self.reject == "calibrated":
            return self._calibrated_bars()
        return np.full(self.classes_.size, float(self.reject))

    def _calibrated_bars(self) -> Floats:
        """Return the bars of the fit. Raise ValueError if the fit had other parameters."""
        fitted = getattr(self, "rejection_rate_", None)
        if fitted is None:
            raise ValueError("reject='calibrated' sets its bars at fit, but reject was another then; fit again.")
        if fitted != self.rejection_rate:
            raise ValueError(
                f"rejection_rate must be the one that the bars were made for at fit, which was {fitted}, got "
                f"{self.rejection_rate}; fit again."
            )
        return self.rejection_bars_

    def _nearest(self, X: Objects, n: int) -> tuple[Positions, Floats]:
        """Return the n most similar representatives, the best first, and their similarities.

        The representatives are positions in `_rows`.
        """
        with self._space_of(X) as space:
            lists = nearest(space, min(n, self._rows.size))
        return lists.indices.astype(np.intp), lists.similarities

    def _nearest_of_classes(self, X: Objects, n_best: int | None = None) -> tuple[Positions, Floats]:
        """Return the row of the most similar representative of each class, and its similarity.

        If `n_best` is given, only that many of the best classes are sure to have one.
        """
        with self._space_of(X) as space:
            indices, similarities = nearest_of_groups(space, self._classes_of, n_best)
        return self._rows[indices], similarities

    @contextmanager
    def _space_of(self, X: Objects) -> Iterator[Space]:
        """Make the space of queries and representatives, and show a progress bar for as long as it is used."""
        check_is_fitted(self)
        space = self._representatives.space_of_queries(X, self, self._n_jobs)
        with progress("nearest prototypes", None, "evaluations", shown=self._verbose) as bar:
            bar.watch(lambda: (space.n_done(), space.n_expected))
            yield space

    @property
    def _verbose(self) -> bool:
        """Whether progress is shown. The selector decides it."""
        return bool(getattr(self.selector_, "verbose", 0) > 0)

    @property
    def _n_jobs(self) -> int | None:
        """How many threads or processes compare objects with representatives: as many as the selector may use."""
        return getattr(self.selector_, "n_jobs", None)


def check_how_many(n: Any) -> None:
    """Raise ValueError unless n can be a number of representatives to return."""
    if not is_whole(n, 1):
        raise ValueError(f"n must be an int of at least 1, got {n!r}.")


def best_classes(rows: Positions, similarities: Floats) -> Positions:
    """Return the class with the largest similarity to each object, given the best representative of each class.

    Of equal ones it is the class whose representative has the lowest row.
    """
    tied = similarities == similarities.max(axis=1, keepdims=True)
    return np.where(tied, rows, np.iinfo(rows.dtype).max).argmin(axis=1)


def runners_up(rows: Positions, similarities: Floats, winners: Positions) -> tuple[Positions, Floats]:
    """Return the classes that came second, and by how much they lost."""
    every = np.arange(winners.size)
    best, others = similarities[every, winners], similarities.copy()
    others[every, winners] = -np.inf
    second = best_classes(rows, others)
    return second, best - others[every, second]
