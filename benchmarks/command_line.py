"""How much memory and time `covey classify` and `covey select` take for a CSV of 100 000 and of a million rows.

Run it with ``python -m benchmarks.command_line``.
"""

import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS = (100_000, 1_000_000)
COLUMNS = 8
COVEY = [sys.executable, "-m", "covey.__main__"]


def write(path: Path, n: int) -> None:
    """Random numbers with four digits, and a label."""
    X = np.random.default_rng(0).integers(0, 10_000, (n, COLUMNS))
    table = np.column_stack([X, X[:, 0] > X[:, 1]])
    header = ",".join([*(f"x{at}" for at in range(COLUMNS)), "kind"])
    np.savetxt(path, table, fmt="%d", delimiter=",", header=header, comments="")


def peak(command: list[str]) -> tuple[float, float]:
    """Megabytes and seconds; the first is the most of all commands so far, so run the smaller one first."""
    start = time.perf_counter()
    subprocess.run(command, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024, time.perf_counter() - start


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder / "train.csv", 5000)
        model = str(folder / "model")
        train = [
            "select",
            str(folder / "train.csv"),
            "--label",
            "kind",
            "-o",
            str(folder / "few.csv"),
            "--model",
            model,
        ]
        subprocess.run([*COVEY, *train, "-q"], check=True)
        for n in ROWS:
            data = folder / f"{n}.csv"
            write(data, n)
            answers = str(folder / f"{n}.answers.csv")
            size = f"{n:>9,} rows, {data.stat().st_size / 1e6:.0f} MB"
            memory, seconds = peak([*COVEY, "classify", str(data), "--model", model, "-o", answers, "-q"])
            print(f"classify {size}: peak memory {memory:.0f} MB, {seconds:.1f} s", flush=True)
        for n in ROWS:  # these take more memory, so they come last
            few = str(folder / f"{n}.few.csv")
            memory, seconds = peak([*COVEY, "select", str(folder / f"{n}.csv"), "--label", "kind", "-o", few, "-q"])
            print(f"select   {n:>9,} rows: peak memory {memory:.0f} MB, {seconds:.1f} s", flush=True)


if __name__ == "__main__":
    main()
