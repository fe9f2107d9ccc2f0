"""Support for scikit-learn's callbacks, such as its progress bars, where the installed version has them."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn has callbacks since 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A stand-in for scikit-learn's class. It offers no method to set callbacks."""

    def _with_callbacks(method: Any) -> Any:
        return method


FitFunction = TypeVar("FitFunction", bound=Callable[..., Any])
Estimator = TypeVar("Estimator")


def with_callbacks(method: FitFunction) -> FitFunction:
    """Let a `fit` end its callbacks when it ends; type checkers see the same method."""
    decorated: FitFunction = _with_callbacks(method)
    return decorated


__all__ = ["CallbackSupportMixin", "Tasks", "tasks", "with_callbacks", "without_callbacks"]


class Tasks(Protocol):
    """Informs callbacks about the parts of a fit."""

    def part(self, name: str, estimator: Any = None) -> Any:
        """Enter the context that this returns for as long as the part takes."""


class _NoCallbacks:
    """Reports nothing, for an estimator without callbacks."""

    @contextmanager
    def part(self, name: str, estimator: Any = None) -> Iterator[None]:
        yield


class _Callbacks:
    """Informs the callbacks that were set on an estimator."""

    def __init__(self, owner: Any, context: Any) -> None:
        self._owner, self._context = owner, context

    @contextmanager
    def part(self, name: str, estimator: Any = None) -> Iterator[None]:
        """Report the beginning and the end of a part of the fit.

        An `estimator` that is fitted in this part gets the callbacks, too.
        """
        context = self._context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self._owner)
        if estimator is None:
            yield
        else:
            with context.propagate_callback_context(estimator):
                yield
        context.call_on_fit_task_end(estimator=self._owner)


def without_callbacks(estimator: Estimator) -> Estimator:
    """Return a copy of an estimator without its callbacks, which may hold what other processes cannot get."""
    other = copy.copy(estimator)
    for name in [name for name in vars(other) if name.startswith("_") and "callback" in name]:
        del vars(other)[name]
    return other


@contextmanager
def tasks(estimator: Any, n_parts: int, X: Any, y: Any) -> Iterator[Tasks]:
    """Report the beginning and the end of an estimator's fit, and let it report its `n_parts` parts.

    A callback may ask to stop early. The request is ignored, because a fit without all prototypes is of no use.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        yield _NoCallbacks()
        return
    context = estimator._init_callback_context(max_subtasks=n_parts)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    yield _Callbacks(estimator, context)
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
