"""What an offer to a neighbor list costs by its length, and what long lists cost CRS.

Run with ``COVEY_DATA=folder python -m benchmarks.long_lists`` (some minutes). It writes benchmarks/LONG_LISTS.md. All
figures are processor time, the least of several runs.
"""

import time
from pathlib import Path
from typing import Any

import numba
import numpy as np

import covey
from benchmarks import data
from covey.graph import lists

RESULTS = Path(__file__).with_name("LONG_LISTS.md")
NEVER = 1 << 30
SETTINGS = {"one by one": (NEVER, NEVER), "moved": (NEVER, 8), "moved late": (NEVER, 32), "as it is": (32, 8)}
"""From how many entries on places are found by halving, and from how many on entries are moved as blocks."""
LENGTHS = (5, 10, 15, 30, 60, 100, 200)
N, RUNS = 2000, 5


def compiled(searched_from: int, moved_from: int) -> Any:
    """The function that inserts, with other constants; it is compiled anew and leaves no trace in the cache."""
    kept = lists.SEARCHED_FROM, lists.MOVED_FROM
    lists.SEARCHED_FROM, lists.MOVED_FROM = searched_from, moved_from
    function = numba.njit(nogil=True)(lists.insert.py_func)
    empty = lists.NeighborLists.empty(1, 1)
    function(empty.indices, empty.similarities, empty.states, *np.zeros((2, 0), np.int32), np.zeros(0))
    lists.SEARCHED_FROM, lists.MOVED_FROM = kept
    return function


def nanoseconds(insert: Any, length: int, offers: int) -> float:
    """The time of one of so many offers for each place of a list."""
    rng = np.random.default_rng(length)
    size = N * length * offers
    i, j = rng.integers(0, N, size).astype(np.int32), rng.integers(0, 10_000, size).astype(np.int32)
    similarities = (j * 7919 % 10_007) / 10_007
    best = np.inf
    for _ in range(RUNS):
        empty = lists.NeighborLists.empty(N, length)
        start = time.process_time()
        insert(empty.indices, empty.similarities, empty.states, i, j, similarities)
        best = min(best, time.process_time() - start)
    return 1e9 * best / size


def seconds(k: int) -> float:
    """The processor time of CRS on Fashion-MNIST."""
    X, y, *_ = data.fashion_mnist()
    start = time.process_time()
    covey.CRS(k, random_state=0).fit(X, y)
    return time.process_time() - start


def main() -> None:
    lines = ["# Long neighbor lists", "", "Written by `python -m benchmarks.long_lists`: processor time.", ""]
    functions = {name: compiled(*setting) for name, setting in SETTINGS.items()}
    for offers, what in ((2, "a list that is being filled"), (8, "a list that is mostly full")):
        lines += [f"Nanoseconds an offer to {what} ({offers} offers a place):", ""]
        lines += ["| length | " + " | ".join(SETTINGS) + " |", "|---" * (1 + len(SETTINGS)) + "|"]
        for length in LENGTHS:
            row = [f"{nanoseconds(insert, length, offers):.1f}" for insert in functions.values()]
            lines.append(f"| {length} | " + " | ".join(row) + " |")
        lines.append("")
    covey.CRS(5).fit(np.eye(40))
    lines += ["CRS on the ten classes of Fashion-MNIST, 6 000 x 784 each:", "", "| k | seconds |", "|---|---|"]
    lines += [f"| {k} | {min(seconds(k) for _ in range(2)):.1f} |" for k in (5, 15, 30, 60, 120, 200)]
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(RESULTS.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
