"""Random trees of pipelines, searches and classifiers around a selector that writes down what its fit gets.

The first column of X says which row it is. So whatever the tree does to X, the weights and the mask that reach the
selector must be those of the rows that it sees, and row numbers must be refused unless the tree passes all rows on.
"""

import numpy as np
import sklearn
from imblearn import pipeline as imbalanced
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, VotingClassifier
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, cross_val_predict, cross_validate
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

import covey
from tests.attack._outcomes import FaultError, sentence, tally

SEEN = []
REFUSED = "include must hold True or False for each row of X if fit is called by"


def attack(rng, n_cases):
    return tally(one_case, rng, n_cases)


class Spy(covey.CRS):
    """Writes down the rows that its fit sees, with their weights and its rows to include."""

    def fit(self, X, y=None, *, sample_weight=None, include=None):
        SEEN.append((np.asarray(X)[:, 0].astype(int), sample_weight, include))
        return super().fit(X, y, sample_weight=sample_weight, include=include)


class Unchanged(TransformerMixin, BaseEstimator):
    """A step of a pipeline that changes nothing."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return X

    def __sklearn_is_fitted__(self):
        return True


def share_of_right(model, X, y):
    """A score without weights, which some estimators would not pass on to the score of what is inside them."""
    return float(np.mean(model.predict(X) == y))


def one_case(rng):
    SEEN.clear()
    routing = bool(rng.random() < 0.6)
    n = int(rng.integers(60, 120))
    X = np.column_stack([np.arange(n), rng.random((n, 2)) + 1])
    y = np.arange(n) % int(rng.integers(2, 4))
    weights, mask = rng.random(n) + 0.1, rng.random(n) < 0.2
    numbers = np.flatnonzero(mask) if rng.random() < 0.5 else rng.integers(0, n, n)
    by_number = bool(rng.random() < 0.4 and numbers.size)
    given = {"include": numbers if by_number else mask}
    if rng.random() < 0.7:
        given["sample_weight"] = weights
    with sklearn.config_context(enable_metadata_routing=routing):
        tree = Tree(rng, routing)
        example = f"{' '.join(repr(tree.model).split())}, routing={routing}", given
        try:
            tree.fit(X, y, given)
        except ValueError as error:
            if tree.reweights and "sample_weight must not be zero for all objects of a cluster" in str(error):
                return "refused a class that a bag has left out"
            if not by_number or REFUSED not in str(error):
                raise
            if not tree.cuts:
                raise FaultError("row numbers are refused where all rows are passed on", *example) from error
            return "refused row numbers"
        except TypeError as error:
            raise FaultError("what is passed is not taken", *example, sentence(error)) from error
    if by_number and tree.cuts:
        raise FaultError("row numbers are taken although only some rows are passed on", *example)
    if not SEEN:
        raise FaultError("the selector was not fitted", *example)
    for rows, seen_weights, seen in SEEN:
        expected = weights[rows] if "sample_weight" in given else None
        whole = np.array_equal(rows, np.arange(n))
        if not (whole and np.array_equal(seen, numbers) if by_number else np.array_equal(seen, mask[rows])):
            raise FaultError("the rows to include are other ones", *example, rows, seen)
        if not tree.reweights and not np.array_equal(seen_weights, expected):
            raise FaultError("the weights are those of other rows", *example, rows, seen_weights)
    return "right masks" if not by_number else "right row numbers"


class Tree:
    """A selector in a classifier, in up to two layers of other estimators.

    `cuts` says whether a layer passes only some rows on, and `reweights` whether one has weights of its own.
    """

    def __init__(self, rng, routing):
        self.routing, self.cuts, self.reweights, self.path = routing, False, False, []
        selector = Spy(3)
        if routing:
            selector.set_fit_request(sample_weight=True, include=True)
        for _ in range(rng.integers(0, 3)):
            selector = covey.Sharpened(selector, random_state=0, max_rounds=int(rng.integers(2)))
        self.model = covey.NearestPrototypeClassifier(selector)
        for _ in range(rng.integers(0, 3)):
            layers = [self.piped, self.piped_by_imblearn, self.searched]
            layers += [self.bagged, self.voted] if routing else []
            layers += [self.calibrated] if routing and hasattr(self.model, "decision_function") else []
            layers[rng.integers(len(layers))](rng)
        self.at_last = str(rng.choice(["fit", "cross_validate", "cross_val_predict"]))
        self.cuts |= self.at_last != "fit"

    def piped(self, rng):
        self.model = Pipeline([("before", Unchanged()), ("model", self.model)])
        self.path.append("model")

    def piped_by_imblearn(self, rng):
        self.model = imbalanced.Pipeline([("before", Unchanged()), ("model", self.model)])
        self.path.append("model")
        self.cuts = True  # it might have had a sampler

    def searched(self, rng):
        options = {"scoring": share_of_right, "error_score": "raise"}
        searches = [
            GridSearchCV(self.model, {}, cv=2, **options),
            RandomizedSearchCV(self.model, {}, cv=KFold(3), n_iter=1, **options),
        ]
        self.model = searches[rng.integers(2)]
        self.cuts = True

    def bagged(self, rng):
        self.model = BaggingClassifier(self.model, 2, max_samples=0.8, random_state=0)
        self.model.set_fit_request(sample_weight=True)
        self.cuts = self.reweights = True

    def calibrated(self, rng):
        self.model = CalibratedClassifierCV(self.model, cv=2).set_fit_request(sample_weight=True)
        self.cuts = True

    def voted(self, rng):
        self.model = VotingClassifier([("model", self.model), ("beside", KNeighborsClassifier(1))])
        self.cuts = True  # it passes all rows on, but it need not

    def fit(self, X, y, given):
        path = [] if self.routing else self.path[::-1]
        given = {"__".join([*path, name]): value for name, value in given.items()}
        if self.at_last == "fit":
            self.model.fit(X, y, **given)
        elif self.at_last == "cross_validate":
            cross_validate(self.model, X, y, cv=2, params=given, scoring=share_of_right, error_score="raise")
        else:
            cross_val_predict(self.model, X, y, cv=2, params=given)
