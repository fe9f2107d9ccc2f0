"""What saving and loading need to know about estimators and their similarities.

A file calls the class of an estimator by its bare name. A name that covey exports always means covey's own class. Any
other name means a selector that the running program has defined as a subclass of `Selector`; it need not be registered
anywhere. A file never makes Python import a module other than covey's own.

A similarity that covey knows by name is written by its name. The code of any other is not written, only how it is
wrapped: whoever loads the file passes the function again.
"""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from reprlib import repr as shown
from types import FunctionType
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

import covey
from covey.persistence.format import UnknownNameError
from covey.persistence.values import tagged, typed
from covey.selectors.base import Selector
from covey.selectors.saved_state import NOT_SAVED, Constraint, check_facts, check_fields, declared, declared_facts
from covey.similarity.measures import from_distance, resolve, similarity_names
from covey.similarity.similarity import CONVERSIONS, Similarity

MOST_JOBS = 4096
"""No machine has more cores than this, and a file must not be able to start threads or processes without end."""
MOST_BITS = 14_000
"""Python shows no integer of more than 4300 decimal digits, which are 14 284 bits, and so no estimator that has one."""
OF_SCIKIT_LEARN = ("_skl", "_metadata_request")
"""How the names begin under which scikit-learn itself keeps settings, such as callbacks, on any estimator."""

NEVER_SAVED = {"checkpoint"}
"""Parameters that files do not hold. A path tells about the machine on which the file was made, and whoever loads the
file must not be made to write to a path that a stranger has chosen."""


def find_class(name: str) -> Any:
    """Return the class that files call by this name."""
    classes = _classes(name)
    if not classes:
        raise UnknownNameError(
            f"an estimator of the class {shown(name)}, which covey does not have and this program has not defined; "
            "import the module that defines it first"
        )
    if len(classes) > 1:
        modules = " and ".join(sorted({cls.__module__ for cls in classes}))
        raise UnknownNameError(
            f"an estimator of the class {name}, which this program has defined more than once (in {modules}); import "
            "only the module that defines the right one"
        )
    return classes[0]


def check_class(estimator: Any) -> Any:
    """Return the class of an estimator; raise TypeError if files could not tell it from others by its name."""
    cls = type(estimator)
    if hasattr(estimator, "to_local"):
        raise TypeError(
            f"estimator must not depend on a cluster, got {cls.__name__} of module {cls.__module__}; save what its "
            "method to_local returns."
        )
    classes = _classes(cls.__name__)
    if not (_is_savable(cls) and classes):
        raise TypeError(
            f"estimator must be one of covey's estimators or an instance of a subclass of Selector, got {cls.__name__} "
            f"of module {cls.__module__}; save the covey estimator inside it, such as the last step of a pipeline."
        )
    others = [other for other in classes if _definition(other) != _definition(cls)]
    if others:
        raise TypeError(
            f"estimator must be of a class with a name of its own, got {cls.__name__} of module {cls.__module__}, and "
            f"there is a {cls.__name__} of module {others[0].__module__}, too; rename your class."
        )
    return cls


def is_estimator(value: Any) -> bool:
    """Return whether a value is an estimator rather than a plain value."""
    return isinstance(value, BaseEstimator)


def saved_parameters(estimator: Any) -> dict[str, Any]:
    """Return the parameters that files hold. Those that they do not hold have their defaults after loading."""
    return {name: value for name, value in estimator.get_params(deep=False).items() if name not in NEVER_SAVED}


def saved_state(estimator: Any) -> dict[str, Any]:
    """Return the fitted attributes that files hold; none if the estimator is not fitted.

    Raise TypeError if the estimator has an attribute that its class does not declare.
    """
    cls, attributes = type(estimator), vars(estimator)
    constraints = declared(cls)
    forgotten = sorted(
        name
        for name in attributes.keys() - constraints.keys() - set(cls._get_param_names())
        if not name.startswith(OF_SCIKIT_LEARN)
    )
    if forgotten:
        raise TypeError(
            f"Cannot save this {cls.__name__}: its attributes {', '.join(forgotten)} are not declared and would be "
            f"missing after loading; delete them before saving; a custom "
            "selector can declare them in _fitted_state."
        )
    state = {name: value for name, value in attributes.items() if name in saved_constraints(cls)}
    if not any(constraints[name].required for name in state):
        return {}
    return state | {
        name: constraint.derive(estimator) for name, constraint in constraints.items() if constraint.derive is not None
    }


def saved_constraints(cls: Any) -> dict[str, Constraint]:
    """Return the constraints of the attributes that files hold."""
    return {name: constraint for name, constraint in declared(cls).items() if constraint is not NOT_SAVED}


def restored(cls: Any, parameters: Mapping[str, Any], state: Mapping[str, Any]) -> Any:
    """Return the estimator with these parameters and this state; without a state it is not fitted.

    Raise ValueError or TypeError if `fit` would refuse the parameters or could not have left such a state.
    """
    estimator = cls(**parameters)
    _check_parameters(estimator)
    if state:
        constraints = saved_constraints(cls)
        values = check_fields(state, constraints)
        vars(estimator).update({name: value for name, value in values.items() if constraints[name].derive is None})
        check_facts(estimator, declared_facts(cls))
        for name, constraint in constraints.items():
            if constraint.derive is not None and not np.array_equal(values[name], constraint.derive(estimator)):
                raise ValueError(f"{name} must be {constraint.words}, got {shown(values[name])}")
        estimator._restore()
    return estimator


