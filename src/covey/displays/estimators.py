"""What every display takes from an estimator: its fitted selector, and the prototype of a cluster."""

from collections.abc import Hashable, Mapping
from typing import Any

from sklearn.utils.validation import check_is_fitted

from covey.prototype import Prototype
from covey.runtime.wording import some_of


def fitted_selector(estimator: Any) -> Any:
    """Return the estimator itself if it is a selector, or the selector of a classifier.

    It is refused if it is not fitted, or if its members are on a Dask cluster.
    """
    check_is_fitted(estimator)
    if hasattr(estimator, "to_local"):
        raise TypeError(
            f"estimator must have all members in this process, but those of {type(estimator).__name__} are on a Dask "
            "cluster; call its method to_local(), and pass what that returns."
        )
    # A selector may have an attribute selector_ as well, the one inside it, which is not what is asked for.
    selector: Any = estimator if hasattr(estimator, "prototypes_") else getattr(estimator, "selector_", None)
    if not hasattr(selector, "prototypes_"):
        raise TypeError(
            f"estimator must be a fitted selector or NearestPrototypeClassifier, got {type(estimator).__name__}."
        )
    return selector


def prototype_of(prototypes: Mapping[Hashable, Prototype], label: Hashable) -> Prototype:
    """Return the prototype of the cluster with this label; None stands for the only cluster."""
    if label is None and len(prototypes) == 1:
        return next(iter(prototypes.values()))
    if label not in prototypes:
        raise ValueError(f"label must be one of {some_of([repr(own) for own in prototypes])}, got {label!r}.")
    return prototypes[label]
