"""covey on a Dask cluster of this machine: throughput, and one large cluster checked against a single process.

    python -m benchmarks.on_dask throughput        1 and 2 workers, rows and a slow function of strings
    python -m benchmarks.on_dask large 4000000     one cluster of this many rows in 32 dimensions, cut into four shards
    python -m benchmarks.on_dask rates 1000000     the graph of a shard of this many rows, and a merge, on one core

``make bench`` measures the throughput, too. The large run writes benchmarks/ON_DASK.md. What a large fit costs in
docs/dask.md is computed from the rates.
"""

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

import covey
import covey.dask
from covey.dask import large
from covey.dask.shards import GraphParameters, Shard, merge_shards, shard_graph
from covey.graph.exact import nearest
from covey.graph.merge import length_of_lists
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve

COLUMNS = 32
CHECKED = 2_000
"""How many random rows the recall is measured on, by brute force."""


def rows(n: int, seed: int = 0) -> Any:
    """Rows on a curved surface of eight dimensions around 100 centers, in float32, made where they are needed."""
    rng = np.random.default_rng(seed)
    centers = 3 * rng.standard_normal((100, 8), dtype=np.float32)
    bend = rng.standard_normal((8, 64), dtype=np.float32) / 4
    flat = rng.standard_normal((64, COLUMNS), dtype=np.float32)

    def block(size: int, number: int) -> Any:
        draw = np.random.default_rng([seed, number])
        inner = draw.standard_normal((size, 8), dtype=np.float32) + centers[draw.integers(100, size=size)]
        return np.tanh(inner @ bend) @ flat

    sizes = [min(50_000, n - start) for start in range(0, n, 50_000)]
    parts = [dask.delayed(block)(size, number) for number, size in enumerate(sizes)]
    return da.concatenate(
        [da.from_delayed(part, (size, COLUMNS), np.float32) for part, size in zip(parts, sizes, strict=True)]
    )


def words(n: int) -> list[str]:
    rng = np.random.default_rng(0)
    return ["".join(rng.choice(list("abcde"), size=12)) for _ in range(n)]


def slow(a: str, b: str) -> float:
    """The share of equal letters, in about 80 microseconds."""
    for _ in range(40):
        shared = sum(x == y for x, y in zip(a, b, strict=True))
    return shared / 12


