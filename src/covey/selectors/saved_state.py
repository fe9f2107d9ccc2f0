"""Each estimator declares its fitted state: what each attribute that `fit` sets must be.

Files hold the attributes that a class declares and no others. So each class declares all attributes that its `fit`
sets:

    class Medoid(Selector):
        _fitted_state = {"n_rounds_": COUNT, "_cache": NOT_SAVED}
        _fitted_facts = {"n_rounds_ must not exceed 9": lambda selector: selector.n_rounds_ <= 9}

`_fitted_state` gives each attribute a `Constraint`, or a type that its value must have. `_fitted_facts` says what must
be true of the attributes together. A class adds to the declarations of its base classes and repeats none of them.

Saving refuses an estimator with an attribute that no class has declared, because the attribute would be missing after
loading. Loading refuses a value that breaks its constraint and a fact that does not hold. So a loaded estimator is as
reliable as a fitted one.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import Any

import numpy as np

from covey.prototype import Prototype


@dataclass(frozen=True)
class Constraint:
    """What a value must be.

    Attributes
    ----------
    words : str
        The words that follow "must be" in an error.
    holds : callable
        Says whether a value follows the constraint.
    cast : callable
        Turns the value into the type that the code expects.
    required : bool
        Whether the value must be there.
    derive : callable or None
        Computes the value from the estimator, for values that files hold although no attribute does.
    """

    words: str
    holds: Callable[[Any], Any]
    cast: Callable[[Any], Any] = lambda value: value
    required: bool = True
    derive: Callable[[Any], Any] | None = None

    def check(self, name: str, value: Any) -> Any:
        """Return the value in the type that the code expects. Raise ValueError if it breaks the constraint."""
        if not self.holds(value):
            raise ValueError(f"{name} must be {self.words}, got {shown(value)}")
        return self.cast(value)


Facts = Mapping[str, Callable[[Any], Any]]
"""Facts in words, and for each a function that says whether it is true of an object."""

FittedState = Mapping[str, Constraint | type]
"""The constraint or the type of each attribute that a class declares."""


def optional(constraint: Constraint) -> Constraint:
    """Return the same constraint for a value that may be missing."""
    return replace(constraint, required=False)


def or_none(constraint: Constraint) -> Constraint:
    """Return the constraint for a value that may also be None."""
    return Constraint(
        f"{constraint.words}, or None",
        lambda value: value is None or constraint.holds(value),
        lambda value: None if value is None else constraint.cast(value),
    )


def _is_integer(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return _is_integer(value) or isinstance(value, float | np.floating)


def _is_array(value: Any, kinds: str) -> bool:
    """Return whether a value is an array of one dimension whose type is of one of these kinds."""
    return isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in kinds


def _is_wide(value: Any) -> bool:
    """Return whether the numbers of an array take at least 4 bytes each.

    Shorter ones are never saved for rows or weights, and an array of single bytes would grow to eight times its size.
    """
    return bool(value.dtype.itemsize >= 4)


def _are_rows(least: int) -> Callable[[Any], bool]:
    """Return a function that says whether a value is an array of integers from `least` on."""
    return lambda value: (
        _is_array(value, "iu")
        and _is_wide(value)
        and value.min(initial=least) >= least
        and value.max(initial=least) < 2**62
    )


NOT_SAVED = Constraint("missing in a file", lambda value: False, required=False)
"""The constraint of an attribute that files do not hold: only `fit` needs it, or `_restore` makes it after loading."""
COUNT = Constraint("an integer of at least 0", lambda value: _is_integer(value) and 0 <= value < 2**63, int)
WIDTH = Constraint("an integer of at least 1", lambda value: _is_integer(value) and 1 <= value < 2**63, int)
NUMBER = Constraint("a number", _is_number, float)
RATE = Constraint("a finite number of at least 0", lambda value: _is_number(value) and 0 <= value < np.inf, float)
SHARE = Constraint("a number in [0, 1]", lambda value: _is_number(value) and 0 <= value <= 1, float)
ROWS = Constraint("an array of row numbers", _are_rows(0), lambda value: value.astype(np.intp, copy=False))
ROWS_OR_NONE = Constraint(
    "an array of row numbers or -1", _are_rows(-1), lambda value: value.astype(np.intp, copy=False)
)
WEIGHTS = Constraint(
    "an array of finite floats of at least 0",
    lambda value: _is_array(value, "f") and _is_wide(value) and np.isfinite(value).all() and value.min(initial=0) >= 0,
    lambda value: value.astype(np.float64, copy=False),
)
BARS = Constraint(
    "an array of numbers below inf",
    lambda value: _is_array(value, "f") and (value < np.inf).all(),
    lambda value: value.astype(np.float64, copy=False),
)
LABEL = Constraint("hashable", lambda value: hash(value) is not None)
LABELS = Constraint("an array of labels", lambda value: _is_array(value, "biufmMSUO"))
NAMES = Constraint(
    "an array of strings", lambda value: _is_array(value, "O") and all(type(name) is str for name in value.tolist())
)
TRUTH = Constraint("true or false", lambda value: type(value) is bool)
TEXT = Constraint("a string", lambda value: type(value) is str)
TABLE = Constraint("an array of two dimensions", lambda value: isinstance(value, np.ndarray) and value.ndim == 2)
PROTOTYPES = Constraint(
    "a dict of labels and their prototypes",
    lambda value: (
        type(value) is dict
        and len(value) > 0
        and all(type(prototype) is Prototype and prototype.label == label for label, prototype in value.items())
    ),
)
SELECTOR = Constraint("a fitted selector", lambda value: hasattr(value, "prototypes_"))

FEATURES = {"n_features_in_": optional(WIDTH), "feature_names_in_": optional(NAMES)}
"""The attributes that scikit-learn sets for the columns of X. They are there only if X was a table."""


def _picks_members(prototype: Prototype) -> Any:
    once = 0 < prototype.indices.size == np.unique(prototype.indices).size
    return once and np.isin(prototype.indices, prototype.members).all()


PROTOTYPE_FIELDS: Mapping[str, Constraint] = {
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
}
"""The constraint of each field of a prototype."""

PROTOTYPE_FACTS: Facts = {
    "members must ascend": lambda p: p.members.size > 0 and (np.diff(p.members) > 0).all(),
    "indices must be some of the members, each once": _picks_members,
    "gains must have one entry for each of the indices": lambda p: p.gains.size == p.indices.size,
    "covered_by must have one entry for each of the members": lambda p: p.covered_by.size == p.members.size,
    "covered_by must be -1 or one of the indices": lambda p: np.isin(p.covered_by, np.append(p.indices, -1)).all(),
    "n_orphans must not exceed the number of members": lambda p: p.n_orphans <= p.members.size,
}
"""What must be true of the fields of a prototype together."""


def declared(cls: type) -> dict[str, Constraint]:
    """Return the constraint of each attribute that `fit` may set, as the class and its base classes declare them."""
    declarations: dict[str, Constraint | type] = _gathered(cls, "_fitted_state")
    return {name: one if isinstance(one, Constraint) else _instance_of(one) for name, one in declarations.items()}


def declared_facts(cls: type) -> Facts:
    """Return what must be true of the attributes together, as the class and its base classes declare it."""
    return _gathered(cls, "_fitted_facts")


def _gathered(cls: type, table: str) -> dict[str, Any]:
    """Join a table of the class and its base classes. The class itself comes last and wins."""
    return {key: value for base in reversed(cls.__mro__) for key, value in vars(base).get(table, {}).items()}


def _instance_of(kind: type) -> Constraint:
    """Return the constraint of a value that must have a type."""
    return Constraint(f"of type {kind.__name__}", lambda value: isinstance(value, kind))


def check_fields(values: Mapping[str, Any], constraints: Mapping[str, Constraint]) -> dict[str, Any]:
    """Return the values in the types that the code expects.

    Raise ValueError if a value has no constraint or breaks it, or if a required value is missing.
    """
    unknown = values.keys() - constraints.keys()
    missing = {name for name, constraint in constraints.items() if constraint.required} - values.keys()
    if unknown or missing:
        raise ValueError(f"keys {shown(sorted(unknown))} are unknown and keys {shown(sorted(missing))} are missing")
    return {name: constraints[name].check(name, value) for name, value in values.items()}


def check_facts(value: Any, facts: Facts) -> None:
    """Raise ValueError with the first fact that is not true of the value."""
    for fact, holds in facts.items():
        if not holds(value):
            raise ValueError(fact)


def n_objects(selector: Any) -> int:
    """Return how many objects a selector was fitted to."""
    return sum(prototype.members.size for prototype in selector.prototypes_.values())


def n_features(estimator: Any) -> int | None:
    """Return how many columns the X of `fit` had, or None if it was not a table."""
    return getattr(estimator, "n_features_in_", None)


def names_fit_features(estimator: Any) -> bool:
    """Return whether each column has a name, or none has."""
    return not hasattr(estimator, "feature_names_in_") or estimator.feature_names_in_.size == n_features(estimator)


def has_each_row_once(selector: Any) -> bool:
    """Return whether every row of X is a member of exactly one prototype."""
    members = np.concatenate([prototype.members for prototype in selector.prototypes_.values()])
    return np.array_equal(np.sort(members), np.arange(members.size))


def has_indices_of_prototypes(selector: Any) -> bool:
    """Return whether the selected rows are the representatives of all prototypes, in their order."""
    indices = [prototype.indices for prototype in selector.prototypes_.values()]
    return np.array_equal(selector.sample_indices_, np.concatenate(indices))
