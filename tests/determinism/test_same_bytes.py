"""Every selector on every kind of input gives the same bytes in processes that differ in all that must not matter."""

import json

import numpy as np
import pytest

import covey
from tests.determinism.settings import TWO_BLAS_THREADS, answers, differences, results, start

pytestmark = pytest.mark.xdist_group("test_same_bytes")  # one process of the suite makes what all of them compare

KINDS = ["float64", "csr", "bits", "sets", "mixed", "callable", "batched"]
"""One kind of input for each way in which similarities are computed. ``make determinism`` has all of them."""
TOGETHER = {
    "jobs, BLAS threads, a hash seed and a day": (
        {"n_jobs": 2, "days_later": 1, "only": KINDS},
        {**TWO_BLAS_THREADS, "PYTHONHASHSEED": "1"},
    ),
    "threads of joblib, blocks of 7 and a random hash seed": (
        {"backend": "threading", "backend_jobs": 3, "blocks": 7, "only": KINDS},
        {"PYTHONHASHSEED": "random"},
    ),
    "processes": ({"backend": "loky", "backend_jobs": 2, "eager": True, "only": ["sets", "callable", "batched"]}, {}),
}
"""Several settings at once; ``make determinism`` has each of them alone."""


@pytest.fixture(scope="module")
def found():
    """The results of a plain process, and those under each of the settings.

    The plain process is alone, so that the others find what it has compiled and need not compile the same at once.
    """
    plain = results({"only": KINDS})
    processes = [start("worker", json.dumps(settings), more) for settings, more in TOGETHER.values()]
    return {"plain": plain, **dict(zip(TOGETHER, map(json.loads, answers(processes)), strict=True))}


@pytest.mark.parametrize("settings", TOGETHER)
def test_all_results_have_the_same_bytes(found, settings):
    other = found[settings]
    assert len(other) > 150
    kinds = TOGETHER[settings][0]["only"]
    plain = {name: digest for name, digest in found["plain"].items() if name.partition(",")[0] in kinds}
    assert differences(plain, other) == []


def test_sets_are_saved_in_the_order_of_their_content(tmp_path):
    """The order of the elements of a set depends on the process, or, as here, on how the set was made."""
    colliding = [8 * t for t in range(5)]  # these share one place in the table of a small set
    sets = set(colliding), set().union(colliding[::-1])
    assert list(sets[0]) != list(sets[1])
    for name, notes in zip("ab", sets, strict=True):
        covey.save(covey.KeepAll().fit(np.eye(2)), tmp_path / name, notes=[notes, frozenset(notes)])
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
