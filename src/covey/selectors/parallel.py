"""Clusters that are fitted side by side by the workers of a joblib backend such as "dask".

1. The selector travels once to each worker, without its callbacks, and so does the request of the fit. A cluster goes
   with its own members only, and not before a worker will soon need it, so that this process never holds copies of all
   clusters at once.
2. A worker selects the representatives as this process would: with the same random generator, and with rows of X as
   numbers, so that nothing has to be renumbered.
3. The answers come back in the order of the clusters. After an error no further cluster is sent.
4. If a cluster, or what was selected in it, cannot be sent, a warning says so once, and this process fits that cluster.
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
from covey.selectors.cluster import Cluster, ClusterResult
from covey.selectors.request import Request
from covey.similarity.calls.pool import warn_unsendable


def select_in_workers(
    selector: Any, clusters: Iterable[Cluster], rng: np.random.RandomState, request: Request
) -> Generator[ClusterResult, None, None]:
    """Let the workers of joblib's active backend select, and yield the selections in the order of the clusters."""
    sent: deque[tuple[Cluster, np.random.Generator]] = deque()  # those that have no answer yet
    is_over = False

    def tasks() -> Iterator[Any]:
        for cluster in clusters:
            if is_over:
                return
            sent.append((cluster, generator(rng)))
            yield delayed(_select_in_worker)(shared.parcel, _content(*sent[-1]))

    try:
        shared = Shared((without_callbacks(selector), request), elsewhere=True)
    except UnsendableError as error:
        for cluster in clusters:
            yield _select_after_all(selector, cluster, generator(rng), request, error)
        return
    with large_tasks():
        outcomes = Parallel(n_jobs=getattr(selector, "n_jobs", None), return_as="generator")(tasks())
        try:
            for outcome in outcomes:
                yield _received(selector, *sent.popleft(), request, outcome)
        finally:
            is_over = True
            with suppress(Exception):  # waits for all, because workers would go on
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


def _select_in_worker(parcel: Any, content: bytes | UnsendableError) -> Outcome:
    """Select in a cluster in a worker. The parcel holds the selector and the request."""

    def work() -> bytes:
        if isinstance(content, UnsendableError):
            raise content
        selector, request = parcel.open()
        cluster, rng = unpacked(content)
        return packed(tuple(selector._select(cluster, rng, request)))

    return attempt(work, recorded=True) if has_arrived(parcel) else LOST


def _received(
    selector: Any, cluster: Cluster, rng: np.random.Generator, request: Request, outcome: Outcome
) -> ClusterResult:
    """Return what a worker has selected, or raise its error.

    The label is the object of this process again, because a copy of it need not be equal to it.
    """
    if outcome.lost:
        return _select_here(selector, cluster, rng, request)
    try:
        selected = ClusterResult(*unpacked(outcome.result()))
    except UnsendableError as error:
        return _select_after_all(selector, cluster, rng, request, error)
    return selected._replace(prototype=replace(selected.prototype, label=cluster.label))


def _select_after_all(
    selector: Any, cluster: Cluster, rng: np.random.Generator, request: Request, error: UnsendableError
) -> ClusterResult:
    """Select in a cluster that could not be sent, in this process alone."""
    warn_unsendable(cluster.whole.run, cluster.whole.similarity, error)
    return _select_here(selector, cluster, rng, request)


def _select_here(selector: Any, cluster: Cluster, rng: np.random.Generator, request: Request) -> ClusterResult:
    """Select in a cluster in this process alone.

    The backend must not be used for this, because it may be at work on the other clusters.
    """
    with parallel_config("sequential"):
        selected: ClusterResult = selector._select(cluster, rng, request)
        return selected
