"""What a checkpoint costs: the journal beside other stores, a fit with and without one, and the time to go on with it.

Run it with ``python -m benchmarks.checkpoint`` (some minutes). It prints each row and writes benchmarks/CHECKPOINT.md.
``--objects 600 --runs 3`` makes fewer and shorter fits.

The similarity of the fits takes 100 microseconds of processor time, which it counts itself. So the ratio of processor
times is right even if other programs run at the same time, and the ratio of seconds is not.
"""

import argparse
import os
import platform
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import covey
from covey.similarity.checkpoint import PAIR, PAIRS, Checkpoint
from covey.similarity.hash_table import pair_keys
from covey.similarity.measures import resolve, similarity_fingerprint
from covey.storage.journal import Journal

BATCH, N_BATCHES = 1_000, 1_000
"""At 100 microseconds a pair, a step of 0.1 seconds has 1 000 pairs."""
STEPS_A_SECOND = 10
"""How many such steps a second has. The journal is forced to the disk once a second."""
SECONDS_A_PAIR = 1e-4
RESULTS = Path(__file__).with_name("CHECKPOINT.md")
TEXT = """# Checkpoints

Written by `python -m benchmarks.checkpoint` on {cores} cores, Python {python}. Processor time says more than seconds do
if other programs run at the same time. {load}

## Stores

{n_batches:,} batches of {batch:,} pairs, as a similarity of 100 microseconds gives them every 0.1 seconds, and then all
{n:,} pairs read at once. "Survives" says what a batch survives as soon as it is written. The journal is forced to the
disk once a second, which is included.

| store | survives | milliseconds a batch | processor time | share of 0.1 s | bytes a pair | seconds to read all |
|---|---|---|---|---|---|---|
{stores}

## The cost of a fit

A similarity of two numbers that takes 100 microseconds of processor time, with and without a checkpoint, in alternating
runs of one process. Medians of {runs} runs each.

| fit | evaluations | processor time without | with | ratio | seconds without | with | ratio |
|---|---|---|---|---|---|---|---|
{fits}

## Going on

A checkpoint of {n:,} pairs of {n_objects:,} objects takes {size:.1f} MB, which is {bytes_a_pair:.2f} bytes a pair.

| step | seconds | processor time |
|---|---|---|
{going_on}
"""


def batches() -> list[Any]:
    """The pairs that each store is given, batch by batch."""
    rng = np.random.default_rng(0)
    made = []
    for _ in range(N_BATCHES):
        pairs = np.empty(BATCH, dtype=PAIR)
        pairs["first"], pairs["second"] = rng.integers(100_000, size=(2, BATCH))
        pairs["similarity"] = rng.random(BATCH)
        made.append(pairs)
    return made


class InJournal:
    """Covey's own store."""

    survives = "the process; the machine after a second"

    def __init__(self, path: Path) -> None:
        self._path, self._n = path, 0
        self._journal = Journal(path)
        list(self._journal.blocks())

    def write(self, pairs: Any) -> None:
        self._journal.append(PAIRS, pairs.tobytes())
        self._n += 1
        if self._n % STEPS_A_SECOND == 0:
            self._journal.sync()

    def close(self) -> None:
        self._journal.close()

    def read(self) -> Any:
        with Journal(self._path) as journal:
            return np.concatenate([np.frombuffer(content, dtype=PAIR) for _, content in journal.blocks()])


class InSQLite:
    """A table without an index, one transaction for each batch."""

    def __init__(self, path: Path, synchronous: str) -> None:
        self.survives = "the process" if synchronous == "NORMAL" else "the machine"
        self._file = sqlite3.connect(path, isolation_level=None)
        self._file.execute("PRAGMA journal_mode=WAL")
        self._file.execute(f"PRAGMA synchronous={synchronous}")
        self._file.execute("CREATE TABLE pairs (first INTEGER, second INTEGER, similarity REAL)")

    def write(self, pairs: Any) -> None:
        self._file.execute("BEGIN")
        self._file.executemany("INSERT INTO pairs VALUES (?, ?, ?)", pairs.tolist())
        self._file.execute("COMMIT")

    def close(self) -> None:
        self._file.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def read(self) -> Any:
        return np.array(self._file.execute("SELECT * FROM pairs").fetchall(), dtype=PAIR)


class InParquet:
    """A folder with one file for each batch, which is not forced to the disk."""

    survives = "the process"

    def __init__(self, path: Path) -> None:
        path.mkdir()
        self._path, self._n = path, 0

    def write(self, pairs: Any) -> None:
        columns = {name: pairs[name] for name in PAIR.names or ()}
        pq.write_table(pa.table(columns), self._path / f"{self._n:06d}.parquet")
        self._n += 1

    def close(self) -> None:
        pass

    def read(self) -> Any:
        return pq.read_table(self._path)


STORES: dict[str, Callable[[Path], Any]] = {
    "journal": InJournal,
    "SQLite, WAL, synchronous=NORMAL": lambda path: InSQLite(path, "NORMAL"),
    "SQLite, WAL, synchronous=FULL": lambda path: InSQLite(path, "FULL"),
    "Parquet, one file a batch": InParquet,
}


