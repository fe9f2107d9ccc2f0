"""Every molecule gets a representative at least this similar: covey beside RDKit's LeaderPicker and Butina clustering.

Run with ``COVEY_DATA=folder python -m benchmarks.threshold`` (about ten minutes on two cores, most of them for the
lower bound and Butina clustering). It prints each row and writes benchmarks/THRESHOLD.md. All methods get the same
Morgan fingerprints of the first 20 000 molecules, and all answers are checked by comparing every molecule with every
representative, by code that shares nothing with covey.
"""

import csv
import gzip
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import covey
from benchmarks import data

N = 20_000
SIMILARITY = 0.35
RESULTS = Path(__file__).with_name("THRESHOLD.md")
TITLE = """# Every object has a representative at least this similar

Written by `python -m benchmarks.threshold`: Morgan fingerprints (radius 2, 2 048 bits) of the first {n:,} molecules of
the MOSES test set, Tanimoto similarity of at least {similarity}. "Farthest" is the similarity of the molecule that is
represented worst, found by comparing every molecule with every representative. No choice at all can do with fewer than
**{bound:,}** representatives: this is the lower bound of `covey.cover_lower_bound`, which took {seconds:.0f} s.
{edges:,} pairs of molecules reach the threshold. Times are those of one run of each method, with two threads where a
method has threads; they include the comparison of all pairs, but not the fingerprints.

| method | representatives | beside the bound | seconds | farthest |
|---|---|---|---|---|
"""


def fingerprints() -> tuple[list[Any], NDArray[np.uint8]]:
    """RDKit's fingerprints, and the same as packed bits."""
    from rdkit.Chem import MolFromSmiles
    from rdkit.Chem.rdFingerprintGenerator import GetMorganGenerator
    from rdkit.DataStructs import BitVectToBinaryText

    generator = GetMorganGenerator(radius=2, fpSize=2048)
    with gzip.open(data.find("moses", "molecules.csv.gz"), "rt", encoding="utf-8") as file:
        smiles = [row["SMILES"] for row, _ in zip(csv.DictReader(file), range(N), strict=False)]
    vectors = [generator.GetFingerprint(MolFromSmiles(text)) for text in smiles]
    packed = [np.frombuffer(BitVectToBinaryText(vector), dtype=np.uint8) for vector in vectors]
    return vectors, np.stack(packed)


def leader_picker(vectors: list[Any]) -> list[int]:
    from rdkit.SimDivFilters.rdSimDivPickers import LeaderPicker

    return list(LeaderPicker().LazyBitVectorPick(vectors, len(vectors), 1 - SIMILARITY, numThreads=2))


def butina(vectors: list[Any]) -> list[int]:
    """The centers of Butina's clusters. RDKit takes the distances of all pairs below the diagonal as one list."""
    from rdkit.DataStructs import BulkTanimotoSimilarity
    from rdkit.ML.Cluster.Butina import ClusterData

    distances: list[float] = []
    for at in range(1, len(vectors)):
        distances.extend(1 - similarity for similarity in BulkTanimotoSimilarity(vectors[at], vectors[:at]))
    clusters = ClusterData(distances, len(vectors), 1 - SIMILARITY, isDistData=True, reordering=True)
    return [cluster[0] for cluster in clusters]


def crs(packed: NDArray[np.uint8], n_neighbors: int | None, **options: Any) -> list[int]:
    selector = covey.CRS(
        n_neighbors, threshold=SIMILARITY, coverage=1.0, similarity="jaccard", n_jobs=2, random_state=0, **options
    )
    return selector.fit(packed).sample_indices_.tolist()


def farthest(packed: NDArray[np.uint8], chosen: list[int]) -> float:
    """The lowest similarity of a molecule to its most similar representative, by counting bits with NumPy."""
    representatives = packed[chosen]
    sizes = np.bitwise_count(representatives).sum(axis=1, dtype=np.int64)
    worst = 1.0
    for row in packed:
        common = np.bitwise_count(representatives & row).sum(axis=1, dtype=np.int64)
        worst = min(worst, float((common / (sizes + int(np.bitwise_count(row).sum()) - common)).max()))
    return worst


def main() -> None:
    vectors, packed = fingerprints()
    start = time.perf_counter()
    graph = covey.threshold_graph(packed, SIMILARITY, "jaccard", n_jobs=2)
    bound = covey.cover_lower_bound(graph, coverage=1.0)
    seconds = time.perf_counter() - start
    methods: dict[str, Callable[[], list[int]]] = {
        "RDKit, `LeaderPicker`": lambda: leader_picker(vectors),
        "RDKit, Butina with reordering": lambda: butina(vectors),
        "covey, `CRS(100)`": lambda: crs(packed, 100),
        "covey, `CRS(None)`": lambda: crs(packed, None),
        'covey, `CRS(None, gain="count")`': lambda: crs(packed, None, gain="count"),
        'covey, `CRS(None, gain="count", refine=True)`': lambda: crs(packed, None, gain="count", refine=True),
    }
    text = TITLE.format(n=N, similarity=SIMILARITY, bound=bound, seconds=seconds, edges=graph.nnz // 2)
    crs(packed[:500], None, refine=True)  # compiles
    for name, method in methods.items():
        start = time.perf_counter()
        chosen = method()
        took = time.perf_counter() - start
        row = (
            f"| {name} | {len(chosen):,} | {len(chosen) / bound:.2f} x | {took:.1f} | {farthest(packed, chosen):.3f} |"
        )
        print(row, flush=True)
        text += row + "\n"
    RESULTS.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
