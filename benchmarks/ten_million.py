"""One fit of CRS on very many rows in a memory-mapped file: ``python -m benchmarks.ten_million [N]``.

The rows have 32 columns of float32, 12 latent dimensions, and lie in an .npy file that is written first (1.3 GB for the
ten million that N is by default). The fit runs in a process of its own, with two threads, and shows its progress. It
prints the seconds of the fit, the GiB that this process has taken at its peak, the rows of the file that it has mapped
included, and what was found.
"""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import covey
from benchmarks.one_fit import memory

CHUNK = 250_000


def write(path: Path, n: int) -> None:
    """Write rows of 12 latent dimensions, chunk by chunk."""
    rng = np.random.default_rng(0)
    rows = np.lib.format.open_memmap(path, "w+", np.float32, (n, 32))
    outer = rng.standard_normal((12, 32), dtype=np.float32)
    for start in range(0, n, CHUNK):
        inner = rng.standard_normal((min(CHUNK, n - start), 12), dtype=np.float32)
        chunk = np.tanh(inner @ outer / 3)
        rows[start : start + CHUNK] = chunk + 0.05 * rng.standard_normal(chunk.shape, dtype=np.float32)


def fit(path: str) -> None:
    X = np.load(path, mmap_mode="r")
    start = time.perf_counter()
    selector = covey.CRS(random_state=0, n_jobs=2, verbose=1).fit(X)
    seconds = time.perf_counter() - start
    (prototype,) = selector.prototypes_.values()
    print(
        f"{len(X):,} rows: {seconds:.0f} s ({seconds / len(X) * 1e6:.0f} us a row), {memory('VmHWM'):.2f} GiB; "
        f"{prototype.indices.size:,} representatives, {selector.n_evaluations_ / len(X):,.0f} evaluations a row"
    )


def main() -> None:
    if len(sys.argv) > 2:
        fit(sys.argv[2])
        return
    n = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.npy"
        write(path, n)
        subprocess.run([sys.executable, "-m", "benchmarks.ten_million", str(n), str(path)], check=True)


if __name__ == "__main__":
    main()
