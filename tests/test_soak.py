"""Fits in several threads at once answer as lone ones do, and nothing grows: benchmarks/soak.py in a short form."""

import sys

import pytest

from benchmarks.soak import ALLOWED, report


@pytest.mark.minutes
@pytest.mark.skipif(sys.platform != "linux", reason="memory and file handles are read from /proc")
def test_fits_at_once_answer_as_lone_ones_and_leave_nothing_behind():
    told = report(cases=40, seed=0)
    assert told["different"] == []
    assert told["left"] == []
    assert all(told["grown"][what] <= most for what, most in ALLOWED.items()), told["grown"]
