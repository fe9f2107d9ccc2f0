"""How long a newcomer waits: import, help and wrong usage of the command, the very first fit with an empty compile
cache, and the fit of the next process.

Run with ``python benchmarks/start_up.py``. Each step runs in a fresh process; the cache is a temporary folder.
"""

import os
import subprocess
import sys
import tempfile
import time

IMPORT = "import covey"
FIT = """
import covey, numpy as np
X = np.random.default_rng(0).random((2000, 64), dtype=np.float32)
covey.NearestPrototypeClassifier(covey.CRS(10, graph={graph!r})).fit(X, np.arange(2000) % 2).predict(X[:10])
"""


ANSWERED_AT_ONCE = {
    "help": ["select", "--help"],
    "an unknown option": ["select", "--nonsense"],
    "no argument": ["select"],
    "a file that is not there": ["select", "absent.csv"],
    "an unknown similarity": ["select", __file__, "--similarity", "cosin"],
    "a model that is not there": ["classify", __file__, "--format", "csv", "--model", "absent"],
}


def seconds_to_answer(args: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "covey", *args], check=False, capture_output=True)
    return time.perf_counter() - start


def seconds(code: str, cache: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "NUMBA_CACHE_DIR": cache})
    return time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as empty:
        bare = min(seconds("pass", empty) for _ in range(5))
        print(f"import covey: {min(seconds(IMPORT, empty) for _ in range(5)) - bare:.2f} s beyond a bare interpreter")
    for what, args in ANSWERED_AT_ONCE.items():
        print(f"covey, {what}: answered in {min(seconds_to_answer(args) for _ in range(5)):.2f} s (whole process)")
    for graph in ("exact", "nn-descent"):
        with tempfile.TemporaryDirectory() as cache:
            first, second = (seconds(FIT.format(graph=graph), cache) for _ in range(2))
            print(
                f"{graph}: first fit ever {first:.1f} s, next process {second:.1f} s (whole process, import included)"
            )


if __name__ == "__main__":
    main()
