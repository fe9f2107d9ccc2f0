"""What `fit` methods have in common: each succeeds as a whole or changes nothing, and some take a collection as X."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Method = TypeVar("Method", bound=Callable[..., Any])


def whole_or_nothing(fit: Method) -> Method:
    """Decorate a `fit` so that the estimator keeps its former state if the fit fails or is interrupted."""

    @wraps(fit)
    def fit_whole(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Method, fit_whole)


def takes_collection(fit: Method) -> Method:
    """Decorate a `fit` that takes a prepared `Collection` as X, so that what is prepared is not prepared again."""
    fit.takes_collection = True  # type: ignore[attr-defined]
    return fit


def fits_collection(selector: Any) -> bool:
    """Say whether the `fit` of a selector takes a collection. Another one expects X as the user has passed it."""
    return getattr(getattr(type(selector), "fit", None), "takes_collection", False) is True
