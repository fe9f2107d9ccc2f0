"""One fit of CRS on this many synthetic rows, in a process of its own: ``python -m benchmarks.one_fit 1000000``.

A second word says how the graph is made, by default "auto". It prints the seconds of the fit and the GiB of memory at
its peak, beyond the data and the imports. The rows have 64 columns and lie around 100 centers.
"""

import sys
import time

import numpy as np

import covey


def memory(name: str) -> float:
    """GiB of this process alone. getrusage does not tell them, because its peak starts at the parent's."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(name)) / 2**20


def main() -> None:
    n = int(sys.argv[1])
    rng = np.random.default_rng(0)
    centers = 2 * rng.standard_normal((100, 64), dtype=np.float32)
    X = rng.standard_normal((n, 64), dtype=np.float32)
    for start in range(0, n, 1000):  # no large temporary array, whose memory the fit could use unseen
        X[start : start + 1000] += centers[rng.integers(0, 100, 1000)]
    method = sys.argv[2] if len(sys.argv) > 2 else "auto"
    selector = covey.CRS(15, graph=method, random_state=0, n_jobs=2)
    for few in (3000, 60_000):  # compiles
        selector.fit(X[:few])
    before = memory("VmRSS")
    begin = time.perf_counter()
    selector.fit(X)
    print(time.perf_counter() - begin, memory("VmHWM") - before)


if __name__ == "__main__":
    main()