def _check_parameters(estimator: Any) -> None:
    """Raise ValueError or TypeError if `fit` would refuse a parameter, or if a file must not ask for it."""
    estimator._validate_params()
    for name, value in estimator.get_params(deep=False).items():
        if type(value) is int and value.bit_length() > MOST_BITS:
            raise ValueError(f"{name} must be an integer of at most {MOST_BITS} bits, got {value.bit_length()} bits.")
    n_jobs = getattr(estimator, "n_jobs", None)
    if n_jobs is not None and not 0 < abs(n_jobs) <= MOST_JOBS:
        raise ValueError(f"n_jobs must be an integer other than 0 of at most {MOST_JOBS}, got {shown(n_jobs)}.")


def _classes(name: str) -> list[Any]:
    """Return the classes of this name: covey's own if it has one, else those that the program has defined.

    A class that is defined again in the same place, as happens in notebooks, replaces the earlier one.
    """
    if name in dir(covey):
        with suppress(ImportError):  # a file may name a part of covey that needs a library which is not installed
            exported = getattr(covey, name)
            return [exported] if _is_savable(exported) else []
        return []
    defined = {_definition(cls): cls for cls in _subclasses(Selector) if cls.__name__ == name}
    return list(defined.values())


def _subclasses(cls: Any) -> Iterator[Any]:
    for subclass in cls.__subclasses__():
        yield subclass
        yield from _subclasses(subclass)


def _definition(cls: Any) -> tuple[str, str]:
    """Return where a class is defined."""
    return cls.__module__, cls.__qualname__


def _is_savable(cls: Any) -> bool:
    return isinstance(cls, type) and issubclass(cls, BaseEstimator) and hasattr(cls, "_fitted_state")


WRAPPING = {
    "symmetric": Constraint("true or false", lambda value: type(value) is bool),
    "kind": Constraint("'objects' or 'batches'", lambda value: value in ("objects", "batches")),
    "conversion": Constraint(
        f"null or one of {sorted(CONVERSIONS)}", lambda value: value is None or value in CONVERSIONS
    ),
    "batch_size": Constraint("an integer of at least 1", lambda value: type(value) is int and value >= 1),
}
"""How a function is wrapped: the fields of a `Similarity` but for its function."""


class SimilarityWriter:
    """Writes the similarities of an estimator and of those within it; all must use the same function.

    `callable` is the name of that function, or None as long as every similarity has a name.
    """

    def __init__(self) -> None:
        self.callable: str | None = None
        self._function: Any = None

    def encode(self, similarity: Any) -> Any:
        if type(similarity) is str:
            return similarity
        wrapped = resolve(similarity)
        if isinstance(wrapped.function, str):
            conversion = wrapped.conversion
            form: Any = {"from_distance": [wrapped.function, conversion]} if conversion else {"named": wrapped.function}
            if _named(form) != wrapped:
                raise ValueError(f"similarity must be a name or covey.from_distance to be saved, got {wrapped!r}.")
            return form
        self._note(wrapped.function)
        return {"callable": {name: getattr(wrapped, name) for name in WRAPPING}}

    def _note(self, function: Any) -> None:
        # When scikit-learn clones a selector, functions stay the same objects; other callables are copied, so only
        # their types can be compared.
        compared = function if isinstance(function, FunctionType) else type(function)
        if self._function not in (None, compared):
            raise ValueError(
                f"estimator must have one callable as similarity to be saved, got {self.callable} and another in its "
                "selector; fit it again."
            )
        self._function, self.callable = compared, getattr(function, "__name__", type(function).__name__)


class SimilarityReader:
    """Reads similarities; a function that is not in the file is replaced by the `given` one."""

    def __init__(self, given: Any) -> None:
        self._given = given

    def decode(self, encoded: Any) -> Any:
        if type(encoded) is str:
            if encoded not in similarity_names():
                raise UnknownNameError(
                    f"the similarity {shown(encoded)}, which covey does not have and this program has not registered; "
                    "call covey.register_similarity first"
                )
            return encoded
        if not lacks_code(encoded):
            return _named(encoded)
        _, content = tagged(encoded)
        wrapping = check_fields(typed(content, dict), WRAPPING)
        return Similarity(self._given, **wrapping) if callable(self._given) else self._given


def lacks_code(encoded: Any) -> bool:
    """Return whether the JSON of a similarity leaves out a function, which must be passed again."""
    return type(encoded) is dict and encoded.keys() == {"callable"}


def _named(encoded: Any) -> Similarity:
    """Return the similarity that is written by its name, or by the name of a distance and how that is converted."""
    tag, content = tagged(encoded)
    if tag == "named":
        return resolve(typed(content, str))
    if tag == "from_distance":
        distance, how = typed(content, list)
        return from_distance(typed(distance, str), how)
    raise ValueError(f"unknown similarity {shown(tag)}")
