"""Threads over independent tasks whose results commute."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


def run(function: Callable[[Task], Result], tasks: Iterable[Task], n_jobs: int | None, threaded: bool) -> list[Result]:
    """[function(task) for each task], on `n_jobs` threads (as joblib counts them) where `threaded` allows."""
    from joblib import effective_n_jobs
    from threadpoolctl import threadpool_limits

    n_threads = effective_n_jobs(n_jobs) if threaded else 1
    if n_threads == 1:
        return [function(task) for task in tasks]
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_threads) as pool:
        return list(pool.map(function, tasks))


def share_out(n: int, most: int) -> int:
    """How many of n objects make a task: at least eight tasks if they are worth it, whatever the number of threads."""
    return min(most, max(32, -(-n // 8)))
