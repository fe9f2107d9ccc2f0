"""A driver in a process of its own, which a test kills: fit numbers with a checkpoint.

Its arguments are the address of the scheduler, the folder of the checkpoint and that of the calls.
"""

import sys

import covey.dask
from tests.dask.measures import Written

NUMBERS = [7 * n % 1009 for n in range(170)]
LABELS = [0] * 130 + [1] * 40


def model(checkpoint, calls, **changes):
    """The selector that is fitted, in this process or in the one of a test."""
    arguments = {"n_neighbors": 3, "graph": "exact", "random_state": 1, "shard_size": 45, **changes}
    return covey.dask.CRS(similarity=Written(calls, seconds=0.0001), checkpoint=checkpoint, **arguments)


def data():
    """X in parts, and labels."""
    import dask.bag

    return dask.bag.from_sequence(NUMBERS, npartitions=3), LABELS


if __name__ == "__main__":
    from distributed import Client

    address, checkpoint, calls = sys.argv[1:]
    with Client(address):
        model(checkpoint, calls).fit(*data())
    print("done")
