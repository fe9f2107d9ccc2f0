"""On a cluster, too, a similarity that is not symmetric is noticed: once, where the user is, and counted exactly."""

import warnings

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")

import dask.bag as db

import covey
import covey.dask
from covey.exceptions import AsymmetryWarning
from tests.dask import measures

NUMBERS = np.random.default_rng(0).permutation(300).tolist()
LABELS = [number % 2 for number in range(300)]


@pytest.mark.parametrize("shard_size", [1000, 100])
def test_a_similarity_that_is_not_symmetric_is_told_once_where_the_user_is(client, shard_size):
    options = {"n_neighbors": 4, "random_state": 0}
    X, y = db.from_sequence(NUMBERS, partition_size=80), db.from_sequence(LABELS, partition_size=80)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = covey.dask.CRS(similarity=measures.closer, shard_size=shard_size, **options).fit(X, y)
    about = [str(warning.message) for warning in told if warning.category is AsymmetryWarning]
    assert len(about) == 1
    assert "set closer.symmetric = False" in about[0]
    if shard_size == 1000:
        with pytest.warns(AsymmetryWarning):
            expected = covey.CRS(similarity=measures.closer, **options).fit(NUMBERS, LABELS)
        assert found.n_evaluations_ == expected.n_evaluations_
        np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)


def test_a_symmetric_similarity_is_not_told(client):
    X, y = db.from_sequence(NUMBERS, partition_size=80), db.from_sequence(LABELS, partition_size=80)
    with warnings.catch_warnings():
        warnings.simplefilter("error", AsymmetryWarning)
        covey.dask.CRS(4, similarity=measures.close, random_state=0).fit(X, y)
