"""Four journeys through the source tree, traced call by call: how many files and functions, and how deep.

    python -m benchmarks.journeys              # the tree that is installed here
    PYTHONPATH=OTHER/src python -m benchmarks.journeys

(a) `CRS().fit(X, y)` on a dense array; (b) the same with a custom function, two processes and a checkpoint; (c) `covey
select` of a table, with a model and a map; (d) `covey.dask.CRS().fit`, with a driver and workers in one process.
Compilation is off, so that kernels count as the functions that they are. A file counts if one of its functions is
called, and the depth is the largest number of covey's own frames on one stack. Importing a module is not a call.
"""

import os

os.environ["NUMBA_DISABLE_JIT"] = "1"

import sys
import tempfile
import threading
import warnings
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

import covey

ROOT = str(Path(covey.__file__).parent)


class Trace:
    """The functions that were called, and the deepest stack of covey's own frames, over all threads."""

    def __init__(self) -> None:
        self.functions: set[tuple[str, str]] = set()
        self.deepest: list[str] = []

    def __call__(self, frame: Any, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or code.co_name == "<module>":
            return
        self.functions.add((code.co_filename, code.co_qualname))
        stack = []
        while frame is not None:
            own = frame.f_code
            if own.co_filename.startswith(ROOT) and own.co_name != "<module>":
                stack.append(f"{Path(own.co_filename).relative_to(ROOT)}:{own.co_qualname}")
            frame = frame.f_back
        if len(stack) > len(self.deepest):
            self.deepest = stack[::-1]

    def of(self, journey: Callable[[], Any]) -> "Trace":
        threading.setprofile(self)
        sys.setprofile(self)
        try:
            journey()
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        return self


def dense() -> None:
    rng = np.random.default_rng(0)
    covey.CRS(3, random_state=0).fit(rng.random((40, 5)), np.arange(40) % 2)


def custom_function() -> None:
    words = [f"{number:b}{number:o}" for number in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        selector = covey.CRS(3, similarity=shared_letters, n_jobs=2, checkpoint=f"{folder}/pairs", random_state=0)
        selector.fit(words)


def shared_letters(a: str, b: str) -> float:
    return len(set(a) & set(b)) / len(set(a) | set(b))


def command() -> None:
    from covey.__main__ import main

    rng = np.random.default_rng(0)
    with tempfile.TemporaryDirectory() as folder:
        lines = [",".join(map(str, [*row.round(3), f"class {i % 2}"])) for i, row in enumerate(rng.random((40, 4)))]
        Path(folder, "flowers.csv").write_text("\n".join(["a,b,c,d,kind", *lines]))
        files = [f"{folder}/{name}" for name in ("flowers.csv", "few.csv", "model.covey", "map.html")]
        sys.argv = ["covey", "select", files[0], "-l", "kind", "-o", files[1], "-m", files[2], "--picture", files[3]]
        with suppress(SystemExit):
            main()


def dask() -> None:
    import dask.array as da
    from distributed import Client

    import covey.dask

    rng = np.random.default_rng(0)
    X, y = rng.random((60, 5)), np.arange(60) % 2
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        selector = covey.dask.CRS(3, random_state=0, client=client)
        selector.fit(da.from_array(X, chunks=(20, 5)), da.from_array(y, chunks=20))


JOURNEYS = {
    "(a) CRS().fit(X, y), dense": dense,
    "(b) custom function, two processes, checkpoint": custom_function,
    "(c) covey select, with model and map": command,
    "(d) covey.dask.CRS().fit": dask,
}


def main() -> None:
    warnings.simplefilter("ignore")
    chosen, deepest = "".join(sys.argv[1:2]), "--deepest" in sys.argv  # the command below has arguments of its own
    print("| journey | files | functions | deepest stack |")
    print("|---|---|---|---|")
    for name, journey in JOURNEYS.items():
        if chosen.isalpha() and name[1] not in chosen:
            continue
        journey()  # imports what is imported when it is first needed
        trace = Trace().of(journey)
        files = {file for file, _ in trace.functions}
        print(f"| {name} | {len(files)} | {len(trace.functions)} | {len(trace.deepest)} |", flush=True)
        if deepest:
            print("\n".join(f"    {frame}" for frame in trace.deepest))


if __name__ == "__main__":
    main()
