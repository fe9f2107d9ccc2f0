"""Nearest prototype classification: an object gets the label of the most similar representative."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from covey.graph.exact import nearest
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.progress import progress
from covey.selectors.crs import CRS
from covey.selectors.fitting import whole_or_nothing
from covey.similarity.collect import space_of
from covey.similarity.objects import Objects, check_labels, check_objects, clusters, count, exact_array, take
from covey.similarity.similarity import Similarity, is_precomputed, resolve
from covey.state import (
    FEATURES,
    LABELS,
    NOT_SAVED,
    SELECTOR,
    Facts,
    FittedState,
    Rule,
    n_features,
    n_objects,
    names_fit_features,
)

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Explanation:
    """Why objects got their labels; an entry for each object.

    Attributes
    ----------
    labels : array
        What `predict` answers.
    rejected : bool array
        Whether that is `unknown_label`.
    representatives : int array
        The representative that decided: its row in the X passed to `fit`.
    similarities : float array
        Its similarity to the object.
    runners_up : array or None
        The next class; None if there is only one.
    margins : float array or None
        How much less similar the best representative of that class is.
    """

    labels: NDArray[Any]
    rejected: NDArray[np.bool_]
    representatives: NDArray[np.intp]
    similarities: Floats
    runners_up: NDArray[Any] | None
    margins: Floats | None


class NearestPrototypeClassifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):
    """Classify by the nearest prototype, with the representative as evidence.

    Parameters
    ----------
    selector : selector, default=None
        Chooses the representatives of each class and brings the similarity; None is ``CRS()``.
    reject : None, "threshold" or float, default=None
        Answer `unknown_label` when the best similarity is below the winning cluster's own threshold, or below a fixed
        bar. The threshold is the mean similarity within the cluster by default, which rejects only what is plainly
        foreign; choose a higher bar on data of your own. A class of a single object has no threshold and is never
        rejected.
    unknown_label : default=-1
        The answer for rejected objects: of the labels' type, and none of them.

    Attributes
    ----------
    classes_ : array
        The labels, sorted.
    selector_ : selector
        The fitted selector.
    representatives_ : array, CSR array or list
        The selected objects, in the order of their rows in X; just these rows if similarities are precomputed.

    Examples
    --------
    >>> import covey
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> model = covey.NearestPrototypeClassifier(covey.CRS(n_neighbors=10)).fit(X[:1000], y[:1000])
    >>> model.predict(X[1000:1003])
    array([1, 4, 0])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "selector": [HasMethods(["fit_resample", "get_params"]), None],
        "reject": [StrOptions({"threshold"}), Interval(Real, None, None, closed="neither"), None],
        "unknown_label": "no_validation",
    }
    _fitted_state: ClassVar[FittedState] = {
        "classes_": LABELS,
        "selector_": SELECTOR,
        "representatives_": Rule(
            "an array, a CSR array or a list", lambda value: isinstance(value, np.ndarray | sp.csr_array | list)
        ),
        "_rows": Rule(  # a part of the file format, although it follows from the selector
            "the rows of the representatives",
            lambda value: isinstance(value, np.ndarray),
            derive=lambda model: np.sort(model.selector_.sample_indices_),
        ),
        "_classes_of": NOT_SAVED,
        **FEATURES,
    }
    _fitted_facts: ClassVar[Facts] = {
        "classes_ must ascend": lambda model: np.array_equal(np.unique(model.classes_), model.classes_),
        "classes_ must be the labels of the prototypes": lambda model: (
            [label for label, _ in clusters(model.classes_, model.classes_.size)] == list(model.selector_.prototypes_)
        ),
        "representatives_ must be one object for each of the rows": lambda model: (
            count(model.representatives_) == model.selector_.sample_indices_.size
        ),
        "n_features_in_ must be that of the selector": lambda model: n_features(model) == n_features(model.selector_),
        "feature_names_in_ must have n_features_in_ names": names_fit_features,
    }

    def __init__(self, selector: Any = None, *, reject: float | str | None = None, unknown_label: Any = -1) -> None:
        self.selector = selector
        self.reject = reject
        self.unknown_label = unknown_label

    @whole_or_nothing
    @with_callbacks
    def fit(self, X: Any, y: Any) -> Self:
        """Select representatives of each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            With a selector of ``similarity="precomputed"`` a square matrix of similarities; objects to classify then
            come as rows of their similarities to these objects, one column each.
        y : sequence of labels
        """
        self._check_parameters()
        if y is None:
            raise ValueError("NearestPrototypeClassifier requires y to be passed, but the target y is None.")
        if isinstance(self.selector, type):
            name = self.selector.__name__
            raise TypeError(f"selector must be an instance, got the class {name}; pass {name}().")
        selector = CRS() if self.selector is None else clone(self.selector)
        similarity = resolve(selector.similarity)
        objects = check_objects(X, similarity, self)
        y = check_labels(y, count(objects))
        if y.dtype.kind != "O":  # strings, or whole numbers beyond any one type, which scikit-learn does not know
            check_classification_targets(y)
        with tasks(self, 1, X, y) as told, told.part("selector", selector):
            self.selector_ = selector.fit(X, y)
        self.classes_ = np.unique(y)
        rows = np.sort(selector.sample_indices_)
        self._remember(rows, rows if similarity.kind == "matrix" else take(objects, rows))
        self._bars()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the representative r with the largest s(x, r); of equally similar ones, the lowest row."""
        bars = self._bars()
        nearest_ones, similarities = self._search(X, 1)
        winners = self._classes_of[nearest_ones[:, 0]]
        return self._answers(winners, similarities[:, 0] < bars[winners])

    def explain(self, X: Any) -> "Explanation":
        """What `predict` answers, and why: who decided, which class came second, and by how much it lost."""
        bars = self._bars()
        rows, similarities = self.class_evidence(X)
        every = np.arange(len(rows))
        winners = _best(rows, similarities)
        best = similarities[every, winners]
        rejected = best < bars[winners]
        labels = self._answers(winners, rejected)
        if self.classes_.size == 1:
            return Explanation(labels, rejected, rows[every, winners], best, None, None)
        similarities[every, winners] = -np.inf
        second = _best(rows, similarities)
        margins = best - similarities[every, second]
        return Explanation(labels, rejected, rows[every, winners], best, self.classes_[second], margins)

    def class_similarities(self, X: Any) -> Floats:
        """The best similarity of each object to each class, columns in the order of `classes_`."""
        return self.class_evidence(X)[1]

    def class_evidence(self, X: Any) -> tuple[NDArray[np.intp], Floats]:
        """The most similar representative of each class for each object.

        Returns
        -------
        indices : int array of shape (n_objects, n_classes)
            Rows of the X passed to `fit`, columns in the order of `classes_`.
        similarities : float array of shape (n_objects, n_classes)
        """
        check_is_fitted(self)
        similarity = self._similarity
        queries = self._check_queries(X, similarity)
        every = np.arange(self._rows.size)
        classes = [every[self._classes_of == label] for label in range(self.classes_.size)]
        best = [self._nearest(similarity, queries, chosen, 1) for chosen in classes]
        return self._rows[np.hstack([rows for rows, _ in best])], np.hstack([values for _, values in best])

    def decision_function(self, X: Any) -> Floats:
        """The best similarity to each class, columns in the order of `classes_`.

        As everywhere in scikit-learn, two classes give one column: how much more similar the second class is. See
        `class_similarities` for both.
        """
        similarities = self.class_similarities(X)
        return similarities[:, 1] - similarities[:, 0] if self.classes_.size == 2 else similarities

    def nearest_prototypes(self, X: Any, n: int = 3) -> tuple[NDArray[np.intp], Floats]:
        """The evidence: the n most similar representatives of each object, best first.

        Returns
        -------
        indices : int array of shape (n_objects, n)
            Rows of the X passed to `fit`. There are fewer than n columns if there are fewer representatives.
        similarities : float array of shape (n_objects, n)
        """
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ValueError(f"n must be an int of at least 1, got {n!r}.")
        nearest_ones, similarities = self._search(X, n)
        return self._rows[nearest_ones], similarities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(getattr(self.selector, "similarity", None))
        return tags

    def _remember(self, rows: NDArray[np.intp], representatives: Objects) -> None:
        """Keep what classification needs: the representatives, in the order of their rows, and their classes."""
        self._rows, self.representatives_ = rows, representatives
        self._classes_of = np.empty(rows.size, dtype=np.intp)
        for place, prototype in enumerate(self.selector_.prototypes_.values()):
            self._classes_of[np.searchsorted(rows, prototype.indices)] = place

    def _restore(self) -> None:
        """Prepare classification once the saved attributes are set; refuse representatives that X cannot hold."""
        rows, similarity, found = np.sort(self.selector_.sample_indices_), self._similarity, self.representatives_
        if similarity.kind == "matrix":  # the representatives are rows of X, which is not kept
            if not (np.array_equal(found, rows) and n_features(self) == n_objects(self.selector_)):
                raise ValueError("representatives_ and n_features_in_ must fit a matrix of similarities")
        else:
            as_fitted = NearestPrototypeClassifier()
            objects = check_objects(found, similarity, as_fitted)
            if n_features(as_fitted) != n_features(self):
                raise ValueError("representatives_ must have n_features_in_ columns")
            if (type(objects), getattr(objects, "dtype", None)) != (type(found), getattr(found, "dtype", None)):
                raise ValueError("representatives_ must be an array of numbers, a CSR array or a list of objects")
            if similarity.kind == "rows":
                space_of(objects, similarity)
        self._remember(rows, found)
        self._bars()
        every = np.arange(self.classes_.size)
        self._answers(every, every >= 0)

    @property
    def _similarity(self) -> Similarity:
        return resolve(self.selector_.similarity)

    def _search(self, X: Any, n: int) -> tuple[NDArray[np.intp], Floats]:
        check_is_fitted(self)
        similarity = self._similarity
        return self._nearest(similarity, self._check_queries(X, similarity), np.arange(self._rows.size), n)

    def _check_queries(self, X: Any, similarity: Similarity) -> Objects:
        if similarity.kind != "matrix":
            return check_objects(X, similarity, self, reset=False)
        shape: tuple[int, ...] = getattr(X, "shape", ())
        if len(shape) == 2 and shape[1] != self.n_features_in_:
            raise ValueError(
                f"X must have one column for each of the {self.n_features_in_} objects passed to fit when similarities "
                f"are precomputed, got {shape[1]} columns."
            )
        return check_objects(X, similarity, self, reset=False)[:, self._rows]

    def _nearest(
        self, similarity: Similarity, queries: Objects, chosen: NDArray[np.intp], n: int
    ) -> tuple[NDArray[np.intp], Floats]:
        """The n most similar of the `chosen` representatives (ascending positions)."""
        n_jobs = getattr(self.selector_, "n_jobs", None)
        if similarity.kind == "matrix":
            space = space_of(queries[:, chosen], similarity, against=chosen)
        else:
            among = take(self.representatives_, chosen)
            every = np.arange(count(queries))
            space = space_of(queries, similarity, every, among, self._rows[chosen], n_jobs)
        shown = getattr(self.selector_, "verbose", 0) > 0
        with progress("nearest prototypes", None, "evaluations", shown=shown) as bar:
            bar.watch(lambda: (space.n_done(), space.n_expected))
            lists = nearest(space, min(n, chosen.size), n_jobs)
        return chosen[lists.indices], lists.similarities

    def _answers(self, winners: NDArray[np.intp], rejected: NDArray[np.bool_]) -> NDArray[Any]:
        """The labels of the winning classes, `unknown_label` for the rejected, in a type that holds each exactly."""
        if self.reject is None:
            return self.classes_[winners]
        answers = np.array([*self.classes_.tolist(), self.unknown_label], dtype=object)
        answers = answers if self.classes_.dtype.kind == "O" else exact_array(answers)
        return answers[np.where(rejected, -1, winners)]

    def _bars(self) -> Floats:
        """The similarity below which each class is rejected, from parameters that may have changed since `fit`."""
        check_is_fitted(self)
        self._check_parameters()
        if self.reject is None:
            return np.full(self.classes_.size, -np.inf)
        self._check_rejection()
        if self.reject != "threshold":
            return np.full(self.classes_.size, float(self.reject))
        return np.array([prototype.threshold for prototype in self.selector_.prototypes_.values()])

    def _check_parameters(self) -> None:
        self._validate_params()
        if isinstance(self.reject, bool):  # which scikit-learn takes for a number
            raise TypeError(f"reject must be None, 'threshold' or a number, got {self.reject}; pass 'threshold'.")

    def _check_rejection(self) -> None:
        """Check what depends on the classes and their thresholds."""
        if not _same_type(self.unknown_label, self.classes_):
            raise TypeError(
                f"unknown_label must be of the labels' type, got {self.unknown_label!r} for labels such as "
                f"{self.classes_.tolist()[0]!r}; choose another, or relabel."
            )
        if self.unknown_label in self.classes_.tolist():
            raise ValueError(f"unknown_label must not be a class, got {self.unknown_label!r}; choose another.")
        for label, prototype in self.selector_.prototypes_.items():
            lacks = prototype.members.size > 1 and not np.isfinite(prototype.threshold)
            if self.reject == "threshold" and lacks:
                raise ValueError(
                    f"reject='threshold' needs a threshold for each cluster, but {label!r} has none; "
                    "use a selector with threshold='homogeneity', or a number as reject."
                )


def _best(rows: NDArray[np.intp], similarities: Floats) -> NDArray[np.intp]:
    """The class with the largest similarity; of equal ones, that of the lowest row."""
    tied = similarities == similarities.max(axis=1, keepdims=True)
    return np.where(tied, rows, np.iinfo(rows.dtype).max).argmin(axis=1)


def _same_type(label: Any, classes: NDArray[Any]) -> bool:
    """Whether an array of both would hold text only or (no booleans among them) numbers only."""
    numbers = (Real, np.number)
    if isinstance(label, str):
        return all(isinstance(other, str) for other in classes.tolist())
    if isinstance(label, bool) or not isinstance(label, numbers):
        return False
    return all(isinstance(other, numbers) and not isinstance(other, bool) for other in classes.tolist())
