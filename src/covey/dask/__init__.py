"""The same selection on a Dask cluster, for data that one machine cannot hold and similarities that take long.

    from dask.distributed import Client
    import covey.dask

    client = Client("scheduler:8786")
    model = covey.dask.NearestPrototypeClassifier(covey.dask.CRS(10)).fit(X, y)  # X and y are dask collections
    answers = model.predict(new)                                                 # a dask array, computed when needed
    model.to_local()                                                             # a plain covey model, to be saved

Both estimators have the parameters and the fitted state of covey's own. The extra `dask` installs what they need.

Data goes through the files in this order. The *driver* is the process that calls `fit`.

1. `crs.py` and `classifier.py` are the estimators, and `driver.py` says how a fit goes.
2. `engine.py` is the only file that talks to Dask: it submits tasks and waits for them.
3. `inputs.py` reads X and y, `plan.py` decides which clusters are packed together and which are cut into shards.
4. `packs.py` is what workers do for small clusters.
5. `large.py` fits a large cluster: `shards.py` makes its graph, and `coverage/shards.py` picks its representatives.
6. `checkpoint.py` keeps the results of finished tasks in a folder.
"""

from covey.dask.classifier import NearestPrototypeClassifier
from covey.dask.crs import CRS

__all__ = ["CRS", "NearestPrototypeClassifier"]
