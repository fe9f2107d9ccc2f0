"""Fitted state that appears whole or not at all."""

from collections.abc import Callable
from functools import wraps
from typing import Any


def whole_or_nothing(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Let a `fit` that fails, or is interrupted, leave its estimator as it was before."""

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
