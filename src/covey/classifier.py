"""Nearest prototype classification: an object gets the label of the most similar representative."""

from collections.abc import Iterator
from contextlib import contextmanager
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

from covey.arrays import Floats, Positions
from covey.graph.exact import nearest
from covey.graph.groups import nearest_of_groups
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.progress import progress
from covey.selectors.crs import CRS
from covey.selectors.fitting import whole_or_nothing
from covey.selectors.labels import check_labels, clusters, exact_array
from covey.selectors.state import (
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
from covey.similarity.collect import collect, collect_representatives
from covey.similarity.collection import Representatives
from covey.similarity.named import is_precomputed, resolve
from covey.similarity.space import Space


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
    representatives: Positions
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
        collection = collect(X, resolve(selector.similarity), self)
        y = check_labels(y, len(collection))
        if y.dtype.kind != "O":  # strings, or whole numbers beyond any one type, which scikit-learn does not know
            check_classification_targets(y)
        with tasks(self, 1, X, y) as told, told.part("selector", selector):
            self.selector_ = selector.fit(collection, y)
        self.classes_ = np.unique(y)
        rows = np.sort(selector.sample_indices_)
        self._remember(rows, collection.representatives(rows))
        self._least_similarities()
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label of the representative r with the largest s(x, r); of equally similar ones, the lowest row."""
        least = self._least_similarities()
        nearest_ones, similarities = self._nearest(X, 1)
        winners = self._classes_of[nearest_ones[:, 0]]
        return self._answers(winners, similarities[:, 0] < least[winners])

    def explain(self, X: Any) -> "Explanation":
        """What `predict` answers, and why: who decided, which class came second, and by how much it lost."""
        least = self._least_similarities()
        rows, similarities = self._nearest_of_classes(X, n_best=min(2, self.classes_.size))
        every = np.arange(len(rows))
        winners = _best(rows, similarities)
        best = similarities[every, winners]
        rejected = best < least[winners]
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

    def class_evidence(self, X: Any) -> tuple[Positions, Floats]:
        """The most similar representative of each class for each object.

        Returns
        -------
        indices : int array of shape (n_objects, n_classes)
            Rows of the X passed to `fit`, columns in the order of `classes_`.
        similarities : float array of shape (n_objects, n_classes)
        """
        return self._nearest_of_classes(X)

    def decision_function(self, X: Any) -> Floats:
        """The best similarity to each class, columns in the order of `classes_`.

        As everywhere in scikit-learn, two classes give one column: how much more similar the second class is. See
        `class_similarities` for both.
        """
        similarities = self.class_similarities(X)
        return similarities[:, 1] - similarities[:, 0] if self.classes_.size == 2 else similarities

    def nearest_prototypes(self, X: Any, n: int = 3) -> tuple[Positions, Floats]:
        """The evidence: the n most similar representatives of each object, best first.

        Returns
        -------
        indices : int array of shape (n_objects, n)
            Rows of the X passed to `fit`. There are fewer than n columns if there are fewer representatives.
        similarities : float array of shape (n_objects, n)
        """
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ValueError(f"n must be an int of at least 1, got {n!r}.")
        nearest_ones, similarities = self._nearest(X, n)
        return self._rows[nearest_ones], similarities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(getattr(self.selector, "similarity", None))
        return tags

    def _remember(self, rows: Positions, representatives: Representatives) -> None:
        """Keep what classification needs: the representatives, in the order of their rows, and their classes."""
        self._rows, self._representatives = rows, representatives.prepared()
        self.representatives_ = representatives.objects
        self._classes_of = np.empty(rows.size, dtype=np.intp)
        for number, prototype in enumerate(self.selector_.prototypes_.values()):
            self._classes_of[np.searchsorted(rows, prototype.indices)] = number

    def _restore(self) -> None:
        """Prepare classification once the saved attributes are set; refuse representatives that X cannot hold."""
        rows, similarity = np.sort(self.selector_.sample_indices_), resolve(self.selector_.similarity)
        columns, n = n_features(self), n_objects(self.selector_)
        self._remember(rows, collect_representatives(self.representatives_, similarity, rows, columns, n))
        self._least_similarities()
        every = np.arange(self.classes_.size)
        self._answers(every, every >= 0)

    def _nearest(self, X: Any, n: int) -> tuple[Positions, Floats]:
        """The places of the n most similar representatives, best first, and their similarities."""
        with self._space_of(X) as space:
            lists = nearest(space, min(n, self._rows.size))
        return lists.indices.astype(np.intp), lists.similarities

    def _nearest_of_classes(self, X: Any, n_best: int | None = None) -> tuple[Positions, Floats]:
        """The rows of the most similar representatives of all classes, or of the best few, and their similarities."""
        with self._space_of(X) as space:
            indices, similarities = nearest_of_groups(space, self._classes_of, n_best)
        return self._rows[indices], similarities

    @contextmanager
    def _space_of(self, X: Any) -> Iterator[Space]:
        """The space of queries and representatives, with a progress bar as long as it is used."""
        check_is_fitted(self)
        space = self._representatives.space_of_queries(X, self, getattr(self.selector_, "n_jobs", None))
        shown = getattr(self.selector_, "verbose", 0) > 0
        with progress("nearest prototypes", None, "evaluations", shown=shown) as bar:
            bar.watch(lambda: (space.n_done(), space.n_expected))
            yield space

    def _answers(self, winners: Positions, rejected: NDArray[np.bool_]) -> NDArray[Any]:
        """The labels of the winning classes, `unknown_label` for the rejected, in a type that holds each exactly."""
        if self.reject is None:
            return self.classes_[winners]
        answers = np.array([*self.classes_.tolist(), self.unknown_label], dtype=object)
        answers = answers if self.classes_.dtype.kind == "O" else exact_array(answers)
        return answers[np.where(rejected, -1, winners)]

    def _least_similarities(self) -> Floats:
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


def _best(rows: Positions, similarities: Floats) -> Positions:
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