@contextmanager
def workers(n: int) -> Iterator[Client]:
    with (
        LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        warm = covey.dask.CRS(10, shard_size=2_000, graph="nn-descent", similarity="euclidean", random_state=0)
        warm.fit(rows(6_000))  # each worker imports and loads compiled code
        yield client


def seconds(function: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = function()
    return time.perf_counter() - start, result


def throughput() -> list[tuple[str, float, float, str]]:
    """For each work its name, the seconds with one and two workers, and the rates in words."""
    X, strings = rows(200_000), words(3_000)
    works = [
        ("200 000 rows in 32 dimensions, 4 shards", covey.dask.CRS(shard_size=50_000, similarity="euclidean"), X),
        ("3 000 words, a function of 80 µs, 4 shards", covey.dask.CRS(shard_size=750, similarity=slow), strings),
    ]
    found = []
    for name, selector, objects in works:
        times = {}
        for n in (1, 2):
            with workers(n):
                selector.set_params(random_state=0)
                times[n], fitted = seconds(lambda: selector.fit(objects))  # noqa: B023
        rates = ", ".join(f"{fitted.n_evaluations_ / times[n] / 1e3:,.0f} thousand evaluations/s" for n in (1, 2))
        found.append((name, times[1], times[2], rates))
    return found


def peak_memory() -> float:
    """GiB that this process has held at its peak."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 2**20


def large_run(n: int) -> str:
    """Fit one cluster of n rows, and check its graph and its picks."""
    kept: list[Any] = []
    make_graph = large._graph

    def keep(*args: Any) -> Any:
        kept.append(make_graph(*args))
        return kept[-1]

    large._graph = keep
    X = rows(n)
    selector = covey.dask.CRS(10, shard_size=n // 4 + n // 100, similarity="euclidean", random_state=0)
    with workers(2) as client:
        took, fitted = seconds(lambda: selector.fit(X))
        peak = max(client.run(peak_memory).values())
        links, _, counts = kept[-1]
        graph = whole_graph(client.gather(links), n)
        plain = fitted.to_local()
        local = X.compute()
    kept.clear()
    prototype = plain.prototypes_[0]
    cover = covey.cover(graph, threshold=prototype.threshold)
    same = np.array_equal(cover.indices, prototype.indices) and np.array_equal(cover.covered_by, prototype.covered_by)
    single = covey.CRS(10, graph="nn-descent", similarity="euclidean", random_state=0, n_jobs=2)
    alone, _ = seconds(lambda: single.fit(local))
    per_merge = sum(count for name, count in counts.items() if name.startswith("merge")) / (3 * n)
    lines = [
        f"- {n:,} rows, {COLUMNS} columns, float32, k = 10, four shards, two workers of one thread: **{took:.0f} s**, "
        f"{fitted.n_evaluations_ / n:.0f} evaluations per object, {per_merge:.0f} of them per object and merge; "
        f"{peak:.2f} GiB in a worker at its peak.",
        f"- Recall of the merged graph on {CHECKED} random rows: **{recall(graph, local):.4f}**.",
        f"- {prototype.indices.size:,} representatives. `covey.cover` in one process, given the same graph, picks the "
        f"same ones in the same order, with the same members: **{same}**.",
        f"- `covey.CRS` in one process with two threads: {alone:.0f} s, {single.n_evaluations_ / n:.0f} evaluations "
        f"per object, {single.sample_indices_.size:,} representatives.",
    ]
    return "\n".join(lines)


def stage_rates(n: int) -> str:
    """The time, the evaluations and the memory per object of the graph of a shard and of a merge, in this process."""
    whole = collect(rows(2 * n).compute(), resolve("euclidean"))
    first, second = (Shard.of(whole.take(np.arange(start, 2 * n, 2))) for start in range(2))
    how = GraphParameters(10, length_of_lists(10), "auto", 1)
    rng = np.random.default_rng(0)
    shard_graph(Shard.of(whole.take(np.arange(20_000))), how, rng)  # loads compiled code
    before = peak_memory()
    link_time, left = seconds(lambda: shard_graph(first, how, rng))
    right = shard_graph(second, how, rng)
    merge_time, merged = seconds(lambda: merge_shards(first, left, second, right, how, rng))
    per_link, per_merge = 1e6 * link_time / n, 1e6 * merge_time / (2 * n)
    n_link, n_merge = left.n_evaluations / n, merged.n_evaluations / (2 * n)
    n_bytes = (peak_memory() - before) * 2**30 / (2 * n)
    return (
        f"{n:,} rows a shard: graph {per_link:.0f} microseconds and {n_link:.0f} evaluations per object; merge "
        f"{per_merge:.0f} microseconds and {n_merge:.0f} evaluations per object; {n_bytes:.0f} bytes per object of a "
        "merge at the peak, beyond the rows"
    )


def whole_graph(links: list[Any], n: int) -> covey.NeighborGraph:
    """The graph of all rows, from the lists of all shards."""
    k = links[0].neighbors.shape[1]
    indices, similarities = np.full((n, k), -1, dtype=np.int32), np.full((n, k), -np.inf)
    for part in links:
        indices[part.rows], similarities[part.rows] = part.neighbors, part.similarities
    return covey.NeighborGraph(indices, similarities)


def recall(graph: covey.NeighborGraph, X: Any) -> float:
    """The share of the true neighbors of random rows that are in the graph; equally similar ones count alike."""
    checked = np.random.default_rng(1).choice(len(X), CHECKED, replace=False)
    collection = collect(X, resolve("euclidean"))
    truth = nearest(collection.take(checked).against(collection, 2), graph.n_neighbors + 1)  # one is the row itself
    last = truth.similarities[:, -1:]
    return float(np.mean(graph.similarities[checked] >= last))


def main() -> None:
    if sys.argv[1] == "throughput":
        for name, one, two, rates in throughput():
            print(f"{name}: {one:.1f} s with one worker, {two:.1f} s with two, {one / two:.2f} times as fast; {rates}")
        return
    if sys.argv[1] == "rates":
        print(stage_rates(int(sys.argv[2])))
        return
    found = large_run(int(sys.argv[2]))
    print(found)
    report = (
        "# One large cluster on two workers\n\n"
        f"Written by `python -m benchmarks.on_dask large {sys.argv[2]}` on {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, dask {dask.__version__}.\n\n{found}\n"
    )
    Path(__file__).with_name("ON_DASK.md").write_text(report, encoding="utf-8")


if __name__ == "__main__":
    main()
