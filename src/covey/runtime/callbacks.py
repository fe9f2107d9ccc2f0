"""scikit-learn's callbacks (progress bars and monitors of its own kind), where the installed version has them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """No callbacks can be set."""

    def _with_callbacks(method: Any) -> Any:
        return method


Method = TypeVar("Method", bound=Callable[..., Any])


def with_callbacks(method: Method) -> Method:
    """Let a `fit` end its callbacks when it ends; type checkers see the same method."""
    decorated: Method = _with_callbacks(method)
    return decorated


__all__ = ["CallbackSupportMixin", "Tasks", "tasks", "with_callbacks"]


class Tasks(Protocol):
    """Tells callbacks about the parts of a fit."""

    def part(self, name: str, estimator: Any = None) -> Any: ...


class _Silent:
    @contextmanager
    def part(self, name: str, estimator: Any = None) -> Iterator[None]:
        yield


class _Told:
    def __init__(self, owner: Any, context: Any) -> None:
        self._owner, self._context = owner, context

    @contextmanager
    def part(self, name: str, estimator: Any = None) -> Iterator[None]:
        """A part of the fit; `estimator` is fitted in it, if any, and gets the callbacks too."""
        context = self._context.subcontext(task_name=name)
        context.call_on_fit_task_begin(estimator=self._owner)
        if estimator is None:
            yield
        else:
            with context.propagate_callback_context(estimator):
                yield
        context.call_on_fit_task_end(estimator=self._owner)


@contextmanager
def tasks(estimator: Any, n_parts: int, X: Any, y: Any) -> Iterator[Tasks]:
    """Tell the estimator's callbacks that its fit begins, which parts it has, and that it ends.

    A callback's wish to stop early is not followed: a prototype is missing or whole.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        yield _Silent()
        return
    context = estimator._init_callback_context(max_subtasks=n_parts)
    context.call_on_fit_task_begin(estimator=estimator, X=X, y=y)
    yield _Told(estimator, context)
    context.call_on_fit_task_end(estimator=estimator, X=X, y=y)
