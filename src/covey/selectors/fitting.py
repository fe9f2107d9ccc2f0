"""A fit either succeeds as a whole or changes nothing."""

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
