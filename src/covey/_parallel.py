"""Threads over independent tasks whose results commute."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int32]
Task = TypeVar("Task")
Result = TypeVar("Result")

BATCH = 1 << 15
"""How many pairs make a task."""


def run(
    function: Callable[[Task], Result],
    tasks: Iterable[Task],
    n_jobs: int | None,
    threaded: bool,
    products: bool = False,
) -> list[Result]:
    """[function(task) for each task], on `n_jobs` threads (as joblib counts them) where `threaded` allows.

    If tasks make matrix `products`, these keep to one thread each.
    """
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    n_threads = effective_n_jobs(n_jobs) if threaded else 1
    if n_threads == 1:
        return [function(task) for task in tasks]
    with threadpool_limits(1, "blas") if products else nullcontext(), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, tasks))


def share_out(n: int, most: int) -> int:
    """How many of n objects make a task: at least eight tasks if they are worth it, whatever the number of threads."""
    return min(most, max(32, -(-n // 8)))


def in_batches(
    function: Callable[[Indices, Indices], Floats], i: Indices, j: Indices, n_jobs: int | None, threaded: bool
) -> Floats:
    """function(i, j), which yields a number a pair, made of batches."""
    batches = [slice(at, at + BATCH) for at in range(0, i.size, BATCH)]
    values = run(lambda batch: function(i[batch], j[batch]), batches, n_jobs, threaded)
    return np.concatenate(values) if values else np.empty(0)
