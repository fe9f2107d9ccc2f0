"""Libraries that work as on other processors change the last bits of similarities, and no pick on real data."""

import json
import os
from functools import cache

import numpy as np
import pytest

from tests.determinism.settings import OTHER_PROCESSORS, answers, start

pytestmark = [
    pytest.mark.minutes,
    pytest.mark.xdist_group("test_other_processors"),  # one process of the suite makes what all of them compare
]

SIZES = {"images": 300, "distances": 300, "texts": 300, "surnames": 300}
ULPS = 784
"""By how many units in the last place similarities may differ: each addition of a sum of 784 terms, in any order,
rounds by half a unit at most, and two such sums are compared."""
COMPILED_ANEW = "any x86-64 for numba"
CHECKED = ["BLAS of Haswell", COMPILED_ANEW]


@cache
def found(processor):
    """What a process finds that works as on this processor, or on the one that is here."""
    (answer,) = answers([start("real", json.dumps(SIZES), OTHER_PROCESSORS.get(processor, {}))])
    return json.loads(answer)


@pytest.fixture(autouse=True)
def data():
    if not os.environ.get("COVEY_DATA"):
        pytest.skip("needs real data in the folder named by COVEY_DATA")


@pytest.mark.parametrize("processor", CHECKED)
def test_picks_and_answers_are_the_same(processor):
    expected, other = found("plain")["picks"], found(processor)["picks"]
    assert len(expected) == 11 * len(SIZES)
    assert [name for name in expected if expected[name] != other[name]] == []


@pytest.mark.parametrize("processor", CHECKED)
def test_similarities_differ_in_their_last_bits_at_most(processor):
    for name, expected in found("plain")["scores"].items():
        apart = np.abs(np.array(expected) - np.array(found(processor)["scores"][name]))
        assert (apart <= ULPS * np.spacing(np.abs(expected))).all(), name
