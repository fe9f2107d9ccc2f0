"""Nearest prototype classification: an object gets the label of its most similar representative.

The similarities to all representatives can also serve as features for another model.
"""

from collections.abc import Iterator
from contextlib import contextmanager
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
from covey.explanation import Explanation
from covey.features import SimilarityFeatures
from covey.graph.all_pairs import has_few_nonzero, sample
from covey.graph.exact import nearest
from covey.graph.groups import nearest_of_groups
from covey.rejection import DEFAULT, calibrate, thresholds, unknown_answer
from covey.runtime.callbacks import CallbackSupportMixin, tasks, with_callbacks
from covey.runtime.progress import progress
from covey.selectors.crs import CRS, takes_collection
from covey.selectors.fitting import whole_or_nothing
from covey.selectors.labels import check_labels, clusters, exact_array
from covey.selectors.state import (
    BARS,
    FEATURES,
    LABELS,
    NOT_SAVED,
    SELECTOR,
    SHARE,
    TRUTH,
    Facts,
    FittedState,
    Rule,
    n_features,
    n_objects,
    names_fit_features,
    optional,
)
from covey.similarity.collect import collect, collect_representatives
from covey.similarity.collection import Representatives
from covey.similarity.mixed import MixedRows
from covey.similarity.named import is_precomputed, resolve
from covey.similarity.space import Space
from covey.similarity.types import Labels, Objects


