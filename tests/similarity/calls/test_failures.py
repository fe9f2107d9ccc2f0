"""Similarities that fail, hang or end their process: named, counted, and never in the way of the others."""

import glob
import os
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

import covey
from covey.exceptions import FailedPairsWarning
from covey.similarity.calls import pool
from covey.similarity.kinds import collect
from covey.similarity.measures import resolve
from covey.similarity.run import Run
from tests.similarity.calls.failing import (
    ODD,
    always_text,
    as_distance,
    dies,
    hangs,
    hangs_in_a_batch,
    hangs_without_letting_go,
    is_odd,
    nearness,
    raises,
    raises_in_a_batch,
    returns,
    slowly_made,
    stops,
)

pytestmark = pytest.mark.processes

N = 60
X = np.random.default_rng(0).permutation(N).tolist()


@numba.njit
def compiled(x, y):
    if (x[0] == 3.0 and y[0] == 7.0) or (x[0] == 7.0 and y[0] == 3.0):
        raise ValueError("odd")
    if min(x[0], y[0]) == 4.0 and max(x[0], y[0]) == 9.0:
        return np.nan
    if min(x[0], y[0]) == 20.0 and max(x[0], y[0]) == 21.0:
        return np.inf
    return 1 / (1 + abs(x[0] - y[0]))


FORMS = {
    "raises": (X, raises),
    "stops": (X, stops),
    "nan": (X, returns(float("nan"))),
    "infinite": (X, returns(float("inf"))),
    "nothing": (X, returns(None)),
    "a text": (X, returns("high")),
    "batched": (X, covey.batched(raises_in_a_batch, batch_size=50)),
    "negative distance": (X, covey.from_distance(as_distance)),
    "compiled": (np.array(X, dtype=float)[:, None], compiled),
}
SELECTORS = {
    "exact": lambda **options: covey.CRS(4, graph="exact", random_state=0, **options),
    "nn-descent": lambda **options: covey.CRS(4, graph="nn-descent", random_state=0, **options),
    "no threshold": lambda **options: covey.CRS(4, threshold=None, random_state=0, **options),
    "delta medoids": lambda **options: covey.DeltaMedoids(random_state=0, **options),
    "ds3": lambda **options: covey.DS3(**options),
}


