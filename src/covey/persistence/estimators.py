"""Estimators as JSON and arrays, and back: the class, its parameters and its fitted state.

The parameters that are read pass the same validation as in `fit`, the state follows the tables in `_state.py`, and the
representatives of a classifier go through the same checks as the X of a fit.
"""

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from reprlib import repr as shown
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from covey.classifier import NearestPrototypeClassifier
from covey.persistence.state import STATE, Rule, check_facts, check_fields
from covey.persistence.values import Reader, Writer, refusing, tagged, typed
from covey.similarity.collect import collect
from covey.similarity.named import from_distance, resolve
from covey.similarity.similarity import CONVERSIONS, Similarity

ESTIMATORS: dict[str, Any] = {cls.__name__: cls for cls in STATE}
NESTED = ("selector", "selector_")
"""The fields that hold another estimator."""
MOST_JOBS = 4096
"""More than any machine has cores; a file must not be able to start processes without end."""
WRAPPING = {
    "symmetric": Rule("true or false", lambda value: type(value) is bool),
    "kind": Rule("'objects' or 'batches'", lambda value: value in ("objects", "batches")),
    "conversion": Rule(f"null or one of {sorted(CONVERSIONS)}", lambda value: value is None or value in CONVERSIONS),
    "batch_size": Rule("an integer of at least 1", lambda value: type(value) is int and value >= 1),
}
"""All of a similarity but its function."""


def check_class(estimator: Any) -> Any:
    """The class of an estimator; refused if it is none of ours, even if it is called the same."""
    cls = type(estimator)
    if ESTIMATORS.get(cls.__name__) is not cls:
        raise TypeError(
            f"estimator must be one of covey's {', '.join(sorted(ESTIMATORS))}, got {cls.__name__} of module "
            f"{cls.__module__}."
        )
    return cls


def is_fitted(state: Mapping[str, Any]) -> bool:
    return "prototypes_" in state or "selector_" in state


class ModelWriter(Writer):
    """Writes estimators, too. `callable` is then the name of the similarity that could not be stored."""

    def __init__(self) -> None:
        super().__init__()
        self.callable: str | None = None
        self._function: Any = None

    def estimator(self, estimator: Any) -> Any:
        """An estimator as JSON; one that `load` would refuse is refused."""
        cls = check_class(estimator)
        parameters = estimator.get_params(deep=False)
        encoded = {key: self._field(key, value, "parameter ") for key, value in parameters.items()}
        with refusing(f"parameters of {cls.__name__}"):
            check_parameters(estimator)
        there = {key: value for key, value in vars(estimator).items() if key in STATE[cls]}
        if not is_fitted(there):
            return {cls.__name__: {"parameters": encoded, "state": {}}}
        state = {key: self._field(key, value) for key, value in there.items()}
        with refusing(f"the fitted {cls.__name__}"):
            check_fields(there, STATE[cls])
            check_fitted(estimator)
        return {cls.__name__: {"parameters": encoded, "state": state}}

    def _field(self, key: str, value: Any, noun: str = "") -> Any:
        if key == "similarity":
            return self._similarity(value)
        if key in NESTED and value is not None:
            return self.estimator(value)
        return self.encode(value, noun + key.strip("_"))

    def _similarity(self, similarity: Any) -> Any:
        """A name, a known distance, or all of a similarity but its function, which is left out."""
        if type(similarity) is str:
            return similarity
        wrapped = resolve(similarity)
        if isinstance(wrapped.function, str):
            conversion = wrapped.conversion
            form: Any = {"from_distance": [wrapped.function, conversion]} if conversion else {"named": wrapped.function}
            if named_similarity(form) != wrapped:
                raise ValueError(f"similarity must be a name or covey.from_distance to be saved, got {wrapped!r}.")
            return form
        function = wrapped.function
        # Functions stay the same when scikit-learn clones a selector; other callables are copied.
        same = type(function) if not isinstance(function, FunctionType) else function
        if self._function not in (None, same):
            raise ValueError(
                f"estimator must have one callable as similarity to be saved, got {self.callable} and another in its "
                "selector; fit it again."
            )
        self._function, self.callable = same, getattr(function, "__name__", type(function).__name__)
        return {"callable": {field: getattr(wrapped, field) for field in WRAPPING}}


