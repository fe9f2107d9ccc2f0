"""The same selection on a Dask cluster, for data that one machine cannot hold and similarities that take long.

    from dask.distributed import Client
    import covey.dask

    client = Client("scheduler:8786")
    model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(10)).fit(X, y)  # X and y are dask collections
    answers = model.predict(new)                                                 # a dask array, computed when needed
    model.to_local()                                                             # a plain covey model, to be saved

Both estimators have the parameters of covey's own, which do the work, and are not ones themselves: what needs all
data in one process is there in what `to_local` returns. The extra `dask` installs what they need.

The *driver* is the process that calls `fit`. It plans, submits tasks and waits; workers do everything else.

- `crs.py` and `classifier.py` are the estimators. `wrapper.py` is what they have in common with a prototype whose
  members stay on the cluster, and this prototype.
- Driver: `driver.py` decides which clusters are packed together and which are cut into shards, and goes through a fit.
  `inputs.py` reads X and y, and `large.py` fits a cluster in shards.
- Workers: `worker.py` has the tasks on parts of X and on small clusters, `shards.py` those on shards, and `task.py`
  what surrounds every task.
- `engine.py` is the only file of the driver that talks to Dask: it submits tasks and waits for them.
- `checkpoint.py` keeps the results of finished tasks in a folder.
"""

from covey.dask.classifier import NearestPrototypeClassifier
from covey.dask.crs import CRS

__all__ = ["CRS", "NearestPrototypeClassifier"]
