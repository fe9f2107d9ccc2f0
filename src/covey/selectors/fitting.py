"""A fit either succeeds as a whole or changes nothing."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def whole_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `fit` so that the estimator keeps its former state if the fit fails or is interrupted."""

    @wraps(fit)
    def fit_whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_whole
