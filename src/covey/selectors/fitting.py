"""A fit either succeeds as a whole or changes nothing."""

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

Estimator = TypeVar("Estimator")
Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")


def whole_or_nothing(
    fit: Callable[Concatenate[Estimator, Parameters], Result],
) -> Callable[Concatenate[Estimator, Parameters], Result]:
    """Decorate a `fit` so that the estimator keeps its former state if the fit fails or is interrupted."""

    @wraps(fit)
    def fit_whole(self: Estimator, /, *args: Parameters.args, **kwargs: Parameters.kwargs) -> Result:
        before = dict(vars(self))
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return fit_whole