def measured(function: Callable[..., Any], *args: Any) -> tuple[float, float, Any]:
    """The seconds and the processor time that a function takes, and what it returns."""
    clock, processor = time.perf_counter(), time.process_time()
    found = function(*args)
    return time.perf_counter() - clock, time.process_time() - processor, found


def stores(folder: Path) -> Iterator[str]:
    """One row of the table for each store."""
    given = batches()
    for name, make in STORES.items():
        path = folder / "store"
        store = make(path)
        seconds = [measured(store.write, pairs) for pairs in given]
        store.close()
        files = [path] if path.is_file() else [*path.iterdir()]
        size = sum(file.stat().st_size for file in files) / (BATCH * N_BATCHES)
        wall, processor = (1000 * sum(row[at] for row in seconds) / N_BATCHES for at in (0, 1))
        reading, _, found = measured(store.read)
        assert len(found) == BATCH * N_BATCHES
        yield (
            f"| {name} | {store.survives} | {wall:.2f} | {processor:.2f} ms | {wall / 100:.1%} | {size:.1f} | "
            f"{reading:.2f} |"
        )
        for file in folder.iterdir():
            shutil.rmtree(file) if file.is_dir() else file.unlink()


def nearness(a: float, b: float) -> float:
    """A similarity that takes 100 microseconds of processor time."""
    end = time.process_time() + SECONDS_A_PAIR
    while time.process_time() < end:
        pass
    return -abs(a - b)


def fits(folder: Path, n_objects: int, n_runs: int) -> Iterator[str]:
    """One row of the table for an approximate graph, and one for an exact graph of fewer objects."""
    for graph, n in (("nn-descent", n_objects), ("exact", n_objects // 4)):
        numbers = np.random.default_rng(0).random(n).tolist()
        path = folder / "checkpoint"

        def fit(checkpoint: Path | None, graph: str = graph, numbers: list[float] = numbers) -> Any:
            selector = covey.CRS(5, similarity=nearness, graph=graph, random_state=0, checkpoint=checkpoint)
            return selector.fit(numbers)

        plain, kept, n_evaluations = [], [], 0
        for _ in range(n_runs):
            plain.append(measured(fit, None)[:2])
            *taken, selector = measured(fit, path)
            kept.append(tuple(taken))
            n_evaluations = selector.n_evaluations_
            path.unlink()
        cells = []
        for at in (1, 0):
            without, with_one = (median(run[at] for run in runs) for runs in (plain, kept))
            cells.append(f"{without:.2f} s | {with_one:.2f} s | {with_one / without:.3f} x")
        yield f"| CRS, {graph}, {n:,} numbers | {n_evaluations:,} | {' | '.join(cells)} |"


def going_on(folder: Path) -> tuple[list[str], float, int]:
    """The rows of the table, the bytes of the file and the number of its objects."""
    n = BATCH * N_BATCHES
    n_objects = int(np.ceil(np.sqrt(2 * n))) + 1
    first, second = (side[:n] for side in np.triu_indices(n_objects, 1))
    order = np.random.default_rng(0).permutation(n)
    keys, path, similarity = pair_keys(first[order], second[order]), folder / "checkpoint", resolve(nearness)
    hashes = np.random.default_rng(1).integers(2**63, size=n_objects, dtype=np.uint64)
    with Checkpoint(path, similarity_fingerprint(similarity), repr(similarity)) as checkpoint:
        checkpoint.admit(hashes)
        for start in range(0, n, BATCH):
            checkpoint.store(keys[start : start + BATCH], np.ones(BATCH))
    *reading, opened = measured(Checkpoint, path, similarity)
    *admitting, _ = measured(opened.admit, hashes)
    *looking, found = measured(opened.look_up, keys)
    assert found[1].all()
    with opened:
        steps = {"read the file": reading, "recognise the objects": admitting, f"look up {n:,} pairs": looking}
    rows = [f"| {name} | {wall:.2f} | {processor:.2f} s |" for name, (wall, processor) in steps.items()]
    return rows, path.stat().st_size, n_objects


def shown(rows: Iterator[str] | list[str]) -> str:
    """Print rows as soon as they are there, and return all of them."""
    lines = []
    for row in rows:
        print(row, flush=True)
        lines.append(row)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.checkpoint")
    parser.add_argument("--objects", type=int, default=1_500, help="how many objects the approximate fit has")
    parser.add_argument("--runs", type=int, default=5, help="how many fits with and without a checkpoint")
    asked = parser.parse_args()
    load = os.getloadavg()[0] / (os.cpu_count() or 1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows, size, n_objects = going_on(folder)
        steps = shown(rows)
        (folder / "checkpoint").unlink()
        filled = TEXT.format(
            cores=os.cpu_count(),
            python=platform.python_version(),
            load=f"At the beginning, {load:.1f} programs waited for each core.",
            batch=BATCH,
            n_batches=N_BATCHES,
            n=BATCH * N_BATCHES,
            runs=asked.runs,
            n_objects=n_objects,
            size=size / 1e6,
            bytes_a_pair=size / (BATCH * N_BATCHES),
            going_on=steps,
            stores=shown(stores(folder)),
            fits=shown(fits(folder, asked.objects, asked.runs)),
        )
    RESULTS.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
