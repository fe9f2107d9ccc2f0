"""Fingerprints of molecules as packed bits beside the same bits as rows of a CSR array, and a whole selection.

Run it with ``COVEY_DATA=folder python -m benchmarks.fingerprints`` (some minutes on two cores). It prints each row and
writes benchmarks/FINGERPRINTS.md. ``make bench`` shows the first row beside its other figures.
"""

import os
import platform
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

import covey
from benchmarks import data
from benchmarks.command_line import COVEY
from covey.cli.objects.molecules import fingerprints

N, K, RUNS = 20_000, 15, 5
RESULTS = Path(__file__).with_name("FINGERPRINTS.md")
TEXT = """# Fingerprints of molecules

Written by `python -m benchmarks.fingerprints` on {cores} cores, Python {python}. The molecules are those of the MOSES
test set, and their fingerprints are RDKit's Morgan fingerprints of radius 2 with 2048 bits, of which 41 are set on
average. Similarities are those of Jaccard, which chemists call Tanimoto.

## The exact graph of {n:,} molecules, k = {k}

Medians of {runs} alternating runs of two threads; all three graphs are equal to the last bit. Processor time is that
of both threads together. It says more than seconds do if other programs run at the same time. Before packed bits came,
CSR rows took 9.2 s to 10.3 s of processor time on the same machine, measured by hand.

| rows | seconds | beside CSR | processor time | beside CSR |
|---|---|---|---|---|
{graphs}

## All molecules in one command

`covey select molecules.csv.gz --smiles SMILES -o few.csv`, one run: reading, fingerprints, graph, selection and
writing.

| molecules | selected | seconds | processor time | peak memory |
|---|---|---|---|---|
{command}
"""


def molecules() -> str:
    return str(data.find("moses", "molecules.csv.gz"))


def graphs() -> dict[str, Callable[[], Any]]:
    """What makes the exact graph of each form of the fingerprints. The code is compiled already."""
    packed, _ = fingerprints(pd.read_csv(molecules(), nrows=N)["SMILES"].tolist())
    bits = np.unpackbits(packed, axis=1)
    forms = {"packed bits": packed, "bytes of 0 and 1": bits, "CSR rows": sp.csr_array(bits.astype(bool))}

    def graph(X: Any) -> Any:
        return covey.neighbor_graph(X, K, "jaccard", method="exact", n_jobs=2)

    for X in forms.values():
        graph(X[:2000])
    return {name: lambda X=X: graph(X) for name, X in forms.items()}  # type: ignore[misc]


def figures(alternate: Callable[..., list[float]]) -> list[tuple[str, str, str, float, str]]:
    """Return the figure of `make bench`, whose suite says how runs alternate."""
    made = graphs()
    packed, csr = alternate(made["packed bits"], made["CSR rows"])
    work = f"exact graph of {N:,} Morgan fingerprints as packed bits, k = {K}"
    return [(work, "the same bits as CSR rows", "<= 0.33 x", packed / csr, f"{packed:.2f} s, {csr:.2f} s")]


def side_by_side() -> list[str]:
    """Return a row of the table for each form of the fingerprints."""
    made = graphs()
    found = {name: function() for name, function in made.items()}
    for graph in found.values():
        np.testing.assert_array_equal(graph.indices, found["CSR rows"].indices)
        np.testing.assert_array_equal(graph.similarities, found["CSR rows"].similarities)
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
    for _ in range(RUNS):
        for name, function in made.items():
            start, busy = time.perf_counter(), time.process_time()
            function()
            times[name].append((time.perf_counter() - start, time.process_time() - busy))
    medians = {name: [median(column) for column in zip(*runs, strict=True)] for name, runs in times.items()}
    csr = medians["CSR rows"]
    return [
        f"| {name} | {wall:.2f} | {wall / csr[0]:.2f} x | {busy:.2f} s | {busy / csr[1]:.2f} x |"
        for name, (wall, busy) in medians.items()
    ]


def command() -> str:
    """Return the row of the table about all molecules."""
    with tempfile.TemporaryDirectory() as folder:
        few, start = f"{folder}/few.csv", time.perf_counter()
        subprocess.run([*COVEY, "select", molecules(), "--smiles", "SMILES", "-o", few, "-q"], check=True)
        seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
        n, selected = len(pd.read_csv(molecules())), len(pd.read_csv(few))
    busy = used.ru_utime + used.ru_stime
    return f"| {n:,} | {selected:,} | {seconds:.0f} | {busy:.0f} s | {used.ru_maxrss / 1024:.0f} MB |"


def main() -> None:
    rows = side_by_side()
    print("\n".join(rows), flush=True)
    whole = command()
    print(whole, flush=True)
    filled = TEXT.format(
        cores=os.cpu_count(),
        python=platform.python_version(),
        n=N,
        k=K,
        runs=RUNS,
        graphs="\n".join(rows),
        command=whole,
    )
    RESULTS.write_text(filled, encoding="utf-8")


if __name__ == "__main__":
    main()
