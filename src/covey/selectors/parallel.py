"""Clusters that are fitted side by side by the workers of a joblib backend such as "dask".

1. The selector travels once to each worker, without its callbacks, and so do the wishes of the fit. A cluster travels
   with its own members only, and not before a worker will soon need it, so that this process never holds copies of all
   clusters at once.
2. A worker selects the representatives as this process would: with the same random generator, and with rows of X as
   numbers, so that nothing has to be renumbered.
3. The answers come back in the order of the clusters. After an error no further cluster is sent.
4. If a cluster, or what was found in it, cannot be sent, a warning says so once, and this process fits that cluster.
"""

from collections import deque
from collections.abc import Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config

from covey.runtime.callbacks import without_callbacks
from covey.runtime.parameters import generator
from covey.runtime.workers import (
    LOST,
    Outcome,
    Shared,
    UnsendableError,
    attempt,
    has_arrived,
    large_tasks,
    packed,
    unpacked,
)
from covey.selectors.cluster import Cluster, Found, find
from covey.selectors.constraints import Wishes
from covey.similarity.calls.pool import warn_once


def find_side_by_side(
    selector: Any, clusters: Iterable[Cluster], rng: np.random.RandomState, wishes: Wishes
) -> Generator[Found, None, None]:
    """Let the workers of joblib's active backend find the prototypes, and yield them in the order of the clusters."""
    sent: deque[tuple[Cluster, np.random.Generator]] = deque()  # those that have no answer yet
    is_over = False

    def tasks() -> Iterator[Any]:
        for cluster in clusters:
            if is_over:
                return
            sent.append((cluster, generator(rng)))
            yield delayed(_find_in_worker)(shared.parcel, _content(*sent[-1]))

    try:
        shared = Shared((without_callbacks(selector), wishes), elsewhere=True)
    except UnsendableError as error:
        for cluster in clusters:
            yield _find_after_all(selector, cluster, generator(rng), wishes, error)
        return
    with large_tasks():
        outcomes = Parallel(n_jobs=getattr(selector, "n_jobs", None), return_as="generator")(tasks())
        try:
            for outcome in outcomes:
                yield _received(selector, *sent.popleft(), wishes, outcome)
        finally:
            is_over = True
            with suppress(Exception):  # waits for all, because workers would go on with clusters nobody waits for
                deque(outcomes, maxlen=0)


def _content(cluster: Cluster, rng: np.random.Generator) -> bytes | UnsendableError:
    """Pickle what a worker needs to know about a cluster, or say why this is not possible.

    The result is bytes, which joblib puts into the task itself. It would scatter an array, which would be lost with a
    worker.
    """
    try:
        return packed((cluster, rng))
    except UnsendableError as error:
        return error


def _find_in_worker(parcel: Any, content: bytes | UnsendableError) -> Outcome:
    """Find the prototype of a cluster in a worker. The parcel holds the selector and the wishes of the fit."""

    def work() -> bytes:
        if isinstance(content, UnsendableError):
            raise content
        selector, wishes = parcel.open()
        cluster, rng = unpacked(content)
        return packed(tuple(find(selector, cluster, rng, wishes)))

    return attempt(work, recorded=True) if has_arrived(parcel) else LOST


def _received(selector: Any, cluster: Cluster, rng: np.random.Generator, wishes: Wishes, outcome: Outcome) -> Found:
    """Return what a worker has found, or raise its error.

    The label is the user's own object again, because a copy of it need not be equal to it.
    """
    if outcome.lost:
        return _find_here(selector, cluster, rng, wishes)
    try:
        found = Found(*unpacked(outcome.result()))
    except UnsendableError as error:
        return _find_after_all(selector, cluster, rng, wishes, error)
    return found._replace(prototype=replace(found.prototype, label=cluster.label))


def _find_after_all(
    selector: Any, cluster: Cluster, rng: np.random.Generator, wishes: Wishes, error: UnsendableError
) -> Found:
    """Find the prototype of a cluster that could not be sent, in this process alone."""
    warn_once(cluster.whole.similarity, error)
    return _find_here(selector, cluster, rng, wishes)


def _find_here(selector: Any, cluster: Cluster, rng: np.random.Generator, wishes: Wishes) -> Found:
    """Find the prototype of a cluster in this process alone.

    The backend must not be used for this, because it may be at work on the other clusters.
    """
    with parallel_config("sequential"):
        return find(selector, cluster, rng, wishes)
