"""Warnings about custom similarities, each given once for a similarity.

All clusters of a fit share one similarity, so that a fit of many clusters warns once. On a worker of a Dask cluster,
`heard_by` passes warnings on to the process of the user.
"""

import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

_listener = threading.local()
"""Who hears of warnings in this thread instead of the user."""


class Topic:
    """Something that a user is warned of once for each similarity."""

    def __init__(self) -> None:
        self._warned_about: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()  # by identity

    def warn(self, similarity: Any, category: type[Warning], message: str) -> None:
        """Warn the user, or who hears of warnings instead, unless this has happened for the similarity before."""
        if id(similarity) in self._warned_about:
            return
        self._warned_about[id(similarity)] = similarity
        listener = getattr(_listener, "tell", None)
        if listener is None:
            warnings.warn(message, category, stacklevel=3)
        else:
            listener(category, message)


@contextmanager
def heard_by(listener: Callable[[type[Warning], str], None]) -> Iterator[None]:
    """Pass warnings in this thread on to a function instead of the user."""
    _listener.tell = listener
    try:
        yield
    finally:
        del _listener.tell