def fitted(name, objects, **options):
    """The selector, and what it has told."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        selector = SELECTORS[name](**options).fit(objects)
    return selector, [str(each.message) for each in told if each.category is FailedPairsWarning]


@pytest.mark.parametrize("form", FORMS)
def test_by_default_a_failure_ends_the_fit_and_names_two_objects(form):
    objects, similarity = FORMS[form]
    with pytest.raises((RuntimeError, ValueError, TypeError), match=r"object \d+ and object \d+"):
        covey.CRS(4, similarity=similarity).fit(objects)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", SELECTORS)
def test_failed_pairs_count_as_least_similar(form, name):
    """The least similar pair of all is evaluated early enough here: the values are those of a table with it."""
    objects, similarity = FORMS[form]
    found, [message] = fitted(name, objects, similarity=similarity, on_error="lowest")
    assert found.n_failed_ >= len(ODD)  # pairs that were asked again to check the function count, too
    assert f"The similarity failed for {found.n_failed_} pairs, which count as least similar. That of " in message
    for prototype in found.prototypes_.values():
        covered = dict(zip(prototype.members.tolist(), prototype.covered_by.tolist(), strict=True))
        assert not any(is_odd(X[row], X[by]) for row, by in covered.items() if by >= 0)


@pytest.mark.parametrize("name", SELECTORS)
def test_the_value_of_a_failed_pair_is_the_lowest_one(name):
    """All pairs are evaluated in one call here, so that the lowest one is known."""
    lowest = nearness(0, N - 1)
    found, _ = fitted(name, X, similarity=covey.Similarity(raises, trusted=True), on_error="lowest")
    expected = SELECTORS[name](similarity=covey.Similarity(returns(lowest), trusted=True)).fit(X)
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    assert found.n_failed_ == len(ODD)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", ["exact", "nn-descent"])
def test_the_answer_is_the_same_for_any_number_of_processes(form, name, monkeypatch):
    monkeypatch.setattr(pool, "WORTH_IT", 0.0)
    objects, similarity = FORMS[form]
    one, two = (fitted(name, objects, similarity=similarity, on_error="lowest", n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one[0].sample_indices_, two[0].sample_indices_)
    assert one[0].prototypes_[0].homogeneity == two[0].prototypes_[0].homogeneity
    assert one[0].n_failed_ == two[0].n_failed_


def test_if_nothing_but_failures_was_seen_they_count_0():
    graph = None
    with pytest.warns(FailedPairsWarning):
        graph = covey.neighbor_graph(X[:5], 2, lambda a, b: 1 / 0, on_error="lowest")
    assert graph.n_failed == 10
    assert (graph.similarities == 0).all()


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("timeout", [None, 5])
def test_a_function_that_always_fails_ends_the_fit_soon(n_jobs, timeout):
    with pytest.raises(RuntimeError, match=r"failed for all of the first \d+ pairs; correct it. That .* raised"):
        covey.CRS(4, similarity=always_text, on_error="lowest", timeout=timeout, n_jobs=n_jobs).fit(X)


def test_at_most_five_failures_are_described():
    _, [message] = fitted("exact", X, similarity=lambda a, b: nearness(a, b) if a % 2 else 1 / 0, on_error="lowest")
    assert message.count("raised ZeroDivisionError") == 5


def test_a_fit_that_may_not_fail_says_nothing_about_failures():
    found, told = fitted("exact", X, similarity=nearness)
    assert told == []
    assert not hasattr(found, "n_failed_")
    assert fitted("exact", X, similarity=nearness, on_error="lowest")[0].n_failed_ == 0


def test_sharpened_counts_the_failures_of_its_inner_selector_once():
    sharpened = covey.Sharpened(covey.CRS(4, similarity=raises), on_error="lowest", random_state=0)
    with pytest.warns(FailedPairsWarning) as told:
        sharpened.fit(X, [number % 2 for number in X])
    assert len(told) == 1
    assert len(ODD) <= sharpened.n_failed_ <= 2 * len(ODD)


def test_a_classifier_does_not_go_on_in_its_answers():
    with pytest.warns(FailedPairsWarning):
        model = covey.NearestPrototypeClassifier(covey.CRS(4, similarity=raises, on_error="lowest")).fit(
            X, [number < 30 for number in X]
        )
    with pytest.raises(RuntimeError, match=r"query \d+ and object \d+ raised ValueError: no such service"):
        model.predict(X)


def test_failures_are_kept_and_not_asked_again_unless_they_may_not_happen(tmp_path):
    calls = []

    def down(a, b):
        calls.append((a, b))
        return raises(a, b)

    down.fingerprint = "down"  # the list of calls, which the function has closed over, is no part of the similarity
    one, two = (fitted("exact", X, similarity=down, on_error="lowest", checkpoint=tmp_path / "kept") for _ in range(2))
    assert one[0].n_failed_ >= len(ODD)
    assert two[0].n_failed_ == one[0].n_failed_
    assert not any(is_odd(*pair) for pair in calls[one[0].n_evaluations_ :][5:])
    np.testing.assert_array_equal(one[0].sample_indices_, two[0].sample_indices_)
    with pytest.raises(RuntimeError, match="no such service"):
        fitted("exact", X, similarity=down, checkpoint=tmp_path / "kept")


@pytest.mark.parametrize("wrong", [{"on_error": "ignore"}, {"timeout": 0}, {"timeout": "1"}, {"checkpoint": 3}])
def test_other_values_are_refused(wrong):
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of"):
        covey.CRS(4, similarity=nearness, **wrong).fit(X)
    with pytest.raises(ValueError, match=f"The '{next(iter(wrong))}' parameter of neighbor_graph"):
        covey.neighbor_graph(X, 3, nearness, **wrong)


# What hangs


FEW = [number for number in X if number < 20]
"""Two of the odd pairs are among these. Each of them takes time, because a process must be started again after it."""
HANGING = {
    "sleeps": (hangs, "took longer than timeout=0.5 seconds"),
    "computes": (hangs_without_letting_go, "took longer than timeout=0.5 seconds"),
    "dies": (dies, "ended its process with exit code -11"),
    "batched": (covey.batched(hangs_in_a_batch, batch_size=8), "took longer than timeout=0.5 seconds"),
    "raises": (raises, "raised ValueError: no such service"),
}


@pytest.mark.parametrize(("form", "n_jobs"), [*((form, 2) for form in HANGING), ("sleeps", 1), ("dies", 1)])
def test_a_function_that_hangs_or_dies_costs_only_its_pair(form, n_jobs):
    similarity, what = HANGING[form]
    similarity = covey.Similarity(similarity, trusted=True) if callable(similarity) else similarity
    options = {"similarity": similarity, "on_error": "lowest", "timeout": 0.5, "n_jobs": n_jobs}
    found, [message] = fitted("exact", FEW, **options)
    expected, _ = fitted("exact", FEW, similarity=covey.Similarity(raises, trusted=True), on_error="lowest")
    np.testing.assert_array_equal(found.sample_indices_, expected.sample_indices_)
    assert what in message
    assert found.n_failed_ == 2


def test_by_default_what_hangs_ends_the_fit():
    with pytest.raises(RuntimeError, match=r"object \d+ and object \d+ took longer than timeout=0.5 seconds"):
        covey.CRS(4, similarity=hangs, timeout=0.5).fit(X)


def test_compiling_a_function_does_not_count_as_a_call():
    objects, similarity = FORMS["compiled"]
    found, _ = fitted("exact", objects[:20] + 100, similarity=similarity, on_error="lowest", timeout=0.3)
    assert found.n_failed_ == 0


def test_a_process_that_ends_while_it_has_nothing_to_do_costs_no_pair():
    space = collect(X, resolve(nearness)).under(Run(timeout=5.0)).space()
    i, j = np.array([0, 1], dtype=np.int32), np.array([2, 3], dtype=np.int32)
    before = space.score(i, j)
    for worker in space._pool._workers:
        worker.process._process.kill()
        worker.process.exit_code()
    np.testing.assert_array_equal(space.score(i, j), before)


def test_a_timeout_may_be_longer_than_a_system_can_wait():
    assert covey.CRS(4, similarity=nearness, timeout=1e10).fit(X[:10]).sample_indices_.size


def test_time_does_not_count_while_a_process_gets_ready():
    class Heavy:
        """Reading it takes longer than a call may."""

        def __reduce__(self):
            return slowly_made, ()

        def __call__(self, a, b):
            return nearness(a, b)

    assert covey.CRS(4, similarity=Heavy(), timeout=0.5).fit(X[:20]).sample_indices_.size


def test_what_cannot_be_sent_cannot_be_timed():
    lock = __import__("threading").Lock()
    with pytest.raises(ValueError, match="timeout needs a similarity and objects that can be sent to other processes"):
        covey.CRS(4, similarity=lambda a, b: nearness(a, b) if lock else 0, timeout=1).fit(X)


def test_what_the_function_prints_does_no_harm():
    def chatty(a, b):
        print("hello")
        return nearness(a, b)

    assert covey.CRS(4, similarity=chatty, timeout=5).fit(X[:20]).sample_indices_.size


def children():
    return subprocess.run(["ps", "-o", "pid=", "--ppid", str(os.getpid())], capture_output=True, text=True).stdout


def test_no_process_and_no_file_is_left_behind(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = children().count("\n")
    for similarity in (nearness, hangs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            covey.CRS(4, similarity=similarity, on_error="lowest", timeout=0.5).fit(X[:30])
        with pytest.raises(RuntimeError, match="took longer"):
            covey.CRS(4, similarity=hangs, timeout=0.2).fit(X)
    assert children().count("\n") <= before + 1  # ps itself
    assert glob.glob(f"{tmp_path}/*") == []


def test_processes_end_with_the_one_that_has_started_them(tmp_path):
    """It is killed while a function hangs."""
    script = tmp_path / "mine.py"
    script.write_text(
        "import os, sys, time, covey\n"
        "def hangs(a, b):\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "    time.sleep(3600)\n"
        "if __name__ == '__main__':\n"
        "    covey.CRS(2, similarity=hangs, timeout=3600).fit([1, 2, 3])\n"
    )
    process = subprocess.Popen([sys.executable, str(script)])
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        time.sleep(0.05)
    worker = int((tmp_path / "pid").read_text())
    process.kill()
    process.wait()
    for _ in range(200):
        try:
            state = Path(f"/proc/{worker}/stat").read_text().split()[2]
        except FileNotFoundError:
            break
        if state == "Z":  # it has ended, and nobody has asked for its exit code yet
            break
        time.sleep(0.05)
    else:
        pytest.fail("the process that calls the function is still there")
