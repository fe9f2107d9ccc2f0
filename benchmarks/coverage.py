"""What a cover, its refinement, its lower bound and a threshold graph take, in processor time and in memory.

Run with ``python -m benchmarks.coverage`` (about five minutes on two idle cores), or with one of the names below. Every
figure is measured in a process of its own. Memory is the growth of its largest resident set (VmHWM), after a small
problem of the same kind has loaded all compiled code, so that this runs on Linux only. ``bound`` prints the bound after
each round. A tree of an older version can be measured with the same file by PYTHONPATH.
"""

import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import covey
from benchmarks.large import tight

N, K = 1_000_000, 15


def largest_resident_set() -> int:
    """How many bytes this process had in memory at most."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def random_graph(n: int) -> covey.NeighborGraph:
    """A graph of K random neighbors each, as that of `benchmarks/suite.py`."""
    rng = np.random.default_rng(0)
    similarities = np.sort(rng.random((n, K)), axis=1)[:, ::-1].copy()
    return covey.NeighborGraph(rng.integers(0, n, (n, K), dtype=np.int32), similarities)


def rows(n: int) -> Any:
    return np.random.default_rng(0).standard_normal((n, 32)).astype(np.float32)


def measured(what: str, work: Callable[[], Any], n: int, unit: str) -> Any:
    """Do work, and print what it took; memory is given per object or per stored entry."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forgets the largest resident set so far
    before, seconds, start = largest_resident_set(), time.process_time(), time.perf_counter()
    result = work()
    seconds, took = time.process_time() - seconds, time.perf_counter() - start
    n = n or result.nnz
    grown = (largest_resident_set() - before) / n
    print(f"{what}: {took:.2f} s, {seconds:.2f} s of processor time, {grown:.1f} bytes {unit}", flush=True)
    return result


def cover() -> None:
    graph = random_graph(N)
    covey.cover(random_graph(1500))
    measured(f"cover of {N:,} objects, beyond the graph", lambda: covey.cover(graph), N, "an object")


def cover_by_count() -> None:
    graph = random_graph(N)
    covey.cover(random_graph(1500), gain="count")
    measured("the same by counts", lambda: covey.cover(graph, gain="count"), N, "an object")


def refine() -> None:
    graph = random_graph(N)
    covey.cover(random_graph(1500), refine=True)
    plain = covey.cover(graph).indices.size
    found = measured("refined cover", lambda: covey.cover(graph, refine=True), N, "an object").indices.size
    print(f"  {plain:,} objects picked, refined {found:,}")


def bound() -> None:
    from covey.coverage import primal_dual

    graph = random_graph(N)
    covey.cover_lower_bound(random_graph(1500))
    make_round = primal_dual._PrimalDual.make_round

    def shown(search: Any) -> None:
        make_round(search)
        best = max(search.within_loads(u)[1] for u in (search.u, search.mean_u))
        print(f"  after another round: {best:,.0f}", flush=True)

    primal_dual._PrimalDual.make_round = shown  # type: ignore[method-assign]
    found = measured("lower bound", lambda: covey.cover_lower_bound(graph), N, "an object")
    print(f"  {found:,} of {covey.cover(graph).indices.size:,} picked")


def threshold_graph() -> None:
    """A tenth of all pairs of 20 000 objects; the memory of the cover is that of both together."""
    similarities = {"cosine": 0.22, "manhattan": 0.025}
    for name, threshold in similarities.items():
        similarity = covey.from_distance(name) if name == "manhattan" else name
        covey.cover(covey.threshold_graph(rows(1500), threshold, similarity))
        X = rows(20_000)
        what = f"threshold graph under {name}"
        graph = measured(what, lambda: covey.threshold_graph(X, threshold, similarity, n_jobs=2), 0, "an entry")  # noqa: B023
        measured("  its cover, beyond the graph", lambda: covey.cover(graph, coverage=1), graph.nnz, "an entry")  # noqa: B023


def grouped_threshold_graph() -> None:
    """Rows in tight clusters of 20: all pairs of the most for which "auto" takes all, and groups of many more."""
    covey.threshold_graph(tight(5000), 0.97, method="groups", random_state=0)
    covey.threshold_graph(tight(1500), 0.97)
    for n in (100_000, N):
        X = tight(n)
        make = partial(covey.threshold_graph, X, 0.97, random_state=0, return_recall=True, n_jobs=2)
        graph, recall = measured(f"threshold graph of {n:,} rows", make, n, "an object")
        print(f"  {graph.nnz / n:.1f} entries an object, estimated recall {'exact' if recall is None else recall}")


def all_neighbors() -> None:
    """CRS of all that reach the homogeneity: half of all pairs of 20 000 objects are edges."""
    covey.CRS(None).fit(rows(1500))
    X = rows(20_000)
    measured("CRS(None)", lambda: covey.CRS(None, n_jobs=2).fit(X), len(X) * (len(X) - 1) // 2, "an edge, about")


PARTS = {
    part.__name__: part
    for part in (cover, cover_by_count, refine, bound, threshold_graph, grouped_threshold_graph, all_neighbors)
}


def main() -> None:
    if len(sys.argv) > 1:
        PARTS[sys.argv[1]]()
        return
    for name in PARTS:
        subprocess.run([sys.executable, "-m", "benchmarks.coverage", name], check=True)


if __name__ == "__main__":
    main()
