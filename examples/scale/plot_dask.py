"""
The same selection on a Dask cluster
====================================

Data that one machine cannot hold, or a similarity that takes too long on its cores, ask for several machines.
``covey.dask`` has the same selector and the same classifier for a `Dask <https://www.dask.org>`_ cluster. This page
starts two workers on one machine, cuts clusters into shards, and ends with a plain model.
"""

# %%
# A cluster of machines, in small
# -------------------------------
# In earnest this would be ``Client("scheduler:8786")``. Here the workers are threads of this process, so that the page
# runs anywhere. The rows are made by the workers, part by part; they could come from
# ``dask.dataframe.read_parquet`` as well.

import dask.array as da
import numpy as np
from dask.distributed import Client
from matplotlib import pyplot as plt

import covey
import covey.dask

client = Client(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None)
centers = 6 * np.random.default_rng(0).normal(size=(8, 2))


def around_centers(block, block_info=None):
    """Move each row of noise to one of eight centers."""
    rng = np.random.default_rng(block_info[0]["chunk-location"])
    return block + centers[rng.integers(8, size=len(block))]


X = da.random.default_rng(0).normal(size=(6_000, 2), chunks=(1_500, 2)).map_blocks(around_centers, dtype=float)
y = (X[:, 0] > 0).map_blocks(lambda right: np.where(right, "right", "left"), dtype="<U5")
print(X)

# %%
# Fit and predict
# ---------------
# A cluster of at most ``shard_size`` objects gets exactly the answer of ``covey.CRS``. A larger one is cut into shards,
# whose graphs are then merged. The answer depends on the seed and on ``shard_size``, and on nothing else: not on the
# number of workers, nor on how X is cut into parts, nor on workers that are lost.

selector = covey.dask.CRS(n_neighbors=20, similarity="euclidean", shard_size=2_000, random_state=0)
model = covey.dask.NearestPrototypeClassifier(selector).fit(X, y)
for label, prototype in model.selector_.prototypes_.items():
    print(f"{label}: {prototype.indices.size} representatives cover {prototype.coverage:.1%}")
answers = model.predict(X)  # lazy: nothing is computed until somebody asks
print(f"{float((answers == y).mean().compute()):.1%} of all rows get their own label back")

# %%
# A plain model
# -------------
# ``to_local()`` gives an estimator that needs no cluster any more. It can be saved, sent and used like any other.

plain = model.to_local()
rows = X.compute()
client.close()
chosen = plain.selector_.sample_indices_
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for label, color in zip(plain.classes_, ("#0072b2", "#d55e00"), strict=True):
    mine = plain.predict(rows) == label
    axes.scatter(*rows[mine].T, s=2, color=color, alpha=0.4, linewidths=0)
axes.scatter(*rows[chosen].T, s=22, color="black", linewidths=0)
axes.set(xticks=[], yticks=[], title=f"{chosen.size} representatives of {len(rows):,} rows, found in shards of 2,000")
plt.show()

# %%
# What to try next
# ----------------
# - Compare with one process: ``covey.CRS(20, similarity="euclidean", random_state=0).fit(rows, y.compute())``.
# - ``checkpoint="folder"`` keeps finished work, so that a fit goes on after the driver was lost.
# - ``joblib.parallel_config("dask")`` around a fit of the plain ``covey.CRS`` lets the workers fit small clusters side
#   by side, and evaluate a slow similarity.
# - On the command line: ``covey select part-*.parquet --dask local --label kind -o few.csv``.