class NearestPrototypeClassifier(CallbackSupportMixin, ClassifierMixin, SimilarityFeatures, BaseEstimator):
    """Classify objects by their most similar representative, which also serves as evidence.

    `transform` returns the similarities to all representatives, as features for another model.

    Parameters
    ----------
    selector : selector, default=None
        Selects the representatives of each class. Its `similarity` also compares new objects with them. None stands for
        ``CRS()``.
    reject : None, "calibrated", "threshold" or float, default=None
        When to answer `unknown_label`. None never does. A number is a fixed similarity: an object is rejected if its
        best similarity is below it. The other two do the same with a bar of the winning class. "calibrated" sets the
        bars at `fit` so that about the share `rejection_rate` of new objects of known classes is rejected. This takes
        the similarities of all objects of X to the representatives. "threshold" takes the own threshold of the class.
        That threshold is by default the mean similarity within the class, which rejects only objects that are plainly
        foreign. A class of a single object has no threshold, and objects that it wins are never rejected.
    rejection_rate : float, default=0.05
        The share of known objects that ``reject="calibrated"`` may reject, between 0 and 1. A higher rate catches more
        unknown objects. Classes that win fewer than 1 / rejection_rate - 1 objects of X share one bar; if all of these
        are still too few, objects that they win are never rejected.
    unknown_label : default=-1
        The answer for rejected objects. It must have the type of the labels and must not be one of them. If the labels
        are texts, the default stands for "unknown".

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
    sparse_output_ : bool
        Whether `transform` returns a CSR array. It does if more than two thirds of the similarities between
        representatives are 0, since a CSR array then takes less than half of the memory. Similarities that are
        expensive to compute, such as functions of your own, are not looked at and give a dense array.
    n_features_in_ : int
        How many columns X had. It is there only if X was a table.
    feature_names_in_ : array of str
        The names of the columns. They are there only if X was a frame with names.

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
    [0.07, 0.47]
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
        "representatives_": Rule(
            "an array, a CSR array, a list or MixedRows",
            lambda value: isinstance(value, np.ndarray | sp.csr_array | list | MixedRows),
        ),
        "_rows": Rule(  # files hold it, although it follows from the selector
            "the rows of the representatives",
            lambda value: isinstance(value, np.ndarray),
            derive=lambda model: np.sort(model.selector_.sample_indices_),
        ),
        "rejection_bars_": optional(BARS),
        "rejection_rate_": optional(SHARE),
        "sparse_output_": optional(TRUTH),  # files of earlier versions lack it
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
        """Select representatives of each class.

        Parameters
        ----------
        X : array, CSR matrix, frame or sequence of objects
            The objects. If the selector has ``similarity="precomputed"``, X is a square matrix of their similarities.
            Objects to classify are then rows of similarities, with a column for each object of this X.
        y : sequence of labels
            The class of each object.
        **fit_params
            What the `fit` of the selector takes beside X and y, such as `sample_weight` and `include` of `covey.CRS`.

        Returns
        -------
        NearestPrototypeClassifier
            The classifier itself.
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
        if y.dtype.kind != "O":  # such arrays may hold integers that scikit-learn refuses, since no type of NumPy can
            check_classification_targets(y)
        with tasks(self, 1, X, y) as callbacks, callbacks.part("selector", selector):
            self.selector_ = selector.fit(collection if takes_collection(selector) else X, y, **fit_params)
        self.classes_ = np.unique(y)
        rows = np.sort(selector.sample_indices_)
        self._remember(rows, collection.representatives(rows))
        self.sparse_output_ = has_few_nonzero(collection.take(sample(rows)).space())
        self._calibrate(collection)
        self._least_similarities()
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
        """
        least = self._least_similarities()
        nearest_ones, similarities = self._nearest(X, 1)
        winners = self._classes_of[nearest_ones[:, 0]]
        return self._answers(winners, similarities[:, 0] < least[winners])

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
        """
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
        with np.errstate(over="ignore"):  # a margin that is larger than the largest float is given as that one
            margins = np.minimum(best - similarities[every, second], np.finfo(np.float64).max)
        return Explanation(labels, rejected, rows[every, winners], best, self.classes_[second], margins)

    def class_similarities(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class. The columns are in the order of `classes_`."""
        return self.class_evidence(X)[1]

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
        """
        return self._nearest_of_classes(X)

    def decision_function(self, X: Objects) -> Floats:
        """Return the best similarity of each object to each class, in the form that scikit-learn expects.

        The columns are in the order of `classes_`. As everywhere in scikit-learn, two classes give a single number for
        each object: the similarity to the second class less that to the first. `class_similarities` returns both.
        """
        similarities = self.class_similarities(X)
        return similarities[:, 1] - similarities[:, 0] if self.classes_.size == 2 else similarities

    def nearest_prototypes(self, X: Objects, n: int = 3) -> tuple[Positions, Floats]:
        """Return the n most similar representatives of each object, the best first.

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
            Their similarities to the object.
        """
        check_how_many(n)
        nearest_ones, similarities = self._nearest(X, n)
        return self._rows[nearest_ones], similarities

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = is_precomputed(getattr(self.selector, "similarity", None))
        return tags

    def _remember(self, rows: Positions, representatives: Representatives) -> None:
        """Keep what classification needs: the representatives in the order of their rows, and the class of each."""
        self._rows, self._representatives = rows, representatives.prepared()
        self.representatives_ = representatives.objects
        self._classes_of = np.empty(rows.size, dtype=np.intp)
        for number, prototype in enumerate(self.selector_.prototypes_.values()):
            self._classes_of[np.searchsorted(rows, prototype.indices)] = number

    def _restore(self) -> None:
        """Prepare classification after a file has set the saved attributes.

        Raise ValueError if these do not fit each other.
        """
        rows, similarity = np.sort(self.selector_.sample_indices_), resolve(self.selector_.similarity)
        columns, n = n_features(self), n_objects(self.selector_)
        self._remember(rows, collect_representatives(self.representatives_, similarity, rows, columns, n))
        self.sparse_output_ = getattr(self, "sparse_output_", False)
        self._least_similarities()
        every = np.arange(self.classes_.size)
        self._answers(every, every >= 0)

    def _calibrate(self, objects: Any) -> None:
        """Set the bars of calibrated rejection. Remove those of an earlier fit if another rejection is asked for."""
        if self.reject == "calibrated":
            self.rejection_rate_ = float(self.rejection_rate)
            self.rejection_bars_ = self._bars_from(objects)
        elif hasattr(self, "rejection_rate_"):
            del self.rejection_rate_, self.rejection_bars_

    def _bars_from(self, objects: Any) -> Floats:
        """Return the bars of calibrated rejection, given a collection of all objects of X."""
        return calibrate(objects, self._rows, self._classes_of, self.rejection_rate_, self._n_jobs, shown=self._verbose)

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

    def _least_similarities(self) -> Floats:
        """Return the similarity below which each class is rejected.

        It is computed for every prediction, because the parameters may have changed since `fit`.
        """
        check_is_fitted(self)
        self._check_parameters()
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

    def _check_parameters(self) -> None:
        """Check what can be checked before anything is fitted."""
        self._validate_params()
        if isinstance(self.reject, bool):  # scikit-learn's check takes a bool for a number
            raise TypeError(f"reject must be None, 'calibrated', 'threshold' or a number, got {self.reject}.")


def check_how_many(n: Any) -> None:
    """Raise ValueError unless n can be a number of representatives to return."""
    if not (isinstance(n, int | np.integer) and n >= 1):
        raise ValueError(f"n must be an int of at least 1, got {n!r}.")


def _best(rows: Positions, similarities: Floats) -> Positions:
    """Return the class with the largest similarity.

    Of equal ones it is the class whose representative has the lowest row.
    """
    tied = similarities == similarities.max(axis=1, keepdims=True)
    return np.where(tied, rows, np.iinfo(rows.dtype).max).argmin(axis=1)
