"""Packed bits on a cluster: every part is read as packed bits, also one that holds only 0 and 1."""

import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra dask")
pytest.importorskip("dask.array", reason="needs the extra dask")

import dask
import dask.array as da

import covey
import covey.dask
from covey.dask import inputs
from tests.dask.measures import assert_same_state

ROWS = np.random.default_rng(0).integers(0, 256, (90, 6)).astype(np.uint8)
ROWS[:30] &= 1  # the first of three parts could be columns of 0 and 1
LABELS = np.arange(90) % 2


@pytest.fixture
def selectors(client):
    return covey.CRS(4, similarity="jaccard", random_state=0), covey.dask.CRS(
        4, similarity="jaccard", random_state=0, client=client
    )


def test_the_selection_is_that_of_one_process(selectors):
    """Numbers above 1 in any part make all parts packed bits, as they do in one process."""
    here, there = selectors
    here.fit(ROWS, LABELS)
    parts = da.from_array(ROWS, chunks=(30, 6))
    assert_same_state(there.fit(parts, LABELS), here)
    fitted = covey.dask.NearestPrototypeClassifier(there).fit(parts, LABELS)
    local = covey.NearestPrototypeClassifier(here).fit(ROWS, LABELS)
    np.testing.assert_array_equal(fitted.predict(parts).compute(), local.predict(ROWS))


def test_wrapped_blocks_of_0_and_1_are_packed_bits_also_if_dask_sends_them_as_plain_arrays(selectors):
    here, there = selectors
    rows = ROWS & 1
    here.fit(covey.PackedBits(rows), LABELS)
    wrapped = da.from_array(rows, chunks=(30, 6)).map_blocks(covey.PackedBits)
    sent = wrapped.map_blocks(np.asarray, meta=wrapped._meta)
    for parts in (wrapped, sent):
        assert_same_state(there.fit(parts, LABELS), here)
    assert_same_state(there.fit(da.from_array(rows, chunks=(30, 6)), LABELS), here.fit(rows, LABELS))


def test_an_array_of_this_process_is_read_as_a_whole_before_it_is_divided(selectors, monkeypatch):
    here, there = selectors
    monkeypatch.setattr(inputs, "PART", 30)
    assert_same_state(there.fit(ROWS, LABELS), here.fit(ROWS, LABELS))
    wrapped = covey.PackedBits(ROWS & 1)
    assert_same_state(there.fit(wrapped, LABELS), here.fit(wrapped, LABELS))


def test_a_part_of_another_type_is_refused_by_its_number(selectors):
    parts = [dask.delayed(ROWS[:30].astype(np.int64)), dask.delayed(ROWS[30:])]
    with pytest.raises(TypeError, match=r"In part 0 of X.*Packed bits must be an array of type uint8 or uint64"):
        selectors[1].fit(parts, LABELS)
