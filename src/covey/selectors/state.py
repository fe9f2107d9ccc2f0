"""The fitted state of an estimator, declared: what each attribute that `fit` sets must be.

Files keep the attributes that a class declares, and no others, so each class declares all that its `fit` sets:

    class Medoid(Selector):
        _fitted_state = {"n_rounds_": COUNT, "_cache": NOT_SAVED}
        _fitted_facts = {"n_rounds_ must not exceed 9": lambda selector: selector.n_rounds_ <= 9}

`_fitted_state` gives each attribute a `Rule`, or a type of which its value must be an instance. `_fitted_facts` says
what must be true of the attributes together. A class adds to the declarations of its base classes and repeats none.

Saving refuses an estimator with an attribute that nobody has declared: it would be missing after loading. Loading
refuses a value that does not follow its rule and a fact that does not hold, so that a loaded estimator can be relied on
as one that was fitted.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import Any

import numpy as np

from covey.prototype import Prototype


@dataclass(frozen=True)
class Rule:
    """What a value must be.

    Attributes
    ----------
    words : str
        What the value must be, as it stands behind "must be" in an error.
    holds : callable
        Whether a value is that.
    cast : callable
        Turns the value into the type that the code expects.
    required : bool
        Whether the value must be there.
    derive : callable or None
        Computes the value from the estimator, if files hold it and no attribute does.
    """

    words: str
    holds: Callable[[Any], Any]
    cast: Callable[[Any], Any] = lambda value: value
    required: bool = True
    derive: Callable[[Any], Any] | None = None

    def check(self, name: str, value: Any) -> Any:
        """The value in the type that the code expects; raise ValueError if the rule does not hold."""
        if not self.holds(value):
            raise ValueError(f"{name} must be {self.words}, got {shown(value)}")
        return self.cast(value)


Facts = Mapping[str, Callable[[Any], Any]]
"""What must be true of an object, in words, and how to find out."""

FittedState = Mapping[str, Rule | type]
"""What a class declares of its attributes."""


def optional(rule: Rule) -> Rule:
    """The rule of a value that may be missing."""
    return replace(rule, required=False)


def or_none(rule: Rule) -> Rule:
    """The rule of a value that may be None."""
    return Rule(
        f"{rule.words}, or None",
        lambda value: value is None or rule.holds(value),
        lambda value: None if value is None else rule.cast(value),
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or isinstance(value, float | np.floating)


def _is_array(value: Any, kinds: str) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds


def _are_rows(least: int) -> Callable[[Any], bool]:
    return lambda value: (
        _is_array(value, "iu") and value.min(initial=least) >= least and value.max(initial=least) < 2**62
    )


NOT_SAVED = Rule("missing in a file", lambda value: False, required=False)
"""The attribute is left out of files: only `fit` needs it, or `_restore` makes it again after loading."""
COUNT = Rule("an integer of at least 0", lambda value: _is_integer(value) and 0 <= value < 2**63, int)
WIDTH = Rule("an integer of at least 1", lambda value: _is_integer(value) and 1 <= value < 2**63, int)
NUMBER = Rule("a number", _is_number, float)
RATE = Rule("a finite number of at least 0", lambda value: _is_number(value) and 0 <= value < np.inf, float)
SHARE = Rule("a number in [0, 1]", lambda value: _is_number(value) and 0 <= value <= 1, float)
ROWS = Rule("an array of row numbers", _are_rows(0), lambda value: value.astype(np.intp))
ROWS_OR_NONE = Rule("an array of row numbers or -1", _are_rows(-1), lambda value: value.astype(np.intp))
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
PROTOTYPES = Rule(
    "a dict of labels and their prototypes",
    lambda value: (
        type(value) is dict
        and len(value) > 0
        and all(type(found) is Prototype and found.label == label for label, found in value.items())
    ),
)
SELECTOR = Rule("a fitted selector", lambda value: hasattr(value, "prototypes_"))

FEATURES = {"n_features_in_": optional(WIDTH), "feature_names_in_": optional(NAMES)}
"""What scikit-learn notes about the columns of X; these attributes are there if X was a table."""


def declared(cls: type) -> dict[str, Rule]:
    """The rule of each attribute that `fit` may set, as the class and its base classes declare them."""
    found: dict[str, Rule | type] = _gathered(cls, "_fitted_state")
    return {name: rule if isinstance(rule, Rule) else _instance_of(rule) for name, rule in found.items()}


def declared_facts(cls: type) -> Facts:
    """What must be true of the attributes together, as the class and its base classes declare it."""
    return _gathered(cls, "_fitted_facts")


def _gathered(cls: type, table: str) -> dict[str, Any]:
    return {key: value for base in reversed(cls.__mro__) for key, value in vars(base).get(table, {}).items()}


def _instance_of(kind: type) -> Rule:
    return Rule(f"of type {kind.__name__}", lambda value: isinstance(value, kind))


def check_fields(values: Mapping[str, Any], rules: Mapping[str, Rule]) -> dict[str, Any]:
    """The values in the types that the code expects.

    Raise ValueError if one of them has no rule or does not follow it, or if a required one is missing.
    """
    unknown = values.keys() - rules.keys()
    missing = {name for name, rule in rules.items() if rule.required} - values.keys()
    if unknown or missing:
        raise ValueError(f"keys {sorted(unknown)} are unknown and keys {sorted(missing)} are missing")
    return {name: rules[name].check(name, value) for name, value in values.items()}


def check_facts(value: Any, facts: Facts) -> None:
    """Raise ValueError with the first fact that is not true of the value."""
    for fact, holds in facts.items():
        if not holds(value):
            raise ValueError(fact)


def n_objects(selector: Any) -> int:
    """How many objects a fitted selector has seen."""
    return sum(prototype.members.size for prototype in selector.prototypes_.values())


def n_features(estimator: Any) -> int | None:
    """How many columns X had in `fit`; None if X was no table."""
    return getattr(estimator, "n_features_in_", None)


def names_fit_features(estimator: Any) -> bool:
    """Whether there is a name for each column, or for none."""
    return not hasattr(estimator, "feature_names_in_") or estimator.feature_names_in_.size == n_features(estimator)


def has_each_row_once(selector: Any) -> bool:
    """Whether every row of X is a member of one prototype."""
    members = np.concatenate([prototype.members for prototype in selector.prototypes_.values()])
    return np.array_equal(np.sort(members), np.arange(members.size))


def has_indices_of_prototypes(selector: Any) -> bool:
    """Whether the selected rows are the representatives of all prototypes, in their order."""
    indices = [prototype.indices for prototype in selector.prototypes_.values()]
    return np.array_equal(selector.sample_indices_, np.concatenate(indices))
