"""What the fitted state of each class is: the type of every field, and what must be true of the fields together.

The tables drive reading: a key that is not in them is refused, and so is a value that does not follow its rule. After
that the facts are checked, so that whoever uses a loaded estimator may rely on what `fit` would have guaranteed.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from reprlib import repr as shown
from typing import Any

import numpy as np
import scipy.sparse as sp

from covey.classifier import NearestPrototypeClassifier
from covey.graph.graph import NeighborGraph
from covey.graph.recall import Recall
from covey.prototype import Prototype
from covey.selectors.base import Selector
from covey.selectors.crs import CRS
from covey.selectors.delta_medoids import DeltaMedoids
from covey.selectors.ds3 import DS3
from covey.selectors.labels import clusters
from covey.selectors.simple import KeepAll, RandomSelector
from covey.similarity.named import resolve


@dataclass(frozen=True)
class Rule:
    """What a value must be, in words and as a test, and the type that the code expects it in."""

    words: str
    holds: Callable[[Any], Any]
    cast: Callable[[Any], Any] = lambda value: value

    def check(self, name: str, value: Any) -> Any:
        if not self.holds(value):
            raise ValueError(f"{name} must be {self.words}, got {shown(value)}")
        return self.cast(value)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or isinstance(value, float | np.floating)


def _is_array(value: Any, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds


def _rows(least: int) -> Callable[[Any], bool]:
    return lambda value: (
        _is_array(value, "iu") and value.min(initial=least) >= least and value.max(initial=least) < 2**62
    )


def _optional(rule: Rule) -> Rule:
    return Rule(f"{rule.words}, or None", lambda value: value is None or rule.holds(value))


COUNT = Rule("an integer of at least 0", lambda value: _is_integer(value) and 0 <= value < 2**63, int)
WIDTH = Rule("an integer of at least 1", lambda value: _is_integer(value) and 1 <= value < 2**63, int)
NUMBER = Rule("a number", _is_number, float)
RATE = Rule("a finite number of at least 0", lambda value: _is_number(value) and 0 <= value < np.inf, float)
SHARE = Rule("a number in [0, 1]", lambda value: _is_number(value) and 0 <= value <= 1, float)
ROWS = Rule("an array of row numbers", _rows(0), lambda value: value.astype(np.intp))
ROWS_OR_NONE = Rule("an array of row numbers or -1", _rows(-1), lambda value: value.astype(np.intp))
WEIGHTS = Rule(
    "an array of finite floats of at least 0",
    lambda value: _is_array(value, "f") and np.isfinite(value).all() and value.min(initial=0) >= 0,
    lambda value: value.astype(np.float64),
)
LABEL = Rule("hashable", lambda value: hash(value) is not None)
LABELS = Rule("an array of labels", lambda value: _is_array(value, "biufmMSUO"))
NAMES = Rule(
    "an array of texts", lambda value: _is_array(value, "O") and all(type(name) is str for name in value.tolist())
)
TEXT = Rule("a text", lambda value: type(value) is str)
TABLE = Rule("an array of two dimensions", lambda value: isinstance(value, np.ndarray) and value.ndim == 2)
RECALL = Rule("a Recall", lambda value: type(value) is Recall)
PROTOTYPES = Rule(
    "a dict of labels and their prototypes",
    lambda value: (
        type(value) is dict
        and len(value) > 0
        and all(type(found) is Prototype and found.label == label for label, found in value.items())
    ),
)
ENDS = Rule(
    "a dict of labels and what ended their iterations",
    lambda value: type(value) is dict and {*value.values()} <= {"unchanged", "cycle", "max_iter", "one_shot"},
)
SELECTOR = Rule("a fitted selector", lambda value: isinstance(value, Selector) and hasattr(value, "prototypes_"))
OBJECTS = Rule("an array, a CSR array or a list", lambda value: isinstance(value, np.ndarray | sp.csr_array | list))

FEATURES = {"n_features_in_": WIDTH, "feature_names_in_": NAMES}
"""These are there if X was a table."""
OPTIONAL = frozenset(FEATURES)
"""All other fields must be there."""

SELECTED = {"prototypes_": PROTOTYPES, "sample_indices_": ROWS, "n_evaluations_": COUNT, "scan_rate_": RATE, **FEATURES}

STATE: dict[Any, dict[str, Rule]] = {
    CRS: SELECTED,
    DS3: {**SELECTED, "n_iter_": COUNT, "duality_gap_": NUMBER, "row_weights_": WEIGHTS, "outliers_": ROWS},
    DeltaMedoids: {**SELECTED, "n_iter_": COUNT, "stopped_by_": ENDS},
    KeepAll: SELECTED,
    RandomSelector: SELECTED,
    NearestPrototypeClassifier: {
        "classes_": LABELS,
        "selector_": SELECTOR,
        "representatives_": OBJECTS,
        "_rows": ROWS,
        **FEATURES,
    },
}

RECORDS: dict[Any, dict[str, Rule]] = {
    NeighborGraph: {
        "indices": TABLE,
        "similarities": TABLE,
        "n_evaluations": COUNT,
        "method": TEXT,
        "mean_similarity": _optional(NUMBER),
        "estimated_recall": _optional(RECALL),
    },
    Prototype: {
        "label": LABEL,
        "members": ROWS,
        "indices": ROWS,
        "gains": WEIGHTS,
        "coverage": SHARE,
        "covered_by": ROWS_OR_NONE,
        "homogeneity": NUMBER,
        "threshold": NUMBER,
        "n_evaluations": COUNT,
        "scan_rate": RATE,
        "n_orphans": COUNT,
    },
    Recall: {"value": SHARE, "low": SHARE, "high": SHARE},
}


def _n_objects(selector: Any) -> int:
    return sum(prototype.members.size for prototype in selector.prototypes_.values())


def _width(estimator: Any) -> int | None:
    return getattr(estimator, "n_features_in_", None)


def _named_alike(estimator: Any) -> bool:
    return not hasattr(estimator, "feature_names_in_") or estimator.feature_names_in_.size == _width(estimator)


def _each_row_once(selector: Any) -> bool:
    members = np.concatenate([prototype.members for prototype in selector.prototypes_.values()])
    return np.array_equal(np.sort(members), np.arange(members.size))


def _all_indices(selector: Any) -> Any:
    return np.concatenate([prototype.indices for prototype in selector.prototypes_.values()])


def _labels(model: Any) -> list[Any]:
    return [label for label, _ in clusters(model.classes_, model.classes_.size)]


FACTS: dict[Any, dict[str, Callable[[Any], Any]]] = {
    Prototype: {
        "members must ascend": lambda found: found.members.size > 0 and (np.diff(found.members) > 0).all(),
        "indices must be some of the members, each once": lambda found: (
            0 < found.indices.size == np.unique(found.indices).size and np.isin(found.indices, found.members).all()
        ),
        "gains must have one entry for each of the indices": lambda found: found.gains.size == found.indices.size,
        "covered_by must have one entry for each of the members": lambda found: (
            found.covered_by.size == found.members.size
        ),
        "covered_by must be -1 or one of the indices": lambda found: np.isin(
            found.covered_by, np.append(found.indices, -1)
        ).all(),
        "n_orphans must not exceed the number of members": lambda found: found.n_orphans <= found.members.size,
    },
    Selector: {
        "the members of all prototypes together must be every row once": _each_row_once,
        "sample_indices_ must be the indices of all prototypes": lambda selector: np.array_equal(
            selector.sample_indices_, _all_indices(selector)
        ),
        "feature_names_in_ must have n_features_in_ names": _named_alike,
    },
    DS3: {
        "row_weights_ must have one entry for each row": lambda selector: (
            selector.row_weights_.size == _n_objects(selector)
        ),
        "outliers_ must be rows": lambda selector: selector.outliers_.max(initial=0) < _n_objects(selector),
    },
    DeltaMedoids: {
        "stopped_by_ must have the labels of the prototypes": lambda selector: (
            selector.stopped_by_.keys() == selector.prototypes_.keys()
        ),
    },
    NearestPrototypeClassifier: {
        "classes_ must ascend": lambda model: np.array_equal(np.unique(model.classes_), model.classes_),
        "classes_ must be the labels of the prototypes": lambda model: (
            _labels(model) == list(model.selector_.prototypes_)
        ),
        "_rows must be the rows of the representatives": lambda model: np.array_equal(
            model._rows, np.sort(model.selector_.sample_indices_)
        ),
        "representatives_ must be one object for each of the rows": lambda model: (
            (
                len(model.representatives_)
                if isinstance(model.representatives_, list)
                else model.representatives_.shape[0]
            )
            == model._rows.size
        ),
        "representatives_ and n_features_in_ must fit a matrix of similarities": lambda model: (
            resolve(model.selector_.similarity).kind != "matrix"
            or (np.array_equal(model.representatives_, model._rows) and _width(model) == _n_objects(model.selector_))
        ),
        "n_features_in_ must be that of the selector": lambda model: _width(model) == _width(model.selector_),
        "feature_names_in_ must have n_features_in_ names": _named_alike,
    },
}


def check_fields(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """Values that follow their rules; none may be unknown, and only those in `OPTIONAL` may be missing."""
    unknown, missing = values.keys() - rules.keys(), rules.keys() - values.keys() - OPTIONAL
    if unknown or missing:
        raise ValueError(f"keys {sorted(unknown)} are unknown and keys {sorted(missing)} are missing")
    return {key: rules[key].check(key, value) for key, value in values.items()}


def check_facts(value: Any) -> None:
    """Raise ValueError with the first fact that does not hold of the fields of a record or an estimator."""
    for cls in reversed(type(value).__mro__):
        for fact, holds in FACTS.get(cls, {}).items():
            if not holds(value):
                raise ValueError(fact)
