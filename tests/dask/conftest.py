"""One cluster of two worker processes for all tests of a process, and a client for each test."""

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items):
    """Let one process run all tests of this folder, so that their cluster is started once."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.xdist_group("cluster"))


@pytest.fixture(scope="session")
def cluster():
    """A cluster whose workers are processes of their own, as they are in earnest."""
    distributed = pytest.importorskip("distributed", reason="needs the extra dask")
    import dask

    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    few_reports = {"distributed.admin.low-level-log-length": 200}  # the scheduler keeps 1000 of each topic by default
    with dask.config.set(few_reports), distributed.LocalCluster(**settings) as cluster:
        yield cluster


@pytest.fixture
def client(cluster):
    """A client that sees both workers, whatever an earlier test has done to them."""
    from distributed import Client

    with Client(cluster) as client:
        client.wait_for_workers(2, timeout=60)
        yield client
