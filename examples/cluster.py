"""The same selection on a Dask cluster, here one of two workers on this machine.

The rows are made by the workers, and this process never holds them. In earnest they would come from Parquet files
(``dask.dataframe.read_parquet``), and the cluster from ``Client("scheduler:8786")``.
"""

import dask.array as da
import numpy as np
from dask.distributed import Client, LocalCluster

import covey
import covey.dask


def blob(block: np.ndarray) -> np.ndarray:
    """Move each row of noise to one of eight centers."""
    rng = np.random.default_rng(abs(hash(block[0, 0])))
    centers = 6 * np.random.default_rng(0).normal(size=(8, 16))
    return block + centers[rng.integers(8, size=len(block))]


def main() -> None:
    rows = da.random.default_rng(0).normal(size=(20_000, 16), chunks=(5_000, 16)).map_blocks(blob, dtype=float)
    labels = (rows[:, 0] > 0).map_blocks(lambda above: np.where(above, "right", "left"), dtype="<U5")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster),
    ):
        selector = covey.dask.CRS(n_neighbors=10, similarity="euclidean", shard_size=6_000, random_state=0)
        model = covey.dask.NearestPrototypeClassifier(selector).fit(rows, labels)
        for prototype in model.selector_.prototypes_.values():
            print(prototype)
        print(f"{model.selector_.n_evaluations_:,} evaluations, scan rate {model.selector_.scan_rate_:.3f}")
        answers = model.predict(rows)  # a lazy dask array
        print(f"{float((answers == labels).mean().compute()):.3f} of the rows get their own label back")
        plain = model.to_local()  # needs no cluster any more
    covey.save(plain, "cluster-model.covey")
    print(f"the plain model says {plain.predict(6 * np.eye(1, 16))[0]} and was saved to cluster-model.covey")


if __name__ == "__main__":
    main()