class ModelReader(Reader):
    """Reads estimators, too; `similarity` takes the place of a callable that was not stored."""

    def __init__(self, archive: zipfile.ZipFile, form: int, similarity: Any) -> None:
        super().__init__(archive)
        self._form, self._given = form, similarity
        self._used = False

    def model(self, encoded: Any, with_callable: bool) -> Any:
        """The fitted estimator of a file, which does or does not need a callable."""
        estimator = self._estimator(encoded)
        if not is_fitted(vars(estimator)):
            raise ValueError("the estimator must be fitted")
        if with_callable != self._used:
            raise ValueError("callable must name the similarity that is left out, or be null if there is none")
        return estimator

    def _estimator(self, encoded: Any) -> Any:
        name, content = tagged(encoded)
        if name not in ESTIMATORS or typed(content, dict).keys() != {"parameters", "state"}:
            raise ValueError(f"unknown estimator {shown(name)}")
        cls = ESTIMATORS[name]
        estimator = cls(**self._parameters(cls, content["parameters"]))
        check_parameters(estimator)
        state = {key: self._field(key, value) for key, value in typed(content["state"], dict).items()}
        if is_fitted(state):
            vars(estimator).update(check_fields(state, STATE[cls]))
            self._complete(estimator)
        return estimator

    def _parameters(self, cls: Any, encoded: Any) -> dict[str, Any]:
        unknown = typed(encoded, dict).keys() - set(cls._get_param_names())
        if unknown:
            raise ValueError(f"parameters {sorted(unknown)} are unknown")
        return {key: self._field(key, value) for key, value in encoded.items()}

    def _field(self, key: str, encoded: Any) -> Any:
        if key == "similarity":
            return self._similarity(encoded)
        if key in NESTED and encoded is not None:
            return self._estimator(encoded)
        return self.decode(encoded)

    def _similarity(self, encoded: Any) -> Any:
        if type(encoded) is str:
            resolve(encoded)
            return encoded
        tag, content = tagged(encoded)
        if tag != "callable" or self._given is None:
            return named_similarity(encoded)
        self._used = True
        wrapping = check_fields(typed(content, dict), WRAPPING)
        return Similarity(self._given, **wrapping) if callable(self._given) else self._given

    def _complete(self, estimator: Any) -> None:
        """Check the state, and add what is not stored because it follows from the rest."""
        classifies = isinstance(estimator, NearestPrototypeClassifier)
        if self._form == 1 and classifies and estimator.classes_.dtype.kind in "mM":
            _restore_dates(estimator.selector_, estimator.classes_)
        check_fitted(estimator)
        if classifies:
            estimator._restore(estimator._rows, estimator.representatives_)


def named_similarity(encoded: Any) -> Similarity:
    """The similarity that is stored by its name, and how it is made from a distance."""
    tag, content = tagged(encoded)
    if tag == "named":
        return resolve(typed(content, str))
    if tag == "from_distance":
        distance, how = typed(content, list)
        return from_distance(typed(distance, str), how)
    raise ValueError(f"unknown similarity {shown(tag)}")


def check_parameters(estimator: Any) -> None:
    """Raise ValueError or TypeError if `fit` would refuse a parameter, or if a file must not ask for it."""
    estimator._validate_params()
    n_jobs = getattr(estimator, "n_jobs", None)
    if n_jobs is not None and not 0 < abs(n_jobs) <= MOST_JOBS:
        raise ValueError(f"n_jobs must be an integer other than 0 of at most {MOST_JOBS}, got {shown(n_jobs)}.")


def check_fitted(estimator: Any) -> None:
    """Raise ValueError or TypeError if the fields, each of its declared type, are not such as `fit` leaves them."""
    check_facts(estimator)
    if isinstance(estimator, NearestPrototypeClassifier):
        _check_representatives(estimator, resolve(estimator.selector_.similarity))
        estimator._least_similarities()
        every = np.arange(estimator.classes_.size)
        estimator._answers(every, every >= 0)


def _check_representatives(model: Any, similarity: Similarity) -> None:
    """Let the representatives pass where the X of a fit does; they must come out as they are, and as wide."""
    if similarity.kind == "matrix":  # they are rows of X, which is not kept
        return
    fitted, found = NearestPrototypeClassifier(), model.representatives_
    collection = collect(found, similarity, fitted)
    objects = collection.objects
    if getattr(fitted, "n_features_in_", None) != getattr(model, "n_features_in_", None):
        raise ValueError("representatives_ must have n_features_in_ columns")
    if (type(objects), getattr(objects, "dtype", None)) != (type(found), getattr(found, "dtype", None)):
        raise ValueError(f"representatives_ must be an array of numbers, a CSR array or a list, got {shown(found)}")
    if similarity.kind == "rows":
        collection.space()


def _restore_dates(selector: Any, classes: NDArray[Any]) -> None:
    """Format 1 wrote labels that are dates as integers. What they were can be told from the classes."""
    labels = dict(zip(selector.prototypes_, classes, strict=True))
    selector.prototypes_ = {
        labels[old]: replace(found, label=labels[old]) for old, found in selector.prototypes_.items()
    }
    if hasattr(selector, "stopped_by_"):
        selector.stopped_by_ = {labels[old]: ended for old, ended in selector.stopped_by_.items()}
