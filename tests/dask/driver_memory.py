"""A driver in a process of its own, which prints the largest memory that it has had, in megabytes.

Its arguments are the address of the scheduler and the number of rows, which the workers make.
"""

import resource
import sys

import numpy as np

COLUMNS = 128


def rows(n):
    """Rows that lie in few dimensions of many, so that the data are large and the neighbors easy to find."""
    import dask.array as da

    few = da.random.default_rng(0).normal(size=(n, 3), chunks=(n // 8, 3))
    return few @ np.random.default_rng(1).normal(size=(3, COLUMNS))


if __name__ == "__main__":
    from distributed import Client

    import covey.dask

    with Client(sys.argv[1]):
        n = int(sys.argv[2])
        found = covey.dask.CRS(5, coverage=0.5, graph="nn-descent", random_state=0, shard_size=n // 2).fit(rows(n))
        assert len(found.prototypes_[0].members) == n
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024, len(found.sample_indices_))
